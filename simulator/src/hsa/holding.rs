// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory that clients hold: allocations of pools, and locked host memory.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::memory::{ALL_DEVICES, AllocationKind, Memory, MemoryError};
use crate::options::{Lock, Options};

use super::abi::DeallocationCallback;
use super::agent::Which;
use super::pool::{Grain, Pool};
use super::status::{Outcome, Status};
use super::ticket::Ticket;

/// Allocations of at least this size are aligned to it: device code that frees memory rounds down to it.
const LARGE: u64 = 2 << 20;

/// The memory that clients hold.
pub(crate) struct Holdings {
    memory: Arc<Memory>,
    /// The address of locked host memory for kernels: its own, or the host's.
    lock: Lock,
    /// Bytes of memory of each GPU.
    capacity: u64,
    state: Mutex<HoldingsState>,
}

#[derive(Default)]
struct HoldingsState {
    allocations: BTreeMap<u64, Allocation>,
    /// Allocations that were freed while others share them.
    released: BTreeMap<u64, Allocation>,
    locks: Vec<Locked>,
    /// The number of allocations so far.
    count: u64,
    /// Bytes in use, by GPU.
    used: BTreeMap<usize, u64>,
}

/// Memory of a pool.
#[derive(Clone, Debug)]
pub(crate) struct Allocation {
    pub(crate) base: u64,
    pub(crate) size: u64,
    pub(crate) pool: Pool,
    /// The value of `hsa_amd_pointer_info_set_userdata`.
    pub(crate) user_data: u64,
    /// Called when the memory is freed.
    watchers: Vec<Watcher>,
    /// The GPUs that may use it, a bit each.
    homes: u64,
    /// Its number among all allocations.
    number: u64,
    /// The number of its sharers.
    pins: u32,
}

/// A client's function that is called when an allocation is freed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watcher {
    /// The address that was watched.
    pub(crate) address: u64,
    pub(crate) callback: DeallocationCallback,
    /// The client's pointer, which its function gets back.
    pub(crate) data: u64,
}

/// Keeps an allocation alive, freed or not.
pub(crate) struct Pinned {
    holdings: Arc<Holdings>,
    base: u64,
    number: u64,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.holdings.unpin(self.base, self.number);
    }
}

/// Locked host memory.
#[derive(Clone, Debug)]
pub(crate) struct Locked {
    pub(crate) host: u64,
    pub(crate) size: u64,
    /// Its first address for kernels.
    pub(crate) device: u64,
    /// The value of `hsa_amd_pointer_info_set_userdata`.
    pub(crate) user_data: u64,
    how: LockAccess,
}

/// How kernels access locked memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LockAccess {
    /// It is a pool's, which needs no registration.
    Anyway,
    AtSame,
    Apart,
}

/// The owner of an address.
#[derive(Clone, Debug)]
pub(crate) enum Holding {
    Allocation(Allocation),
    Locked(Locked),
}

impl Holdings {
    pub(crate) fn new(memory: Arc<Memory>, options: &Options) -> Self {
        let lock = options.lock.unwrap_or(Lock::Apart);
        Self { memory, lock, capacity: options.memory, state: Mutex::default() }
    }

    /// Allocates memory of a pool. Messages about the memory name `owner`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for no bytes, `INVALID_ALLOCATION` for a size that exceeds the pool and for a pool without
    /// allocations, `OUT_OF_RESOURCES` for a size that exceeds the memory that is left.
    pub(crate) fn allocate(&self, pool: Pool, size: u64, owner: Arc<str>) -> Outcome<u64> {
        if size == 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        if pool.grain == Grain::Group || (pool.agent != Which::Cpu && size > self.capacity) {
            return Err(Status::INVALID_ALLOCATION);
        }
        let Some(rounded) = size.checked_next_multiple_of(4096) else {
            return Err(Status::INVALID_ALLOCATION);
        };
        self.charge(pool, rounded)?;
        let align = if size >= LARGE { LARGE } else { 4096 };
        let kind = if pool.agent == Which::Cpu { AllocationKind::HostPinned } else { AllocationKind::Device };
        let base = self.memory.allocate(size, align, kind, owner).map_err(|_| {
            self.refund(pool, rounded);
            Status::OUT_OF_RESOURCES
        })?;
        let homes = pool.agent.gpu().map_or(ALL_DEVICES, |gpu| 1 << (gpu & 63));
        self.memory.set_homes(base, homes);
        let mut state = self.lock();
        state.count += 1;
        let (user_data, watchers, number, pins) = (0, Vec::new(), state.count, 0);
        let allocation = Allocation { base, size, pool, user_data, watchers, homes, number, pins };
        state.allocations.insert(base, allocation);
        Ok(base)
    }

