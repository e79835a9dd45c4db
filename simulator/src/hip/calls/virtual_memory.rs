// SPDX-License-Identifier: MIT OR Apache-2.0
//! Virtual memory: reserved addresses, memory without addresses, mappings, and the access of each device.

use std::ffi::{c_ulonglong, c_void};

use windlass_hip_sys::bindings::{
    hipError_t, hipMemAccessDesc, hipMemAllocationGranularity_flags, hipMemAllocationHandleType,
    hipMemAllocationProp, hipMemAllocationType, hipMemGenericAllocationHandle_t, hipMemLocation,
    hipMemLocationType,
};

use crate::hip::boundary::call::Call;
use crate::hip::hardware::virtual_memory::{GRANULARITY, VirtualMemory};
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::item::Work;

/// Memory that can be exported as a file descriptor, in HIP's numbers. 0 is memory of this process alone.
const FILE_DESCRIPTOR: u32 = 1;

/// The virtual memory of a version that has it.
pub(super) fn virtual_memory(call: &Call) -> Outcome<&VirtualMemory> {
    if VirtualMemory::is_there(call.runtime.options.hip) {
        return Ok(&call.runtime.virtual_memory);
    }
    explain(format!("{}: there is no virtual memory in HIP 5, and on other systems than Linux", call.name));
    Err(Code::NOT_SUPPORTED)
}

