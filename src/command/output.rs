// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results: standard output, and the files that the user names.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    path::Path,
    process,
};

use serde::Serialize;

use super::{
    escape,
    failure::{Failure, Outcome},
};

/// Writes text to standard output, with a newline at its end, and without what a terminal would obey.
pub(crate) fn write(text: &str) -> Outcome {
    let mut stdout = io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write!(stdout, "{}{end}", escape::text(text))
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::output(&error))
}

/// Writes a value as JSON to standard output.
pub(crate) fn write_json(value: &impl Serialize) -> Outcome {
    // As it goes: a report may have thousands of entries, and its text is several times as long as what it tells.
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut stdout, value).map_err(|error| match error.io_error_kind() {
        Some(_) => Failure::output(&error.into()),
        None => Failure::failed(error.to_string()),
    })?;
    writeln!(stdout).and_then(|()| stdout.flush()).map_err(|error| Failure::output(&error))
}

/// Writes a file: whole, or not at all. What was there before stays until the new bytes are all written.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Outcome {
    replace(path, bytes)
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", escape::path(path))))
}

/// Whether two paths lead to one file, which writing to the one would take from who reads the other. Pipes and devices
/// are written, not replaced.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    let (Ok(first), Ok(second)) = (fs::metadata(one), fs::metadata(other)) else { return false };
    #[cfg(unix)]
    let is_same = {
        use std::os::unix::fs::MetadataExt;
        (first.dev(), first.ino()) == (second.dev(), second.ino())
    };
    #[cfg(not(unix))]
    let is_same = fs::canonicalize(one).ok() == fs::canonicalize(other).ok();
    is_same && first.is_file() && second.is_file()
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link stays one, and what it leads to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let old = fs::metadata(&target).ok();
    let (Some(name), true) = (target.file_name(), old.as_ref().is_none_or(fs::Metadata::is_file)) else {
        // Pipes and devices are written, not replaced.
        return fs::write(path, bytes);
    };
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.part", process::id()));
    let part = target.with_file_name(hidden);
    let written = fs::write(&part, bytes)
        .and_then(|()| old.map_or(Ok(()), |old| fs::set_permissions(&part, old.permissions())))
        .and_then(|()| fs::rename(&part, &target));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}
