// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allocations that have ended and may come back at their addresses.

use super::allocation::AllocationKind;
use super::shadow::Shadow;
use super::{Memory, lock};
use std::sync::Arc;

impl Memory {
    /// Ends the allocation that starts at `address` for kernels and copies, and keeps its addresses for
    /// [`revive`](Self::revive) or [`discard`](Self::discard). Messages about uses meanwhile name `by`.
    pub fn retire(&self, address: u64, by: Arc<str>) {
        match self.forget(address, Some(by), |kind| kind == AllocationKind::Device) {
            Ok(record) => {
                let mut map = self.write_map();
                // It takes its bytes as before.
                map.used = map.used.saturating_add(record.info.size);
                map.retired.insert(address, record);
            }
            Err(error) => tracing::error!(target: "windlass::sim", %error, "no allocation is retired"),
        }
    }

    /// Brings an allocation back that was retired. Its bytes are as they were.
    pub fn revive(&self, address: u64, owner: Arc<str>) {
        let mut map = self.write_map();
        let Some(mut record) = map.retired.remove(&address) else { return };
        record.info.owner = owner;
        // The new owner may not read bytes of the earlier one.
        record.shadow = record.shadow.map(|_| Arc::new(Shadow::new(record.info.size)));
        map.freed.remove(&address);
        map.live.insert(address, record);
    }

    /// Forgets which bytes of an allocation were written, since it has another owner.
    pub fn renew(&self, address: u64) {
        if let Some(record) = self.write_map().live.get_mut(&address) {
            record.shadow = record.shadow.take().map(|_| Arc::new(Shadow::new(record.info.size)));
        }
    }

    /// Frees an allocation that was retired.
    pub fn discard(&self, address: u64) {
        let Some(record) = self.write_map().retired.remove(&address) else { return };
        {
            let mut map = self.write_map();
            map.used = map.used.saturating_sub(record.info.size);
        }
        self.end_export(address, record.info.size);
        let reusable = lock(&self.device).release(address, record.info.size);
        self.forget_freed(reusable);
    }

    /// Names another owner in messages about an allocation.
    pub fn set_owner(&self, address: u64, owner: Arc<str>) {
        if let Some(record) = self.write_map().live.get_mut(&address) {
            record.info.owner = owner;
        }
    }
}
