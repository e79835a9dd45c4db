// SPDX-License-Identifier: MIT OR Apache-2.0
//! Takes and gives back memory on behalf of clients: the map, the ledger and the devices' budgets together.

use std::sync::Arc;

use crate::memory::{Kind, MemoryError};

use super::code::{Code, Outcome};
use super::ledger::{Holding, Origin};
use super::machine::Machine;
use super::pool::Pool;

/// What hipMalloc promises and kernels of vendors rely on.
const ALIGNMENT: u64 = 4096;

/// What a client asks for.
pub(crate) struct Request {
    pub(crate) size: u64,
    pub(crate) origin: Origin,
    pub(crate) managed: bool,
    pub(crate) flags: u32,
    pub(crate) pool: Option<Arc<Pool>>,
    /// The call, for reports.
    pub(crate) call: Arc<str>,
}

/// Allocates. Zero bytes give the null address, as HIP has it.
pub(crate) fn allocate(machine: &Machine, device: usize, request: Request) -> Outcome<u64> {
    let Request { size, origin, managed, flags, pool, call } = request;
    if size == 0 {
        return Ok(0);
    }
    let kind = match origin {
        Origin::Host => Kind::HostPinned,
        _ if managed => Kind::Managed,
        _ => Kind::Device,
    };
    let budget = machine.device(device)?;
    if kind != Kind::HostPinned {
        budget.take(size)?;
    }
    let owner = format!("{call}, device {device}");
    let base = match machine.memory.allocate(size, ALIGNMENT, kind, owner) {
        Ok(base) => base,
        Err(error) => {
            if kind != Kind::HostPinned {
                budget.give_back(size);
            }
            tracing::debug!(target: "windlass::sim", %call, size, %error, "no memory");
            return Err(match error {
                MemoryError::Invalid { .. } => Code::INVALID_VALUE,
                _ => Code::OUT_OF_MEMORY,
            });
        }
    };
    // Whose pools are opened to whom is not kept; pinned and managed memory is everybody's.
    if kind == Kind::Device && origin == Origin::Device {
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

/// Frees what starts at `base`, whoever made it. Whether there was anything.
pub(crate) fn release(machine: &Machine, base: u64, by: Arc<str>) -> bool {
    match machine.ledger.remove(base, |holding| holding.origin != Origin::Registered) {
        Some(holding) => {
            settle(machine, &holding, by);
            true
        }
        None => false,
    }
}

/// Gives back the memory of a holding that was struck out of the ledger, on behalf of a call.
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
