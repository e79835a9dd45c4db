// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory: allocations, copies of every kind, fills, and refused calls.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use crate::common::Machine;
use windlass_hip_sys::bindings::*;

const HTOH: hipMemcpyKind = hipMemcpyKind::hipMemcpyHostToHost;
const HTOD: hipMemcpyKind = hipMemcpyKind::hipMemcpyHostToDevice;
const DTOH: hipMemcpyKind = hipMemcpyKind::hipMemcpyDeviceToHost;
const DTOD: hipMemcpyKind = hipMemcpyKind::hipMemcpyDeviceToDevice;
const DEFAULT: hipMemcpyKind = hipMemcpyKind::hipMemcpyDefault;

#[test]
fn fresh_device_memory_is_poisoned() {
    let machine = Machine::new("");
    let memory = machine.malloc(1000);
    assert_eq!(machine.download::<u8>(memory, 1000), [0xCB; 1000]);
}

#[test]
#[cfg(target_os = "linux")]
fn the_host_cannot_touch_device_memory() {
    let machine = Machine::new("");
    let memory = machine.upload(&[1_u8; 4096]);
    let address = memory as u64;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mapping = maps.lines().find(|line| {
        let (start, rest) = line.split_once('-').unwrap();
        let end = rest.split_once(' ').unwrap().0;
        let number = |text| u64::from_str_radix(text, 16).unwrap();
        (number(start)..number(end)).contains(&address)
    });
    let permissions = mapping.expect("the address is reserved").split_whitespace().nth(1).unwrap();
    assert!(permissions.starts_with("---"), "{permissions}");
}

#[test]
fn copies_go_every_way() {
    let machine = Machine::new("");
    let values: Vec<u32> = (0..1000).collect();
    let size = size_of_val(&values[..]);
    let (first, second) = (machine.malloc(size), machine.malloc(size));
    let mut back = vec![0_u32; 1000];
    let mut host = vec![0_u32; 1000];
    ok!(machine, hipMemcpy(first, values.as_ptr().cast(), size, HTOD));
    ok!(machine, hipMemcpy(second, first, size, DTOD));
    ok!(machine, hipMemcpy(back.as_mut_ptr().cast(), second, size, DTOH));
    assert_eq!(back, values);
    ok!(machine, hipMemcpy(host.as_mut_ptr().cast(), back.as_ptr().cast(), size, HTOH));
    assert_eq!(host, values);

    // The kind can be derived from the pointers.
    back.fill(0);
    ok!(machine, hipMemset(first, 0, size));
    ok!(machine, hipMemcpy(first, values.as_ptr().cast(), size, DEFAULT));
    ok!(machine, hipMemcpy(second, first, size, DEFAULT));
    ok!(machine, hipMemcpy(back.as_mut_ptr().cast(), second, size, DEFAULT));
    assert_eq!(back, values);

    // A part of an allocation.
    ok!(machine, hipMemcpyDtoH(back.as_mut_ptr().cast(), second.wrapping_byte_add(400), 40));
    assert_eq!(back[..10], values[100..110]);
}

#[test]
fn pinned_and_managed_memory_is_the_hosts_too() {
    let machine = Machine::new("");
    let device = machine.upload(&[7_u32; 256]);
    let mut pinned: *mut c_void = null_mut();
    ok!(machine, hipHostMalloc(&mut pinned, 1024, 0));
    let mut managed: *mut c_void = null_mut();
    ok!(machine, hipMallocManaged(&mut managed, 1024, 1));
    let mut seen = null_mut();
    ok!(machine, hipHostGetDevicePointer(&mut seen, pinned, 0));
    assert_eq!(seen, pinned);
    let stream = machine.stream();
    // IREE reads back like this: device to device, into mapped host memory.
    ok!(machine, hipMemcpyAsync(pinned, device, 1024, DTOD, stream));
    ok!(machine, hipMemcpyAsync(managed, pinned, 1024, DTOD, stream));
    ok!(machine, hipStreamSynchronize(stream));
    for memory in [pinned, managed] {
        // SAFETY: both are host memory of 1024 bytes that nothing else uses now.
        let words = unsafe { std::slice::from_raw_parts(memory.cast::<u32>(), 256) };
        assert_eq!(words, [7; 256]);
    }
    ok!(machine, hipHostFree(pinned));
    ok!(machine, hipFree(managed));
    fails!(hipErrorInvalidValue, machine, hipHostFree(pinned));
    fails!(hipErrorInvalidValue, machine, hipMemcpy(pinned, device, 16, DTOD));
}

