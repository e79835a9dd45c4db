// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transfers over ranges of host memory. The front has checked lengths, alignment and overlap.

#![allow(unsafe_code)]

use super::{buffer::bytes_of, shared_bytes};
use crate::{
    driver::range::Buffer,
    words::{error::Result, pattern::Pattern},
};

/// Repeats a pattern over a range.
pub fn fill(target: &Buffer, pattern: Pattern) -> Result<()> {
    shared_bytes::fill(bytes_of(target)?, pattern.bytes());
    Ok(())
}

/// Writes bytes over a range of the same length.
pub fn update(source: &[u8], target: &Buffer) -> Result<()> {
    let target = bytes_of(target)?;
    let source = &source[..source.len().min(target.len())];
    // SAFETY: atomics may be written through shared references, and there are as many of them as bytes to write.
    unsafe { shared_bytes::store(target.as_ptr().cast::<u8>().cast_mut(), source) };
    Ok(())
}

/// Copies a range over another one of the same length.
pub fn copy(source: &Buffer, target: &Buffer) -> Result<()> {
    shared_bytes::copy(bytes_of(source)?, bytes_of(target)?);
    Ok(())
}
