// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unversioned names of libraries that are scripts for the linker, as in AMD's packages for Python: a text such as
//! `INPUT(libamdhip64.so.7)`, which the system's loader does not read.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

/// A script is short.
const LONGEST: u64 = 4096;

/// The library that a script names. A relative name is one of the script's folder. `None` for any other file.
pub(crate) fn library(path: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    // A library is no text.
    File::open(path).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    let is_end = |letter: char| letter.is_whitespace() || "(),;\"".contains(letter);
    let mut words = text.split(is_end).filter(|word| !word.is_empty());
    words.find(|word| matches!(*word, "INPUT" | "GROUP"))?;
    let name = words.find(|word| word.contains(".so") && !word.starts_with("-l"))?;
    let named = path.parent().unwrap_or(Path::new(".")).join(name);
    (named != path).then_some(named)
}
