// SPDX-License-Identifier: MIT OR Apache-2.0
//! The accounts of memory that a driver and its pools keep.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{self, Relaxed},
        },
    },
};

use crate::{
    order::profiler::Profiler,
    words::{buffer_params::MemoryType, profile::MemoryEvent, sync::lock_std},
};

/// Counts of bytes. Memory that the host can map counts as host memory, all other as device memory.
///
/// Each number is exact by itself. While other threads allocate, two numbers may be from different moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Device memory in use by buffers, in requested bytes.
    pub device_bytes_used: u64,
    /// Device memory taken from the system: in use, or kept for reuse.
    pub device_bytes_reserved: u64,
    /// The maximum of `device_bytes_used` so far.
    pub device_bytes_peak: u64,
    /// Device memory that buffers have received in all.
    pub device_bytes_allocated: u64,
    /// Device memory that buffers have given back in all.
    pub device_bytes_freed: u64,
    /// Host memory in use by buffers, in requested bytes.
    pub host_bytes_used: u64,
    /// Host memory taken from the system: in use, or kept for reuse.
    pub host_bytes_reserved: u64,
    /// The maximum of `host_bytes_used` so far.
    pub host_bytes_peak: u64,
    /// Host memory that buffers have received in all.
    pub host_bytes_allocated: u64,
    /// Host memory that buffers have given back in all.
    pub host_bytes_freed: u64,
    /// Allocations in use.
    pub allocations: u64,
    /// Pools of [`Device::create_pool`](crate::Device::create_pool) of which a handle or a buffer lives.
    pub pools: u64,
}

/// The running counts behind [`Statistics`]. A driver has one for each device and counts the memory that it takes from
/// the system. [`pool`](crate::pool) counts the memory that buffers use.
#[derive(Debug, Default)]
pub struct Accounts {
    device: Account,
    host: Account,
    allocations: AtomicU64,
    watched: AtomicBool,
    profiles: Profiles,
}

/// The profiles that hear of each change.
#[derive(Default)]
struct Profiles(Mutex<Vec<Arc<Profiler>>>);

impl fmt::Debug for Profiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} profiles", lock_std(&self.0).len())
    }
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
    fn account(&self, memory_type: MemoryType) -> &Account {
        if memory_type.contains(MemoryType::HOST_VISIBLE) { &self.host } else { &self.device }
    }

    /// Tells a profile of each change from now on.
    pub(crate) fn watch(&self, profiler: Arc<Profiler>) {
        lock_std(&self.profiles.0).push(profiler);
        self.watched.store(true, Ordering::Release);
    }

    /// Tells a profile no more.
    pub(crate) fn unwatch(&self, profiler: &Arc<Profiler>) {
        let mut profiles = lock_std(&self.profiles.0);
        profiles.retain(|other| !Arc::ptr_eq(other, profiler));
        self.watched.store(!profiles.is_empty(), Ordering::Release);
    }

    #[inline]
    fn tell(&self, event: MemoryEvent, memory_type: MemoryType, bytes: u64) {
        if self.watched.load(Relaxed) {
            self.tell_profiles(event, memory_type, bytes);
        }
    }

    #[cold]
    fn tell_profiles(&self, event: MemoryEvent, memory_type: MemoryType, bytes: u64) {
        for profiler in lock_std(&self.profiles.0).iter() {
            profiler.add_memory(event, memory_type, bytes);
        }
    }

    /// Counts memory that was taken from the system.
    pub fn reserve(&self, memory_type: MemoryType, bytes: u64) {
        self.account(memory_type).reserved.fetch_add(bytes, Relaxed);
        self.tell(MemoryEvent::Reserve, memory_type, bytes);
    }

    /// Counts memory that goes back to the system.
    pub fn unreserve(&self, memory_type: MemoryType, bytes: u64) {
        self.account(memory_type).reserved.fetch_sub(bytes, Relaxed);
        self.tell(MemoryEvent::Unreserve, memory_type, bytes);
    }

    /// Counts memory that a buffer received.
    pub fn allocate(&self, memory_type: MemoryType, bytes: u64) {
        let account = self.account(memory_type);
        account.allocated.fetch_add(bytes, Relaxed);
        let used = account.used.fetch_add(bytes, Relaxed) + bytes;
        account.peak.fetch_max(used, Relaxed);
        self.allocations.fetch_add(1, Relaxed);
        self.tell(MemoryEvent::Allocate, memory_type, bytes);
    }

    /// Counts memory that a buffer gave back.
    pub fn free(&self, memory_type: MemoryType, bytes: u64) {
        let account = self.account(memory_type);
        account.freed.fetch_add(bytes, Relaxed);
        account.used.fetch_sub(bytes, Relaxed);
        self.allocations.fetch_sub(1, Relaxed);
        self.tell(MemoryEvent::Free, memory_type, bytes);
    }

    /// The present counts. The number of pools is left at 0.
    pub fn statistics(&self) -> Statistics {
        let Self { device, host, allocations, .. } = self;
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
