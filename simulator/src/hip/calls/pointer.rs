// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts about pointers.

use std::ffi::{c_uint, c_void};

use windlass_hip_sys::bindings::{
    hipDeviceptr_t, hipError_t, hipMemoryType, hipPointer_attribute, hipPointerAttribute_t,
};

use crate::hip::boundary::call::Call;
use crate::hip::hardware::ledger::{Holding, Origin};
use crate::hip::words::code::{Code, Outcome};

/// The kind of memory, in the numbers of the simulated version.
fn kind(call: &Call, holding: &Holding) -> hipMemoryType {
    let kind = match holding.origin {
        Origin::Host | Origin::Registered => hipMemoryType::hipMemoryTypeHost,
        _ if holding.managed => hipMemoryType::hipMemoryTypeManaged,
        _ if holding.is_signal() => hipMemoryType::hipMemoryTypeHost,
        _ => hipMemoryType::hipMemoryTypeDevice,
    };
    if call.runtime.options.hip.0 >= 6 {
        return kind;
    }
    // HIP 5 counts host and device from 0, and managed memory as host memory.
    hipMemoryType(u32::from(kind == hipMemoryType::hipMemoryTypeDevice))
}

/// The kind of memory that a client of the simulated version names by a number.
pub(super) fn newest_kind(call: &Call, kind: hipMemoryType) -> hipMemoryType {
    match (call.runtime.options.hip.0, kind.0) {
        (6.., _) => kind,
        (_, 0) => hipMemoryType::hipMemoryTypeHost,
        (_, 1) => hipMemoryType::hipMemoryTypeDevice,
        (_, 2) => hipMemoryType::hipMemoryTypeArray,
        _ => hipMemoryType::hipMemoryTypeUnified,
    }
}

pub(in crate::hip) unsafe extern "C" fn hipPointerGetAttributes(
    attributes: *mut hipPointerAttribute_t,
    pointer: *const c_void,
) -> hipError_t {
    hip!(hipPointerGetAttributes, |call| {
        if attributes.is_null() || pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let Some(holding) = call.runtime.machine.ledger.find(pointer as u64) else {
            // Since HIP 6 an unknown pointer is unregistered memory and no error.
            if call.runtime.options.hip.0 < 6 {
                return Err(Code::INVALID_VALUE);
            }
            let unknown = hipPointerAttribute_t {
                type_: hipMemoryType::hipMemoryTypeUnregistered,
                device: -2,
                devicePointer: std::ptr::null_mut(),
                hostPointer: std::ptr::null_mut(),
                isManaged: 0,
                allocationFlags: 0,
            };
            return call.put(attributes, unknown);
        };
        let address = pointer as u64;
        let has_host = holding.is_host_accessible() || holding.is_signal();
        let host = if has_host { holding.host_address(address) } else { 0 };
        let known = hipPointerAttribute_t {
            type_: kind(call, &holding),
            device: holding.device as i32,
            devicePointer: holding.device_address(address) as *mut c_void,
            hostPointer: host as *mut c_void,
            isManaged: i32::from(holding.managed),
            allocationFlags: if holding.managed { 0 } else { holding.flags },
        };
        call.put(attributes, known)
    })
}

/// Writes the value of an attribute for an address that HIP does not know, and refuses the question where there is an answer for
/// memory that it knows.
fn of_unknown_memory(call: &Call, data: *mut c_void, attribute: hipPointer_attribute) -> Outcome<()> {
    /// The device of memory that is not HIP's.
    const NO_DEVICE: u32 = -2_i32 as u32;
    match attribute {
        // AMD's HIP 5 follows the address, or looks at none.
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_MEMORY_TYPE
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS
            if !call.is_since(6) => {}
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_MEMORY_TYPE
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_BUFFER_ID
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_RANGE_SIZE
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS => call.put(data.cast::<u32>(), 0)?,
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL => {
            call.put(data.cast::<u32>(), NO_DEVICE)?;
        }
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_DEVICE_POINTER
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_HOST_POINTER
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR => call.put(data.cast::<u64>(), 0)?,
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_IS_MANAGED
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_MAPPED => call.put(data.cast::<bool>(), false)?,
        _ => {}
    }
    match attribute {
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS => Ok(()),
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_P2P_TOKENS
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => Err(Code::NOT_SUPPORTED),
        _ => Err(Code::INVALID_VALUE),
    }
}

