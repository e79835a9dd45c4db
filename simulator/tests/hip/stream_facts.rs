// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers and attributes of streams, and the compute units that they use.

use std::collections::BTreeSet;
use std::ptr::{null, null_mut};

use crate::common::Machine;
use windlass_hip_sys::bindings::*;

const POLICY: hipLaunchAttributeID = hipLaunchAttributeID::hipLaunchAttributeSynchronizationPolicy;
const PRIORITY: hipLaunchAttributeID = hipLaunchAttributeID::hipLaunchAttributePriority;
/// `hipStreamPerThread`.
const OWN: hipStream_t = 2 as hipStream_t;

fn attribute(machine: &Machine, stream: hipStream_t, attribute: hipLaunchAttributeID) -> i32 {
    let mut value = hipLaunchAttributeValue { pad: [0; 64] };
    ok!(machine, hipStreamGetAttribute(stream, attribute, &mut value));
    // SAFETY: the call filled the number.
    unsafe { value.priority }
}

fn policy(policy: u32) -> hipLaunchAttributeValue {
    let mut value = hipLaunchAttributeValue { pad: [0; 64] };
    value.syncPolicy = hipSynchronizationPolicy(policy);
    value
}

#[test]
fn each_stream_has_a_number_of_its_own() {
    let machine = Machine::new("");
    let streams = [null_mut(), OWN, machine.stream(), machine.stream_with(0)];
    let id = |stream: hipStream_t| {
        let mut id = 0;
        ok!(machine, hipStreamGetId(stream, &mut id));
        id
    };
    let ids: BTreeSet<_> = streams.map(id).into_iter().collect();
    assert_eq!(ids.len(), 4);
    assert_eq!(id(null_mut()), id(1 as hipStream_t), "the null stream by its other name");
    fails!(hipErrorInvalidValue, machine, hipStreamGetId(null_mut(), null_mut()));
    fails!(hipErrorInvalidHandle, machine, hipStreamGetId(77 as hipStream_t, &mut 0));
}

#[test]
fn the_policy_of_a_stream_is_kept_and_copied_and_its_priority_told() {
    let machine = Machine::new("gfx942?hip=7.2");
    let (stream, mut greatest) = (machine.stream(), null_mut());
    ok!(machine, hipStreamCreateWithPriority(&mut greatest, 0, -1));
    assert_eq!(attribute(&machine, stream, POLICY), 1);
    assert_eq!([stream, greatest].map(|stream| attribute(&machine, stream, PRIORITY)), [0, -1]);
    for number in [2, 3, 4, 1, 4] {
        ok!(machine, hipStreamSetAttribute(stream, POLICY, &policy(number)));
        assert_eq!(attribute(&machine, stream, POLICY), number as i32);
    }
    for number in [0, 5] {
        fails!(hipErrorInvalidValue, machine, hipStreamSetAttribute(stream, POLICY, &policy(number)));
    }
    fails!(hipErrorInvalidValue, machine, hipStreamSetAttribute(stream, PRIORITY, &policy(1)));
    fails!(hipErrorInvalidValue, machine, hipStreamSetAttribute(stream, POLICY, null()));
    let none = 77 as hipStream_t;
    fails!(hipErrorInvalidHandle, machine, hipStreamSetAttribute(none, POLICY, &policy(1)));
    ok!(machine, hipStreamCopyAttributes(greatest, stream));
    assert_eq!(attribute(&machine, greatest, POLICY), 4);
    assert_eq!(attribute(&machine, greatest, PRIORITY), -1);
    fails!(hipErrorInvalidHandle, machine, hipStreamCopyAttributes(greatest, none));
    fails!(hipErrorInvalidHandle, machine, hipStreamCopyAttributes(none, stream));
    let mut value = policy(0);
    let window = hipLaunchAttributeID::hipLaunchAttributeAccessPolicyWindow;
    fails!(hipErrorInvalidValue, machine, hipStreamGetAttribute(stream, window, &mut value));
    fails!(hipErrorInvalidHandle, machine, hipStreamGetAttribute(none, POLICY, &mut value));
    fails!(hipErrorInvalidValue, machine, hipStreamGetAttribute(stream, POLICY, null_mut()));
    ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed));
    fails!(hipErrorStreamCaptureUnsupported, machine, hipStreamSetAttribute(stream, POLICY, &policy(1)));
}

