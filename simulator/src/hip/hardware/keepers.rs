// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pools that may keep memory of a device, for the moment at which it runs short.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::hip::objects::pool::Pool;

/// Pools that have taken memory, by their addresses.
#[derive(Debug, Default)]
pub(crate) struct Keepers(Mutex<BTreeMap<usize, Weak<Pool>>>);

impl Keepers {
    /// Notes a pool that has taken memory.
    pub(crate) fn enter(&self, pool: &Arc<Pool>) {
        let mut pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = pools.insert(Arc::as_ptr(pool) as usize, Arc::downgrade(pool));
        // Pools that are gone are forgotten when there may be many of them.
        if before.is_none() && pools.len().is_power_of_two() {
            pools.retain(|_, pool| pool.strong_count() > 0);
        }
    }

    /// The pools of a device that have taken memory.
    pub(crate) fn of_device(&self, device: usize) -> Vec<Arc<Pool>> {
        let pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pools.values().filter_map(Weak::upgrade).filter(|pool| pool.device == device).collect()
    }
}
