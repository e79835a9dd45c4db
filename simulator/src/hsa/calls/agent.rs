// SPDX-License-Identifier: MIT OR Apache-2.0
//! Agents, their instruction sets, their caches and their memory pools.

use std::ffi::{c_char, c_void};
use std::sync::PoisonError;

use crate::hsa::abi::{
    Agent, Cache, Isa, OnAgent, OnCache, OnIsa, OnPool, OnRegion, OnWavefront, Region, Wavefront,
};
use crate::hsa::agent::{Which, isa, isa_name};
use crate::hsa::cache;
use crate::hsa::call::{Call, hsa};
use crate::hsa::info::Info;
use crate::hsa::pool::{Grain, Pool};
use crate::hsa::status::{Outcome, Status};
use windlass_simulated_gpu::Part;

use super::{each, text};

pub unsafe extern "C" fn hsa_iterate_agents(callback: Option<OnAgent>, data: *mut c_void) -> Status {
    hsa!(hsa_iterate_agents, |call| {
        let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
        // SAFETY: the caller gave function and data for these calls.
        each(call, call.runtime.agents(), |agent| unsafe { callback(agent.handle(), data) })
    })
}

pub unsafe extern "C" fn hsa_agent_get_info(agent: Agent, attribute: u32, value: *mut c_void) -> Status {
    hsa!(hsa_agent_get_info, |call| {
        let which = call.runtime.agent(agent)?;
        call.runtime.agent_info(which, attribute)?.put(call, value)
    })
}

pub unsafe extern "C" fn hsa_agent_get_exception_policies(
    agent: Agent,
    profile: u32,
    mask: *mut u16,
) -> Status {
    hsa!(hsa_agent_get_exception_policies, |call| {
        call.runtime.agent(agent)?;
        if profile > 1 {
            return Err(Status::INVALID_ARGUMENT);
        }
        call.put(mask, 0)
    })
}

pub unsafe extern "C" fn hsa_agent_extension_supported(
    _extension: u16,
    agent: Agent,
    _major: u16,
    _minor: u16,
    result: *mut bool,
) -> Status {
    hsa!(hsa_agent_extension_supported, |call| {
        call.runtime.agent(agent)?;
        call.put(result, false)
    })
}

pub unsafe extern "C" fn hsa_agent_major_extension_supported(
    _extension: u16,
    agent: Agent,
    _major: u16,
    minor: *mut u16,
    result: *mut bool,
) -> Status {
    hsa!(hsa_agent_major_extension_supported, |call| {
        call.runtime.agent(agent)?;
        call.put(minor, 0)?;
        call.put(result, false)
    })
}

pub unsafe extern "C" fn hsa_agent_iterate_isas(
    agent: Agent,
    callback: Option<OnIsa>,
    data: *mut c_void,
) -> Status {
    hsa!(hsa_agent_iterate_isas, |call| {
        let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
        let gpu = call.runtime.agent(agent)?.gpu().and_then(|index| call.runtime.gpus.get(index));
        let isas = gpu.map(|gpu| isa(gpu.part));
        // SAFETY: the caller gave function and data for these calls.
        each(call, isas, |isa| unsafe { callback(isa, data) })
    })
}

pub unsafe extern "C" fn hsa_agent_iterate_caches(
    agent: Agent,
    callback: Option<OnCache>,
    data: *mut c_void,
) -> Status {
    hsa!(hsa_agent_iterate_caches, |call| {
        let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
        let which = call.runtime.agent(agent)?;
        // SAFETY: the caller gave function and data for these calls.
        each(call, call.runtime.caches(which), |level| unsafe { callback(cache::handle(which, level), data) })
    })
}

pub unsafe extern "C" fn hsa_cache_get_info(cache: Cache, attribute: u32, value: *mut c_void) -> Status {
    hsa!(hsa_cache_get_info, |call| call.runtime.cache_info(cache, attribute)?.put(call, value))
}

