// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory.

use std::ptr;

use windlass_hip_sys::Feature;
use windlass_hip_sys::bindings::*;

use crate::hips::{Handle, OK, on_each_hip, on_each_working_hip};

#[test]
fn device_memory_is_aligned_to_256_bytes() {
    on_each_hip(|hip| {
        for size in [1, 255, 4096, 1 << 20] {
            let address = hip.device_memory(size);
            assert_eq!(address.addr() % 256, 0, "{size} bytes");
            ok!(hip.hipFree(address));
        }
    });
}

#[test]
fn freeing_null_is_nothing() {
    on_each_hip(|hip| {
        ok!(hip.hipFree(ptr::null_mut()));
        ok!(hip.hipHostFree(ptr::null_mut()));
    });
}

#[test]
fn mapped_host_memory_has_a_device_address() {
    on_each_hip(|hip| {
        let stream = hip.stream();
        let (host, device) = hip.host_memory(4096);
        assert_eq!(device.addr() % 256, 0);
        ok!(hip.hipMemsetD8Async(device, 0x5a, 4096, stream));
        ok!(hip.hipStreamSynchronize(stream));
        // SAFETY: so many bytes that HIP gave, with nothing in flight.
        let bytes = unsafe { std::slice::from_raw_parts(host.cast::<u8>(), 4096) };
        assert!(bytes.iter().all(|byte| *byte == 0x5a), "what the device writes the host sees");
        ok!(hip.hipHostFree(host));
        ok!(hip.hipStreamDestroy(stream));
    });
}

#[test]
fn more_than_there_is_is_out_of_memory_and_does_no_harm() {
    on_each_hip(|hip| {
        let (mut free, mut total) = (0, 0);
        ok!(hip.hipMemGetInfo(&mut free, &mut total));
        let mut address = ptr::null_mut();
        for size in [total + (1 << 30), 1 << 46] {
            assert_eq!(
                call!(hip.hipMalloc(&mut address, size)),
                hipError_t::hipErrorOutOfMemory,
                "{size} bytes"
            );
        }
        call!(hip.hipGetLastError());
        let address = hip.device_memory(4096);
        ok!(hip.hipFree(address));
    });
}

#[test]
fn whoever_gave_memory_takes_it_back_on_any_thread() {
    on_each_hip(|hip| {
        let memory = Handle::new(hip.device_memory(4096));
        let (host, _) = hip.host_memory(4096);
        let host = Handle::new(host);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                ok!(hip.hipFree(memory.get()));
                ok!(hip.hipHostFree(host.get()));
            });
        });
    });
}

#[test]
fn memory_is_the_same_for_the_whole_of_an_allocation() {
    on_each_hip(|hip| {
        let stream = hip.stream();
        let memory = hip.device_memory(1 << 20);
        ok!(hip.hipMemsetD8Async(memory, 1, 1 << 20, stream));
        for offset in [1, 255, 4097, (1 << 20) - 1] {
            ok!(hip.hipMemsetD8Async(memory.wrapping_byte_add(offset), 2, 1, stream));
        }
        let bytes = hip.read(stream, memory, 1 << 20);
        assert_eq!(bytes.iter().filter(|byte| **byte == 2).count(), 4);
        assert_eq!((bytes[1], bytes[255], bytes[4097], bytes[(1 << 20) - 1]), (2, 2, 2, 2));
        ok!(hip.hipFree(memory));
        ok!(hip.hipStreamDestroy(stream));
    });
}

/// Not what the driver builds on: see its quirks.
#[test]
fn memory_of_a_pool_follows_the_order_of_its_stream() {
    on_each_working_hip(|hip| {
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
    });
}
