// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contexts: each device has one, whichever way a program gets it.

use std::ptr::null_mut;

use crate::common::{Block, Machine};
use windlass_hip_sys::bindings::*;

fn current(machine: &Machine) -> hipDevice_t {
    let mut device = 9;
    ok!(machine, hipCtxGetDevice(&mut device));
    device
}

/// Whether a device is in use.
fn is_active(machine: &Machine, device: hipDevice_t) -> bool {
    let (mut flags, mut active) = (9, 9);
    ok!(machine, hipDevicePrimaryCtxGetState(device, &mut flags, &mut active));
    assert!(flags == 0 && active <= 1, "{flags} {active}");
    active == 1
}

#[test]
fn a_context_that_is_destroyed_leaves_the_top_of_the_stack() {
    let machine = Machine::new("gfx942?devices=2");
    let (mut first, mut second) = (null_mut(), null_mut());
    ok!(machine, hipDevicePrimaryCtxRetain(&mut first, 0));
    ok!(machine, hipCtxCreate(&mut second, 0, 1));
    ok!(machine, hipCtxDestroy(second));
    fails!(hipErrorInvalidContext, machine, hipCtxPopCurrent(null_mut()));
    // One that lies deeper stays there. The context is the device's, and can be used again.
    ok!(machine, hipCtxPushCurrent(second));
    ok!(machine, hipCtxPushCurrent(first));
    ok!(machine, hipCtxDestroy(second));
    let mut popped = null_mut();
    for expected in [first, second] {
        ok!(machine, hipCtxPopCurrent(&mut popped));
        assert_eq!(popped, expected);
    }
    fails!(hipErrorInvalidContext, machine, hipCtxPopCurrent(null_mut()));
    fails!(hipErrorInvalidValue, machine, hipCtxDestroy(null_mut()));
    for device in [-1, 2] {
        fails!(hipErrorInvalidValue, machine, hipCtxCreate(&mut second, 0, device));
    }
}

#[test]
fn a_mistaken_context_is_neither_destroyed_nor_reset() {
    let machine = Machine::new("");
    fails!(hipErrorInvalidValue, machine, hipCtxDestroy(77 as hipCtx_t));
    for device in [-1, 2] {
        fails!(hipErrorInvalidDevice, machine, hipDevicePrimaryCtxReset(device));
    }
}

#[test]
fn the_device_of_the_current_context_is_the_current_device() {
    let machine = Machine::new("gfx942?devices=2");
    assert_eq!(current(&machine), 0);
    ok!(machine, hipSetDevice(1));
    assert_eq!(current(&machine), 1);
    let mut context = null_mut();
    ok!(machine, hipDevicePrimaryCtxRetain(&mut context, 0));
    ok!(machine, hipCtxPushCurrent(context));
    assert_eq!(current(&machine), 0);
    fails!(hipErrorInvalidValue, machine, hipCtxGetDevice(null_mut()));
    fails!(hipErrorNotSupported, machine, hipCtxSynchronize());
    machine.explains(&["hipDeviceSynchronize"]);
}

#[test]
fn the_context_of_a_device_is_active_once_the_device_is_used() {
    let machine = Machine::new("gfx942?devices=4");
    let mut context = null_mut();
    ok!(machine, hipDevicePrimaryCtxRetain(&mut context, 1));
    ok!(machine, hipSetDevice(1));
    let streams = [1, 2, 3].map(|device| {
        ok!(machine, hipSetDevice(device));
        machine.stream()
    });
    assert_eq!([0, 1, 2, 3].map(|device| is_active(&machine, device)), [false; 4]);
    // By memory, by work, and by a graph.
    ok!(machine, hipSetDevice(0));
    machine.malloc(64);
    assert_eq!([0, 1, 2, 3].map(|device| is_active(&machine, device)), [true, false, false, false]);
    machine.call_on(streams[0], || {});
    let (mut graph, mut exec) = (null_mut(), null_mut());
    ok!(machine, hipGraphCreate(&mut graph, 0));
    ok!(machine, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(machine, hipGraphLaunch(exec, streams[1]));
    assert_eq!([0, 1, 2, 3].map(|device| is_active(&machine, device)), [true, true, true, false]);
    ok!(machine, hipDevicePrimaryCtxGetState(0, null_mut(), null_mut()));
    for device in [-1, 4] {
        fails!(hipErrorInvalidDevice, machine, hipDevicePrimaryCtxGetState(device, &mut 0, &mut 0));
    }
}

#[test]
fn a_reset_of_the_primary_context_keeps_the_memory_of_the_device() {
    let machine = Machine::new("gfx942?devices=2");
    let memory = machine.upload(&[7_u32; 16]);
    let stream = machine.stream();
    ok!(machine, hipDevicePrimaryCtxReset(0));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u32>(memory, 16), [7; 16]);
    for device in [-1, 2] {
        fails!(hipErrorInvalidDevice, machine, hipDevicePrimaryCtxSetFlags(device, 0));
        fails!(hipErrorInvalidDevice, machine, hipDevicePrimaryCtxRelease(device));
    }
    // The flags of a context that is in use are fixed, and each is.
    for flags in [0, 4, u32::MAX] {
        fails!(hipErrorContextAlreadyInUse, machine, hipDevicePrimaryCtxSetFlags(1, flags));
    }
}

#[test]
fn a_failed_device_answers_after_a_reset_of_the_device_alone() {
    let machine = Machine::new("gfx942?faults=sticky");
    let module = machine.load(include_bytes!("../../../cts/kernels/bundles/faults.ccob"));
    let function = machine.function(module, c"write_at");
    let stray = Block::default().pointer(null_mut()).bytes(&64_i64.to_le_bytes()).u32(7).done();
    assert_eq!(machine.launch(function, 1, 1, null_mut(), &stray), hipError_t::hipSuccess);
    fails!(hipErrorIllegalAddress, machine, hipDeviceSynchronize());
    ok!(machine, hipDevicePrimaryCtxReset(0));
    fails!(hipErrorIllegalAddress, machine, hipMalloc(&mut null_mut(), 64));
    ok!(machine, hipDeviceReset());
    machine.malloc(64);
}
