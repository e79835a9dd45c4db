// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line that started this process, to find or start the command again.
//!
//! Linux's loader can be run as a program with another program as its argument (`ld-linux-x86-64.so.2 --library-path
//! ... windlass`). `windlass exec --hip amd` does so. The system then names the loader as the running program.

use std::{env, ffi::OsString, io};

/// The path of this command.
#[cfg(all(feature = "sim", target_os = "linux"))]
pub(crate) fn file() -> io::Result<std::path::PathBuf> {
    match by_a_loader() {
        Some(words) => std::path::absolute(words.last().map(OsString::as_os_str).unwrap_or_default()),
        None => env::current_exe(),
    }
}

/// The command line that starts this command again, without its arguments.
pub(crate) fn words() -> io::Result<Vec<OsString>> {
    Ok(by_a_loader().unwrap_or(vec![env::current_exe()?.into()]))
}

/// The loader that was started, its options, and this command.
fn by_a_loader() -> Option<Vec<OsString>> {
    let running = env::current_exe().ok()?;
    if !running.file_name()?.as_encoded_bytes().starts_with(b"ld-linux") {
        return None;
    }
    words_of(&all_words()?)
}

#[cfg(unix)]
fn all_words() -> Option<Vec<OsString>> {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let bytes = std::fs::read("/proc/self/cmdline").ok()?;
    Some(bytes.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).to_owned()).collect())
}

#[cfg(not(unix))]
fn all_words() -> Option<Vec<OsString>> {
    None
}

/// The words up to the first that is neither an option nor the value of an option.
fn words_of(all: &[OsString]) -> Option<Vec<OsString>> {
    const WITHOUT_VALUE: [&str; 5] =
        ["--inhibit-cache", "--list", "--verify", "--list-tunables", "--list-diagnostics"];
    let mut at = 1;
    while all.get(at)?.as_encoded_bytes().starts_with(b"--") {
        at += if WITHOUT_VALUE.iter().any(|option| all[at] == *option) { 1 } else { 2 };
    }
    Some(all.get(..=at)?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_behind_the_loaders_options() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let of = |line: &str| words_of(&words(line));
        assert_eq!(
            of("ld.so --library-path /a --inhibit-cache p cts --list"),
            Some(words("ld.so --library-path /a --inhibit-cache p"))
        );
        assert_eq!(of("ld.so p --library-path /a"), Some(words("ld.so p")));
        assert_eq!(of("ld.so --argv0 name"), None);
    }
}