#[test]
fn an_asynchronous_copy_takes_its_pageable_source_at_once() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let memory = machine.malloc(4096);
    let mut source = vec![1_u8; 4096];
    let gate = machine.gate(stream);
    ok!(machine, hipMemcpyHtoDAsync(memory, source.as_ptr().cast(), 4096, stream));
    source.fill(2);
    drop(gate);
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u8>(memory, 4096), [1; 4096]);
}

#[test]
fn a_pinned_source_is_read_when_the_stream_gets_there() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let memory = machine.malloc(4096);
    let mut pinned: *mut c_void = null_mut();
    ok!(machine, hipHostMalloc(&mut pinned, 4096, 0));
    let gate = machine.gate(stream);
    ok!(machine, hipMemcpyHtoDAsync(memory, pinned, 4096, stream));
    // SAFETY: host memory, and the copy waits behind the gate.
    unsafe { pinned.cast::<u8>().write_bytes(9, 4096) };
    drop(gate);
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u8>(memory, 4096), [9; 4096]);
}

#[test]
fn registered_memory_is_pinned_until_it_is_not() {
    let machine = Machine::new("");
    let mut memory = vec![3_u8; 8192];
    let pointer: *mut c_void = memory.as_mut_ptr().cast();
    ok!(machine, hipHostRegister(pointer, 8192, 0));
    // The address may be of any byte.
    for (offset, size) in [(0, 8192), (4096, 64), (8191, 64), (0, 1)] {
        let again = pointer.wrapping_byte_add(offset);
        fails!(hipErrorHostMemoryAlreadyRegistered, machine, hipHostRegister(again, size, 0));
    }
    let before = pointer.wrapping_byte_sub(64);
    fails!(hipErrorHostMemoryAlreadyRegistered, machine, hipHostRegister(before, 65, 0));
    let mut attributes = no_attributes();
    ok!(machine, hipPointerGetAttributes(&mut attributes, pointer));
    assert_eq!(attributes.type_, hipMemoryType::hipMemoryTypeHost);
    let device = machine.malloc(8192);
    ok!(machine, hipMemcpy(device, pointer, 8192, DTOD));
    ok!(machine, hipHostUnregister(pointer));
    fails!(hipErrorHostMemoryNotRegistered, machine, hipHostUnregister(pointer));
    fails!(hipErrorInvalidValue, machine, hipMemcpy(device, pointer, 8192, DTOD));
    ok!(machine, hipMemcpy(device, pointer, 8192, HTOD));
}

