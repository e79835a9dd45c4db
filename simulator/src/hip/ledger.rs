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
    pub(crate) size: u64,
    pub(crate) device: usize,
    pub(crate) origin: Origin,
    pub(crate) managed: bool,
    /// The flags given to the call that made it.
    pub(crate) flags: u32,
    pub(crate) pool: Option<Arc<Pool>>,
}

impl Holding {
    /// Whether the host may follow the address.
    pub(crate) fn is_host_accessible(&self) -> bool {
        self.managed || matches!(self.origin, Origin::Host | Origin::Registered)
    }
}

/// All allocations of a simulator that clients asked for.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    holdings: Mutex<BTreeMap<u64, Holding>>,
}

impl Ledger {
    pub(crate) fn enter(&self, holding: Holding) {
        self.lock().insert(holding.base, holding);
    }

    /// The allocation that an address lies in.
    pub(crate) fn find(&self, address: u64) -> Option<Holding> {
        let holdings = self.lock();
        let (_, holding) = holdings.range(..=address).next_back()?;
        // An allocation of no bytes still owns its address.
        (address - holding.base < holding.size.max(1)).then(|| holding.clone())
    }

    /// Whether any byte of a range is known.
    pub(crate) fn overlaps(&self, base: u64, size: u64) -> bool {
        let holdings = self.lock();
        let before = holdings.range(..base.saturating_add(size.max(1))).next_back();
        before.is_some_and(|(_, holding)| holding.base >= base || base - holding.base < holding.size.max(1))
    }

    /// Strikes out the allocation that starts at `base`, if `condition` holds for it.
    pub(crate) fn remove(&self, base: u64, condition: impl Fn(&Holding) -> bool) -> Option<Holding> {
        let mut holdings = self.lock();
        if !holdings.get(&base).is_some_and(condition) {
            return None;
        }
        holdings.remove(&base)
    }

    /// The allocations of one device.
    pub(crate) fn of_device(&self, device: usize) -> Vec<Holding> {
        self.lock().values().filter(|holding| holding.device == device).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Holding>> {
        self.holdings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
