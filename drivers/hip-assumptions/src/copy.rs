// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies and fills.

use windlass_hip_sys::bindings::*;

use crate::gpu::Gpu;
use crate::hips::{HOST_TO_DEVICE, Handle, Hip};

const DEFAULT: hipMemcpyKind = hipMemcpyKind::hipMemcpyDefault;

pub(crate) fn fills_count_in_elements_and_begin_at_any_multiple_of_one(hip: &Hip) {
    let stream = hip.stream();
    let memory = hip.device_memory(16);
    ok!(hip.hipMemsetD8Async(memory, 0xaa, 16, stream));
    ok!(hip.hipMemsetD32Async(memory.wrapping_byte_add(4), 0x0403_0201, 1, stream));
    ok!(hip.hipMemsetD16Async(memory.wrapping_byte_add(10), 0x0605, 3, stream));
    ok!(hip.hipMemsetD8Async(memory.wrapping_byte_add(15), 7, 1, stream));
    let bytes = hip.read(stream, memory, 16);
    assert_eq!(bytes, [0xaa, 0xaa, 0xaa, 0xaa, 1, 2, 3, 4, 0xaa, 0xaa, 5, 6, 5, 6, 5, 7]);
    ok!(hip.hipFree(memory));
    ok!(hip.hipStreamDestroy(stream));
}

/// HIP 5 does not: the driver's quirks have a row for this.
pub(crate) fn fills_may_begin_and_end_within_a_word_since_6(hip: &Hip) {
    if hip.origin().version.is_some_and(|version| version.major < 6) {
        return;
    }
    let stream = hip.stream();
    let memory = hip.device_memory(16);
    for (start, length) in [(1, 1), (1, 2), (3, 4), (5, 2)] {
        ok!(hip.hipMemsetD8Async(memory, 0xaa, 16, stream));
        ok!(hip.hipMemsetD8Async(memory.wrapping_byte_add(start), 7, length, stream));
        let mut expected = [0xaa; 16];
        expected[start..start + length].fill(7);
        assert_eq!(hip.read(stream, memory, 16), expected, "{length} bytes from {start}");
    }
    ok!(hip.hipFree(memory));
    ok!(hip.hipStreamDestroy(stream));
}

pub(crate) fn copies_of_any_length_begin_anywhere(hip: &Hip) {
    const SIZE: usize = 512;
    let stream = hip.stream();
    let [from, to] = [(); 2].map(|()| hip.device_memory(SIZE));
    let bytes: Vec<u8> = (0..SIZE).map(|index| index as u8).collect();
    ok!(hip.hipMemcpyAsync(from, bytes.as_ptr().cast(), SIZE, HOST_TO_DEVICE, stream));
    ok!(hip.hipStreamSynchronize(stream));
    for (start, end, length) in [(0, 0, 1), (1, 0, 3), (0, 1, 7), (3, 5, 64), (17, 2, 67), (5, 11, 300)] {
        ok!(hip.hipMemsetD8Async(to, 0xee, SIZE, stream));
        let (source, target) = (from.wrapping_byte_add(start), to.wrapping_byte_add(end));
        ok!(hip.hipMemcpyAsync(target, source, length, DEFAULT, stream));
        let mut expected = vec![0xee; SIZE];
        expected[end..end + length].copy_from_slice(&bytes[start..start + length]);
        assert_eq!(hip.read(stream, to, SIZE), expected, "{length} bytes from {start} to {end}");
    }
    ok!(hip.hipFree(from));
    ok!(hip.hipFree(to));
    ok!(hip.hipStreamDestroy(stream));
}

pub(crate) fn nothing_may_be_copied_and_filled(hip: &Hip) {
    let stream = hip.stream();
    let [from, to] = [(); 2].map(|()| hip.device_memory(64));
    ok!(hip.hipMemsetD8Async(to, 3, 64, stream));
    ok!(hip.hipMemcpyAsync(to, from, 0, DEFAULT, stream));
    ok!(hip.hipMemsetD8Async(to, 4, 0, stream));
    ok!(hip.hipMemsetD16Async(to, 4, 0, stream));
    ok!(hip.hipMemsetD32Async(to, 4, 0, stream));
    assert_eq!(hip.read(stream, to, 64), [3; 64]);
    ok!(hip.hipFree(from));
    ok!(hip.hipFree(to));
    ok!(hip.hipStreamDestroy(stream));
}

/// `hipMemcpyDefault` between device memory and pinned memory, by device addresses.
pub(crate) fn the_default_kind_finds_out_what_addresses_are(hip: &Hip) {
    let stream = hip.stream();
    let memory = hip.device_memory(64);
    let [(host_a, a), (host_b, b)] = [(); 2].map(|()| hip.host_memory(64));
    // SAFETY: 64 bytes that HIP gave, with nothing in flight.
    unsafe { host_a.cast::<u8>().write_bytes(0x77, 64) };
    ok!(hip.hipMemcpyAsync(memory, a, 64, DEFAULT, stream));
    ok!(hip.hipMemcpyAsync(b, memory, 64, DEFAULT, stream));
    ok!(hip.hipStreamSynchronize(stream));
    // SAFETY: as above.
    assert_eq!(unsafe { std::slice::from_raw_parts(host_b.cast::<u8>(), 64) }, [0x77; 64]);
    ok!(hip.hipHostFree(host_a));
    ok!(hip.hipHostFree(host_b));
    ok!(hip.hipFree(memory));
    ok!(hip.hipStreamDestroy(stream));
}

/// So the bytes of an update are in pinned memory that its submission keeps.
pub(crate) fn pinned_memory_is_read_when_the_copy_runs(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    let memory = gpu.device_memory(64);
    let (host, device) = gpu.host_memory(64);
    // SAFETY: 64 bytes that HIP gave, with nothing in flight.
    unsafe { host.cast::<u8>().write_bytes(1, 64) };
    let gate = gpu.hold(stream);
    gpu.while_closed(&gate, || ok!(gpu.hipMemcpyAsync(memory, device, 64, DEFAULT, stream)));
    // SAFETY: as above: the copy is behind the gate.
    unsafe { host.cast::<u8>().write_bytes(2, 64) };
    drop(gate);
    assert_eq!(gpu.read(stream, memory, 64), [2; 64]);
    ok!(gpu.hipHostFree(host));
    ok!(gpu.hipFree(memory));
    ok!(gpu.hipStreamDestroy(stream));
}

/// A copy from memory that HIP does not know may wait for its stream, so the driver makes none. When the copy has
/// returned, HIP no longer uses the memory.
pub(crate) fn pageable_memory_is_the_callers_again_when_the_copy_returns(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    let memory = gpu.device_memory(1 << 16);
    let gate = gpu.hold(stream);
    let (to, on) = (Handle::new(memory), Handle::new(stream));
    std::thread::scope(|scope| {
        let copying = scope.spawn(move || {
            let mut bytes = vec![1_u8; 1 << 16];
            ok!(gpu.hipMemcpyAsync(to.get(), bytes.as_ptr().cast(), 1 << 16, HOST_TO_DEVICE, on.get()));
            bytes.fill(2);
            bytes
        });
        // Long enough to return if it does not wait. No time proves that it waits.
        for _ in 0..1000 {
            if copying.is_finished() {
                break;
            }
            std::thread::yield_now();
        }
        gate.open();
        let bytes = copying.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        assert_eq!(gpu.read(stream, memory, 1 << 16), vec![1; 1 << 16]);
        drop(bytes);
    });
    ok!(gpu.hipFree(memory));
    ok!(gpu.hipStreamDestroy(stream));
}
