// SPDX-License-Identifier: MIT OR Apache-2.0
//! An interposer passes calls on, counts them, and returns the statuses of its rule.

use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::mpsc::channel;

use windlass_hip_sys::Api;
use windlass_hip_sys::bindings::*;
use windlass_hip_sys::interposer::Interposer;
use windlass_hip_sys::null::{Instance, Options};
use windlass_simulator::Simulator;

const OK: hipError_t = hipError_t::hipSuccess;
const UNKNOWN: hipError_t = hipError_t::hipErrorUnknown;
const INVALID: hipError_t = hipError_t::hipErrorInvalidDevice;

fn new() -> (Arc<Instance>, Arc<Interposer>, Api) {
    let behind = Instance::new(Options { devices: 2, ..Options::default() });
    let interposer = Interposer::new(behind.api());
    let api = interposer.api();
    (behind, interposer, api)
}

fn set_device(api: &Api, device: c_int) -> hipError_t {
    // SAFETY: takes no pointer.
    unsafe { api.hipSetDevice(device) }
}

fn last_error(api: &Api) -> hipError_t {
    // SAFETY: takes no pointer.
    unsafe { api.hipGetLastError() }
}

#[test]
fn it_has_the_functions_and_the_origin_of_the_hip_behind() {
    let (behind, _, api) = new();
    let plain = behind.api();
    assert_eq!(api.missing(), plain.missing());
    assert_eq!(api.origin(), plain.origin());
    assert_eq!(api.contains_faults(), plain.contains_faults());
    assert!(Interposer::new(plain.with_contained_faults()).api().contains_faults());
}

#[test]
fn calls_pass_with_their_arguments_and_are_counted_on_both_sides() {
    let (behind, interposer, api) = new();
    let mut device = -1;
    assert_eq!(set_device(&api, 1), OK);
    // SAFETY: the pointer is ours.
    assert_eq!(unsafe { api.hipGetDevice(&mut device) }, OK);
    assert_eq!(device, 1);
    assert_eq!(interposer.calls(), [("hipGetDevice", 1), ("hipSetDevice", 1)]);
    assert_eq!(interposer.calls(), behind.calls());
    assert_eq!((interposer.total(), interposer.count("hipSetDevice"), interposer.count("hipFoo")), (2, 1, 0));
}

#[test]
fn the_chosen_call_fails_and_goes_no_further() {
    let (behind, interposer, api) = new();
    assert_eq!(set_device(&api, 0), OK);
    interposer.fail("hipSetDevice", 2, UNKNOWN);
    assert_eq!([(); 4].map(|()| set_device(&api, 1)), [OK, UNKNOWN, OK, OK]);
    assert_eq!((interposer.count("hipSetDevice"), behind.count("hipSetDevice")), (5, 4));
    interposer.on_call(|call| (call.overall > 6).then_some(INVALID));
    assert_eq!([(); 3].map(|()| set_device(&api, 1)), [OK, INVALID, INVALID]);
    interposer.pass();
    assert_eq!(set_device(&api, 1), OK);
}

#[test]
fn the_last_error_is_that_of_the_answer() {
    let (_, interposer, api) = new();
    interposer.fail("hipSetDevice", 1, UNKNOWN);
    assert_eq!(set_device(&api, 0), UNKNOWN);
    let elsewhere = std::thread::scope(|scope| scope.spawn(|| last_error(&api)).join());
    assert_eq!(elsewhere.expect("no panic"), OK, "another thread's");
    assert_eq!([(); 2].map(|()| last_error(&api)), [UNKNOWN, OK]);
    assert_eq!(set_device(&api, 7), INVALID);
    assert_eq!([(); 2].map(|()| last_error(&api)), [INVALID, OK], "from behind");
    // Functions that return errors are not made to fail.
    interposer.on_call(|_| Some(UNKNOWN));
    assert_eq!(last_error(&api), OK);
}

#[test]
fn what_the_hip_behind_refuses_is_listed() {
    let (_, interposer, api) = new();
    interposer.fail("hipSetDevice", 1, UNKNOWN);
    assert_eq!([(); 2].map(|()| set_device(&api, 7)), [UNKNOWN, INVALID]);
    assert_eq!(last_error(&api), UNKNOWN);
    let refusals = interposer.take_refusals();
    assert_eq!(refusals.len(), 1, "not what the rule answered, nor what asks for errors: {refusals:?}");
    let (call, status) = refusals[0];
    assert_eq!((call.name, call.nth, status), ("hipSetDevice", 2, INVALID));
    assert_eq!(interposer.take_refusals(), []);
}

