// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that several threads may access: a stream's copy runs during its call, and the host may read the same bytes
//! through a mapping. So every access is a relaxed atomic of one byte, like a mapping's.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Copies `size` bytes; the ranges may overlap.
///
/// # Safety
///
/// Both ranges are valid for `size` bytes, and other threads access them only by atomics of one byte.
pub(super) unsafe fn copy(source: *const u8, target: *mut u8, size: usize) {
    // SAFETY: every index is below `size`.
    let byte = |index: usize| unsafe {
        let value = AtomicU8::from_ptr(source.add(index).cast_mut()).load(Relaxed);
        AtomicU8::from_ptr(target.add(index)).store(value, Relaxed);
    };
    if target.addr().wrapping_sub(source.addr()) >= size {
        (0..size).for_each(byte);
    } else {
        (0..size).rev().for_each(byte);
    }
}

/// Repeats `pattern` `count` times.
///
/// # Safety
///
/// As for [`copy`]: the target is valid for `count` times the pattern's length.
pub(super) unsafe fn fill(target: *mut u8, pattern: &[u8], count: usize) {
    for repeat in 0..count {
        // SAFETY: `repeat` is below `count`.
        let target = unsafe { target.add(repeat * pattern.len()) };
        for (index, value) in pattern.iter().enumerate() {
            // SAFETY: the index is below the pattern's length.
            unsafe { AtomicU8::from_ptr(target.add(index)) }.store(*value, Relaxed);
        }
    }
}
