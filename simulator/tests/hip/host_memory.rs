// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of the host that HIP allocates, and what the driver's functions tell of a pointer.

use std::ffi::c_void;
use std::ptr::null_mut;

use crate::common::Machine;
use windlass_hip_sys::bindings::*;

fn flags_of(machine: &Machine, pointer: *mut c_void) -> u32 {
    let mut flags = 99;
    ok!(machine, hipHostGetFlags(&mut flags, pointer));
    flags
}

#[test]
fn host_memory_keeps_its_flags() {
    let machine = Machine::new("");
    for flags in 0..=7 {
        let mut memory = null_mut();
        ok!(machine, hipHostAlloc(&mut memory, 64, flags));
        assert_eq!(flags_of(&machine, memory), flags);
        assert_eq!(flags_of(&machine, memory.wrapping_byte_add(63)), flags);
        // SAFETY: host memory of 64 bytes, of which nobody else knows.
        unsafe { memory.cast::<u8>().write_bytes(flags as u8, 64) };
        assert_eq!(machine.download::<u8>(memory, 64), [flags as u8; 64]);
        ok!(machine, hipFreeHost(memory));
        fails!(hipErrorInvalidValue, machine, hipFreeHost(memory));
        fails!(hipErrorInvalidValue, machine, hipHostGetFlags(&mut 0, memory));
    }
    let mut memory = null_mut();
    ok!(machine, hipMallocHost(&mut memory, 64));
    assert_eq!(flags_of(&machine, memory), 0);
    let (device, mut own) = (machine.malloc(64), [0_u8; 64]);
    let own: *mut c_void = own.as_mut_ptr().cast();
    for other in [null_mut(), device, own] {
        fails!(hipErrorInvalidValue, machine, hipHostGetFlags(&mut 0, other));
    }
    fails!(hipErrorInvalidValue, machine, hipHostGetFlags(null_mut(), memory));
    ok!(machine, hipHostFree(memory));
    ok!(machine, hipFreeHost(null_mut()));
    fails!(hipErrorInvalidValue, machine, hipFreeHost(own));
}

#[test]
fn memory_of_the_device_is_not_freed_as_the_host_s() {
    let machine = Machine::new("");
    let device = machine.malloc(64);
    fails!(hipErrorInvalidValue, machine, hipFreeHost(device));
    fails!(hipErrorInvalidValue, machine, hipHostFree(device));
    ok!(machine, hipFree(device));
}

/// AMD's own flags, such as the one for coherent memory, are for AMD's own functions.
#[test]
fn host_memory_with_amd_s_own_flags_comes_from_other_functions() {
    const COHERENT: u32 = 0x4000_0000;
    for (options, status) in
        [("?hip=6.2", hipError_t::hipSuccess), ("?hip=6.3", hipError_t::hipErrorInvalidValue)]
    {
        let machine = Machine::new(options);
        let mut memory = null_mut();
        assert_eq!(hip!(machine, hipHostAlloc(&mut memory, 64, COHERENT)), status, "{options}");
        ok!(machine, hipHostMalloc(&mut memory, 64, COHERENT));
        for flags in [8, 0x100, 0xc000_0000, u32::MAX] {
            fails!(hipErrorInvalidValue, machine, hipHostAlloc(&mut memory, 64, flags));
        }
    }
    let machine = Machine::new("");
    fails!(hipErrorInvalidValue, machine, hipHostAlloc(null_mut(), 64, 0));
    fails!(hipErrorInvalidValue, machine, hipMallocHost(null_mut(), 64));
    let both = |memory: &mut [*mut c_void; 2], size| {
        let [one, other] = memory;
        [hip!(machine, hipHostAlloc(one, size, 0)), hip!(machine, hipMallocHost(other, size))]
    };
    let mut memory = [std::ptr::without_provenance_mut(7); 2];
    assert_eq!(both(&mut memory, 0), [hipError_t::hipSuccess; 2]);
    assert_eq!(memory, [null_mut(); 2], "nothing is nowhere");
    assert_eq!(both(&mut memory, usize::MAX), [hipError_t::hipErrorOutOfMemory; 2]);
}

#[test]
fn an_allocation_tells_its_size_wherever_one_points_into_it() {
    let machine = Machine::new("");
    let (device, mut pinned) = (machine.malloc(100), null_mut());
    ok!(machine, hipMallocHost(&mut pinned, 60));
    let size_of = |pointer: *mut c_void| {
        let mut size = 7;
        (hip!(machine, hipMemPtrGetInfo(pointer, &mut size)), size)
    };
    assert_eq!(size_of(device), (hipError_t::hipSuccess, 100));
    assert_eq!(size_of(device.wrapping_byte_add(99)), (hipError_t::hipSuccess, 100));
    assert_eq!(size_of(pinned), (hipError_t::hipSuccess, 60));
    let mut own = 0_u8;
    let unknown = (hipError_t::hipErrorInvalidValue, 7);
    for pointer in [null_mut(), device.wrapping_byte_add(100), (&raw mut own).cast()] {
        assert_eq!(size_of(pointer), unknown);
    }
    ok!(machine, hipFree(device));
    assert_eq!(size_of(device), unknown);
}

#[test]
fn several_attributes_of_a_pointer_come_by_one_call() {
    let machine = Machine::new("gfx942?devices=2");
    ok!(machine, hipSetDevice(1));
    let memory = machine.malloc(100);
    let (mut kind, mut size, mut ordinal, mut host) = (9_u32, 9_usize, 9_u32, 9_u64);
    let mut wanted = [
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_MEMORY_TYPE,
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_RANGE_SIZE,
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        hipPointer_attribute::HIP_POINTER_ATTRIBUTE_HOST_POINTER,
    ];
    let mut places: [*mut c_void; 4] =
        [(&raw mut kind).cast(), (&raw mut size).cast(), (&raw mut ordinal).cast(), (&raw mut host).cast()];
    let (attributes, data) = (wanted.as_mut_ptr(), places.as_mut_ptr());
    let ask = |count, pointer| hip!(machine, hipDrvPointerGetAttributes(count, attributes, data, pointer));
    assert_eq!(ask(4, memory.wrapping_byte_add(50)), hipError_t::hipSuccess);
    assert_eq!(
        (kind, size, ordinal, host),
        (hipMemoryType::hipMemoryTypeDevice.0, 100, 1, 0),
        "the host has no pointer to it"
    );
    // Of a pointer that HIP does not know there are only the values that say so.
    let mut own = 0_u8;
    host = 9;
    assert_eq!(ask(4, (&raw mut own).cast()), hipError_t::hipSuccess);
    let unregistered = hipMemoryType::hipMemoryTypeUnregistered.0;
    assert_eq!((kind, size, ordinal as i32, host), (unregistered, 0, -2, 0));
    for (count, attributes, data, pointer) in [
        (0, attributes, data, memory),
        (1, null_mut(), data, memory),
        (1, attributes, null_mut(), memory),
        (1, attributes, data, null_mut()),
    ] {
        fails!(hipErrorInvalidValue, machine, hipDrvPointerGetAttributes(count, attributes, data, pointer));
    }
}