/// The device that memory of these properties belongs to.
fn device_of(call: &Call, properties: *const hipMemAllocationProp) -> Outcome<(usize, u32)> {
    let properties = call.get(properties)?;
    if properties.type_ != hipMemAllocationType::hipMemAllocationTypePinned {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: both fields of the union are the same number.
    let shared_as = unsafe { properties.__bindgen_anon_1.requestedHandleType };
    Ok((device_at(call, &properties.location)?, shared_as.0))
}

fn device_at(call: &Call, location: &hipMemLocation) -> Outcome<usize> {
    if location.type_ != hipMemLocationType::hipMemLocationTypeDevice {
        return Err(Code::INVALID_VALUE);
    }
    Ok(call.device_at(location.id).map_err(|_| Code::INVALID_VALUE)?.index)
}

pub(in crate::hip) unsafe extern "C" fn hipMemGetAllocationGranularity(
    granularity: *mut usize,
    properties: *const hipMemAllocationProp,
    option: hipMemAllocationGranularity_flags,
) -> hipError_t {
    hip!(hipMemGetAllocationGranularity, |call| {
        virtual_memory(call)?;
        device_of(call, properties)?;
        // The least one, and the recommended one.
        if option.0 > 1 {
            return Err(Code::INVALID_VALUE);
        }
        call.put(granularity, GRANULARITY as usize)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemAddressReserve(
    pointer: *mut *mut c_void,
    size: usize,
    alignment: usize,
    _wish: *mut c_void,
    flags: c_ulonglong,
) -> hipError_t {
    hip!(hipMemAddressReserve, |call| {
        let memory = virtual_memory(call)?;
        if pointer.is_null() || flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let (size, alignment) = (size as u64, alignment as u64);
        if size == 0 || !size.is_multiple_of(GRANULARITY) || !(alignment == 0 || alignment.is_power_of_two())
        {
            return Err(Code::OUT_OF_MEMORY);
        }
        // A wish for certain addresses is none that HIP has to grant.
        call.put(pointer, std::ptr::null_mut())?;
        call.put(pointer, memory.reserve(size, alignment, call.describe())? as *mut c_void)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemAddressFree(pointer: *mut c_void, size: usize) -> hipError_t {
    hip!(hipMemAddressFree, |call| virtual_memory(call)?.unreserve(pointer as u64, size as u64))
}

pub(in crate::hip) unsafe extern "C" fn hipMemCreate(
    handle: *mut hipMemGenericAllocationHandle_t,
    size: usize,
    properties: *const hipMemAllocationProp,
    flags: c_ulonglong,
) -> hipError_t {
    hip!(hipMemCreate, |call| {
        let memory = virtual_memory(call)?;
        if handle.is_null() || size == 0 || flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let (device, shared_as) = device_of(call, properties)?;
        if shared_as > FILE_DESCRIPTOR {
            return Err(Code::NOT_SUPPORTED);
        }
        let device = call.runtime.machine.device(device)?;
        device.check()?;
        if size as u64 > device.capacity {
            return Err(Code::OUT_OF_MEMORY);
        }
        if !(size as u64).is_multiple_of(GRANULARITY) {
            return Err(Code::INVALID_VALUE);
        }
        let made = memory.create(device.index, size as u64, shared_as)?;
        call.put(handle, made as hipMemGenericAllocationHandle_t)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemRelease(handle: hipMemGenericAllocationHandle_t) -> hipError_t {
    hip!(hipMemRelease, |call| virtual_memory(call)?.release(handle as u64))
}

pub(in crate::hip) unsafe extern "C" fn hipMemMap(
    pointer: *mut c_void,
    size: usize,
    offset: usize,
    handle: hipMemGenericAllocationHandle_t,
    flags: c_ulonglong,
) -> hipError_t {
    hip!(hipMemMap, |call| {
        let memory = virtual_memory(call)?;
        let (base, size) = (pointer as u64, size as u64);
        let whole = base.is_multiple_of(GRANULARITY) && size.is_multiple_of(GRANULARITY);
        if pointer.is_null() || size == 0 || !whole || offset != 0 || flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        memory.map(base, size, handle as u64, call.describe())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemUnmap(pointer: *mut c_void, size: usize) -> hipError_t {
    hip!(hipMemUnmap, |call| {
        let memory = virtual_memory(call)?;
        let device = memory.device_at(pointer as u64)?;
        // AMD's queues it on the null stream, so kernels of non-blocking streams are not awaited and fault.
        let stream = call.runtime.null_stream(device)?;
        let point = call.runtime.enqueue(&stream, Work::Nothing, &[])?;
        call.runtime.scheduler.wait(&[point])?;
        memory.unmap(pointer as u64, size as u64, call.describe())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemSetAccess(
    pointer: *mut c_void,
    size: usize,
    descriptions: *const hipMemAccessDesc,
    count: usize,
) -> hipError_t {
    hip!(hipMemSetAccess, |call| {
        let memory = virtual_memory(call)?;
        if pointer.is_null() || size == 0 || descriptions.is_null() || count == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let mut access = Vec::new();
        for index in 0..count {
            let description = call.get(descriptions.wrapping_add(index))?;
            // None, read, and both read and write.
            if !matches!(description.flags.0, 0 | 1 | 3) {
                return Err(Code::INVALID_VALUE);
            }
            access.push((device_at(call, &description.location)?, description.flags.0));
        }
        memory.set_access(pointer as u64, size as u64, &access)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemGetAccess(
    flags: *mut c_ulonglong,
    location: *const hipMemLocation,
    pointer: *mut c_void,
) -> hipError_t {
    hip!(hipMemGetAccess, |call| {
        let memory = virtual_memory(call)?;
        let device = device_at(call, &call.get(location)?)?;
        call.put(flags, memory.access(pointer as u64, device)?.into())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemGetAllocationPropertiesFromHandle(
    properties: *mut hipMemAllocationProp,
    handle: hipMemGenericAllocationHandle_t,
) -> hipError_t {
    hip!(hipMemGetAllocationPropertiesFromHandle, |call| {
        let physical = virtual_memory(call)?.physical(handle as u64)?;
        let mut told = hipMemAllocationProp {
            type_: hipMemAllocationType::hipMemAllocationTypePinned,
            location: hipMemLocation {
                type_: hipMemLocationType::hipMemLocationTypeDevice,
                id: physical.device as i32,
            },
            ..hipMemAllocationProp::default()
        };
        told.__bindgen_anon_1.requestedHandleType = hipMemAllocationHandleType(physical.shared_as);
        call.put(properties, told)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemRetainAllocationHandle(
    handle: *mut hipMemGenericAllocationHandle_t,
    pointer: *mut c_void,
) -> hipError_t {
    hip!(hipMemRetainAllocationHandle, |call| {
        let memory = virtual_memory(call)?;
        if handle.is_null() || pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        call.put(handle, memory.retain(pointer as u64)? as hipMemGenericAllocationHandle_t)
    })
}