    /// Frees an allocation of [`allocate`](Self::allocate), and returns its watchers. Shared memory is freed
    /// with its last sharer; until then no kernel may use it at this address.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` for any other address.
    pub(crate) fn free(&self, base: u64, by: Arc<str>) -> Outcome<Vec<Watcher>> {
        let mut gone = {
            let mut state = self.lock();
            let gone = state.allocations.remove(&base).ok_or(Status::INVALID_ALLOCATION)?;
            if gone.pins > 0 {
                self.memory.set_homes(base, 0);
                state.released.insert(base, Allocation { watchers: Vec::new(), ..gone.clone() });
                return Ok(gone.watchers);
            }
            gone
        };
        let watchers = std::mem::take(&mut gone.watchers);
        self.end(&gone, by)?;
        Ok(watchers)
    }

    fn end(&self, gone: &Allocation, by: Arc<str>) -> Outcome<()> {
        self.refund(gone.pool, gone.size.next_multiple_of(4096));
        self.memory.free_as(gone.base, Some(by)).map_err(|_| Status::INVALID_ALLOCATION)
    }

    /// The contents of a handle of a GPU's allocation.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` unless address and size are those of an allocation.
    pub(crate) fn share(&self, base: u64, size: u64) -> Outcome<Ticket> {
        let state = self.lock();
        let allocation = state.allocations.get(&base).ok_or(Status::INVALID_ARGUMENT)?;
        if !allocation.is_whole(size) || allocation.pool.agent == Which::Cpu {
            return Err(Status::INVALID_ARGUMENT);
        }
        Ok(Ticket { address: base, number: allocation.number })
    }

    /// Keeps a shared allocation alive.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if it is gone or has another size.
    pub(crate) fn pin(self: &Arc<Self>, base: u64, number: u64, size: u64) -> Outcome<(Pinned, Allocation)> {
        let mut state = self.lock();
        let state = &mut *state;
        let live = state.allocations.get_mut(&base).filter(|allocation| allocation.number == number);
        let found = live.or_else(|| state.released.get_mut(&base));
        let found = found.filter(|allocation| allocation.number == number && allocation.is_whole(size));
        let allocation = found.ok_or(Status::INVALID_ARGUMENT)?;
        allocation.pins += 1;
        Ok((Pinned { holdings: self.clone(), base, number }, allocation.clone()))
    }

    fn unpin(&self, base: u64, number: u64) {
        let gone = {
            let mut state = self.lock();
            let state = &mut *state;
            if let Some(live) =
                state.allocations.get_mut(&base).filter(|allocation| allocation.number == number)
            {
                live.pins -= 1;
                return;
            }
            let Some(released) = state.released.get_mut(&base) else { return };
            released.pins -= 1;
            if released.pins > 0 {
                return;
            }
            state.released.remove(&base)
        };
        if let Some(gone) = gone
            && let Err(status) = self.end(&gone, "hsa_amd_ipc_memory_detach".into())
        {
            tracing::error!(target: "windlass::sim", ?status, "shared memory was not freed");
        }
    }

    /// Adds a function that is called when the allocation of an address is freed.
    ///
    /// # Errors
    /// `INVALID_ALLOCATION` for an address of no allocation.
    pub(crate) fn watch(&self, watcher: Watcher) -> Outcome<()> {
        let mut state = self.lock();
        let allocation = state.allocation_mut(watcher.address).ok_or(Status::INVALID_ALLOCATION)?;
        allocation.watchers.push(watcher);
        Ok(())
    }

