// SPDX-License-Identifier: MIT OR Apache-2.0
//! Virtual memory.

use std::ffi::c_void;

use crate::hsa::abi::{AccessDescriptor, Agent, MemoryPool, VmemHandle};
use crate::hsa::call::{Call, hsa};
use crate::hsa::status::{Outcome, Status};

pub unsafe extern "C" fn hsa_amd_vmem_address_reserve(
    address: *mut *mut c_void,
    size: usize,
    _wish: u64,
    flags: u64,
) -> Status {
    hsa!(hsa_amd_vmem_address_reserve, |call| reserve(call, address, size, 0, flags))
}

pub unsafe extern "C" fn hsa_amd_vmem_address_reserve_align(
    address: *mut *mut c_void,
    size: usize,
    _wish: u64,
    alignment: u64,
    flags: u64,
) -> Status {
    hsa!(hsa_amd_vmem_address_reserve_align, |call| reserve(call, address, size, alignment, flags))
}

fn reserve(call: &Call, address: *mut *mut c_void, size: usize, alignment: u64, flags: u64) -> Outcome<()> {
    if address.is_null() || flags != 0 {
        return Err(Status::INVALID_ARGUMENT);
    }
    let base = call.runtime.virtual_memory.reserve(size as u64, alignment, call.describe())?;
    call.put(address, base as *mut c_void)
}

pub unsafe extern "C" fn hsa_amd_vmem_address_free(address: *mut c_void, size: usize) -> Status {
    hsa!(hsa_amd_vmem_address_free, |call| call.runtime.virtual_memory.unreserve(address as u64, size as u64))
}

pub unsafe extern "C" fn hsa_amd_vmem_handle_create(
    pool: MemoryPool,
    size: usize,
    kind: u32,
    flags: u64,
    handle: *mut VmemHandle,
) -> Status {
    hsa!(hsa_amd_vmem_handle_create, |call| {
        if handle.is_null() || kind > 1 || flags != 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        let pool = call.runtime.pool(pool)?;
        let holdings = &call.runtime.holdings;
        let made = call.runtime.virtual_memory.create(holdings, pool, size as u64, call.describe())?;
        call.put(handle, made)
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_handle_release(handle: VmemHandle) -> Status {
    hsa!(hsa_amd_vmem_handle_release, |call| call.runtime.virtual_memory.release(handle))
}

pub unsafe extern "C" fn hsa_amd_vmem_map(
    address: *mut c_void,
    size: usize,
    offset: usize,
    handle: VmemHandle,
    flags: u64,
) -> Status {
    hsa!(hsa_amd_vmem_map, |call| {
        if flags != 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        let (size, offset) = (size as u64, offset as u64);
        call.runtime.virtual_memory.map(address as u64, size, offset, handle, call.describe())
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_unmap(address: *mut c_void, size: usize) -> Status {
    hsa!(hsa_amd_vmem_unmap, |call| {
        call.runtime.virtual_memory.unmap(address as u64, size as u64, call.describe())
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_set_access(
    address: *mut c_void,
    size: usize,
    descriptors: *const AccessDescriptor,
    count: usize,
) -> Status {
    hsa!(hsa_amd_vmem_set_access, |call| {
        let count = u32::try_from(count).map_err(|_| Status::INVALID_ARGUMENT)?;
        let descriptors = call.list(descriptors, count)?.into_iter();
        let access = descriptors.map(|one| Ok((call.runtime.agent(one.agent)?, one.permissions)));
        let access = access.collect::<Outcome<Vec<_>>>()?;
        call.runtime.virtual_memory.set_access(address as u64, size as u64, &access)
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_get_access(
    address: *mut c_void,
    permissions: *mut u32,
    agent: Agent,
) -> Status {
    hsa!(hsa_amd_vmem_get_access, |call| {
        let agent = call.runtime.agent(agent)?;
        call.put(permissions, call.runtime.virtual_memory.access(address as u64, agent)?)
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_retain_alloc_handle(
    handle: *mut VmemHandle,
    address: *mut c_void,
) -> Status {
    hsa!(hsa_amd_vmem_retain_alloc_handle, |call| {
        if handle.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        call.put(handle, call.runtime.virtual_memory.retain(address as u64)?)
    })
}

pub unsafe extern "C" fn hsa_amd_vmem_get_alloc_properties_from_handle(
    handle: VmemHandle,
    pool: *mut MemoryPool,
    kind: *mut u32,
) -> Status {
    hsa!(hsa_amd_vmem_get_alloc_properties_from_handle, |call| {
        let physical = call.runtime.virtual_memory.physical(handle)?;
        call.put(pool, physical.pool.handle())?;
        call.put(kind, 0)
    })
}
