// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a device's memory is used for, and the accounts that a driver and its pools keep of it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::words::buffer_params::MemoryType;

/// Counts of bytes, split by where memory lives: what the host can map is host memory.
///
/// Each number is exact by itself. Two of them may be from before and after what another thread does just now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Device memory in use by buffers, as they asked for it.
    pub device_bytes_used: u64,
    /// Device memory taken from the system, in use or kept for reuse.
    pub device_bytes_reserved: u64,
    /// The most that `device_bytes_used` ever was.
    pub device_bytes_peak: u64,
    /// Device memory that buffers ever got.
    pub device_bytes_allocated: u64,
    /// Device memory that buffers gave back.
    pub device_bytes_freed: u64,
    /// Host memory in use by buffers, as they asked for it.
    pub host_bytes_used: u64,
    /// Host memory taken from the system, in use or kept for reuse.
    pub host_bytes_reserved: u64,
    /// The most that `host_bytes_used` ever was.
    pub host_bytes_peak: u64,
    /// Host memory that buffers ever got.
    pub host_bytes_allocated: u64,
    /// Host memory that buffers gave back.
    pub host_bytes_freed: u64,
    /// Allocations that are in use.
    pub allocations: u64,
    /// Pools of [`Device::create_pool`](crate::Device::create_pool) that have a handle or a buffer left.
    pub pools: u64,
}

/// The running counts behind [`Statistics`]. A driver has one for each device and counts what it takes from the
/// system; [`pool`](crate::pool) counts what buffers use.
#[derive(Debug, Default)]
pub struct Accounts {
    device: Account,
    host: Account,
    allocations: AtomicU64,
}

#[derive(Debug, Default)]
struct Account {
    used: AtomicU64,
    reserved: AtomicU64,
    peak: AtomicU64,
    allocated: AtomicU64,
    freed: AtomicU64,
}

impl Accounts {
    fn of(&self, memory_type: MemoryType) -> &Account {
        if memory_type.contains(MemoryType::HOST_VISIBLE) { &self.host } else { &self.device }
    }

    /// Memory was taken from the system.
    pub fn reserve(&self, memory_type: MemoryType, bytes: u64) {
        self.of(memory_type).reserved.fetch_add(bytes, Relaxed);
    }

    /// Memory goes back to the system.
    pub fn unreserve(&self, memory_type: MemoryType, bytes: u64) {
        self.of(memory_type).reserved.fetch_sub(bytes, Relaxed);
    }

    /// A buffer got memory.
    pub fn allocate(&self, memory_type: MemoryType, bytes: u64) {
        let account = self.of(memory_type);
        account.allocated.fetch_add(bytes, Relaxed);
        let used = account.used.fetch_add(bytes, Relaxed) + bytes;
        account.peak.fetch_max(used, Relaxed);
        self.allocations.fetch_add(1, Relaxed);
    }

    /// A buffer gave its memory back.
    pub fn free(&self, memory_type: MemoryType, bytes: u64) {
        let account = self.of(memory_type);
        account.freed.fetch_add(bytes, Relaxed);
        account.used.fetch_sub(bytes, Relaxed);
        self.allocations.fetch_sub(1, Relaxed);
    }

    /// The counts now; pools are not counted here.
    pub fn statistics(&self) -> Statistics {
        let Self { device, host, allocations } = self;
        Statistics {
            device_bytes_used: device.used.load(Relaxed),
            device_bytes_reserved: device.reserved.load(Relaxed),
            device_bytes_peak: device.peak.load(Relaxed),
            device_bytes_allocated: device.allocated.load(Relaxed),
            device_bytes_freed: device.freed.load(Relaxed),
            host_bytes_used: host.used.load(Relaxed),
            host_bytes_reserved: host.reserved.load(Relaxed),
            host_bytes_peak: host.peak.load(Relaxed),
            host_bytes_allocated: host.allocated.load(Relaxed),
            host_bytes_freed: host.freed.load(Relaxed),
            allocations: allocations.load(Relaxed),
            pools: 0,
        }
    }
}
