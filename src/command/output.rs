// SPDX-License-Identifier: MIT OR Apache-2.0
//! Output: standard output, and the files that the user names.

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

/// Writes text to standard output, with a newline at its end and control characters escaped.
pub(crate) fn write(text: &str) -> Outcome {
    let mut stdout = io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write!(stdout, "{}{end}", escape::text(text))
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::output(&error))
}

/// Writes a value as JSON to standard output.
pub(crate) fn write_json(value: &impl Serialize) -> Outcome {
    // Serialized straight to the stream: the text of a report is several times as large as the report.
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer_pretty(&mut stdout, value).map_err(|error| match error.io_error_kind() {
        Some(_) => Failure::output(&error.into()),
        None => Failure::failed(error.to_string()),
    })?;
    writeln!(stdout).and_then(|()| stdout.flush()).map_err(|error| Failure::output(&error))
}

/// Writes a file whole or not at all. The old content stays until all new bytes are written.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Outcome {
    replace(path, bytes)
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", escape::path(path))))
}

/// The same, and the bytes are on the disk when it returns: the machine may go down.
pub(crate) fn write_file_to_disk(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(path, |part| {
        let mut file = fs::File::create(part)?;
        file.write_all(bytes)?;
        file.sync_all()
    })
}

/// Whether two paths lead to one file, so that writing one would destroy the other. False for pipes and devices, which
/// are written in place.
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
    replace_by(path, |part| fs::write(part, bytes))
}

/// Replaces a file by the one that `write` makes.
fn replace_by(path: &Path, write: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    // A link stays; its target is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let old = fs::metadata(&target).ok();
    let (Some(name), true) = (target.file_name(), old.as_ref().is_none_or(fs::Metadata::is_file)) else {
        // Pipes and devices are written in place.
        return write(path);
    };
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.part", process::id()));
    let part = target.with_file_name(hidden);
    let written = write(&part)
        .and_then(|()| old.map_or(Ok(()), |old| fs::set_permissions(&part, old.permissions())))
        .and_then(|()| fs::rename(&part, &target));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}
