// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of kernels and functions, launches in three steps, the device that fits best, calls that AMD's HIP refuses too.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};

use crate::common::Machine;
use crate::symbols::kernel;
use windlass_hip_sys::bindings::*;

fn vector_add(machine: &Machine) -> hipFunction_t {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles/vector_add.ccob");
    machine.function(machine.load(&std::fs::read(path).unwrap()), c"vector_add")
}

/// A name that HIP returned.
fn text(name: *const c_char) -> Option<String> {
    // SAFETY: HIP returns null or a string that ends.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_str().unwrap().to_owned())
}

#[test]
fn kernels_and_functions_have_their_names() {
    let machine = Machine::new("");
    let function = vector_add(&machine);
    assert_eq!(text(hip!(machine, hipKernelNameRef(function))).as_deref(), Some("vector_add"));
    let by_pointer = hip!(machine, hipKernelNameRefByPtr(kernel(&machine), null_mut()));
    assert_eq!(text(by_pointer).as_deref(), Some("vector_add"));
    assert_eq!(text(hip!(machine, hipKernelNameRef(null_mut()))), None);
    for none in [null(), 77 as *const c_void] {
        assert_eq!(text(hip!(machine, hipKernelNameRefByPtr(none, null_mut()))), None);
    }
    // Numbers of the header: the first, one of the middle, and those of no function.
    for (number, name) in [
        (1, "__hipPopCallConfiguration"),
        (400, "hipMemcpy2DArrayToArray"),
        (0, "unknown"),
        (398, "unknown"),
        (u32::MAX, "unknown"),
    ] {
        assert_eq!(text(hip!(machine, hipApiName(number))).as_deref(), Some(name), "{number}");
    }
}

#[test]
fn the_last_numbered_function_is_hip_7_s() {
    let machine = Machine::new("?hip=7.1");
    for (number, name) in [(444, "hipMemGetHandleForAddressRange"), (445, "unknown")] {
        assert_eq!(text(hip!(machine, hipApiName(number))).as_deref(), Some(name), "{number}");
    }
}

/// The function itself stands for the kernel in HIP 7.
#[test]
fn a_function_may_stand_for_its_kernel() {
    let machine = Machine::new("");
    let function = vector_add(&machine);
    let by_pointer = hip!(machine, hipKernelNameRefByPtr(function.cast(), null_mut()));
    assert_eq!(text(by_pointer).as_deref(), Some("vector_add"));
    ok!(machine, hipConfigureCall(dim3 { x: 1, y: 1, z: 1 }, dim3 { x: 64, y: 1, z: 1 }, 0, null_mut()));
    let nothing = [0_u64; 4];
    ok!(machine, hipSetupArgument(nothing.as_ptr().cast(), 32, 0));
    ok!(machine, hipLaunchByPtr(function.cast()));
    ok!(machine, hipDeviceSynchronize());

    let older = Machine::new("?hip=6.4");
    let function = vector_add(&older);
    assert!(hip!(older, hipKernelNameRefByPtr(function.cast(), null_mut())).is_null());
    let (one, nothing) = (dim3 { x: 1, y: 1, z: 1 }, null_mut());
    fails!(
        hipErrorInvalidDeviceFunction,
        older,
        hipLaunchKernel(function.cast(), one, one, nothing, 0, null_mut())
    );
}

#[test]
fn a_kernel_is_launched_in_three_steps() {
    let machine = Machine::new("");
    let (kernel, stream) = (kernel(&machine), machine.stream());
    let (a, b) = (machine.upload(&[1_f32; 64]), machine.upload(&[2_f32; 64]));
    let out = machine.upload(&[0_f32; 64]);
    let one = |extent| dim3 { x: extent, y: 1, z: 1 };
    let set_up = |value: *const c_void, size, offset| hip!(machine, hipSetupArgument(value, size, offset));
    ok!(machine, hipConfigureCall(one(1), one(64), 0, stream));
    // The last argument first: they may come in any order.
    let count = 64_u32;
    assert_eq!(set_up((&raw const count).cast(), 4, 24), hipError_t::hipSuccess);
    for (index, pointer) in [&a, &b, &out].into_iter().enumerate() {
        let status = set_up(std::ptr::from_ref(pointer).cast(), 8, index * 8);
        assert_eq!(status, hipError_t::hipSuccess);
    }
    ok!(machine, hipLaunchByPtr(kernel));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<f32>(out, 64), [3.0; 64]);
    ok!(machine, hipConfigureCall(one(1), one(64), 0, stream));
    fails!(hipErrorInvalidDeviceFunction, machine, hipLaunchByPtr(77 as *const c_void));
}

