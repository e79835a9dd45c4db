// SPDX-License-Identifier: MIT OR Apache-2.0
//! Opens regular files alone. Opening or reading a pipe waits for another program, and nothing else can be cut.

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
};

/// Opens a regular file, also by a link to it.
pub(super) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    flags(options, rustix::fs::OFlags::NONBLOCK);
    checked(options.open(path)?)
}

/// Opens a regular file, and no link, which another user may have put there.
pub(super) fn open_itself(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    flags(options, rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW);
    match options.open(path) {
        Err(_) if path.is_symlink() => Err(other("a symbolic link")),
        opened => checked(opened?),
    }
}

/// The standard library adds `O_CLOEXEC`.
#[cfg(unix)]
fn flags(options: &mut OpenOptions, flags: rustix::fs::OFlags) {
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits().cast_signed());
}

fn checked(file: File) -> io::Result<File> {
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_fifo(&kind) {
        return Err(other("a pipe"));
    }
    Err(other(if kind.is_dir() { "a folder" } else { "a device" }))
}

fn other(kind: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is {kind}, not a regular file"))
}
