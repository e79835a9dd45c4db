// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory.

use std::ptr;

use windlass_hip_sys::Feature;
use windlass_hip_sys::bindings::*;

use crate::hips::{Handle, Hip, OK};

pub(crate) fn device_memory_is_aligned_to_256_bytes(hip: &Hip) {
    for size in [1, 255, 4096, 1 << 20] {
        let address = hip.device_memory(size);
        assert_eq!(address.addr() % 256, 0, "{size} bytes");
        ok!(hip.hipFree(address));
    }
}

pub(crate) fn freeing_null_is_nothing(hip: &Hip) {
    ok!(hip.hipFree(ptr::null_mut()));
    ok!(hip.hipHostFree(ptr::null_mut()));
}

pub(crate) fn mapped_host_memory_has_a_device_address(hip: &Hip) {
    let stream = hip.stream();
    let (host, device) = hip.host_memory(4096);
    assert_eq!(device.addr() % 256, 0);
    ok!(hip.hipMemsetD8Async(device, 0x5a, 4096, stream));
    ok!(hip.hipStreamSynchronize(stream));
    // SAFETY: this many bytes that HIP gave, with nothing in flight.
    let bytes = unsafe { std::slice::from_raw_parts(host.cast::<u8>(), 4096) };
    assert!(bytes.iter().all(|byte| *byte == 0x5a), "what the device writes the host sees");
    ok!(hip.hipHostFree(host));
    ok!(hip.hipStreamDestroy(stream));
}

pub(crate) fn registered_memory_has_a_device_address_until_it_is_unregistered(hip: &Hip) {
    let stream = hip.stream();
    let mut bytes = vec![0_u8; 8192];
    // Any byte and any length: the pages around them are pinned.
    let host: *mut c_void = bytes[100..].as_mut_ptr().cast();
    let flags = hipHostRegisterPortable | hipHostRegisterMapped;
    for value in [0x5a, 0xa5] {
        let mut device = ptr::null_mut();
        ok!(hip.hipHostRegister(host, 5000, flags));
        ok!(hip.hipHostGetDevicePointer(&mut device, host, 0));
        ok!(hip.hipMemsetD8Async(device, value, 5000, stream));
        ok!(hip.hipStreamSynchronize(stream));
        ok!(hip.hipHostUnregister(host));
    }
    let expected = |index: usize| if (100..5100).contains(&index) { 0xa5 } else { 0 };
    let wrong = bytes.iter().enumerate().find(|(index, byte)| **byte != expected(*index));
    assert_eq!(wrong, None, "a byte that the device should have written, or should not");
    ok!(hip.hipStreamDestroy(stream));
}

pub(crate) fn what_is_pinned_is_known_and_what_is_not_is_not(hip: &Hip) {
    let size_at = |address: *mut c_void| {
        let (mut base, mut size) = (ptr::null_mut(), 0);
        match call!(hip.hipMemGetAddressRange(&mut base, &mut size, address)) {
            OK => Some(size),
            hipError_t::hipErrorNotFound | hipError_t::hipErrorInvalidDevicePointer => {
                call!(hip.hipGetLastError());
                None
            }
            status => panic!("hipMemGetAddressRange returned {status}"),
        }
    };
    let mut bytes = vec![0_u8; 4096];
    let host: *mut c_void = bytes.as_mut_ptr().cast();
    // One allocation may stand for all memory of the process.
    let unknown = |address| size_at(address).is_none_or(|size| size >= 1 << 46);
    assert!(unknown(host));
    ok!(hip.hipHostRegister(host, 4096, hipHostRegisterPortable | hipHostRegisterMapped));
    for offset in [0, 1, 4095] {
        assert_eq!(size_at(host.wrapping_byte_add(offset)), Some(4096), "at {offset}");
    }
    ok!(hip.hipHostUnregister(host));
    assert!(unknown(host));
    let (pinned, device) = (hip.host_memory(4096).0, hip.device_memory(4096));
    for address in [pinned, device, device.wrapping_byte_add(4095)] {
        assert_eq!(size_at(address), Some(4096));
    }
    ok!(hip.hipHostFree(pinned));
    ok!(hip.hipFree(device));
}