#[test]
fn each_launch_in_steps_begins_with_its_configuration() {
    let machine = Machine::new("");
    let (kernel, count) = (kernel(&machine), 64_u32);
    let one = |extent| dim3 { x: extent, y: 1, z: 1 };
    let set_up = |value: *const c_void, size, offset| hip!(machine, hipSetupArgument(value, size, offset));
    fails!(hipErrorMissingConfiguration, machine, hipLaunchByPtr(kernel));
    assert_eq!(set_up((&raw const count).cast(), 4, 0), hipError_t::hipErrorMissingConfiguration);
    ok!(machine, hipConfigureCall(one(1), one(64), 0, null_mut()));
    assert_eq!(set_up(null(), 4, 0), hipError_t::hipErrorInvalidValue);
    assert_eq!(set_up((&raw const count).cast(), 4, usize::MAX), hipError_t::hipErrorInvalidValue);
    assert_eq!(set_up((&raw const count).cast(), 4, 1 << 40), hipError_t::hipErrorInvalidValue);
}

#[test]
fn the_first_device_that_fulfils_all_wishes_is_chosen() {
    let machine = Machine::new("gfx942?devices=2&memory=1G");
    let mut device = 9;
    let chosen = |wish: hipDeviceProp_tR0600| {
        let mut device = 9;
        ok!(machine, hipChooseDeviceR0600(&mut device, &wish));
        device
    };
    let wish = hipDeviceProp_tR0600::default();
    assert_eq!(chosen(wish), 0, "no wish");
    assert_eq!(chosen(hipDeviceProp_tR0600 { major: 9, totalGlobalMem: 1 << 30, ..wish }), 0);
    assert_eq!(chosen(hipDeviceProp_tR0600 { major: 10, ..wish }), 0, "none fulfils it");
    fails!(hipErrorInvalidValue, machine, hipChooseDeviceR0600(null_mut(), &wish));
    fails!(hipErrorInvalidValue, machine, hipChooseDeviceR0600(&mut device, null()));
    let old = hipDeviceProp_tR0000 { major: 9, ..Default::default() };
    ok!(machine, hipChooseDevice(&mut device, &old));
    assert_eq!(device, 0);
    device = 9;
    ok!(machine, hipChooseDeviceR0000(&mut device, &old));
    assert_eq!(device, 0);
    fails!(hipErrorInvalidValue, machine, hipChooseDevice(null_mut(), &old));
    fails!(hipErrorInvalidValue, machine, hipChooseDeviceR0000(&mut device, null()));
}

#[test]
fn lds_that_is_left_is_shared_by_the_workgroups() {
    let machine = Machine::new("gfx942?hip=7.2");
    let function: *const c_void = vector_add(&machine).cast();
    let available = |blocks, size| {
        let mut bytes = 7;
        ok!(machine, hipOccupancyAvailableDynamicSMemPerBlock(&mut bytes, function, blocks, size));
        bytes
    };
    assert_eq!(available(1, 1024), 64 << 10);
    assert_eq!(available(2, 1024), 32 << 10);
    // Eight workgroups of 256 work-items fit, so more than eight do not make a share smaller.
    assert_eq!([available(8, 256), available(9, 256)], [8 << 10; 2]);
    let mut bytes = 7;
    let mut refused = |blocks, size, symbol| {
        hip!(machine, hipOccupancyAvailableDynamicSMemPerBlock(&mut bytes, symbol, blocks, size))
    };
    for (blocks, size) in [(0, 64), (1, 0), (-1, 64), (1, -64), (1, 2049)] {
        assert_eq!(refused(blocks, size, function), hipError_t::hipErrorInvalidValue, "{blocks} {size}");
    }
    assert_eq!(refused(1, 64, null()), hipError_t::hipErrorInvalidDeviceFunction);
    assert!(Machine::new("").api.missing().contains(&"hipOccupancyAvailableDynamicSMemPerBlock"));
}

#[test]
fn calls_that_amd_refuses_say_what_to_do() {
    let machine = Machine::new("");
    fails!(hipErrorNotSupported, machine, hipProfilerStart());
    fails!(hipErrorNotSupported, machine, hipProfilerStop());
    fails!(hipErrorNotSupported, machine, hipCtxGetApiVersion(null_mut(), &mut 0));
    fails!(hipErrorNotSupported, machine, hipSetValidDevices(&mut 0, 1));
    // These two do nothing, for any context.
    ok!(machine, hipCtxEnablePeerAccess(null_mut(), 0));
    ok!(machine, hipCtxDisablePeerAccess(null_mut()));
}
