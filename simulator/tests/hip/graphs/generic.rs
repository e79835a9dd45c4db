// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes of any kind by one function.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use windlass_hip_sys::bindings::*;

use super::build::{Launch, floats};
use crate::common::{Log, Machine};

/// Parameters of a kind, with the bytes of the other members zero.
fn parameters(
    kind: hipGraphNodeType,
    fill: impl FnOnce(&mut hipGraphNodeParams__bindgen_ty_1),
) -> hipGraphNodeParams {
    let mut parameters = hipGraphNodeParams { type_: kind, ..Default::default() };
    fill(&mut parameters.__bindgen_anon_1);
    parameters
}

fn filling(memory: *mut c_void, value: f32) -> hipGraphNodeParams {
    let (value, width) = (floats(value), 64);
    let memset = hipMemsetParams { dst: memory, elementSize: 4, height: 1, pitch: 0, value, width };
    parameters(hipGraphNodeType::hipGraphNodeTypeMemset, |each| each.memset = memset)
}

fn copying(to: *mut c_void, from: *mut c_void, kind: hipMemcpyKind) -> hipGraphNodeParams {
    let side = |ptr| hipPitchedPtr { ptr, pitch: 256, xsize: 256, ysize: 1 };
    let copy = hipMemcpy3DParms {
        srcPtr: side(from),
        dstPtr: side(to),
        extent: hipExtent { width: 256, height: 1, depth: 1 },
        kind,
        ..Default::default()
    };
    parameters(hipGraphNodeType::hipGraphNodeTypeMemcpy, |each| each.memcpy.copyParams = copy)
}

#[test]
fn a_graph_of_generic_nodes_runs_and_takes_new_parameters() {
    let machine = Machine::new("");
    let [a, b, c, out] = [(); 4].map(|()| machine.upload(&[0_f32; 64]));
    let (graph, function) = (machine.graph(), machine.vector_add());
    let add = |after: &[hipGraphNode_t], mut wanted: hipGraphNodeParams| {
        let mut node = null_mut();
        ok!(machine, hipGraphAddNode(&mut node, graph, after.as_ptr(), after.len(), &mut wanted));
        node
    };
    let left = add(&[], filling(a, 1.0));
    let right = add(&[], filling(b, 2.0));
    let mut kernel = null_mut();
    Launch { addresses: [a as u64, b as u64, c as u64], count: 64 }.with(function, |launch| {
        let wanted = parameters(hipGraphNodeType::hipGraphNodeTypeKernel, |each| each.kernel = *launch);
        kernel = add(&[left, right], wanted);
    });
    let on_device = hipMemcpyKind::hipMemcpyDeviceToDevice;
    let copy = add(&[kernel], copying(out, c, on_device));
    let event = machine.event();
    let record =
        parameters(hipGraphNodeType::hipGraphNodeTypeEventRecord, |each| each.eventRecord.event = event);
    let wait = parameters(hipGraphNodeType::hipGraphNodeTypeWaitEvent, |each| each.eventWait.event = event);
    add(&[copy], record);
    add(&[], wait);
    machine.run(graph, machine.stream());
    assert_eq!(machine.download::<f32>(out, 64), [3.0; 64]);
    ok!(machine, hipEventQuery(event));

    ok!(machine, hipGraphNodeSetParams(left, &mut filling(a, 4.0)));
    let (exec, stream) = (machine.exec(graph), machine.stream());
    ok!(machine, hipGraphExecNodeSetParams(exec, right, &mut filling(b, 5.0)));
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<f32>(out, 64), [9.0; 64]);

    let any = hipMemcpyKind::hipMemcpyDefault;
    ok!(machine, hipGraphNodeSetParams(copy, &mut copying(out, c, any)));
}

#[test]
fn parameters_that_do_not_suit_a_node_are_refused() {
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    let machine = Machine::new("");
    let (memory, out) = (machine.upload(&[0_f32; 64]), machine.upload(&[0_f32; 64]));
    let (graph, log) = (machine.graph(), Log::default());
    let on_device = hipMemcpyKind::hipMemcpyDeviceToDevice;
    let (mut copy, mut node) = (null_mut(), null_mut());
    ok!(machine, hipGraphAddNode(&mut copy, graph, null(), 0, &mut copying(out, memory, on_device)));
    let other = machine.graph();
    machine.log_node(other, &[], &log, "");
    ok!(machine, hipGraphAddNode(&mut node, graph, null(), 0, &mut child(other)));
    let exec = machine.exec(graph);
    fails!(hipErrorInvalidValue, machine, hipGraphNodeSetParams(copy, &mut filling(memory, 1.0)));
    fails!(hipErrorInvalidValue, machine, hipGraphExecNodeSetParams(exec, copy, &mut filling(memory, 1.0)));
    // Another direction than the instantiated copy's, and graphs that cannot be the child.
    let any = &mut copying(out, memory, hipMemcpyKind::hipMemcpyDefault);
    fails!(hipErrorInvalidValue, machine, hipGraphExecNodeSetParams(exec, copy, any));
    fails!(hipErrorUnknown, machine, hipGraphNodeSetParams(node, &mut child(graph)));
    fails!(hipErrorUnknown, machine, hipGraphExecNodeSetParams(exec, node, &mut child(machine.graph())));
    fails!(hipErrorInvalidValue, machine, hipGraphNodeSetParams(node, &mut child(machine.graph())));
    // A host function gets a datum when its node is changed.
    let host = hipHostNodeParams { fn_: Some(nothing), userData: null_mut() };
    let wanted = &mut parameters(hipGraphNodeType::hipGraphNodeTypeHost, |each| each.host = host);
    ok!(machine, hipGraphAddNode(&mut node, graph, null(), 0, wanted));
    fails!(hipErrorInvalidValue, machine, hipGraphNodeSetParams(node, wanted));
}

