// SPDX-License-Identifier: MIT OR Apache-2.0
//! The allocations that clients asked for, with the facts that HIP keeps of each.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::allocation::SIGNAL_MEMORY;
use super::hints::Hints;
use crate::hip::objects::pool::Pool;

/// The call family that made an allocation, and so the one that may free it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// hipMalloc and its kin, hipMallocManaged.
    Device,
    /// hipMallocAsync and hipMallocFromPoolAsync.
    Pool,
    /// hipHostMalloc and its kin.
    Host,
    /// hipHostRegister.
    Registered,
    /// hipMemMap.
    Mapped,
    /// Memory of another process: hipIpcOpenMemHandle, and hipMemPoolImportPointer with its pool.
    Imported,
}

/// One allocation.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    pub(crate) base: u64,
    /// The address for kernels: the same, except for registered memory under `lock=apart`.
    pub(crate) device_base: u64,
    pub(crate) size: u64,
    pub(crate) device: usize,
    pub(crate) origin: Origin,
    pub(crate) managed: bool,
    /// The flags given to the call that made it.
    pub(crate) flags: u32,
    pub(crate) pool: Option<Arc<Pool>>,
    /// A stream holds work that frees the allocation. Earlier work may use it, and no call may free it again.
    pub(crate) leaves: bool,
}

impl Holding {
    /// Whether the host may access the memory.
    pub(crate) fn is_host_accessible(&self) -> bool {
        self.managed || matches!(self.origin, Origin::Host | Origin::Registered)
    }

    /// Whether it is memory of signals, which AMD's HIP has in host memory.
    pub(crate) fn is_signal(&self) -> bool {
        self.origin == Origin::Device && !self.managed && self.flags == SIGNAL_MEMORY
    }

    /// The offset of an address of the host or of kernels in the allocation.
    fn holds(&self, address: u64) -> Option<u64> {
        // An allocation of no bytes still owns its address.
        let offset = |base: u64| address.checked_sub(base).filter(|offset| *offset < self.size.max(1));
        offset(self.base).or_else(|| offset(self.device_base))
    }

    /// The address that kernels have for an address of either side.
    pub(crate) fn device_address(&self, address: u64) -> u64 {
        self.device_base + self.holds(address).unwrap_or(0)
    }

    /// The address that the host has for an address of either side.
    pub(crate) fn host_address(&self, address: u64) -> u64 {
        self.base + self.holds(address).unwrap_or(0)
    }

    /// The first address of the allocation, on the side of another address.
    pub(crate) fn start_seen_from(&self, address: u64) -> u64 {
        address - self.holds(address).unwrap_or(0)
    }
}

/// All allocations of a simulator that clients asked for.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<Holdings>);

#[derive(Debug, Default)]
struct Holdings {
    by_base: BTreeMap<u64, Holding>,
    /// For allocations with two addresses, the base by the base for kernels.
    apart: BTreeMap<u64, u64>,
    /// The hints that clients gave for an allocation, by its base.
    hints: BTreeMap<u64, Hints>,
}

impl Holdings {
    fn find(&self, address: u64) -> Option<&Holding> {
        let host = self.by_base.range(..=address).next_back().map(|(_, holding)| holding);
        let apart = self.apart.range(..=address).next_back().and_then(|(_, base)| self.by_base.get(base));
        host.into_iter().chain(apart).find(|holding| holding.holds(address).is_some())
    }
}

impl Ledger {
    pub(crate) fn enter(&self, holding: Holding) {
        let mut holdings = self.lock();
        if holding.device_base != holding.base {
            holdings.apart.insert(holding.device_base, holding.base);
        }
        holdings.hints.remove(&holding.base);
        holdings.by_base.insert(holding.base, holding);
    }

    /// Works on the hints for the allocation that holds an address; on those for nothing if there is none.
    pub(crate) fn hints<T>(&self, address: u64, work: impl FnOnce(&mut Hints) -> T) -> T {
        let mut holdings = self.lock();
        let Some(base) = holdings.find(address).map(|holding| holding.base) else {
            return work(&mut Hints::default());
        };
        work(holdings.hints.entry(base).or_default())
    }

    /// The allocation that holds an address of the host or of kernels.
    pub(crate) fn find(&self, address: u64) -> Option<Holding> {
        self.lock().find(address).cloned()
    }

    /// The address that kernels have for an address of the host. Other addresses stay.
    pub(crate) fn device_address(&self, address: u64) -> u64 {
        let holdings = self.lock();
        // As a rule no allocation has two addresses.
        let holding = holdings.find(address).filter(|_| !holdings.apart.is_empty());
        holding.map_or(address, |holding| holding.device_address(address))
    }

    /// Whether any byte of a range belongs to an allocation.
    pub(crate) fn overlaps(&self, base: u64, size: u64) -> bool {
        let holdings = self.lock();
        let before = holdings.by_base.range(..base.saturating_add(size.max(1))).next_back();
        before.is_some_and(|(_, holding)| holding.base >= base || base - holding.base < holding.size.max(1))
    }

    /// Notes that a stream is about to free the allocation that starts at `base`, if `condition` holds for it and no stream
    /// frees it already. Whether it was noted.
    pub(crate) fn send_off(&self, base: u64, condition: impl Fn(&Holding) -> bool) -> bool {
        let mut holdings = self.lock();
        let holding = holdings.by_base.get_mut(&base).filter(|holding| !holding.leaves && condition(holding));
        holding.map(|holding| holding.leaves = true).is_some()
    }

    /// Undoes [`send_off`](Self::send_off).
    pub(crate) fn keep(&self, base: u64) {
        if let Some(holding) = self.lock().by_base.get_mut(&base) {
            holding.leaves = false;
        }
    }

    /// Removes the allocation that starts at `base`, if `condition` holds for it.
    pub(crate) fn remove(&self, base: u64, condition: impl Fn(&Holding) -> bool) -> Option<Holding> {
        let mut holdings = self.lock();
        if !holdings.by_base.get(&base).is_some_and(condition) {
            return None;
        }
        let gone = holdings.by_base.remove(&base)?;
        holdings.apart.remove(&gone.device_base);
        holdings.hints.remove(&base);
        Some(gone)
    }

    /// The allocations of one device.
    pub(crate) fn of_device(&self, device: usize) -> Vec<Holding> {
        self.lock().by_base.values().filter(|holding| holding.device == device).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Holdings> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
