// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory: alignment, nothing, and what fills count in.

use std::ptr;

use super::{OK, device_memory, on_each_hip, stream};
use windlass_hip_sys::bindings::*;

#[test]
fn device_memory_is_aligned_to_256_bytes() {
    on_each_hip(|api| {
        for size in [1, 255, 4096, 1 << 20] {
            let address = device_memory(api, size);
            assert_eq!(address.addr() % 256, 0, "{size} bytes");
            // SAFETY: given up once.
            assert_eq!(unsafe { api.hipFree(address) }, OK);
        }
    });
}

#[test]
fn freeing_null_is_nothing() {
    on_each_hip(|api| {
        // SAFETY: null is allowed.
        assert_eq!(unsafe { api.hipFree(ptr::null_mut()) }, OK);
        // SAFETY: null is allowed.
        assert_eq!(unsafe { api.hipHostFree(ptr::null_mut()) }, OK);
    });
}

#[test]
fn fills_count_in_elements_and_begin_at_any_multiple_of_one() {
    on_each_hip(|api| {
        let stream = stream(api);
        let memory = device_memory(api, 16);
        let mut host = [0_u8; 16];
        // SAFETY: all ranges lie within the sixteen bytes.
        unsafe {
            assert_eq!(api.hipMemsetD8Async(memory, 0xaa, 16, stream), OK);
            assert_eq!(api.hipMemsetD32Async(memory.byte_add(4), 0x0403_0201, 1, stream), OK);
            assert_eq!(api.hipMemsetD16Async(memory.byte_add(10), 0x0605, 2, stream), OK);
            assert_eq!(api.hipMemsetD8Async(memory.byte_add(15), 7, 1, stream), OK);
            let to_host = hipMemcpyKind::hipMemcpyDeviceToHost;
            assert_eq!(api.hipMemcpyAsync(host.as_mut_ptr().cast(), memory, 16, to_host, stream), OK);
            assert_eq!(api.hipStreamSynchronize(stream), OK);
            assert_eq!(api.hipFree(memory), OK);
            assert_eq!(api.hipStreamDestroy(stream), OK);
        }
        assert_eq!(host, [0xaa, 0xaa, 0xaa, 0xaa, 1, 2, 3, 4, 0xaa, 0xaa, 5, 6, 5, 6, 0xaa, 7]);
    });
}

#[test]
fn mapped_host_memory_has_a_device_address() {
    on_each_hip(|api| {
        let (mut host, mut device) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the pointers are ours; what is allocated is given up once.
        unsafe {
            assert_eq!(api.hipHostMalloc(&mut host, 4096, hipHostMallocPortable | hipHostMallocMapped), OK);
            assert_eq!(api.hipHostGetDevicePointer(&mut device, host, 0), OK);
            assert!(!device.is_null());
            assert_eq!(api.hipHostFree(host), OK);
        }
    });
}