#[test]
fn hip_6_takes_a_host_function_without_data_for_a_node_that_exists() {
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    let machine = Machine::new("?hip=6.4");
    let (graph, mut node) = (machine.graph(), null_mut());
    let host = hipHostNodeParams { fn_: Some(nothing), userData: null_mut() };
    let wanted = &mut parameters(hipGraphNodeType::hipGraphNodeTypeHost, |each| each.host = host);
    ok!(machine, hipGraphAddNode(&mut node, graph, null(), 0, wanted));
    ok!(machine, hipGraphNodeSetParams(node, wanted));
    ok!(machine, hipGraphExecNodeSetParams(machine.exec(graph), node, wanted));
}

fn child(graph: hipGraph_t) -> hipGraphNodeParams {
    parameters(hipGraphNodeType::hipGraphNodeTypeGraph, |each| each.graph.graph = graph)
}

#[test]
fn children_and_memory_are_generic_nodes() {
    let machine = Machine::new("");
    let log = Log::default();
    let (graph, inner, other) = (machine.graph(), machine.graph(), machine.graph());
    machine.log_node(inner, &[], &log, "inner");
    machine.log_node(other, &[], &log, "other");
    let mut node = null_mut();
    ok!(machine, hipGraphAddNode(&mut node, graph, null(), 0, &mut child(inner)));
    let (exec, stream) = (machine.exec(graph), machine.stream());
    ok!(machine, hipGraphNodeSetParams(node, &mut child(other)));
    machine.run(graph, stream);
    assert_eq!(log.take(), ["other"]);
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamSynchronize(stream));
    ok!(machine, hipGraphExecNodeSetParams(exec, node, &mut child(other)));
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(log.take(), ["inner", "other"]);

    let location = hipMemLocation { type_: hipMemLocationType::hipMemLocationTypeDevice, id: 0 };
    let kind = hipMemAllocationType::hipMemAllocationTypePinned;
    let props = hipMemPoolProps { allocType: kind, location, ..Default::default() };
    let alloc = hipMemAllocNodeParams { poolProps: props, bytesize: 256, ..Default::default() };
    let mut wanted = parameters(hipGraphNodeType::hipGraphNodeTypeMemAlloc, |each| each.alloc = alloc);
    let (mut given, mut freed) = (null_mut(), null_mut());
    ok!(machine, hipGraphAddNode(&mut given, graph, null(), 0, &mut wanted));
    // SAFETY: the call filled this member.
    let memory = unsafe { wanted.__bindgen_anon_1.alloc.dptr };
    assert!(!memory.is_null());
    let free = |memory| parameters(hipGraphNodeType::hipGraphNodeTypeMemFree, |each| each.free.dptr = memory);
    ok!(machine, hipGraphAddNode(&mut freed, graph, &given, 1, &mut free(memory)));
    fails!(hipErrorNotSupported, machine, hipGraphNodeSetParams(freed, &mut free(memory)));
    fails!(hipErrorNotSupported, machine, hipGraphNodeSetParams(given, &mut wanted));

    for (kind, status) in [
        (hipGraphNodeType::hipGraphNodeTypeExtSemaphoreWait, hipError_t::hipErrorNotSupported),
        (hipGraphNodeType::hipGraphNodeTypeEmpty, hipError_t::hipErrorInvalidValue),
        (hipGraphNodeType::hipGraphNodeTypeBatchMemOp, hipError_t::hipErrorInvalidValue),
        (hipGraphNodeType::hipGraphNodeTypeHost, hipError_t::hipErrorInvalidValue),
        (hipGraphNodeType::hipGraphNodeTypeGraph, hipError_t::hipErrorInvalidValue),
        (hipGraphNodeType(99), hipError_t::hipErrorInvalidValue),
    ] {
        let wanted = &mut parameters(kind, |_| {});
        assert_eq!(hip!(machine, hipGraphAddNode(&mut node, graph, null(), 0, wanted)), status, "{kind:?}");
    }
    fails!(hipErrorInvalidValue, machine, hipGraphNodeSetParams(node, null_mut()));
    fails!(hipErrorInvalidValue, machine, hipGraphAddNode(&mut node, graph, null(), 0, null_mut()));
    fails!(hipErrorInvalidValue, machine, hipGraphExecNodeSetParams(null_mut(), node, &mut child(other)));
}
