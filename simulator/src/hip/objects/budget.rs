// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of a device's memory that are taken.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::hip::words::code::{Code, Outcome};

/// An account of bytes.
#[derive(Debug)]
pub(crate) struct Budget {
    /// All bytes.
    pub(crate) capacity: u64,
    used: AtomicU64,
}

impl Budget {
    pub(crate) fn new(capacity: u64) -> Self {
        Self { capacity, used: AtomicU64::new(0) }
    }

    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes `size` bytes, if they are left.
    pub(crate) fn take(&self, size: u64) -> Outcome<()> {
        let more = |used: u64| used.checked_add(size).filter(|used| *used <= self.capacity);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(()),
            Err(_) => Err(Code::OUT_OF_MEMORY),
        }
    }

    /// Returns `size` bytes.
    pub(crate) fn give_back(&self, size: u64) {
        let less = |used: u64| Some(used.saturating_sub(size));
        let _ = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}