    /// Removes the latest [`watch`](Self::watch) of an address with a function.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if there is none.
    pub(crate) fn unwatch(&self, address: u64, callback: DeallocationCallback) -> Outcome<()> {
        let mut state = self.lock();
        let allocation = state.allocation_mut(address).ok_or(Status::INVALID_ARGUMENT)?;
        let is_meant = |one: &Watcher| one.address == address && std::ptr::fn_addr_eq(one.callback, callback);
        let index = allocation.watchers.iter().rposition(is_meant).ok_or(Status::INVALID_ARGUMENT)?;
        allocation.watchers.remove(index);
        Ok(())
    }

    /// Gives GPUs access to an allocation, and takes it from all others but its own.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an address of no allocation, and if the host is to access a GPU's memory.
    pub(crate) fn allow(&self, address: u64, agents: &[Which]) -> Outcome<()> {
        let mut state = self.lock();
        if state.locks.iter().any(|locked| locked.holds(address).is_some()) {
            return Ok(());
        }
        let allocation = state.allocation_mut(address).ok_or(Status::INVALID_ARGUMENT)?;
        let Some(own) = allocation.pool.agent.gpu() else { return Ok(()) };
        if agents.contains(&Which::Cpu) {
            return Err(Status::INVALID_ARGUMENT);
        }
        let homes = agents
            .iter()
            .filter_map(|agent| agent.gpu())
            .fold(1 << (own & 63), |homes, gpu| homes | 1 << (gpu & 63));
        allocation.homes = homes;
        self.memory.set_homes(allocation.base, homes);
        Ok(())
    }

    /// Locks host memory, and returns its address for kernels.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for no memory, `OUT_OF_RESOURCES` if no addresses are left or the range is not the host's memory.
    ///
    /// # Safety
    /// As `Memory::register_host`, until the range is unlocked.
    pub(crate) unsafe fn lock_host(&self, host: u64, size: u64, owner: Arc<str>) -> Outcome<u64> {
        let end = host.checked_add(size).filter(|_| host != 0 && size > 0).ok_or(Status::INVALID_ARGUMENT)?;
        let mut state = self.lock();
        let (device, how) =
            if state.allocation(host).is_some_and(|allocation| allocation.pool.agent == Which::Cpu) {
                (host, LockAccess::Anyway)
            } else if self.lock == Lock::Same {
                self.memory.pinnable(host, size).map_err(|error| refused(&error))?;
                let (gone, whole) = state.around(host..end);
                // SAFETY: the caller guarantees the new range, as earlier callers did the others.
                let replaced = unsafe { self.memory.replace_registrations(&gone, &[whole], &owner) };
                replaced.map_err(|error| refused(&error))?;
                (host, LockAccess::AtSame)
            } else {
                // SAFETY: the caller guarantees the range.
                let device = unsafe { self.memory.register_host_apart(host as *mut u8, size, owner) };
                (device.map_err(|error| refused(&error))?, LockAccess::Apart)
            };
        state.locks.push(Locked { host, size, device, user_data: 0, how });
        Ok(device)
    }

    /// Ends the latest lock of host memory that begins at an address.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if there is none.
    pub(crate) fn unlock(&self, host: u64) -> Outcome<()> {
        let mut state = self.lock();
        let index =
            state.locks.iter().rposition(|locked| locked.host == host).ok_or(Status::INVALID_ARGUMENT)?;
        let gone = state.locks.remove(index);
        let ended = match gone.how {
            LockAccess::Anyway => Ok(()),
            LockAccess::Apart => self.memory.unregister_host_apart(gone.device),
            LockAccess::AtSame => {
                // The other locks of its registration.
                let (_, whole) = state.around(gone.host..gone.host + gone.size);
                let rest = state.parts(&whole);
                // SAFETY: the callers that locked the remaining ranges guarantee them.
                unsafe {
                    self.memory.replace_registrations(&[whole.start], &rest, &"hsa_amd_memory_lock".into())
                }
            }
        };
        ended.map_err(|error| refused(&error))
    }

    /// The owner of an address of the host's or of kernels'.
    pub(crate) fn find(&self, address: u64) -> Option<Holding> {
        let state = self.lock();
        if let Some(allocation) = state.allocation(address) {
            return Some(Holding::Allocation(allocation.clone()));
        }
        state.locks.iter().rev().find(|locked| locked.holds(address).is_some()).cloned().map(Holding::Locked)
    }

