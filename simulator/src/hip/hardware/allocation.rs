// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allocates and frees memory for clients, in the memory map, the ledger and the devices' budgets together.

use std::sync::Arc;

use super::device::Device;
use super::ledger::{Holding, Origin};
use super::machine::Machine;
use crate::hip::objects::pool::{Pool, Reached};
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
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
    /// The pool, and the stream that wants the memory.
    pub(crate) pool: Option<(Arc<Pool>, u64)>,
    /// The call, for reports.
    pub(crate) call: Arc<str>,
}

/// Allocates memory and returns its address. Zero bytes give the null address, as in HIP.
pub(crate) fn allocate(machine: &Machine, device: usize, request: Request) -> Outcome<u64> {
    if request.size == 0 {
        return Ok(0);
    }
    machine.device(device)?.set_active();
    if let Some(base) = reuse(machine, &request) {
        return Ok(base);
    }
    let Request { size, origin, managed, flags, pool, call } = request;
    let pool = pool.map(|(pool, _)| pool);
    let kind = match origin {
        Origin::Host => AllocationKind::HostPinned,
        _ if managed => AllocationKind::Managed,
        // AMD's HIP puts signal memory where the host can reach it.
        Origin::Device if flags == SIGNAL_MEMORY => AllocationKind::HostPinned,
        Origin::Device if FINE_GRAINED.contains(&flags) => AllocationKind::FineGrained,
        _ => AllocationKind::Device,
    };
    let budget = machine.device(device)?;
    let grows = |pool: &Arc<Pool>| {
        // Memory that the pool keeps may be all that fills it.
        pool.grow(size) || {
            release_idle(machine, pool, 0);
            pool.grow(size)
        }
    };
    if let Some(pool) = pool.as_ref().filter(|pool| !grows(pool)) {
        explain(match pool.max_size() {
            0 => format!("{call}: {size} bytes and those of the pool are more than 64 bits count"),
            most => {
                format!("{call}: the pool may take {most} bytes, and with {size} more it would have more")
            }
        });
        return Err(Code::OUT_OF_MEMORY);
    }
    let not_taken = |code| {
        if let Some(pool) = &pool {
            pool.shrink(size);
        }
        code
    };
    // Launches of graphs take the memory of their nodes from the device.
    let counts = origin != Origin::Host && !pool.as_ref().is_some_and(|pool| pool.is_private());
    if counts {
        take(machine, budget, size).map_err(not_taken)?;
    }
    let owner = format!("{call}, device {device}");
    let base = match machine.memory.allocate(size, ALIGNMENT, kind, owner) {
        Ok(base) => base,
        Err(error) => {
            if counts {
                budget.give_back(size);
            }
            tracing::debug!(target: "windlass::sim", %call, size, %error, "no memory");
            return Err(not_taken(match error {
                MemoryError::Invalid { .. } => Code::INVALID_VALUE,
                _ => Code::OUT_OF_MEMORY,
            }));
        }
    };
    if let Some(pool) = &pool {
        pool.grown();
    }
    // Access to pools is not tracked; every device may use pinned and managed memory.
    if matches!(kind, AllocationKind::Device | AllocationKind::FineGrained) && origin == Origin::Device {
        machine.memory.set_homes(base, 1 << (device & 63));
    }
    // A node of a graph needs its memory at the same address again.
    if let Some(pool) = pool.as_ref().filter(|pool| !pool.is_private()) {
        machine.keepers.enter(pool);
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

/// Takes bytes of a device. Memory that its pools keep may be all that is missing.
///
/// # Errors
/// `OUT_OF_MEMORY`.
pub(crate) fn take(machine: &Machine, device: &Device, size: u64) -> Outcome<()> {
    for pool in machine.keepers.of_device(device.index) {
        if device.take(size).is_ok() {
            return Ok(());
        }
        release_idle(machine, &pool, 0);
    }
    device.take(size)
}

/// Takes memory that the pool of a request keeps, if it fits.
pub(crate) fn reuse(machine: &Machine, request: &Request) -> Option<u64> {
    let (pool, stream) = request.pool.as_ref()?;
    pool.take(request.size, *stream, |base, is_idle| {
        let owner: Arc<str> = format!("{}, device {}", request.call, pool.device).into();
        if is_idle {
            machine.memory.revive(base, owner);
        } else {
            machine.memory.set_owner(base, owner);
        }
        // It replaces the holding that a stream was about to free.
        machine.ledger.enter(Holding {
            base,
            device_base: base,
            size: request.size,
            device: pool.device,
            origin: request.origin,
            managed: request.managed,
            flags: request.flags,
            pool: Some(pool.clone()),
            leaves: false,
        });
        base
    })
}

/// A stream has reached the free of memory of a pool, on behalf of a call.
pub(crate) fn reach_free(machine: &Machine, pool: &Pool, base: u64, ticket: u64, by: Arc<str>) {
    pool.reach(ticket, |reached| match reached {
        // The work of the new owner begins here.
        Reached::Taken => machine.memory.renew(base),
        Reached::Kept => {
            machine.ledger.remove(base, |_| true);
            machine.memory.retire(base, by);
        }
        Reached::Left => {
            if machine.ledger.remove(base, |_| true).is_some() {
                give_up(machine, pool, base, Some(by));
            }
        }
    });
}

/// Gives back memory that a pool keeps, until at most `keep` bytes are left.
pub(crate) fn release_idle(machine: &Machine, pool: &Pool, keep: u64) {
    pool.release(keep, |base, size| {
        machine.memory.discard(base);
        give_back(machine, pool, size);
    });
}

/// Returns the size of memory of a pool to the device's budget. The device keeps that of graphs.
fn give_back(machine: &Machine, pool: &Pool, size: u64) {
    match machine.device(pool.device) {
        Ok(device) if !pool.is_private() => device.give_back(size),
        _ => pool.note_free(size),
    }
}

/// Frees memory, and returns its size to the device's budget.
fn give_up(machine: &Machine, pool: &Pool, base: u64, by: Option<Arc<str>>) {
    let size = machine.memory.lookup(base).map_or(0, |info| info.size);
    if let Err(error) = machine.memory.free_as(base, by) {
        tracing::error!(target: "windlass::sim", %error, "ledger and memory disagree");
    }
    give_back(machine, pool, size);
}

/// Notes that work will free the memory of a node of a graph. Returns the number of the free; `None` if the memory is free.
pub(crate) fn park(machine: &Machine, pool: &Arc<Pool>, base: u64) -> Option<u64> {
    let own = |holding: &Holding| holding.pool.as_ref().is_some_and(|other| Arc::ptr_eq(other, pool));
    let holding = machine.ledger.send_off(base, own).then(|| machine.ledger.find(base)).flatten()?;
    Some(pool.park(base, holding.size, 0))
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
    if holding.origin == Origin::Imported {
        // Its pool and its device did not count it.
        machine.imports.end(&machine.memory, holding.base, by);
        return;
    }
    let keeps = |pool: &&Arc<Pool>| !pool.is_closed() && (pool.is_private() || pool.release_threshold() > 0);
    if let Some(pool) = holding.pool.as_ref().filter(keeps) {
        let ticket = pool.park(holding.base, holding.size, 0);
        // The ledger has it no more. Whoever takes the memory enters it again, and the pool may be closed meanwhile.
        pool.reach(ticket, |reached| match reached {
            Reached::Taken => machine.memory.renew(holding.base),
            Reached::Kept => machine.memory.retire(holding.base, by),
            Reached::Left => give_up(machine, pool, holding.base, Some(by)),
        });
        if !pool.is_private() {
            // The caller has synchronised.
            release_idle(machine, pool, pool.release_threshold());
        }
        return;
    }
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
    if let Some(pool) = &holding.pool {
        give_back(machine, pool, holding.size);
        pool.shrink(holding.size);
    } else if matches!(holding.origin, Origin::Device | Origin::Pool)
        && let Ok(device) = machine.device(holding.device)
    {
        device.give_back(holding.size);
    }
}
