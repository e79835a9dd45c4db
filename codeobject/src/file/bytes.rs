// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of an input: in memory, or in a file that is read by position.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::content::Content;
use crate::content::file::PositionedFile;
use crate::error::Error;

/// The bytes of a file.
#[derive(Debug)]
pub(crate) enum Bytes {
    Memory(Vec<u8>),
    File(Box<PositionedFile>),
}

impl Bytes {
    /// Opens a file of at most `most` bytes to read it by position. A device or pipe is read whole.
    pub(crate) fn open(path: &Path, most: u64) -> Result<Bytes, Error> {
        let open = || -> io::Result<Bytes> {
            let file = fs::File::open(path)?;
            if file.metadata()?.len() > most {
                return Err(too_long(most));
            }
            match PositionedFile::new(path, file)? {
                Ok(file) => Ok(Bytes::File(Box::new(file))),
                Err(other) => whole(other, most).map(Bytes::Memory),
            }
        };
        open().map_err(|error| unreadable(path, &error))
    }

    /// Reads a whole file of at most `most` bytes.
    pub(crate) fn read(path: &Path, most: u64) -> Result<Bytes, Error> {
        let read = || whole(fs::File::open(path)?, most).map(Bytes::Memory);
        read().map_err(|error| unreadable(path, &error))
    }

    pub(crate) fn content(&self) -> Content<'_> {
        match self {
            Bytes::Memory(bytes) => Content::Memory(bytes),
            Bytes::File(file) => Content::of_file(file),
        }
    }

    /// Fails if the file changed since it was opened.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            Bytes::Memory(_) => Ok(()),
            Bytes::File(file) => file.check(),
        }
    }
}

/// The bytes of a file that has at most `most`. Devices and pipes, whose length is unknown, are read no further.
fn whole(file: fs::File, most: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_long(most));
    }
    let mut bytes = Vec::new();
    // One byte more than the file has, so that reading its end allocates nothing.
    bytes.try_reserve_exact(usize::try_from(length.saturating_add(1)).unwrap_or(usize::MAX))?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long(most)) } else { Ok(bytes) }
}

/// The error for a file that cannot be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::Read { path: path.to_owned(), problem: error.to_string() }
}

fn too_long(most: u64) -> io::Error {
    io::Error::other(format!("it has more than {most} bytes"))
}
