// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads text files up to a limit, because a path may name a device without an end.

use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
};

/// The text of a file of at most `most` MiB.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<String> {
    rest(&mut File::open(path)?, most)
}

/// The text from an open file's position on, of at most `most` MiB.
pub(crate) fn rest(file: &mut File, most: u64) -> io::Result<String> {
    let too_long = || io::Error::other(format!("it has more than {most} MiB"));
    let limit = most << 20;
    if file.metadata()?.len() > limit {
        return Err(too_long());
    }
    let mut text = String::new();
    file.take(limit + 1).read_to_string(&mut text)?;
    if text.len() as u64 > limit { Err(too_long()) } else { Ok(text) }
}