#[cfg(target_os = "linux")]
#[test]
fn memory_that_the_host_does_not_have_is_not_registered() {
    for options in ["", "?lock=apart"] {
        let machine = Machine::new(options);
        let nowhere = 0x10000 as *mut c_void;
        fails!(hipErrorInvalidValue, machine, hipHostRegister(nowhere, 4096, 0));
        let mut device = null_mut();
        fails!(hipErrorInvalidValue, machine, hipHostGetDevicePointer(&mut device, nowhere, 0));
        let freed = machine.malloc(4096);
        ok!(machine, hipFree(freed));
        fails!(hipErrorInvalidValue, machine, hipHostRegister(freed, 4096, 0));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn freed_memory_goes_back_to_the_system() {
    let machine = Machine::new("");
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    };
    // Other tests of this process take memory meanwhile, so one round of some is enough.
    let goes_back = |work: &dyn Fn()| {
        let mut stays = 0;
        let is_little = |_| {
            let before = resident();
            work();
            stays = resident().saturating_sub(before);
            stays < 128 << 20
        };
        assert!((0..5).any(is_little), "{stays} bytes stay");
    };
    // 500 MiB.
    goes_back(&|| {
        // With some allocations between those that are freed.
        let kept: Vec<_> = (0..80).map(|_| machine.upload(&[5_u32; 64])).collect();
        for round in 0..8000 {
            let memory = machine.malloc(64 << 10);
            if round % 100 == 0 {
                ok!(machine, hipFree(kept[round / 100]));
            }
            ok!(machine, hipFree(memory));
        }
    });
    // Each takes a page.
    goes_back(&|| {
        for _ in 0..40_000 {
            ok!(machine, hipFree(machine.upload(&[5_u8; 1])));
        }
    });
}

#[test]
fn fills_repeat_their_pattern() {
    let machine = Machine::new("");
    let memory = machine.malloc(64);
    let stream = machine.stream();
    ok!(machine, hipMemset(memory, 0x1ff, 64));
    assert_eq!(machine.download::<u8>(memory, 64), [0xff; 64]);
    ok!(machine, hipMemsetD16Async(memory, 0x1234, 4, stream));
    ok!(machine, hipMemsetD32Async(memory.wrapping_byte_add(8), 0x0bad_cafe, 2, stream));
    ok!(machine, hipMemsetD8Async(memory.wrapping_byte_add(16), 7, 3, stream));
    ok!(machine, hipStreamSynchronize(stream));
    let bytes = machine.download::<u8>(memory, 20);
    assert_eq!(bytes[..8], [0x34, 0x12, 0x34, 0x12, 0x34, 0x12, 0x34, 0x12]);
    assert_eq!(bytes[8..16], [0xfe, 0xca, 0xad, 0x0b, 0xfe, 0xca, 0xad, 0x0b]);
    assert_eq!(bytes[16..], [7, 7, 7, 0xff]);
    fails!(hipErrorInvalidValue, machine, hipMemset(memory, 0, 65));
    fails!(hipErrorInvalidValue, machine, hipMemsetD32(memory, 0, usize::MAX));
}

#[test]
fn rows_are_copied_at_their_pitches() {
    let machine = Machine::new("");
    let (mut memory, mut pitch) = (null_mut(), 0);
    ok!(machine, hipMallocPitch(&mut memory, &mut pitch, 10, 4));
    assert!(pitch >= 10 && pitch % 128 == 0);
    let (mut nothing, mut untouched) = (memory, 77);
    for [width, height] in [[0, 4], [10, 0]] {
        ok!(machine, hipMallocPitch(&mut nothing, &mut untouched, width, height));
        assert!(nothing.is_null() && untouched == 77);
    }
    let source: Vec<u8> = (0..48).collect();
    ok!(machine, hipMemset2D(memory, pitch, 0, 10, 4));
    ok!(machine, hipMemcpy2D(memory, pitch, source.as_ptr().cast(), 12, 10, 4, HTOD));
    let mut back = vec![0_u8; 40];
    ok!(machine, hipMemcpy2D(back.as_mut_ptr().cast(), 10, memory, pitch, 10, 4, DTOH));
    let expected: Vec<u8> = (0..4).flat_map(|row| (0..10).map(move |column| row * 12 + column)).collect();
    assert_eq!(back, expected);
    fails!(
        hipErrorInvalidPitchValue,
        machine,
        hipMemcpy2D(back.as_mut_ptr().cast(), 9, memory, pitch, 10, 4, DTOH)
    );
    // A single row too.
    fails!(
        hipErrorInvalidPitchValue,
        machine,
        hipMemcpy2D(back.as_mut_ptr().cast(), 9, memory, pitch, 10, 1, DTOH)
    );
    fails!(
        hipErrorInvalidPitchValue,
        machine,
        hipMemcpy2DAsync(memory, 9, source.as_ptr().cast(), 10, 10, 1, HTOD, null_mut())
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipMemcpy2D(back.as_mut_ptr().cast(), 10, memory, pitch, 10, 5, DTOH)
    );
}

#[test]
fn what_a_copy_cannot_mean_is_refused() {
    let machine = Machine::new("");
    let memory = machine.malloc(64);
    let mut host = [0_u8; 128];
    let to_host: *mut c_void = host.as_mut_ptr().cast();
    // Past the end, by one byte and by a whole allocation.
    fails!(hipErrorInvalidValue, machine, hipMemcpy(to_host, memory, 65, DTOH));
    fails!(hipErrorInvalidValue, machine, hipMemcpy(to_host, memory.wrapping_byte_add(60), 5, DTOH));
    fails!(hipErrorInvalidValue, machine, hipMemcpy(to_host, memory, usize::MAX, DTOH));
    // Null, a freed pointer, the wrong side, an invalid direction.
    fails!(hipErrorInvalidValue, machine, hipMemcpy(to_host, null(), 4, DTOH));
    fails!(hipErrorInvalidValue, machine, hipMemcpy(null_mut(), memory, 4, DTOH));
    fails!(hipErrorInvalidValue, machine, hipMemcpy(to_host, to_host, 4, DTOH));
    fails!(hipErrorInvalidMemcpyDirection, machine, hipMemcpy(to_host, memory, 4, hipMemcpyKind(77)));
    ok!(machine, hipMemcpy(to_host, memory, 0, DTOH));
    ok!(machine, hipFree(memory));
    fails!(hipErrorInvalidValue, machine, hipMemcpy(to_host, memory, 4, DTOH));
    fails!(hipErrorInvalidValue, machine, hipMemcpy(memory, to_host, 4, HTOD));
    assert_eq!(host, [0; 128]);
}

#[test]
fn one_row_needs_a_pitch_as_several_do() {
    let machine = Machine::new("");
    let memory = machine.upload(&[1_u8; 64]);
    for (pitch, width, rows, status) in [
        (0, 32, 1, hipError_t::hipErrorInvalidValue),
        (16, 32, 1, hipError_t::hipErrorInvalidValue),
        (16, 32, 2, hipError_t::hipErrorInvalidValue),
        (0, 0, 1, hipError_t::hipSuccess),
        (0, 32, 0, hipError_t::hipSuccess),
    ] {
        let filled = hip!(machine, hipMemset2D(memory, pitch, 2, width, rows));
        assert_eq!(filled, status, "{rows} rows of {width} bytes at a pitch of {pitch}");
    }
    assert_eq!(machine.download::<u8>(memory, 64), [1; 64]);
}

#[test]
fn only_what_was_allocated_can_be_freed_and_once() {
    let machine = Machine::new("");
    let memory = machine.malloc(64);
    ok!(machine, hipFree(null_mut()));
    fails!(hipErrorInvalidValue, machine, hipFree(memory.wrapping_byte_add(8)));
    fails!(hipErrorInvalidValue, machine, hipHostFree(memory));
    ok!(machine, hipFree(memory));
    fails!(hipErrorInvalidValue, machine, hipFree(memory));
    fails!(hipErrorInvalidValue, machine, hipFree(0x1234_5678 as *mut c_void));
}

#[test]
fn free_waits_for_what_may_use_the_memory() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let memory = machine.malloc(4096);
    let gate = machine.gate(stream);
    ok!(machine, hipMemsetAsync(memory, 1, 4096, stream));
    std::thread::scope(|scope| {
        let address = memory as usize;
        let machine = &machine;
        let freer = scope.spawn(move || ok!(machine, hipFree(address as *mut c_void)));
        assert!(!freer.is_finished());
        drop(gate);
        freer.join().unwrap();
    });
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.simulator.last_fault(), None);
}

