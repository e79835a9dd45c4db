// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads files up to a limit, because a path may name a device without an end.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

/// The text of a file of at most `most` MiB.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<String> {
    let bytes = rest(&mut File::open(path)?, most)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// The bytes from an open file's position on, of at most `most` MiB.
pub(crate) fn rest(file: &mut File, most: u64) -> io::Result<Vec<u8>> {
    let too_long = || io::Error::other(format!("it has more than {most} MiB"));
    let limit = most << 20;
    if file.metadata()?.len() > limit {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_long()) } else { Ok(bytes) }
}
