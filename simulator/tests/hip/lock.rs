// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registered host memory that has another address for kernels: `lock=apart`.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use crate::common::{Block, Machine};
use windlass_hip_sys::bindings::*;

const DEFAULT: hipMemcpyKind = hipMemcpyKind::hipMemcpyDefault;

/// Registers words, and returns their address for kernels.
fn register(machine: &Machine, words: &mut [u32]) -> *mut c_void {
    let mut device = null_mut();
    ok!(machine, hipHostRegister(words.as_mut_ptr().cast(), size_of_val(words), 0));
    ok!(machine, hipHostGetDevicePointer(&mut device, words.as_mut_ptr().cast(), 0));
    device
}

fn write_at(machine: &Machine, target: *mut c_void, value: u32) -> hipError_t {
    let module = machine.load(include_bytes!("../../../cts/kernels/bundles/faults.ccob"));
    let function = machine.function(module, c"write_at");
    let arguments = Block::default().pointer(target).bytes(&3_i64.to_le_bytes()).u32(value).done();
    assert_eq!(machine.launch(function, 1, 1, null_mut(), &arguments), hipError_t::hipSuccess);
    hip!(machine, hipStreamSynchronize(null_mut()))
}

#[test]
fn kernels_have_registered_memory_at_the_same_address_unless_it_is_apart() {
    for (options, apart) in [("", false), ("?lock=same", false), ("?lock=apart", true)] {
        let machine = Machine::new(options);
        let mut words = vec![0_u32; 1024];
        let host = words.as_mut_ptr().cast::<c_void>();
        assert_eq!(register(&machine, &mut words) != host, apart, "{options}");
        ok!(machine, hipHostUnregister(host));
    }
}

#[test]
fn a_kernel_uses_the_address_that_it_has() {
    for seed in ["", "&seed=1"] {
        let machine = Machine::new(&format!("?lock=apart{seed}"));
        let mut words = vec![0_u32; 1024];
        let device = register(&machine, &mut words);
        assert_eq!(write_at(&machine, device, 7), hipError_t::hipSuccess);
        ok!(machine, hipHostUnregister(words.as_mut_ptr().cast()));
        assert_eq!(words[3], 7);
        // The registration has ended.
        assert_eq!(write_at(&machine, device, 8), hipError_t::hipErrorIllegalAddress);
        assert_eq!(words[3], 7);
    }
}

#[test]
fn a_kernel_that_is_given_the_hosts_address_faults_and_says_so() {
    let machine = Machine::new("?lock=apart");
    let mut words = vec![0_u32; 1024];
    let device = register(&machine, &mut words);
    assert_eq!(write_at(&machine, words.as_mut_ptr().cast(), 7), hipError_t::hipErrorIllegalAddress);
    assert_eq!(words[3], 0);
    let fault = machine.simulator.last_fault().unwrap();
    let there = format!("kernels have it at {:#x}", device as u64 + 12);
    for part in ["the host's address of 12 bytes into", &there, "hipHostGetDevicePointer"] {
        assert!(fault.contains(part), "{part}: {fault}");
    }
    ok!(machine, hipHostUnregister(words.as_mut_ptr().cast()));
}

#[test]
fn attributes_tell_both_addresses_from_either() {
    let machine = Machine::new("?lock=apart");
    let mut words = vec![0_u32; 1024];
    let host = words.as_mut_ptr().cast::<c_void>();
    let device = register(&machine, &mut words);
    for known in [host, device] {
        let mut attributes = MaybeUninit::<hipPointerAttribute_t>::zeroed();
        ok!(machine, hipPointerGetAttributes(attributes.as_mut_ptr(), known.wrapping_byte_add(8)));
        // SAFETY: HIP filled it, and zero bytes are a valid value.
        let attributes = unsafe { attributes.assume_init() };
        assert_eq!(attributes.type_, hipMemoryType::hipMemoryTypeHost);
        assert_eq!(attributes.hostPointer, host.wrapping_byte_add(8));
        assert_eq!(attributes.devicePointer, device.wrapping_byte_add(8));
        let (mut base, mut size) = (null_mut(), 0);
        ok!(machine, hipMemGetAddressRange(&mut base, &mut size, known.wrapping_byte_add(8)));
        assert_eq!((base, size), (known, 4096));
    }
    let mut again = null_mut();
    ok!(machine, hipHostGetDevicePointer(&mut again, host.wrapping_byte_add(8), 0));
    assert_eq!(again, device.wrapping_byte_add(8));
    ok!(machine, hipHostUnregister(host));
}

/// Copies and fills accept either address. They read the memory when they run, not when they are queued.
#[test]
fn copies_and_fills_take_either_address() {
    let machine = Machine::new("?lock=apart");
    let mut words = vec![1_u32; 1024];
    let host = words.as_mut_ptr().cast::<c_void>();
    let device = register(&machine, &mut words);
    let target = machine.malloc(4096);
    let stream = machine.stream();
    for (from, value) in [(host, 5_u32), (device, 6)] {
        let gate = machine.gate(stream);
        ok!(machine, hipMemcpyAsync(target, from, 4096, DEFAULT, stream));
        // SAFETY: the registered words, which no work accesses while the gate is shut.
        unsafe { host.cast::<u32>().write(value) };
        drop(gate);
        ok!(machine, hipStreamSynchronize(stream));
        assert_eq!(machine.download::<u32>(target, 2), [value, 1]);
    }
    for (to, value) in [(host, 9), (device, 10)] {
        ok!(machine, hipMemsetD32(to, value, 1024));
        ok!(machine, hipMemcpy(target, device, 4096, DEFAULT));
        assert_eq!(machine.download::<u32>(target, 1024), [value.cast_unsigned(); 1024]);
    }
    ok!(machine, hipMemset(target, 0, 4096));
    ok!(machine, hipMemcpy(host, target, 4096, DEFAULT));
    ok!(machine, hipHostUnregister(host));
    assert_eq!(words, [0; 1024]);
}

#[test]
fn registration_ends_by_the_hosts_address() {
    let machine = Machine::new("?lock=apart");
    let mut words = vec![0_u32; 1024];
    let host = words.as_mut_ptr().cast::<c_void>();
    let device = register(&machine, &mut words);
    fails!(hipErrorHostMemoryNotRegistered, machine, hipHostUnregister(device));
    fails!(hipErrorHostMemoryAlreadyRegistered, machine, hipHostRegister(host, 8, 0));
    ok!(machine, hipHostUnregister(host));
    fails!(hipErrorHostMemoryNotRegistered, machine, hipHostUnregister(host));
    fails!(hipErrorInvalidValue, machine, hipHostGetDevicePointer(&mut null_mut(), host, 0));
    // A new registration ends with the device's reset.
    register(&machine, &mut words);
    ok!(machine, hipDeviceReset());
    fails!(hipErrorHostMemoryNotRegistered, machine, hipHostUnregister(host));
}
