// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file whose bytes lie in memory.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_hal::file::Storage;

/// A file in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileInMemory(Arc<Mutex<Vec<u8>>>);

impl FileInMemory {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(bytes)))
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Storage for FileInMemory {
    fn read_at(&self, offset: u64, to: &mut [u8]) -> io::Result<()> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = offset as usize;
        to.copy_from_slice(bytes.get(start..start + to.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = offset as usize;
        let end = start + from.len();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[start..end].copy_from_slice(from);
        Ok(())
    }
}
