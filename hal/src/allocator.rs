// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a device's memory is used for.

/// Counts of bytes, split by where memory lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Device memory in use by buffers.
    pub device_bytes_used: u64,
    /// Device memory taken from the system, in use or kept for reuse.
    pub device_bytes_reserved: u64,
    /// The most that `device_bytes_used` ever was.
    pub device_bytes_peak: u64,
    /// Host memory in use by buffers.
    pub host_bytes_used: u64,
    /// Allocations that are in use.
    pub allocations: u64,
}
