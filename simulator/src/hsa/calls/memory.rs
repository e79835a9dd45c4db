// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory: pools and regions, allocation, access and locking.

use std::ffi::{c_int, c_void};

use crate::hsa::abi::{Agent, DeallocationCallback, LinkInfo, MemoryPool, Region};
use crate::hsa::agent::Which;
use crate::hsa::call::{Call, hsa};
use crate::hsa::holding::Watcher;
use crate::hsa::info::Info;
use crate::hsa::pool::{Grain, Pool};
use crate::hsa::status::{Outcome, Status};

pub unsafe extern "C" fn hsa_amd_memory_pool_get_info(
    pool: MemoryPool,
    attribute: u32,
    value: *mut c_void,
) -> Status {
    hsa!(hsa_amd_memory_pool_get_info, |call| {
        let pool = call.runtime.pool(pool)?;
        call.runtime.pool_info(pool, attribute)?.put(call, value)
    })
}

pub unsafe extern "C" fn hsa_region_get_info(region: Region, attribute: u32, value: *mut c_void) -> Status {
    hsa!(hsa_region_get_info, |call| {
        let pool = region_pool(call, region)?;
        let info = match attribute {
            4 => call.runtime.pool_info(pool, 16)?,
            8 => Info::U32(0),
            // Whether the host can access it, its address, and the width and clock of its bus.
            0xa000 => Info::Bool(pool.agent == Which::Cpu),
            0xa001 => Info::U64(0),
            0xa002 | 0xa003 => Info::U32(0),
            0..=7 => call.runtime.pool_info(pool, attribute)?,
            _ => return Err(Status::INVALID_ARGUMENT),
        };
        info.put(call, value)
    })
}

fn region_pool(call: &Call, region: Region) -> Outcome<Pool> {
    call.runtime.pool(MemoryPool { handle: region.handle }).map_err(|_| Status::INVALID_REGION)
}

pub unsafe extern "C" fn hsa_amd_agent_memory_pool_get_info(
    agent: Agent,
    pool: MemoryPool,
    attribute: u32,
    value: *mut c_void,
) -> Status {
    hsa!(hsa_amd_agent_memory_pool_get_info, |call| {
        let (agent, pool) = (call.runtime.agent(agent)?, call.runtime.pool(pool)?);
        let hops = u32::from(agent != pool.agent);
        match attribute {
            0 => call.put(value.cast(), pool.access(agent)),
            1 => call.put(value.cast(), hops),
            2 if hops == 0 => Ok(()),
            2 => call.put(value.cast(), link(agent, pool.agent)),
            _ => Err(Status::INVALID_ARGUMENT),
        }
    })
}

/// The link between two agents. The simulation has no timing, so latency and bandwidth are zero.
fn link(from: Which, to: Which) -> LinkInfo {
    const PCIE: u32 = 2;
    const XGMI: u32 = 4;
    let between_gpus = from.gpu().is_some() && to.gpu().is_some();
    LinkInfo {
        min_latency: 0,
        max_latency: 0,
        min_bandwidth: 0,
        max_bandwidth: 0,
        atomic_support_32bit: true,
        atomic_support_64bit: true,
        coherent_support: true,
        link_type: if between_gpus { XGMI } else { PCIE },
        numa_distance: if between_gpus { 15 } else { 20 },
    }
}

pub unsafe extern "C" fn hsa_amd_memory_pool_allocate(
    pool: MemoryPool,
    size: usize,
    _flags: u32,
    pointer: *mut *mut c_void,
) -> Status {
    hsa!(hsa_amd_memory_pool_allocate, |call| {
        let pool = call.runtime.pool(pool)?;
        allocate(call, pool, size, pointer)
    })
}

pub unsafe extern "C" fn hsa_memory_allocate(
    region: Region,
    size: usize,
    pointer: *mut *mut c_void,
) -> Status {
    hsa!(hsa_memory_allocate, |call| {
        let pool = region_pool(call, region)?;
        allocate(call, pool, size, pointer)
    })
}

fn allocate(call: &Call, pool: Pool, size: usize, pointer: *mut *mut c_void) -> Outcome<()> {
    if pointer.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    let base = call.runtime.holdings.allocate(pool, size as u64, call.describe())?;
    call.put(pointer, base as *mut c_void)
}

pub unsafe extern "C" fn hsa_amd_memory_pool_free(pointer: *mut c_void) -> Status {
    hsa!(hsa_amd_memory_pool_free, |call| free(call, pointer))
}

pub unsafe extern "C" fn hsa_memory_free(pointer: *mut c_void) -> Status {
    hsa!(hsa_memory_free, |call| free(call, pointer))
}

fn free(call: &Call, pointer: *mut c_void) -> Outcome<()> {
    if pointer.is_null() {
        return Ok(());
    }
    for watcher in call.runtime.holdings.free(pointer as u64, call.describe())? {
        let (address, data) = (watcher.address as *mut c_void, watcher.data as *mut c_void);
        // SAFETY: the client gave function and data for this call. No lock is held.
        call.runtime.scheduler.outside(|| unsafe { (watcher.callback)(address, data) });
    }
    Ok(())
}

pub unsafe extern "C" fn hsa_amd_register_deallocation_callback(
    pointer: *mut c_void,
    callback: Option<DeallocationCallback>,
    data: *mut c_void,
) -> Status {
    hsa!(hsa_amd_register_deallocation_callback, |call| {
        let callback = callback.filter(|_| !pointer.is_null()).ok_or(Status::INVALID_ARGUMENT)?;
        call.runtime.holdings.watch(Watcher { address: pointer as u64, callback, data: data as u64 })
    })
}

