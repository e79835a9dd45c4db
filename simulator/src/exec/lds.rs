// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that a workgroup shares. Reads past its end give zero, writes there vanish.

use super::state::POISON;

/// The LDS of one workgroup.
#[derive(Debug, Default)]
pub(crate) struct Lds {
    bytes: Vec<u8>,
}

impl Lds {
    /// Gives it a size in bytes and contents that nobody should rely on.
    pub(crate) fn reset(&mut self, size: usize) {
        self.bytes.clear();
        self.bytes.resize(size, POISON as u8);
    }

    /// Bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// `N` bytes at an address; zero if they do not all lie inside.
    #[inline(always)]
    pub(crate) fn load<const N: usize>(&self, address: u64) -> [u8; N] {
        let start = usize::try_from(address).unwrap_or(usize::MAX);
        match start.checked_add(N).and_then(|end| self.bytes.get(start..end)) {
            Some(bytes) => bytes.try_into().unwrap_or([0; N]),
            None => [0; N],
        }
    }

    /// Writes `N` bytes at an address, if they all lie inside.
    #[inline(always)]
    pub(crate) fn store<const N: usize>(&mut self, address: u64, value: [u8; N]) {
        let start = usize::try_from(address).unwrap_or(usize::MAX);
        if let Some(bytes) = start.checked_add(N).and_then(|end| self.bytes.get_mut(start..end)) {
            bytes.copy_from_slice(&value);
        }
    }
}
