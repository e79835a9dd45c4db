// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allocation, registration, copies and fills.
//!
//! Copies and fills run during their calls, on any stream, so they run in the order of the calls.

use super::entry::{INVALID_VALUE, Outcome, current_device, entry_points, finish, memory, put};
use crate::bindings::*;
use crate::null::bytes;
use crate::null::call::Call;
use crate::null::calls::Function;
use crate::null::memory::MemoryKind;
use crate::null::work::Stream;

/// # Safety
///
/// `target` is null or valid for a write.
unsafe fn allocate(
    call: &Call<'_>,
    target: *mut *mut c_void,
    size: usize,
    kind: MemoryKind,
    flags: c_uint,
) -> Outcome {
    if target.is_null() {
        return Err(INVALID_VALUE);
    }
    let address = match size {
        0 => std::ptr::null_mut(),
        _ => pointer(memory(call).allocate(size, kind, current_device(call), flags)?),
    };
    // SAFETY: as the caller promises.
    unsafe { put(target, address) }
}

fn pointer(address: usize) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address)
}

/// Frees like HIP: after the device is idle.
fn free(call: &Call<'_>, address: *mut c_void, kinds: &[MemoryKind]) -> Outcome {
    if address.is_null() {
        return Ok(());
    }
    let timeline = &call.instance.timeline;
    timeline.wait(timeline.latest());
    memory(call).release(address.addr(), kinds)
}

/// # Safety
///
/// The stream's handle is valid.
unsafe fn enqueue(call: &Call<'_>, stream: hipStream_t) {
    // SAFETY: as the caller promises.
    call.instance.timeline.enqueue(unsafe { Stream::from_handle(stream) });
}

/// # Safety
///
/// The ranges are valid for reads and for writes of `size` bytes; the stream's handle is valid.
unsafe fn copy(
    call: &Call<'_>,
    target: *mut c_void,
    source: *const c_void,
    size: usize,
    stream: hipStream_t,
) -> Outcome {
    if size > 0 {
        if target.is_null() || source.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: as the caller promises; HIP's rules bind other users of the ranges.
        unsafe { bytes::copy(source.cast(), target.cast(), size) };
    }
    // SAFETY: as the caller promises.
    unsafe { enqueue(call, stream) };
    Ok(())
}

/// # Safety
///
/// The range is valid for writes of `count` values, at any alignment; the stream's handle is valid.
unsafe fn fill_with(
    call: &Call<'_>,
    target: *mut c_void,
    pattern: &[u8],
    count: usize,
    stream: hipStream_t,
) -> Outcome {
    if count > 0 && target.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { bytes::fill(target.cast(), pattern, count) };
    // SAFETY: as the caller promises.
    unsafe { enqueue(call, stream) };
    Ok(())
}

/// HIP's fills use the low bits of a wider integer.
fn low_byte(value: c_int) -> [u8; 1] {
    [value.to_le_bytes()[0]]
}

const NULL_STREAM: hipStream_t = std::ptr::null_mut();
const OWNED_BY_DEVICE: &[MemoryKind] = &[MemoryKind::Device, MemoryKind::Managed];

