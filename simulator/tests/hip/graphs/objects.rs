// SPDX-License-Identifier: MIT OR Apache-2.0
//! User objects: graphs, their copies and instantiated graphs keep them alive.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use windlass_hip_sys::bindings::*;

use crate::common::Machine;

const MOVE: u32 = 1;

/// Counts how often it was ended.
unsafe extern "C" fn end(data: *mut c_void) {
    // SAFETY: the datum is a leaked counter.
    unsafe { &*data.cast::<AtomicU32>() }.fetch_add(1, SeqCst);
}

/// An object with references, and the number of its ends.
fn object(machine: &Machine, references: u32) -> (hipUserObject_t, &'static AtomicU32) {
    let ends: &'static AtomicU32 = Box::leak(Box::default());
    let mut object = null_mut();
    let data = std::ptr::from_ref(ends).cast_mut().cast();
    ok!(machine, hipUserObjectCreate(&mut object, data, Some(end), references, 1));
    (object, ends)
}

#[test]
fn an_object_ends_with_its_last_reference() {
    let machine = Machine::new("");
    let (object, ends) = object(&machine, 2);
    ok!(machine, hipUserObjectRetain(object, 1));
    ok!(machine, hipUserObjectRelease(object, 2));
    // More references than there are stay.
    ok!(machine, hipUserObjectRelease(object, 2));
    assert_eq!(ends.load(SeqCst), 0);
    ok!(machine, hipUserObjectRelease(object, 1));
    assert_eq!(ends.load(SeqCst), 1);
    // As in HIP, an object that is gone is no error.
    ok!(machine, hipUserObjectRelease(object, 1));
    ok!(machine, hipUserObjectRetain(object, 1));
    ok!(machine, hipGraphRetainUserObject(machine.graph(), object, 1, 0));
    assert_eq!(ends.load(SeqCst), 1);
}

#[test]
fn a_graph_keeps_its_objects_until_it_is_destroyed() {
    let machine = Machine::new("");
    let (graph, (object, ends)) = (machine.graph(), object(&machine, 1));
    ok!(machine, hipGraphRetainUserObject(graph, object, 2, 0));
    ok!(machine, hipUserObjectRelease(object, 1));
    ok!(machine, hipGraphReleaseUserObject(graph, object, 1));
    assert_eq!(ends.load(SeqCst), 0);
    ok!(machine, hipGraphDestroy(graph));
    assert_eq!(ends.load(SeqCst), 1);
}

#[test]
fn a_graph_takes_references_over() {
    let machine = Machine::new("");
    let (graph, (object, ends)) = (machine.graph(), object(&machine, 1));
    ok!(machine, hipGraphRetainUserObject(graph, object, 1, MOVE));
    ok!(machine, hipGraphReleaseUserObject(graph, object, 1));
    assert_eq!(ends.load(SeqCst), 1);
    ok!(machine, hipGraphDestroy(graph));
    assert_eq!(ends.load(SeqCst), 1);
}

#[test]
fn copies_and_instantiated_graphs_have_references_of_their_own() {
    let machine = Machine::new("");
    let (inner, graph, (object, ends)) = (machine.graph(), machine.graph(), object(&machine, 1));
    ok!(machine, hipGraphRetainUserObject(inner, object, 1, MOVE));
    let mut node = null_mut();
    ok!(machine, hipGraphAddChildGraphNode(&mut node, graph, null(), 0, inner));
    ok!(machine, hipGraphDestroy(inner));
    let mut copy = null_mut();
    ok!(machine, hipGraphClone(&mut copy, graph));
    ok!(machine, hipGraphDestroy(graph));
    let exec = machine.exec(copy);
    ok!(machine, hipGraphDestroy(copy));
    assert_eq!(ends.load(SeqCst), 0);
    ok!(machine, hipGraphExecDestroy(exec));
    assert_eq!(ends.load(SeqCst), 1);
}

