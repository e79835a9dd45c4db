// SPDX-License-Identifier: MIT OR Apache-2.0
//! What transfers do to memory. Lengths, alignment and overlap were checked by the front.

use std::sync::atomic::Ordering::Relaxed;

use super::buffer::bytes_of;
use crate::{buffer::Buffer, error::Result, operation::Pattern};

/// Repeats a pattern over a range.
pub fn fill(target: &Buffer, pattern: Pattern) -> Result<()> {
    for (byte, value) in bytes_of(target)?.iter().zip(pattern.bytes().iter().cycle()) {
        byte.store(*value, Relaxed);
    }
    Ok(())
}

/// Writes bytes over a range of their length.
pub fn update(source: &[u8], target: &Buffer) -> Result<()> {
    for (byte, value) in bytes_of(target)?.iter().zip(source) {
        byte.store(*value, Relaxed);
    }
    Ok(())
}

/// Copies a range over another of its length.
pub fn copy(source: &Buffer, target: &Buffer) -> Result<()> {
    for (to, from) in bytes_of(target)?.iter().zip(bytes_of(source)?) {
        to.store(from.load(Relaxed), Relaxed);
    }
    Ok(())
}
