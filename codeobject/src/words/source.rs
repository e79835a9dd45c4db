// SPDX-License-Identifier: MIT OR Apache-2.0
//! The source of a bundle's bytes: a file, a decoder or an address.

use crate::error::Error;

/// The source of a bundle's first bytes.
pub(crate) trait Source {
    /// Fills `out` with the bytes from `offset` on.
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Error>;
}
