// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file that is read by position.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use super::pieces::Pieces;
use crate::error::Error;

/// The places of files begin here, above all addresses of memory.
const FIRST_PLACE: u64 = 1 << 63;
/// The distance between the places of two files; no file is as large.
const PLACES: u64 = 1 << 40;

static NEXT_PLACE: AtomicU64 = AtomicU64::new(FIRST_PLACE);

/// An open regular file, read when its bytes are asked for. It must stay as it was when it was opened.
#[derive(Debug)]
pub(crate) struct PositionedFile {
    path: PathBuf,
    file: fs::File,
    size: u64,
    modified: Option<SystemTime>,
    place: u64,
    kept: Pieces,
    /// Memory for the entry that is read next.
    scratch: Mutex<Vec<u8>>,
    /// The first read that failed.
    failure: OnceLock<Error>,
}

impl PositionedFile {
    /// Takes an open file. `None` if it is no regular file of a stated size, and must be read from its start.
    pub(crate) fn new(path: &Path, file: fs::File) -> io::Result<Result<PositionedFile, fs::File>> {
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() == 0 {
            return Ok(Err(file));
        }
        Ok(Ok(PositionedFile {
            path: path.to_owned(),
            file,
            size: metadata.len(),
            modified: metadata.modified().ok(),
            place: NEXT_PLACE.fetch_add(PLACES, Ordering::Relaxed),
            kept: Pieces::default(),
            scratch: Mutex::default(),
            failure: OnceLock::new(),
        }))
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn kept(&self) -> &Pieces {
        &self.kept
    }

    pub(super) fn place(&self) -> u64 {
        self.place
    }

    /// Fails if a read has failed, or the file is not as it was when it was opened.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let Some(failure) = self.failure.get() {
            return Err(failure.clone());
        }
        let metadata = self.file.metadata().map_err(|error| self.unreadable(error.to_string()))?;
        if metadata.len() < self.size {
            return Err(self.shrunk(metadata.len()));
        }
        if metadata.len() != self.size || metadata.modified().ok() != self.modified {
            return Err(self.unreadable(format!("it was written while it was read; {AGAIN}")));
        }
        Ok(())
    }

    pub(super) fn read(&self, start: u64, out: &mut [u8]) -> Result<(), Error> {
        read_exact_at(&self.file, out, start).map_err(|error| {
            let error = match self.file.metadata() {
                Ok(metadata) if metadata.len() < self.size => self.shrunk(metadata.len()),
                _ => self.unreadable(format!("reading {} bytes at {start:#x} failed: {error}", out.len())),
            };
            self.failure.get_or_init(|| error).clone()
        })
    }

    /// Calls `f` with the bytes from `start` on, in memory that serves again.
    pub(super) fn lend<R>(&self, start: u64, size: u64, f: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        let lock = || self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = std::mem::take(&mut *lock());
        let size = if bytes.len() as u64 >= size {
            size as usize
        } else {
            drop(bytes);
            bytes = memory(size)?;
            bytes.len()
        };
        self.read(start, &mut bytes[..size])?;
        let result = f(&bytes[..size]);
        *lock() = bytes;
        Ok(result)
    }

    fn shrunk(&self, size: u64) -> Error {
        self.unreadable(format!("it shrank from {} to {size} bytes while it was read; {AGAIN}", self.size))
    }

    fn unreadable(&self, problem: String) -> Error {
        Error::Read { path: self.path.clone(), problem }
    }
}

const AGAIN: &str = "try again when no other program writes it";

/// Zeroed memory for bytes of a file.
pub(super) fn memory(size: u64) -> Result<Vec<u8>, Error> {
    let no_room = || Error::Memory { what: "a part of the file", bytes: size };
    let size = usize::try_from(size).map_err(|_| no_room())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| no_room())?;
    bytes.resize(size, 0);
    Ok(bytes)
}

#[cfg(unix)]
fn read_exact_at(file: &fs::File, out: &mut [u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, start)
}

#[cfg(not(unix))]
fn read_exact_at(mut file: &fs::File, out: &mut [u8], start: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};

    /// Seeking moves the one position of the file.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(out)
}