pub unsafe extern "C" fn hsa_amd_agent_set_async_scratch_limit(agent: Agent, limit: usize) -> Status {
    hsa!(hsa_amd_agent_set_async_scratch_limit, |call| {
        let gpu = call.runtime.gpu(agent)?;
        let limit = limit as u64;
        if limit > call.runtime.options.memory {
            return Err(Status::INVALID_ARGUMENT);
        }
        // Queues keep no scratch, so none is released.
        let mut limits = call.runtime.scratch_limits.lock().unwrap_or_else(PoisonError::into_inner);
        limits.insert(gpu, limit);
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_isa_from_name(name: *const c_char, found: *mut Isa) -> Status {
    hsa!(hsa_isa_from_name, |call| {
        let name = text(call, name)?;
        let part = call.runtime.options.parts.iter().find(|part| isa_name(part) == name);
        call.put(found, isa(part.ok_or(Status::INVALID_ISA_NAME)?))
    })
}

fn isa_info(call: &Call, of: Isa, attribute: u32) -> Outcome<Info> {
    let part = call.runtime.part_of_isa(of)?;
    let mut name = isa_name(part).into_bytes();
    name.push(0);
    Ok(match attribute {
        0 => Info::U32(name.len() as u32),
        1 => Info::Bytes(name),
        2 => Info::U32(1),
        3 => Info::U32(part.wave_size()),
        4 => Info::U32(part.waves),
        // The large machine model; the base profile; rounding to nearest.
        5 => Info::Bytes(vec![0, 1]),
        6 => Info::Bytes(vec![1, 0]),
        7 | 8 => Info::Bytes(vec![0, 0, 1]),
        9 => Info::Bool(true),
        12 => Info::U16s([Part::WORKGROUP as u16; 3]),
        13 => Info::U32(Part::WORKGROUP),
        14 => Info::U32s(vec![u32::MAX; 3]),
        16 => Info::U64(u64::from(u32::MAX)),
        17 => Info::U32(32),
        _ => return Err(Status::INVALID_ARGUMENT),
    })
}

pub unsafe extern "C" fn hsa_isa_get_info(
    isa: Isa,
    attribute: u32,
    index: u32,
    value: *mut c_void,
) -> Status {
    hsa!(hsa_isa_get_info, |call| {
        let info = isa_info(call, isa, attribute)?;
        if index != 0 {
            return Err(Status::INVALID_INDEX);
        }
        info.put(call, value)
    })
}

pub unsafe extern "C" fn hsa_isa_get_info_alt(isa: Isa, attribute: u32, value: *mut c_void) -> Status {
    hsa!(hsa_isa_get_info_alt, |call| isa_info(call, isa, attribute)?.put(call, value))
}

pub unsafe extern "C" fn hsa_isa_compatible(code: Isa, agent: Isa, result: *mut bool) -> Status {
    hsa!(hsa_isa_compatible, |call| {
        let [code, agent] = [call.runtime.part_of_isa(code)?, call.runtime.part_of_isa(agent)?];
        call.put(result, code == agent)
    })
}

pub unsafe extern "C" fn hsa_isa_get_exception_policies(of: Isa, profile: u32, mask: *mut u16) -> Status {
    hsa!(hsa_isa_get_exception_policies, |call| {
        call.runtime.part_of_isa(of)?;
        if profile > 1 {
            return Err(Status::INVALID_ARGUMENT);
        }
        call.put(mask, 0)
    })
}

pub unsafe extern "C" fn hsa_isa_get_round_method(
    of: Isa,
    float: u32,
    flush: u32,
    method: *mut u32,
) -> Status {
    hsa!(hsa_isa_get_round_method, |call| {
        /// Multiplication and addition round once.
        const SINGLE: u32 = 0;
        call.runtime.part_of_isa(of)?;
        if ![1, 2, 4].contains(&float) || ![1, 2].contains(&flush) {
            return Err(Status::INVALID_ARGUMENT);
        }
        call.put(method, SINGLE)
    })
}

pub unsafe extern "C" fn hsa_isa_iterate_wavefronts(
    of: Isa,
    callback: Option<OnWavefront>,
    data: *mut c_void,
) -> Status {
    hsa!(hsa_isa_iterate_wavefronts, |call| {
        let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
        let part = call.runtime.part_of_isa(of)?;
        let sizes = part.wave_sizes().map(u64::from).collect::<Vec<_>>();
        // SAFETY: the caller gave function and data for this call.
        each(call, sizes, |handle| unsafe { callback(Wavefront { handle }, data) })
    })
}

pub unsafe extern "C" fn hsa_wavefront_get_info(
    wavefront: Wavefront,
    attribute: u32,
    value: *mut c_void,
) -> Status {
    hsa!(hsa_wavefront_get_info, |call| {
        let mut sizes = Part::all().iter().flat_map(Part::wave_sizes);
        let Some(size) = sizes.find(|size| u64::from(*size) == wavefront.handle) else {
            return Err(Status::INVALID_WAVEFRONT);
        };
        if attribute != 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        Info::U32(size).put(call, value)
    })
}

pub unsafe extern "C" fn hsa_amd_agent_iterate_memory_pools(
    agent: Agent,
    callback: Option<OnPool>,
    data: *mut c_void,
) -> Status {
    hsa!(hsa_amd_agent_iterate_memory_pools, |call| {
        let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
        let which = call.runtime.agent(agent)?;
        // SAFETY: the caller gave function and data for these calls.
        each(call, Pool::of_agent(which), |pool| unsafe { callback(pool.handle(), data) })
    })
}

pub unsafe extern "C" fn hsa_agent_iterate_regions(
    agent: Agent,
    callback: Option<OnRegion>,
    data: *mut c_void,
) -> Status {
    hsa!(hsa_agent_iterate_regions, |call| {
        let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
        let which = call.runtime.agent(agent)?;
        // A GPU's regions are its own pools, and those of the host that it can access.
        let of_host = Pool::of_agent(Which::Cpu).filter(|_| which != Which::Cpu);
        let regions = Pool::of_agent(which).chain(of_host.filter(|pool| pool.grain == Grain::Kernarg));
        // SAFETY: the caller gave function and data for these calls.
        each(call, regions, |pool| unsafe { callback(Region { handle: pool.handle().handle }, data) })
    })
}