#[test]
fn memory_of_a_device_runs_out_and_comes_back() {
    let machine = Machine::new("gfx942?memory=64M&devices=2");
    let info = || {
        let (mut free, mut total) = (0, 0);
        ok!(machine, hipMemGetInfo(&mut free, &mut total));
        (free, total)
    };
    assert_eq!(info(), (64 << 20, 64 << 20));
    let most = machine.malloc(63 << 20);
    assert_eq!(info().0, 1 << 20);
    let mut more = null_mut();
    fails!(hipErrorOutOfMemory, machine, hipMalloc(&mut more, 2 << 20));
    fails!(hipErrorOutOfMemory, machine, hipMalloc(&mut more, usize::MAX));
    assert!(more.is_null());
    ok!(machine, hipSetDevice(1));
    assert_eq!(info(), (64 << 20, 64 << 20));
    ok!(machine, hipFree(most));
    ok!(machine, hipSetDevice(0));
    assert_eq!(info(), (64 << 20, 64 << 20));
}

#[test]
fn peers_copy_to_each_other() {
    let machine = Machine::new("gfx942?devices=2");
    let here = machine.upload(&[5_u64; 100]);
    ok!(machine, hipSetDevice(1));
    let there = machine.malloc(800);
    let mut can = 0;
    ok!(machine, hipDeviceCanAccessPeer(&mut can, 0, 1));
    assert_eq!(can, 1);
    ok!(machine, hipDeviceEnablePeerAccess(0, 0));
    fails!(hipErrorPeerAccessAlreadyEnabled, machine, hipDeviceEnablePeerAccess(0, 0));
    let stream = machine.stream();
    ok!(machine, hipMemcpyPeerAsync(there, 1, here, 0, 800, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u64>(there, 100), [5; 100]);
    fails!(hipErrorInvalidDevice, machine, hipMemcpyPeer(there, 2, here, 0, 800));
}

fn no_attributes() -> hipPointerAttribute_t {
    hipPointerAttribute_t {
        type_: hipMemoryType(99),
        device: -7,
        devicePointer: null_mut(),
        hostPointer: null_mut(),
        isManaged: -7,
        allocationFlags: 0,
    }
}

#[test]
fn a_pointer_tells_what_it_is() {
    let machine = Machine::new("gfx942?devices=2");
    ok!(machine, hipSetDevice(1));
    let memory = machine.malloc(4096);
    let inside = memory.wrapping_byte_add(100);
    let mut attributes = no_attributes();
    ok!(machine, hipPointerGetAttributes(&mut attributes, inside));
    assert_eq!((attributes.type_, attributes.device), (hipMemoryType::hipMemoryTypeDevice, 1));
    assert_eq!((attributes.devicePointer, attributes.hostPointer), (inside, null_mut()));

    let mut pinned = null_mut();
    ok!(machine, hipHostMalloc(&mut pinned, 64, 2));
    ok!(machine, hipPointerGetAttributes(&mut attributes, pinned));
    assert_eq!((attributes.type_, attributes.allocationFlags), (hipMemoryType::hipMemoryTypeHost, 2));
    assert_eq!(attributes.hostPointer, pinned);

    let local = 0_u8;
    ok!(machine, hipPointerGetAttributes(&mut attributes, (&raw const local).cast()));
    assert_eq!(attributes.type_, hipMemoryType::hipMemoryTypeUnregistered);

    // Triton makes this query for each argument, and takes an error for host memory.
    let mut address = 0_u64;
    let device_pointer = hipPointer_attribute::HIP_POINTER_ATTRIBUTE_DEVICE_POINTER;
    ok!(machine, hipPointerGetAttribute((&raw mut address).cast(), device_pointer, inside));
    assert_eq!(address, inside as u64);
    let host: *mut c_void = (&raw const local).cast_mut().cast();
    fails!(
        hipErrorInvalidValue,
        machine,
        hipPointerGetAttribute((&raw mut address).cast(), device_pointer, host)
    );

    let (mut base, mut size) = (null_mut(), 0);
    ok!(machine, hipMemGetAddressRange(&mut base, &mut size, inside));
    assert_eq!((base, size), (memory, 4096));
}

#[test]
fn pools_give_memory_in_stream_order() {
    let machine = Machine::new("");
    let stream = machine.stream();
    // SAFETY: the structure has only numbers and pointers, for which zero is valid.
    let mut props: hipMemPoolProps = unsafe { std::mem::zeroed() };
    props.allocType = hipMemAllocationType::hipMemAllocationTypePinned;
    props.location.type_ = hipMemLocationType::hipMemLocationTypeDevice;
    let mut pool = null_mut();
    ok!(machine, hipMemPoolCreate(&mut pool, &props));
    let mut threshold = 1_u64 << 20;
    let release = hipMemPoolAttr::hipMemPoolAttrReleaseThreshold;
    ok!(machine, hipMemPoolSetAttribute(pool, release, (&raw mut threshold).cast()));

    let used = || {
        let mut used = 0_u64;
        let attribute = hipMemPoolAttr::hipMemPoolAttrUsedMemCurrent;
        ok!(machine, hipMemPoolGetAttribute(pool, attribute, (&raw mut used).cast()));
        used
    };
    let mut memory = null_mut();
    ok!(machine, hipMallocFromPoolAsync(&mut memory, 4096, pool, stream));
    assert_eq!(used(), 4096);
    let gate = machine.gate(stream);
    ok!(machine, hipMemsetAsync(memory, 1, 4096, stream));
    ok!(machine, hipFreeAsync(memory, stream));
    // The memory is still there, because the stream has not reached the free.
    assert_eq!(used(), 4096);
    drop(gate);
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(used(), 0);
    assert_eq!(machine.simulator.last_fault(), None);
    fails!(hipErrorInvalidValue, machine, hipFreeAsync(memory, stream));
    ok!(machine, hipMemPoolDestroy(pool));
    fails!(hipErrorInvalidValue, machine, hipMallocFromPoolAsync(&mut memory, 64, pool, stream));
    fails!(hipErrorInvalidValue, machine, hipMemPoolDestroy(pool));
    let mut default = null_mut();
    ok!(machine, hipDeviceGetDefaultMemPool(&mut default, 0));
    fails!(hipErrorInvalidValue, machine, hipMemPoolDestroy(default));
    ok!(machine, hipMallocAsync(&mut memory, 64, stream));
    ok!(machine, hipFree(memory));
}

#[test]
fn memory_whose_free_is_queued_is_not_freed_again() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let mut pooled = null_mut();
    ok!(machine, hipMallocAsync(&mut pooled, 4096, stream));
    for memory in [pooled, machine.malloc(4096)] {
        let gate = machine.gate(stream);
        ok!(machine, hipMemsetAsync(memory, 1, 4096, stream));
        ok!(machine, hipFreeAsync(memory, stream));
        // At once, although the stream has not reached the free.
        fails!(hipErrorInvalidValue, machine, hipFreeAsync(memory, stream));
        fails!(hipErrorInvalidValue, machine, hipFreeAsync(memory, null_mut()));
        fails!(hipErrorInvalidValue, machine, hipFree(memory));
        drop(gate);
        ok!(machine, hipDeviceSynchronize());
        assert_eq!(machine.simulator.last_fault(), None);
        fails!(hipErrorInvalidValue, machine, hipFree(memory));
    }
    // A free that is refused has no effect: a graph frees the memory of its nodes only.
    let memory = machine.malloc(64);
    let other = machine.stream();
    ok!(machine, hipStreamBeginCapture(other, hipStreamCaptureMode::hipStreamCaptureModeRelaxed));
    fails!(hipErrorInvalidValue, machine, hipFreeAsync(memory, other));
    ok!(machine, hipFreeAsync(memory, stream));
}

