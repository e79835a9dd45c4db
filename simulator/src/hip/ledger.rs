// SPDX-License-Identifier: MIT OR Apache-2.0
//! What HIP knows about each allocation beyond its address and size.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::pool::Pool;

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
}

/// One allocation.
#[derive(Clone, Debug)]
pub(crate) struct Holding {
    pub(crate) base: u64,
    /// Where kernels have it: the same address, but for registered memory under `lock=apart`.
    pub(crate) device_base: u64,
    pub(crate) size: u64,
    pub(crate) device: usize,
    pub(crate) origin: Origin,
    pub(crate) managed: bool,
    /// The flags given to the call that made it.
    pub(crate) flags: u32,
    pub(crate) pool: Option<Arc<Pool>>,
    /// A stream holds the work that frees it. Work queued before that may use it, and nothing may free it again.
    pub(crate) leaves: bool,
}

impl Holding {
    /// Whether the host may follow the address.
    pub(crate) fn is_host_accessible(&self) -> bool {
        self.managed || matches!(self.origin, Origin::Host | Origin::Registered)
    }

    /// How far into it an address is, as the host or as kernels see it.
    fn holds(&self, address: u64) -> Option<u64> {
        // An allocation of no bytes still owns its address.
        let offset = |base: u64| address.checked_sub(base).filter(|offset| *offset < self.size.max(1));
        offset(self.base).or_else(|| offset(self.device_base))
    }

    /// Where kernels have the byte at an address of either side.
    pub(crate) fn device_address(&self, address: u64) -> u64 {
        self.device_base + self.holds(address).unwrap_or(0)
    }

    /// Where the host has it.
    pub(crate) fn host_address(&self, address: u64) -> u64 {
        self.base + self.holds(address).unwrap_or(0)
    }

    /// The first address, on the side of another one.
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
    /// The bases of those that kernels have elsewhere, by where these have them.
    apart: BTreeMap<u64, u64>,
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
        holdings.by_base.insert(holding.base, holding);
    }

    /// The allocation that an address lies in, as the host or as kernels see it.
    pub(crate) fn find(&self, address: u64) -> Option<Holding> {
        self.lock().find(address).cloned()
    }

    /// The address that kernels have for one that the host has. Others stay.
    pub(crate) fn device_address(&self, address: u64) -> u64 {
        let holdings = self.lock();
        // Nothing has two addresses, mostly.
        let holding = holdings.find(address).filter(|_| !holdings.apart.is_empty());
        holding.map_or(address, |holding| holding.device_address(address))
    }

    /// Whether any byte of a range is known.
    pub(crate) fn overlaps(&self, base: u64, size: u64) -> bool {
        let holdings = self.lock();
        let before = holdings.by_base.range(..base.saturating_add(size.max(1))).next_back();
        before.is_some_and(|(_, holding)| holding.base >= base || base - holding.base < holding.size.max(1))
    }

    /// Notes that the allocation that starts at `base` is about to be freed in a stream, if `condition` holds for it and
    /// nothing frees it already. Whether that was so.
    pub(crate) fn send_off(&self, base: u64, condition: impl Fn(&Holding) -> bool) -> bool {
        let mut holdings = self.lock();
        let holding = holdings.by_base.get_mut(&base).filter(|holding| !holding.leaves && condition(holding));
        holding.map(|holding| holding.leaves = true).is_some()
    }

    /// Takes [`send_off`](Self::send_off) back.
    pub(crate) fn keep(&self, base: u64) {
        if let Some(holding) = self.lock().by_base.get_mut(&base) {
            holding.leaves = false;
        }
    }

    /// Strikes out the allocation that starts at `base`, if `condition` holds for it.
    pub(crate) fn remove(&self, base: u64, condition: impl Fn(&Holding) -> bool) -> Option<Holding> {
        let mut holdings = self.lock();
        if !holdings.by_base.get(&base).is_some_and(condition) {
            return None;
        }
        let gone = holdings.by_base.remove(&base)?;
        holdings.apart.remove(&gone.device_base);
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
