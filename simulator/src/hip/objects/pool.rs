// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory pools of hipMallocAsync. A pool counts, and holds no free memory.

use std::sync::atomic::{AtomicU64, Ordering};

/// A memory pool.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) device: usize,
    /// The pool that every device has; clients cannot destroy it.
    pub(crate) is_default: bool,
    used: AtomicU64,
    most_used: AtomicU64,
    release_threshold: AtomicU64,
    reuse: [AtomicU64; 3],
}

impl Pool {
    pub(crate) fn new(device: usize, is_default: bool) -> Self {
        Self {
            device,
            is_default,
            used: AtomicU64::new(0),
            most_used: AtomicU64::new(0),
            release_threshold: AtomicU64::new(0),
            reuse: [AtomicU64::new(1), AtomicU64::new(1), AtomicU64::new(1)],
        }
    }

    pub(crate) fn grow(&self, size: u64) {
        let used = self.used.fetch_add(size, Ordering::Relaxed).saturating_add(size);
        self.most_used.fetch_max(used, Ordering::Relaxed);
    }

    pub(crate) fn shrink(&self, size: u64) {
        self.used.fetch_sub(size, Ordering::Relaxed);
    }

    /// The value behind an attribute's number and its width in bytes. `None` for a number that HIP does not have.
    pub(crate) fn attribute(&self, number: u32) -> Option<(u64, usize)> {
        let cell = match number {
            1..=3 => return Some((self.reuse.get(number as usize - 1)?.load(Ordering::Relaxed), 4)),
            4 => &self.release_threshold,
            5 | 7 => &self.used,
            6 | 8 => &self.most_used,
            _ => return None,
        };
        Some((cell.load(Ordering::Relaxed), 8))
    }

    /// Sets an attribute. High-water marks can only be set to zero, current sizes not at all.
    pub(crate) fn set_attribute(&self, number: u32, value: u64) -> Option<()> {
        match (number, value) {
            (1..=3, _) => self.reuse.get(number as usize - 1)?.store(value, Ordering::Relaxed),
            (4, _) => self.release_threshold.store(value, Ordering::Relaxed),
            (6 | 8, 0) => self.most_used.store(self.used.load(Ordering::Relaxed), Ordering::Relaxed),
            _ => return None,
        }
        Some(())
    }
}
