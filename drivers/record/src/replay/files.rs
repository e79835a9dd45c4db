// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of a replay: the recorded bytes to read, and a place for bytes that are written.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use windlass_hal::file::Storage;

/// Pieces of a file: offsets and bytes.
pub(super) type Pieces = Vec<(u64, Vec<u8>)>;

/// A file with the bytes that the recorded operation read.
pub(super) struct Recorded(pub(super) Pieces);

impl Storage for Recorded {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        for (start, piece) in &self.0 {
            // The part of the piece that is wanted, as offsets in the file.
            let from = offset.max(*start);
            let end = offset.saturating_add(bytes.len() as u64);
            let to = end.min(start.saturating_add(piece.len() as u64));
            if from < to {
                let wanted = &mut bytes[(from - offset) as usize..(to - offset) as usize];
                wanted.copy_from_slice(&piece[(from - start) as usize..(to - start) as usize]);
                filled += wanted.len();
            }
        }
        if filled >= bytes.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn write_at(&self, _offset: u64, _bytes: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn name(&self) -> String {
        "a file of the recording".to_owned()
    }
}

/// A file that keeps the bytes that are written to it.
#[derive(Clone, Default)]
pub(super) struct Written(pub(super) Arc<Mutex<Pieces>>);

impl Storage for Written {
    fn read_at(&self, _offset: u64, _bytes: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((offset, bytes.to_vec()));
        Ok(())
    }

    fn name(&self) -> String {
        "a file of the replay".to_owned()
    }
}

/// The bytes of all pieces from `offset` on.
pub(super) fn assembled(pieces: &Pieces, offset: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    for (start, piece) in pieces {
        let at = start.saturating_sub(offset) as usize;
        if let Some(place) = bytes.get_mut(at..).map(|rest| rest.len().min(piece.len())) {
            bytes[at..at + place].copy_from_slice(&piece[..place]);
        }
    }
    bytes
}