#[test]
fn use_after_free_in_stream_order_fails_the_device() {
    let machine = Machine::new("?faults=sticky");
    let stream = machine.stream();
    let mut memory = null_mut();
    ok!(machine, hipMallocAsync(&mut memory, 4096, stream));
    let gate = machine.gate(stream);
    ok!(machine, hipFreeAsync(memory, stream));
    ok!(machine, hipMemsetAsync(memory, 1, 4096, stream));
    drop(gate);
    fails!(hipErrorIllegalAddress, machine, hipStreamSynchronize(stream));
    let report = machine.simulator.last_fault().unwrap();
    assert!(report.contains("use after free"), "{report}");
    // Every call that needs the device returns the same error, until the reset.
    fails!(hipErrorIllegalAddress, machine, hipMalloc(&mut memory, 64));
    fails!(hipErrorIllegalAddress, machine, hipDeviceSynchronize());
    fails!(hipErrorIllegalAddress, machine, hipGetLastError());
    fails!(hipErrorIllegalAddress, machine, hipGetLastError());
    let mut name = [0; 64];
    ok!(machine, hipDeviceGetName(name.as_mut_ptr(), 64, 0));
    ok!(machine, hipDeviceReset());
    fails!(hipErrorContextIsDestroyed, machine, hipStreamSynchronize(stream));
    ok!(machine, hipMalloc(&mut memory, 64));
}

#[test]
fn a_failure_is_its_device_s_own() {
    let machine = Machine::new("gfx942?devices=2&faults=sticky");
    let mut memory = null_mut();
    ok!(machine, hipMallocAsync(&mut memory, 4096, null_mut()));
    ok!(machine, hipSetDevice(1));
    let stream = machine.stream();
    ok!(machine, hipSetDevice(0));
    let gate = machine.gate(null_mut());
    ok!(machine, hipFreeAsync(memory, null_mut()));
    ok!(machine, hipMemsetAsync(memory, 1, 4096, null_mut()));
    drop(gate);
    fails!(hipErrorIllegalAddress, machine, hipDeviceSynchronize());
    ok!(machine, hipSetDevice(1));
    ok!(machine, hipDeviceSynchronize());
    ok!(machine, hipStreamSynchronize(stream));
    let memory = machine.upload(&[1_u8; 16]);
    assert_eq!(machine.download::<u8>(memory, 16), [1; 16]);
}