pub(crate) fn device_memory_tells_whose_it_is(hip: &Hip) {
    for ordinal in 0..hip.devices {
        ok!(hip.hipSetDevice(ordinal));
        let memory = hip.device_memory(4096);
        ok!(hip.hipSetDevice(0));
        let mut attributes = std::mem::MaybeUninit::<hipPointerAttribute_t>::zeroed();
        ok!(hip.hipPointerGetAttributes(attributes.as_mut_ptr(), memory.wrapping_byte_add(64)));
        // SAFETY: zeroed and filled by HIP; every bit pattern is valid for its fields.
        let attributes = unsafe { attributes.assume_init() };
        assert_eq!(attributes.device, ordinal);
        assert!(!attributes.devicePointer.is_null());
        ok!(hip.hipFree(memory));
    }
}

pub(crate) fn more_than_there_is_is_out_of_memory_and_does_no_harm(hip: &Hip) {
    let (mut free, mut total) = (0, 0);
    ok!(hip.hipMemGetInfo(&mut free, &mut total));
    let mut address = ptr::null_mut();
    for size in [total + (1 << 30), 1 << 46] {
        assert_eq!(call!(hip.hipMalloc(&mut address, size)), hipError_t::hipErrorOutOfMemory, "{size} bytes");
    }
    call!(hip.hipGetLastError());
    let address = hip.device_memory(4096);
    ok!(hip.hipFree(address));
}

pub(crate) fn memory_is_freed_on_any_thread(hip: &Hip) {
    let memory = Handle::new(hip.device_memory(4096));
    let (host, _) = hip.host_memory(4096);
    let host = Handle::new(host);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            ok!(hip.hipFree(memory.get()));
            ok!(hip.hipHostFree(host.get()));
        });
    });
}

pub(crate) fn memory_is_the_same_for_the_whole_of_an_allocation(hip: &Hip) {
    let stream = hip.stream();
    let memory = hip.device_memory(1 << 20);
    ok!(hip.hipMemsetD8Async(memory, 1, 1 << 20, stream));
    for offset in [7, 255, 4103, (1 << 20) - 1] {
        ok!(hip.hipMemsetD8Async(memory.wrapping_byte_add(offset), 2, 1, stream));
    }
    let bytes = hip.read(stream, memory, 1 << 20);
    assert_eq!(bytes.iter().filter(|byte| **byte == 2).count(), 4);
    assert_eq!((bytes[7], bytes[255], bytes[4103], bytes[(1 << 20) - 1]), (2, 2, 2, 2));
    ok!(hip.hipFree(memory));
    ok!(hip.hipStreamDestroy(stream));
}

/// The driver does not rely on this: see its quirks.
pub(crate) fn memory_of_a_pool_follows_the_order_of_its_stream(hip: &Hip) {
    let mut supported = 0;
    let attribute = hipDeviceAttribute_t::hipDeviceAttributeMemoryPoolsSupported;
    let asked = call!(hip.hipDeviceGetAttribute(&mut supported, attribute, 0));
    if asked != OK || supported == 0 || !hip.has(Feature::MemoryPools) {
        call!(hip.hipGetLastError());
        return;
    }
    let stream = hip.stream();
    let mut kept = Vec::new();
    for value in 1..=16_u32 {
        let mut memory = ptr::null_mut();
        ok!(hip.hipMallocAsync(&mut memory, 1 << 16, stream));
        ok!(hip.hipMemsetD32Async(memory, value.cast_signed(), 1 << 14, stream));
        let copy = hip.device_memory(1 << 16);
        ok!(hip.hipMemcpyAsync(copy, memory, 1 << 16, hipMemcpyKind::hipMemcpyDefault, stream));
        ok!(hip.hipFreeAsync(memory, stream));
        kept.push((copy, value));
    }
    for (copy, value) in kept {
        assert_eq!(hip.read_words(stream, copy, 1 << 14), vec![value; 1 << 14]);
        ok!(hip.hipFree(copy));
    }
    ok!(hip.hipStreamDestroy(stream));
}
