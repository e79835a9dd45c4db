// SPDX-License-Identifier: MIT OR Apache-2.0
//! The statistics of a pool.

/// Counts of one pool, all from one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStatistics {
    /// Bytes taken from the device.
    pub bytes_reserved: u64,
    /// The maximum of `bytes_reserved`; `u64::MAX` for no limit.
    pub budget: u64,
    /// Bytes in use by buffers, as requested.
    pub bytes_used: u64,
    /// The maximum of `bytes_used` so far.
    pub bytes_peak: u64,
    /// Bytes in use by buffers, with the losses by rounding.
    pub bytes_held: u64,
    /// Bytes in slabs without a buffer. A trim returns them when no work uses them.
    pub bytes_idle: u64,
    /// The number of slabs.
    pub slabs: u64,
    /// Buffers in use.
    pub buffers: u64,
    /// Requests that got memory whose last use had retired, or came earlier in the order of the queue.
    pub acquired: u64,
    /// Requests that got memory of a new slab.
    pub acquired_fresh: u64,
    /// Requests that got memory with a device wait for its last use.
    pub acquired_with_wait: u64,
    /// Requests that were refused because all blocks were in use or in flight.
    pub exhausted: u64,
    /// Requests that were refused because of the budget.
    pub over_budget: u64,
    /// Buffers that were released.
    pub released: u64,
    /// Slabs that were returned to the device.
    pub slabs_given_back: u64,
}

impl PoolStatistics {
    /// Bytes of slabs that no buffer holds.
    pub fn bytes_free(&self) -> u64 {
        self.bytes_reserved.saturating_sub(self.bytes_held)
    }
}