#[test]
fn a_launch_under_way_keeps_the_objects_of_a_destroyed_graph() {
    let machine = Machine::new("");
    let (graph, stream, (object, ends)) = (machine.graph(), machine.stream(), object(&machine, 1));
    ok!(machine, hipGraphRetainUserObject(graph, object, 1, MOVE));
    machine.fill_node(graph, &[], machine.malloc(64), 0, 16);
    let exec = machine.exec(graph);
    ok!(machine, hipGraphDestroy(graph));
    let gate = machine.gate(stream);
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipGraphExecDestroy(exec));
    assert_eq!(ends.load(SeqCst), 0);
    drop(gate);
    ok!(machine, hipDeviceSynchronize());
    assert_eq!(ends.load(SeqCst), 1);
}

#[test]
fn wrong_parameters_of_objects_are_refused() {
    let machine = Machine::new("");
    let (graph, mut made) = (machine.graph(), null_mut());
    let mut create = |destroy, references, flags| {
        hip!(machine, hipUserObjectCreate(&mut made, null_mut(), destroy, references, flags))
    };
    let invalid = hipError_t::hipErrorInvalidValue;
    assert_eq!(create(Some(end), 1, 0), invalid);
    assert_eq!(create(Some(end), 0, 1), invalid);
    assert_eq!(create(Some(end), 1 << 31, 1), invalid);
    assert_eq!(create(None, 1, 1), invalid);
    fails!(hipErrorInvalidValue, machine, hipUserObjectCreate(null_mut(), null_mut(), Some(end), 1, 1));
    let (object, ends) = object(&machine, 1);
    for count in [0, 1 << 31] {
        fails!(hipErrorInvalidValue, machine, hipUserObjectRetain(object, count));
        fails!(hipErrorInvalidValue, machine, hipUserObjectRelease(object, count));
        fails!(hipErrorInvalidValue, machine, hipGraphRetainUserObject(graph, object, count, 0));
        fails!(hipErrorInvalidValue, machine, hipGraphReleaseUserObject(graph, object, count));
    }
    fails!(hipErrorInvalidValue, machine, hipUserObjectRetain(null_mut(), 1));
    fails!(hipErrorInvalidValue, machine, hipUserObjectRelease(null_mut(), 1));
    fails!(hipErrorInvalidValue, machine, hipGraphRetainUserObject(graph, object, 1, 2));
    fails!(hipErrorInvalidValue, machine, hipGraphRetainUserObject(null_mut(), object, 1, 0));
    fails!(hipErrorInvalidValue, machine, hipGraphReleaseUserObject(graph, null_mut(), 1));
    // The graph does not have it.
    ok!(machine, hipGraphReleaseUserObject(graph, object, 1));
    assert_eq!(ends.load(SeqCst), 0);
}

#[test]
fn an_upload_changes_nothing_that_a_launch_does() {
    let machine = Machine::new("");
    let (stream, memory) = (machine.stream(), machine.upload(&[0_u32; 4]));
    ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed));
    ok!(machine, hipMemsetD32Async(memory, 7, 4, stream));
    let mut graph = null_mut();
    ok!(machine, hipStreamEndCapture(stream, &mut graph));
    let exec = machine.exec(graph);
    for place in [stream, null_mut(), 2 as hipStream_t] {
        ok!(machine, hipGraphUpload(exec, place));
    }
    ok!(machine, hipDeviceSynchronize());
    assert_eq!(machine.download::<u32>(memory, 4), [0; 4], "an upload is no launch");
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u32>(memory, 4), [7; 4]);
    for none in [null_mut(), 77 as hipGraphExec_t] {
        fails!(hipErrorInvalidValue, machine, hipGraphUpload(none, stream));
    }
    let gone = machine.stream();
    ok!(machine, hipStreamDestroy(gone));
    fails!(hipErrorContextIsDestroyed, machine, hipGraphUpload(exec, gone));
    ok!(machine, hipGraphExecDestroy(exec));
    fails!(hipErrorInvalidValue, machine, hipGraphUpload(exec, stream));
}