fn attribute(
    call: &Call,
    data: *mut c_void,
    attribute: hipPointer_attribute,
    pointer: hipDeviceptr_t,
) -> Outcome<()> {
    if data.is_null() || pointer.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let address = pointer as u64;
    let pointer_out = data.cast::<u64>();
    let number_out = data.cast::<u32>();
    let Some(holding) = call.runtime.machine.ledger.find(address) else {
        return of_unknown_memory(call, data, attribute);
    };
    match attribute {
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_CONTEXT if !call.is_since(6) => Err(Code::NOT_SUPPORTED),
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_CONTEXT => {
            call.put(pointer_out, call.runtime.context(holding.device)?)
        }
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_MEMORY_TYPE => {
            call.put(number_out, kind(call, &holding).0)
        }
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_DEVICE_POINTER => {
            call.put(pointer_out, holding.device_address(address))
        }
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_HOST_POINTER => {
            if holding.is_host_accessible() {
                call.put(pointer_out, holding.host_address(address))
            } else {
                call.put(pointer_out, 0)?;
                Err(Code::INVALID_VALUE)
            }
        }
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS => {
            // HIP 5 answers true for all memory.
            let told = !call.is_since(6) || call.runtime.machine.ledger.hints(address, |hints| hints.waits);
            call.put(data.cast::<bool>(), told)
        }
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_P2P_TOKENS
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
        | hipPointer_attribute::HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE => Err(Code::NOT_SUPPORTED),
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS => call.put(number_out, 0),
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_BUFFER_ID => call.put(pointer_out, holding.base),
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_IS_MANAGED => {
            call.put(data.cast::<bool>(), holding.managed)
        }
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL => {
            call.put(number_out, holding.device as u32)
        }
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR => {
            call.put(pointer_out, holding.start_seen_from(address))
        }
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_RANGE_SIZE => call.put(pointer_out, holding.size),
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_MAPPED => call.put(data.cast::<bool>(), true),
        _ => Err(Code::INVALID_VALUE),
    }
}

pub(in crate::hip) unsafe extern "C" fn hipPointerGetAttribute(
    data: *mut c_void,
    wanted: hipPointer_attribute,
    pointer: hipDeviceptr_t,
) -> hipError_t {
    hip!(hipPointerGetAttribute, |call| attribute(call, data, wanted, pointer))
}

pub(in crate::hip) unsafe extern "C" fn hipDrvPointerGetAttributes(
    count: c_uint,
    wanted: *mut hipPointer_attribute,
    data: *mut *mut c_void,
    pointer: hipDeviceptr_t,
) -> hipError_t {
    hip!(hipDrvPointerGetAttributes, |call| {
        if wanted.is_null() || data.is_null() || pointer.is_null() || count == 0 {
            return Err(Code::INVALID_VALUE);
        }
        for index in 0..count as usize {
            // As documented, an attribute that does not apply has the value that says so, and is no error.
            let _ = attribute(
                call,
                call.get(data.wrapping_add(index))?,
                call.get(wanted.wrapping_add(index))?,
                pointer,
            );
        }
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemGetAddressRange(
    base: *mut hipDeviceptr_t,
    size: *mut usize,
    pointer: hipDeviceptr_t,
) -> hipError_t {
    hip!(hipMemGetAddressRange, |call| {
        let holding = call.runtime.machine.ledger.find(pointer as u64).ok_or(Code::NOT_FOUND)?;
        call.put_if(base, holding.start_seen_from(pointer as u64) as hipDeviceptr_t);
        call.put_if(size, holding.size as usize);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemPtrGetInfo(
    pointer: *mut c_void,
    size: *mut usize,
) -> hipError_t {
    hip!(hipMemPtrGetInfo, |call| {
        let holding = call.runtime.machine.ledger.find(pointer as u64).ok_or(Code::INVALID_VALUE)?;
        call.put(size, holding.size as usize)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipPointerSetAttribute(
    value: *const c_void,
    wanted: hipPointer_attribute,
    pointer: hipDeviceptr_t,
) -> hipError_t {
    hip!(hipPointerSetAttribute, |call| {
        if value.is_null() || pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        if wanted != hipPointer_attribute::HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS {
            return Err(Code::INVALID_VALUE);
        }
        let waits = match call.get(value.cast::<c_uint>())? {
            0 => false,
            1 => true,
            _ => return Err(Code::INVALID_VALUE),
        };
        let ledger = &call.runtime.machine.ledger;
        ledger.find(pointer as u64).ok_or(Code::INVALID_DEVICE_POINTER)?;
        // AMD's HIP keeps the wish alone; its copies wait where they do without it.
        ledger.hints(pointer as u64, |hints| hints.waits = waits);
        Ok(())
    })
}
