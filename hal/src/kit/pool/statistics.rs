// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a pool has done so far.

/// Counts of one pool, all of one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStatistics {
    /// Bytes taken from the device.
    pub bytes_reserved: u64,
    /// The most that `bytes_reserved` may be; `u64::MAX` for no limit.
    pub budget: u64,
    /// Bytes in use by buffers, as they asked for them.
    pub bytes_used: u64,
    /// The most that `bytes_used` ever was.
    pub bytes_peak: u64,
    /// Bytes in use by buffers and by what rounding costs them.
    pub bytes_held: u64,
    /// Bytes in slabs without a buffer: what a trim gives back once nothing uses them.
    pub bytes_idle: u64,
    /// Slabs.
    pub slabs: u64,
    /// Buffers in use.
    pub buffers: u64,
    /// Acquired: memory whose last use had retired, or came before in the order of the queue.
    pub acquired: u64,
    /// Acquired from a slab that was added for it.
    pub acquired_fresh: u64,
    /// Acquired with a device wait for the memory's last use.
    pub acquired_with_wait: u64,
    /// Refused because every block was in use, or waited for.
    pub exhausted: u64,
    /// Refused because of the budget.
    pub over_budget: u64,
    /// Buffers that gave their memory back.
    pub released: u64,
    /// Slabs given back to the device.
    pub slabs_given_back: u64,
}

impl PoolStatistics {
    /// Bytes of slabs that no buffer holds.
    pub fn bytes_free(&self) -> u64 {
        self.bytes_reserved.saturating_sub(self.bytes_held)
    }
}