entry_points! {
    fill:
    fn hipMalloc(call, target: *mut *mut c_void, size: usize) {
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { allocate(&call, target, size, MemoryKind::Device, 0) }
    }
    fn hipExtMallocWithFlags(call, target: *mut *mut c_void, size: usize, flags: c_uint) {
        // SAFETY: as above.
        unsafe { allocate(&call, target, size, MemoryKind::Device, flags) }
    }
    fn hipMallocManaged(call, target: *mut *mut c_void, size: usize, flags: c_uint) {
        // SAFETY: as above.
        unsafe { allocate(&call, target, size, MemoryKind::Managed, flags) }
    }
    fn hipMemAdvise(call, _address: *const c_void, _size: usize, _advice: hipMemoryAdvise, _device: c_int) {
        Ok(())
    }
    fn hipMemPrefetchAsync(call, _address: *const c_void, _size: usize, _device: c_int, stream: hipStream_t) {
        // SAFETY: the caller's stream.
        unsafe { enqueue(&call, stream) };
        Ok(())
    }
    fn hipFree(call, address: *mut c_void) {
        free(&call, address, OWNED_BY_DEVICE)
    }
    fn hipHostMalloc(call, target: *mut *mut c_void, size: usize, flags: c_uint) {
        // SAFETY: as above.
        unsafe { allocate(&call, target, size, MemoryKind::Host, flags) }
    }
    fn hipHostFree(call, address: *mut c_void) {
        free(&call, address, &[MemoryKind::Host])
    }
    fn hipHostRegister(call, address: *mut c_void, size: usize, flags: c_uint) {
        if address.is_null() || size == 0 { Err(INVALID_VALUE) } else { memory(&call).register(address.addr(), size, flags) }
    }
    fn hipHostUnregister(call, address: *mut c_void) {
        let released = memory(&call).release(address.addr(), &[MemoryKind::Registered]);
        released.map_err(|_| hipError_t::hipErrorHostMemoryNotRegistered)
    }
    fn hipHostGetDevicePointer(call, target: *mut *mut c_void, address: *mut c_void, _flags: c_uint) {
        match memory(&call).find(address.addr()) {
            // SAFETY: as above.
            Some(range) if range.kind != MemoryKind::Device => unsafe { put(target, address) },
            _ => Err(INVALID_VALUE),
        }
    }
    fn hipHostGetFlags(call, target: *mut c_uint, address: *mut c_void) {
        match memory(&call).find(address.addr()) {
            // SAFETY: as above.
            Some(range) if matches!(range.kind, MemoryKind::Host | MemoryKind::Registered) => unsafe { put(target, range.flags) },
            _ => Err(INVALID_VALUE),
        }
    }
    fn hipMemGetInfo(call, free: *mut usize, total: *mut usize) {
        let (free_bytes, all_bytes) = memory(&call).device_bytes(current_device(&call));
        // SAFETY: as above.
        unsafe {
            put(free, free_bytes)?;
            put(total, all_bytes)
        }
    }
    fn hipMemGetAddressRange(call, base: *mut hipDeviceptr_t, size: *mut usize, address: hipDeviceptr_t) {
        let range = memory(&call).find(address.addr()).ok_or(hipError_t::hipErrorNotFound)?;
        // SAFETY: as above.
        unsafe {
            put(base, pointer(range.base))?;
            put(size, range.size)
        }
    }
    fn hipPointerGetAttributes(call, attributes: *mut hipPointerAttribute_t, address: *const c_void) {
        let range = memory(&call).find(address.addr()).ok_or(INVALID_VALUE)?;
        let kind = match range.kind {
            MemoryKind::Device => hipMemoryType::hipMemoryTypeDevice,
            MemoryKind::Managed => hipMemoryType::hipMemoryTypeManaged,
            MemoryKind::Host | MemoryKind::Registered => hipMemoryType::hipMemoryTypeHost,
        };
        let value = hipPointerAttribute_t {
            type_: kind,
            device: range.device,
            devicePointer: address.cast_mut(),
            hostPointer: if range.kind == MemoryKind::Device { std::ptr::null_mut() } else { address.cast_mut() },
            isManaged: c_int::from(range.kind == MemoryKind::Managed),
            allocationFlags: range.flags,
        };
        // SAFETY: as above.
        unsafe { put(attributes, value) }
    }
    fn hipMemcpy(call, target: *mut c_void, source: *const c_void, size: usize, _kind: hipMemcpyKind) {
        // SAFETY: the caller's ranges.
        unsafe { copy(&call, target, source, size, NULL_STREAM) }
    }
    fn hipMemcpyAsync(
        call, target: *mut c_void, source: *const c_void, size: usize, _kind: hipMemcpyKind, stream: hipStream_t,
    ) {
        // SAFETY: the caller's ranges and stream.
        unsafe { copy(&call, target, source, size, stream) }
    }
    fn hipMemcpyHtoDAsync(call, target: hipDeviceptr_t, source: *const c_void, size: usize, stream: hipStream_t) {
        // SAFETY: as above.
        unsafe { copy(&call, target, source, size, stream) }
    }
    fn hipMemcpyDtoHAsync(call, target: *mut c_void, source: hipDeviceptr_t, size: usize, stream: hipStream_t) {
        // SAFETY: as above.
        unsafe { copy(&call, target, source, size, stream) }
    }
    fn hipMemcpyDtoDAsync(call, target: hipDeviceptr_t, source: hipDeviceptr_t, size: usize, stream: hipStream_t) {
        // SAFETY: as above.
        unsafe { copy(&call, target, source, size, stream) }
    }
    fn hipMemcpyPeerAsync(
        call, target: *mut c_void, _target_device: c_int, source: *const c_void, _source_device: c_int, size: usize,
        stream: hipStream_t,
    ) {
        // SAFETY: as above.
        unsafe { copy(&call, target, source, size, stream) }
    }
    fn hipMemset(call, target: *mut c_void, value: c_int, size: usize) {
        // SAFETY: the caller's range.
        unsafe { fill_with(&call, target, &low_byte(value), size, NULL_STREAM) }
    }
    fn hipMemsetAsync(call, target: *mut c_void, value: c_int, size: usize, stream: hipStream_t) {
        // SAFETY: the caller's range and stream.
        unsafe { fill_with(&call, target, &low_byte(value), size, stream) }
    }
    fn hipMemsetD8Async(call, target: hipDeviceptr_t, value: c_uchar, count: usize, stream: hipStream_t) {
        // SAFETY: as above.
        unsafe { fill_with(&call, target, &[value], count, stream) }
    }
    fn hipMemsetD16Async(call, target: hipDeviceptr_t, value: c_ushort, count: usize, stream: hipStream_t) {
        // SAFETY: as above.
        unsafe { fill_with(&call, target, &value.to_ne_bytes(), count, stream) }
    }
    fn hipMemsetD32Async(call, target: hipDeviceptr_t, value: c_int, count: usize, stream: hipStream_t) {
        // SAFETY: as above.
        unsafe { fill_with(&call, target, &value.to_ne_bytes(), count, stream) }
    }
}