    /// Sets the user data of the memory at an address.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an address without an owner.
    pub(crate) fn set_user_data(&self, address: u64, user_data: u64) -> Outcome<()> {
        let mut state = self.lock();
        if let Some(allocation) = state.allocation_mut(address) {
            allocation.user_data = user_data;
            return Ok(());
        }
        let locked = state.locks.iter_mut().rev().find(|locked| locked.holds(address).is_some());
        locked.ok_or(Status::INVALID_ARGUMENT)?.user_data = user_data;
        Ok(())
    }

    /// Bytes of a GPU's memory in use.
    pub(crate) fn used(&self, gpu: usize) -> u64 {
        self.lock().used.get(&gpu).copied().unwrap_or(0)
    }

    fn charge(&self, pool: Pool, size: u64) -> Outcome<()> {
        let Some(gpu) = pool.agent.gpu() else { return Ok(()) };
        let mut state = self.lock();
        let used = state.used.entry(gpu).or_default();
        let more = used.checked_add(size).filter(|more| *more <= self.capacity);
        *used = more.ok_or(Status::OUT_OF_RESOURCES)?;
        Ok(())
    }

    fn refund(&self, pool: Pool, size: u64) {
        if let Some(gpu) = pool.agent.gpu() {
            let mut state = self.lock();
            let used = state.used.entry(gpu).or_default();
            *used = used.saturating_sub(size);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HoldingsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HoldingsState {
    fn allocation(&self, address: u64) -> Option<&Allocation> {
        let (_, allocation) = self.allocations.range(..=address).next_back()?;
        (address - allocation.base < allocation.size).then_some(allocation)
    }

    fn allocation_mut(&mut self, address: u64) -> Option<&mut Allocation> {
        let (_, allocation) = self.allocations.range_mut(..=address).next_back()?;
        (address - allocation.base < allocation.size).then_some(allocation)
    }

    /// The registrations at the same address that overlap a range, and the range that they form with it.
    fn around(&self, range: Range<u64>) -> (Vec<u64>, Range<u64>) {
        let mut whole = range;
        let mut gone = Vec::new();
        for part in self.parts(&(0..u64::MAX)) {
            if part.start < whole.end && whole.start < part.end {
                gone.push(part.start);
                whole = whole.start.min(part.start)..whole.end.max(part.end);
            }
        }
        (gone, whole)
    }

    /// The registrations that the locks within a range need, where kernels use the host's addresses:
    /// overlapping locks share one.
    fn parts(&self, within: &Range<u64>) -> Vec<Range<u64>> {
        let locks = self.locks.iter().filter(|locked| locked.how == LockAccess::AtSame);
        let mut ranges: Vec<Range<u64>> =
            locks.map(|locked| locked.host..locked.host + locked.size).collect();
        ranges.retain(|range| within.start <= range.start && range.end <= within.end);
        ranges.sort_by_key(|range| range.start);
        let mut parts: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            match parts.last_mut().filter(|last| range.start < last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => parts.push(range),
            }
        }
        parts
    }
}

impl Allocation {
    /// Whether a size is that of the whole allocation, in bytes or in pages.
    fn is_whole(&self, size: u64) -> bool {
        size == self.size || size == self.size.next_multiple_of(4096)
    }

    /// Whether an agent may access it.
    pub(crate) fn is_open_to(&self, agent: Which) -> bool {
        match agent {
            Which::Cpu => self.pool.agent == Which::Cpu,
            Which::Gpu(gpu) => self.homes >> (gpu & 63) & 1 != 0,
        }
    }
}

impl Locked {
    /// The offset of an address of the host's or of kernels', if it lies inside.
    pub(crate) fn holds(&self, address: u64) -> Option<u64> {
        let offset = |base: u64| Some(address.wrapping_sub(base)).filter(|offset| *offset < self.size);
        offset(self.host).or_else(|| offset(self.device))
    }
}

fn refused(error: &MemoryError) -> Status {
    tracing::error!(target: "windlass::sim", "host memory was not locked: {error}");
    match error {
        MemoryError::OutOfMemory { .. } | MemoryError::Unpinnable { .. } => Status::OUT_OF_RESOURCES,
        _ => Status::INVALID_ARGUMENT,
    }
}
