// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much memory the device may take, and how much of it is in use.

use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_hal::{Error, Result, Statistics};

/// What a buffer counts as: all memory is the host's, and reports tell apart what was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Heap {
    /// Asked for as the device's own.
    Device,
    /// Asked for as visible to the host.
    Host,
}

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
    pub(crate) fn take(&self, heap: Heap, size: u64, alignment: u64) -> Result<()> {
        let mut statistics = self.lock();
        let used = statistics.device_bytes_used + statistics.host_bytes_used;
        let free = self.total.saturating_sub(used);
        // An alignment takes as much more from the host.
        if size > free || alignment > self.total {
            return Err(Error::resource_exhausted(format!(
                "{size} bytes aligned to {alignment} of a device with {free} free of {}; release buffers, or open \
                 local://?memory=BYTES",
                self.total
            )));
        }
        match heap {
            Heap::Device => {
                statistics.device_bytes_used += size;
                statistics.device_bytes_reserved = statistics.device_bytes_used;
                statistics.device_bytes_peak = statistics.device_bytes_peak.max(statistics.device_bytes_used);
            }
            Heap::Host => statistics.host_bytes_used += size,
        }
        statistics.allocations += 1;
        Ok(())
    }

    /// Counts an allocation out.
    pub(crate) fn give_back(&self, heap: Heap, size: u64) {
        let mut statistics = self.lock();
        match heap {
            Heap::Device => {
                statistics.device_bytes_used -= size;
                statistics.device_bytes_reserved = statistics.device_bytes_used;
            }
            Heap::Host => statistics.host_bytes_used -= size,
        }
        statistics.allocations -= 1;
    }

    pub(crate) fn statistics(&self) -> Statistics {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Statistics> {
        self.statistics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a device may take where its URI does not say: half of the machine's memory, or 4 GiB where the system does
/// not tell how much there is.
pub(crate) fn default_budget() -> u64 {
    const UNKNOWN: u64 = 4 << 30;
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    total.map_or(UNKNOWN, |total| total / 2)
}