#[test]
fn a_stream_has_the_compute_units_that_its_client_chose() {
    let machine = Machine::new("gfx942?units=40");
    let mask = |stream: hipStream_t| {
        let mut mask = [7; 3];
        ok!(machine, hipExtStreamGetCUMask(stream, 3, mask.as_mut_ptr()));
        assert_eq!(mask[2], 7, "a word behind those of the device");
        [mask[0], mask[1]]
    };
    let create = |mask: &[u32]| {
        let mut stream = null_mut();
        ok!(machine, hipExtStreamCreateWithCUMask(&mut stream, mask.len() as u32, mask.as_ptr()));
        stream
    };
    let all = [u32::MAX, 0xff];
    for stream in [null_mut(), OWN, machine.stream()] {
        assert_eq!(mask(stream), all);
    }
    assert_eq!(mask(create(&[0xf0, 3])), [0xf0, 3]);
    assert_eq!(mask(create(&[0xf0, u32::MAX, 9])), [0xf0, 0xff], "units that are not there");
    assert_eq!(mask(create(&[0, 0])), all, "none is all");
    let stream = create(&[1]);
    let memory = machine.malloc(4);
    ok!(machine, hipMemsetD32Async(memory, 5, 1, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u32>(memory, 1), [5]);
    let mut flags = 9;
    ok!(machine, hipStreamGetFlags(stream, &mut flags));
    assert_eq!(flags, 0, "a blocking stream");
    ok!(machine, hipStreamDestroy(stream));
    let mut word = 1;
    fails!(hipErrorInvalidValue, machine, hipExtStreamGetCUMask(null_mut(), 1, &mut word));
    fails!(hipErrorInvalidValue, machine, hipExtStreamGetCUMask(null_mut(), 2, null_mut()));
    let mut made = null_mut();
    fails!(hipErrorInvalidHandle, machine, hipExtStreamCreateWithCUMask(null_mut(), 1, &word));
    fails!(hipErrorInvalidValue, machine, hipExtStreamCreateWithCUMask(&mut made, 0, &word));
    fails!(hipErrorInvalidValue, machine, hipExtStreamCreateWithCUMask(&mut made, 1, null()));
}

/// With one hardware queue for all, a stream behind a gate holds all others, but not those with units of their own.
#[test]
fn streams_with_units_of_their_own_share_no_hardware_queue() {
    let machine = Machine::new("gfx942?hardware_queues=1");
    let gate = machine.gate(machine.stream());
    let mut stream = null_mut();
    ok!(machine, hipExtStreamCreateWithCUMask(&mut stream, 1, &1));
    machine.call_on(stream, || ());
    ok!(machine, hipStreamSynchronize(stream));
    drop(gate);
}

#[test]
fn memory_is_attached_to_streams() {
    let machine = Machine::new("");
    let (stream, mut memory) = (machine.stream(), null_mut());
    ok!(machine, hipMallocManaged(&mut memory, 64, 1));
    for (flags, stream) in [(1, stream), (2, stream), (4, stream), (1, null_mut())] {
        ok!(machine, hipStreamAttachMemAsync(stream, memory, 0, flags));
        ok!(machine, hipStreamAttachMemAsync(stream, memory, 64, flags));
    }
    fails!(hipErrorInvalidValue, machine, hipStreamAttachMemAsync(null_mut(), memory, 0, 4));
    fails!(hipErrorInvalidValue, machine, hipStreamAttachMemAsync(stream, memory, 32, 1));
    fails!(hipErrorInvalidValue, machine, hipStreamAttachMemAsync(stream, memory, 0, 3));
    fails!(hipErrorInvalidValue, machine, hipStreamAttachMemAsync(stream, null_mut(), 0, 1));
    fails!(hipErrorInvalidValue, machine, hipStreamAttachMemAsync(stream, (&raw mut memory).cast(), 0, 1));
    fails!(hipErrorContextIsDestroyed, machine, hipStreamAttachMemAsync(77 as hipStream_t, memory, 0, 1));
}