pub unsafe extern "C" fn hsa_amd_deregister_deallocation_callback(
    pointer: *mut c_void,
    callback: Option<DeallocationCallback>,
) -> Status {
    hsa!(hsa_amd_deregister_deallocation_callback, |call| {
        let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
        call.runtime.holdings.unwatch(pointer as u64, callback)
    })
}

pub unsafe extern "C" fn hsa_amd_agents_allow_access(
    count: u32,
    agents: *const Agent,
    flags: *const u32,
    pointer: *const c_void,
) -> Status {
    hsa!(hsa_amd_agents_allow_access, |call| {
        let agents = agents_of(call, agents, count)?;
        // The flags are reserved.
        if agents.is_empty() || !flags.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        call.runtime.holdings.allow(pointer as u64, &agents)
    })
}

/// The agents of a list.
pub(super) fn agents_of(call: &Call, agents: *const Agent, count: u32) -> Outcome<Vec<Which>> {
    call.list(agents, count)?.into_iter().map(|agent| call.runtime.agent(agent)).collect()
}

pub unsafe extern "C" fn hsa_amd_memory_lock(
    host: *mut c_void,
    size: usize,
    agents: *mut Agent,
    count: c_int,
    pointer: *mut *mut c_void,
) -> Status {
    hsa!(hsa_amd_memory_lock, |call| lock(call, host, size, (agents, count), pointer))
}

pub unsafe extern "C" fn hsa_amd_memory_lock_to_pool(
    host: *mut c_void,
    size: usize,
    agents: *mut Agent,
    count: c_int,
    pool: MemoryPool,
    _flags: u32,
    pointer: *mut *mut c_void,
) -> Status {
    hsa!(hsa_amd_memory_lock_to_pool, |call| {
        let pool = call.runtime.pool(pool)?;
        if pool.agent != Which::Cpu {
            return Err(Status::INVALID_MEMORY_POOL);
        }
        lock(call, host, size, (agents, count), pointer)
    })
}

fn lock(
    call: &Call,
    host: *mut c_void,
    size: usize,
    (agents, count): (*mut Agent, c_int),
    pointer: *mut *mut c_void,
) -> Outcome<()> {
    // An empty list means all agents.
    if !agents.is_null() || count > 0 {
        let count = u32::try_from(count).map_err(|_| Status::INVALID_ARGUMENT)?;
        agents_of(call, agents, count)?;
    }
    if pointer.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    // SAFETY: the function's caller guarantees the memory until it unlocks it.
    let device = unsafe { call.runtime.holdings.lock_host(host as u64, size as u64, call.describe()) }?;
    call.put(pointer, device as *mut c_void)
}

pub unsafe extern "C" fn hsa_amd_memory_unlock(host: *mut c_void) -> Status {
    hsa!(hsa_amd_memory_unlock, |call| call.runtime.holdings.unlock(host as u64))
}

pub unsafe extern "C" fn hsa_memory_register(pointer: *mut c_void, size: usize) -> Status {
    // ROCr assumes that agents can read host memory, and does nothing either.
    hsa!(hsa_memory_register, |_call| if pointer.is_null() && size != 0 {
        Err(Status::INVALID_ARGUMENT)
    } else {
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_memory_deregister(_pointer: *mut c_void, _size: usize) -> Status {
    hsa!(hsa_memory_deregister, |_call| Ok(()))
}

pub unsafe extern "C" fn hsa_memory_assign_agent(pointer: *mut c_void, agent: Agent, access: u32) -> Status {
    hsa!(hsa_memory_assign_agent, |call| {
        call.runtime.agent(agent)?;
        if pointer.is_null() || !(1..=3).contains(&access) {
            return Err(Status::INVALID_ARGUMENT);
        }
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_coherency_get_type(agent: Agent, kind: *mut u32) -> Status {
    hsa!(hsa_amd_coherency_get_type, |call| {
        call.runtime.gpu(agent)?;
        call.put(kind, 0)
    })
}

pub unsafe extern "C" fn hsa_amd_coherency_set_type(agent: Agent, kind: u32) -> Status {
    hsa!(hsa_amd_coherency_set_type, |call| {
        call.runtime.gpu(agent)?;
        // Memory is coherent either way.
        if kind > 1 { Err(Status::INVALID_ARGUMENT) } else { Ok(()) }
    })
}

pub unsafe extern "C" fn hsa_amd_memory_pool_can_migrate(
    from: MemoryPool,
    to: MemoryPool,
    result: *mut bool,
) -> Status {
    hsa!(hsa_amd_memory_pool_can_migrate, |call| {
        call.runtime.pool(from)?;
        call.runtime.pool(to)?;
        call.put(result, false)
    })
}

pub unsafe extern "C" fn hsa_amd_memory_migrate(
    pointer: *const c_void,
    pool: MemoryPool,
    _flags: u32,
) -> Status {
    hsa!(hsa_amd_memory_migrate, |call| {
        let pool = call.runtime.pool(pool)?;
        if pointer.is_null() || pool.grain == Grain::Group {
            return Err(Status::INVALID_ARGUMENT);
        }
        Err(Status::OUT_OF_RESOURCES)
    })
}