#[test]
fn the_balance_is_of_what_succeeded() {
    let (_, interposer, api) = new();
    let (mut memory, mut event) = (null_mut(), null_mut());
    // SAFETY: the pointers are ours; every object is released once.
    unsafe {
        assert_eq!(api.hipMalloc(&mut memory, 64), OK);
        assert_eq!(api.hipEventCreate(&mut event), OK);
        interposer.on_call(|_| Some(UNKNOWN));
        assert_eq!(api.hipMalloc(&mut memory, 64), UNKNOWN);
        assert_eq!(api.hipEventDestroy(event), UNKNOWN);
        interposer.pass();
        assert_eq!(interposer.live(), [("device memory", 1), ("events", 1)]);
        assert_eq!(api.hipEventDestroy(event), OK);
        assert_eq!(api.hipFree(memory), OK);
    }
    assert_eq!(interposer.live(), []);
}

#[test]
fn a_capture_makes_a_graph_unless_it_goes_into_one_that_exists() {
    let simulator = Simulator::new("gfx942".parse().unwrap()).unwrap();
    let interposer = Interposer::new(simulator.api());
    let api = interposer.api();
    let mode = hipStreamCaptureMode::hipStreamCaptureModeRelaxed;
    let (mut stream, mut graph, mut same) = (null_mut(), null_mut(), null_mut());
    // SAFETY: the pointers are ours, and the handles are alive until they are destroyed.
    unsafe {
        assert_eq!(api.hipStreamCreate(&mut stream), OK);
        assert_eq!(api.hipStreamBeginCapture(stream, mode), OK);
        assert_eq!(api.hipStreamEndCapture(stream, &mut graph), OK);
        assert_eq!(interposer.live(), [("streams", 1), ("graphs", 1)]);
        assert_eq!(api.hipStreamBeginCaptureToGraph(stream, graph, null(), null(), 0, mode), OK);
        assert_eq!(api.hipStreamEndCapture(stream, &mut same), OK);
        assert_eq!(interposer.live(), [("streams", 1), ("graphs", 1)]);
        assert_eq!(api.hipGraphDestroy(graph), OK);
        assert_eq!(api.hipStreamDestroy(stream), OK);
    }
    assert_eq!(interposer.live(), []);
}

#[test]
fn a_rule_may_hold_a_call_up_while_others_pass() {
    let (behind, interposer, api) = new();
    let (begun, has_begun) = channel();
    let (go, may_go) = channel::<()>();
    let may_go = std::sync::Mutex::new(may_go);
    interposer.on_call(move |call| {
        if call.name == "hipSetDevice" {
            begun.send(call.nth).expect("the test listens");
            may_go.lock().expect("sound").recv().expect("the test lets it go");
        }
        None
    });
    std::thread::scope(|scope| {
        let held = scope.spawn(|| set_device(&api, 1));
        assert_eq!(has_begun.recv(), Ok(1));
        let mut device = -1;
        // SAFETY: the pointer is ours.
        assert_eq!(unsafe { api.hipGetDevice(&mut device) }, OK);
        assert_eq!(behind.count("hipSetDevice"), 0);
        // A rule can be replaced while a call is blocked in it.
        interposer.pass();
        go.send(()).expect("held");
        assert_eq!(held.join().expect("no panic"), OK);
    });
    assert_eq!(behind.count("hipSetDevice"), 1);
}

#[test]
fn interposers_stand_in_front_of_each_other() {
    let (behind, inner, api) = new();
    let outer = Interposer::new(api);
    let api = outer.api();
    outer.fail("hipSetDevice", 1, UNKNOWN);
    inner.fail("hipSetDevice", 1, INVALID);
    assert_eq!([(); 3].map(|()| set_device(&api, 1)), [UNKNOWN, INVALID, OK]);
    let counts = [outer.count("hipSetDevice"), inner.count("hipSetDevice"), behind.count("hipSetDevice")];
    assert_eq!(counts, [3, 2, 1]);
}

#[test]
fn a_rule_keeps_calls_of_all_kinds_away() {
    let (behind, interposer, api) = new();
    interposer.on_call(|_| Some(UNKNOWN));
    // SAFETY: none of them is called: the rule answers.
    unsafe {
        assert_eq!(api.hipMalloc(null_mut(), 1), UNKNOWN);
        assert_eq!(api.hipModuleUnload(null_mut()), UNKNOWN);
        assert_eq!(api.hipStreamWaitEvent(null_mut(), null_mut(), 0), UNKNOWN);
        assert!(!api.hipGetErrorName(UNKNOWN).is_null(), "returns no status");
    }
    assert_eq!(behind.calls(), []);
}
