// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allocates and frees memory for clients, in the memory map, the ledger and the devices' budgets together.

use std::sync::Arc;

use super::ledger::{Holding, Origin};
use super::machine::Machine;
use crate::hip::objects::pool::Pool;
use crate::hip::words::code::{Code, Outcome};
use crate::memory::{AllocationKind, MemoryError};

/// The alignment in bytes that hipMalloc promises and kernels of vendors rely on.
const ALIGNMENT: u64 = 4096;

/// `hipDeviceMallocFinegrained` and `hipDeviceMallocUncached`, flags of device memory alone.
const FINE_GRAINED: [u32; 2] = [1, 3];

/// `hipMallocSignalMemory`, a flag of device memory alone.
pub(crate) const SIGNAL_MEMORY: u32 = 2;

/// The parameters of an allocation.
pub(crate) struct Request {
    pub(crate) size: u64,
    pub(crate) origin: Origin,
    pub(crate) managed: bool,
    pub(crate) flags: u32,
    pub(crate) pool: Option<Arc<Pool>>,
    /// The call, for reports.
    pub(crate) call: Arc<str>,
}

/// Allocates memory and returns its address. Zero bytes give the null address, as in HIP.
pub(crate) fn allocate(machine: &Machine, device: usize, request: Request) -> Outcome<u64> {
    let Request { size, origin, managed, flags, pool, call } = request;
    if size == 0 {
        return Ok(0);
    }
    let kind = match origin {
        Origin::Host => AllocationKind::HostPinned,
        _ if managed => AllocationKind::Managed,
        // AMD's HIP puts signal memory where the host can reach it.
        Origin::Device if flags == SIGNAL_MEMORY => AllocationKind::HostPinned,
        Origin::Device if FINE_GRAINED.contains(&flags) => AllocationKind::FineGrained,
        _ => AllocationKind::Device,
    };
    let budget = machine.device(device)?;
    if origin != Origin::Host {
        budget.take(size)?;
    }
    let owner = format!("{call}, device {device}");
    let base = match machine.memory.allocate(size, ALIGNMENT, kind, owner) {
        Ok(base) => base,
        Err(error) => {
            if origin != Origin::Host {
                budget.give_back(size);
            }
            tracing::debug!(target: "windlass::sim", %call, size, %error, "no memory");
            return Err(match error {
                MemoryError::Invalid { .. } => Code::INVALID_VALUE,
                _ => Code::OUT_OF_MEMORY,
            });
        }
    };
    // Access to pools is not tracked; every device may use pinned and managed memory.
    if matches!(kind, AllocationKind::Device | AllocationKind::FineGrained) && origin == Origin::Device {
        machine.memory.set_homes(base, 1 << (device & 63));
    }
    if let Some(pool) = &pool {
        pool.grow(size);
    }
    machine.ledger.enter(Holding {
        base,
        device_base: base,
        size,
        device,
        origin,
        managed,
        flags,
        pool,
        leaves: false,
    });
    Ok(base)
}

/// Frees the allocation that starts at `base`, unless it is registered or mapped memory. Whether there was one.
pub(crate) fn release(machine: &Machine, base: u64, by: Arc<str>) -> bool {
    let own = |holding: &Holding| !matches!(holding.origin, Origin::Registered | Origin::Mapped);
    match machine.ledger.remove(base, own) {
        Some(holding) => {
            settle(machine, &holding, by);
            true
        }
        None => false,
    }
}

/// Frees the memory of a holding that was removed from the ledger, on behalf of a call.
pub(crate) fn settle(machine: &Machine, holding: &Holding, by: Arc<str>) {
    let freed = match holding.origin {
        Origin::Registered if holding.device_base != holding.base => {
            machine.memory.unregister_host_apart(holding.device_base)
        }
        Origin::Registered => machine.memory.unregister_host(holding.base),
        _ => machine.memory.free_as(holding.base, Some(by)),
    };
    if let Err(error) = freed {
        tracing::error!(target: "windlass::sim", %error, "ledger and memory disagree");
    }
    if matches!(holding.origin, Origin::Device | Origin::Pool)
        && let Ok(device) = machine.device(holding.device)
    {
        device.give_back(holding.size);
    }
    if let Some(pool) = &holding.pool {
        pool.shrink(holding.size);
    }
}
