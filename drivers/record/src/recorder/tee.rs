// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files whose bytes are kept as they pass.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use windlass_hal::{File, file::Storage};

use crate::format::{coding::Bytes, event::Piece};

/// The bytes of one operation that passed so far.
pub(super) type Passed = Arc<Mutex<Vec<Piece>>>;

/// A file in front of another one. It has no descriptor, so all bytes pass through it.
struct Tee {
    file: File,
    passed: Passed,
}

/// The same file, and the bytes that pass.
pub(super) fn tee(file: &File) -> (File, Passed) {
    let passed = Passed::default();
    (File::new(Tee { file: file.clone(), passed: passed.clone() }), passed)
}

impl Tee {
    fn keep(&self, offset: u64, bytes: &[u8]) {
        let piece = Piece { offset, bytes: Bytes::Here(bytes.to_vec()) };
        self.passed.lock().unwrap_or_else(PoisonError::into_inner).push(piece);
    }
}

impl Storage for Tee {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.storage().read_at(offset, bytes)?;
        self.keep(offset, bytes);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.storage().write_at(offset, bytes)?;
        self.keep(offset, bytes);
        Ok(())
    }

    fn name(&self) -> String {
        self.file.storage().name()
    }
}
