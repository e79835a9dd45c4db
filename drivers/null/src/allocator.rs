// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much memory the device has, and how much of it is in use.

use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_hal::{Error, Result, Statistics};

/// The device's memory as numbers.
#[derive(Debug)]
pub(crate) struct Budget {
    total: u64,
    statistics: Mutex<Statistics>,
}

impl Budget {
    pub(crate) fn new(total: u64) -> Self {
        Self { total, statistics: Mutex::default() }
    }

    /// Counts an allocation in, or says what is free.
    pub(crate) fn take(&self, size: u64) -> Result<()> {
        let mut statistics = self.lock();
        let free = self.total.saturating_sub(statistics.device_bytes_used);
        if size > free {
            return Err(Error::resource_exhausted(format!(
                "{size} bytes of a device with {free} free of {}; release buffers, or open null://?memory=BYTES",
                self.total
            )));
        }
        statistics.device_bytes_used += size;
        statistics.device_bytes_reserved = statistics.device_bytes_used;
        statistics.device_bytes_peak = statistics.device_bytes_peak.max(statistics.device_bytes_used);
        statistics.allocations += 1;
        Ok(())
    }

    /// Counts an allocation out.
    pub(crate) fn give_back(&self, size: u64) {
        let mut statistics = self.lock();
        statistics.device_bytes_used -= size;
        statistics.device_bytes_reserved = statistics.device_bytes_used;
        statistics.allocations -= 1;
    }

    pub(crate) fn statistics(&self) -> Statistics {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Statistics> {
        self.statistics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
