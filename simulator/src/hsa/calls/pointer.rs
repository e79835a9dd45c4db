// SPDX-License-Identifier: MIT OR Apache-2.0
//! The owner of an address: an allocation, locked host memory, shared memory.

use std::ffi::c_void;
use std::mem::offset_of;

use crate::hsa::abi::{Agent, Allocator, PointerInfo};
use crate::hsa::agent::Which;
use crate::hsa::call::hsa;
use crate::hsa::holding::Holding;
use crate::hsa::pool::{Grain, Pool};
use crate::hsa::status::Status;

/// `hsa_amd_pointer_type_t`.
const UNKNOWN: u32 = 0;
const HSA: u32 = 1;
const LOCKED: u32 = 2;
const IPC: u32 = 4;

pub unsafe extern "C" fn hsa_amd_pointer_info(
    pointer: *const c_void,
    info: *mut PointerInfo,
    alloc: Option<Allocator>,
    count: *mut u32,
    accessible: *mut *mut Agent,
) -> Status {
    hsa!(hsa_amd_pointer_info, |call| {
        if pointer.is_null() || info.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        // The first field is the size of the client's structure.
        let size = call.read(info.cast::<u32>())? as usize;
        if size < offset_of!(PointerInfo, agent_base_address) {
            return Err(Status::INVALID_ARGUMENT);
        }
        let (known, agents) = match call.runtime.holdings.find(pointer as u64) {
            None => match call.runtime.attachments.find(pointer as u64) {
                Some((base, size, pool)) => {
                    let agents = vec![pool.agent.handle()];
                    (describe(IPC, (base, 0), size, 0, pool.agent.handle(), pool.flags()), agents)
                }
                None => (describe(UNKNOWN, (0, 0), 0, 0, Agent::default(), 0), Vec::new()),
            },
            Some(Holding::Allocation(allocation)) => {
                let Pool { agent, .. } = allocation.pool;
                let host = if agent == Which::Cpu { allocation.base } else { 0 };
                let bases = (allocation.base, host);
                let flags = allocation.pool.flags();
                let known =
                    describe(HSA, bases, allocation.size, allocation.user_data, agent.handle(), flags);
                let homes = call.runtime.agents().filter(|agent| allocation.is_open_to(*agent));
                (known, homes.map(Which::handle).collect())
            }
            Some(Holding::Locked(locked)) => {
                let flags = Pool { agent: Which::Cpu, grain: Grain::Fine }.flags();
                let bases = (locked.device, locked.host);
                let known =
                    describe(LOCKED, bases, locked.size, locked.user_data, Which::Cpu.handle(), flags);
                (known, call.runtime.agents().map(Which::handle).collect())
            }
        };
        // Only the fields that the client's structure has.
        let whole = PointerInfo { size: size.min(size_of::<PointerInfo>()) as u32, ..known };
        let bytes: [u8; size_of::<PointerInfo>()] = {
            let mut bytes = [0; size_of::<PointerInfo>()];
            let mut at = |offset: usize, field: &[u8]| {
                if let Some(room) = bytes.get_mut(offset..offset + field.len()) {
                    room.copy_from_slice(field);
                }
            };
            at(offset_of!(PointerInfo, size), &whole.size.to_ne_bytes());
            at(offset_of!(PointerInfo, kind), &whole.kind.to_ne_bytes());
            at(offset_of!(PointerInfo, agent_base_address), &whole.agent_base_address.to_ne_bytes());
            at(offset_of!(PointerInfo, host_base_address), &whole.host_base_address.to_ne_bytes());
            at(offset_of!(PointerInfo, size_in_bytes), &whole.size_in_bytes.to_ne_bytes());
            at(offset_of!(PointerInfo, user_data), &whole.user_data.to_ne_bytes());
            at(offset_of!(PointerInfo, agent_owner), &whole.agent_owner.handle.to_ne_bytes());
            at(offset_of!(PointerInfo, global_flags), &whole.global_flags.to_ne_bytes());
            bytes
        };
        for (index, byte) in bytes.iter().enumerate().take(size) {
            call.put(info.cast::<u8>().wrapping_add(index), *byte)?;
        }
        let (Some(alloc), false) = (alloc, count.is_null() || accessible.is_null()) else { return Ok(()) };
        if whole.kind == UNKNOWN {
            call.put(count, 0)?;
            return call.put(accessible, std::ptr::null_mut());
        }
        // SAFETY: the caller gave the function for this call.
        let list = unsafe { alloc(agents.len() * size_of::<Agent>()) }.cast::<Agent>();
        if list.is_null() {
            return Err(Status::OUT_OF_RESOURCES);
        }
        for (index, agent) in agents.iter().enumerate() {
            call.put(list.wrapping_add(index), *agent)?;
        }
        call.put(count, agents.len() as u32)?;
        call.put(accessible, list)
    })
}

fn describe(
    kind: u32,
    (agent, host): (u64, u64),
    size: u64,
    user_data: u64,
    owner: Agent,
    flags: u32,
) -> PointerInfo {
    PointerInfo {
        size: 0,
        kind,
        agent_base_address: agent,
        host_base_address: host,
        size_in_bytes: size as usize,
        user_data,
        agent_owner: owner,
        global_flags: flags,
    }
}

pub unsafe extern "C" fn hsa_amd_pointer_info_set_userdata(
    pointer: *const c_void,
    data: *mut c_void,
) -> Status {
    hsa!(hsa_amd_pointer_info_set_userdata, |call| {
        call.runtime.holdings.set_user_data(pointer as u64, data as u64)
    })
}
