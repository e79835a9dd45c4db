// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pattern of a fill.

use std::ffi::c_void;

use facade::{Error, Pattern, Result};

use crate::memory::bytes;

/// The pattern of a fill, from the caller's bytes.
///
/// # Safety
/// As for [`bytes`].
pub(crate) unsafe fn pattern_of(pattern: *const c_void, size: usize) -> Result<Pattern> {
    // SAFETY: the same contract.
    let given = unsafe { bytes("pattern", size, pattern) }?;
    match *given {
        [a] => Ok(a.into()),
        [a, b] => Ok(u16::from_le_bytes([a, b]).into()),
        [a, b, c, d] => Ok(u32::from_le_bytes([a, b, c, d]).into()),
        _ => {
            Err(Error::invalid_argument(format!("a pattern of {size} bytes; there are those of 1, 2 and 4")))
        }
    }
}
