// SPDX-License-Identifier: MIT OR Apache-2.0
//! Graphs: their contents, the order in which they run, and refused calls.

mod build;
mod clone;
mod edit;
mod generic;
mod memory;
mod objects;
mod params;
mod symbols;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use crate::common::{Log, Machine};
use build::{Launch, floats};
use windlass_hip_sys::bindings::*;

/// a = 1, b = 2, c = a + b, copied to the host, with a kernel that changes its arguments in between.
#[test]
fn a_graph_fills_launches_and_copies() {
    for options in ["gfx942", "gfx942?seed=3", "gfx942?hip=5.3"] {
        let machine = Machine::new(options);
        let function = machine.vector_add();
        let [a, b, c] = [(); 3].map(|()| machine.upload(&[0_f32; 64]));
        let mut out = [0_f32; 64];
        let graph = machine.graph();
        let first = machine.fill_node(graph, &[], a, floats(1.0), 64);
        let second = machine.fill_node(graph, &[], b, floats(2.0), 64);
        let mut kernel = null_mut();
        let after = [first, second];
        // The arguments are taken when the node is added.
        Launch { addresses: [a as u64, b as u64, c as u64], count: 64 }.with(function, |parameters| {
            ok!(machine, hipGraphAddKernelNode(&mut kernel, graph, after.as_ptr(), after.len(), parameters));
        });
        machine.copy_node(graph, &[kernel], out.as_mut_ptr().cast(), c, 256);

        let stream = machine.stream();
        let exec = machine.exec(graph);
        // Destroying the graph does not affect the instantiated one.
        ok!(machine, hipGraphDestroy(graph));
        for _ in 0..3 {
            out.fill(0.0);
            ok!(machine, hipGraphLaunch(exec, stream));
            ok!(machine, hipStreamSynchronize(stream));
            assert_eq!(out, [3.0; 64], "{options}");
        }
        ok!(machine, hipGraphExecDestroy(exec));
        fails!(hipErrorInvalidValue, machine, hipGraphLaunch(exec, stream));
    }
}

#[test]
fn nodes_run_behind_what_they_wait_for() {
    for seed in 1..=20 {
        let machine = Machine::new(&format!("gfx942?seed={seed}"));
        let log = Log::default();
        let graph = machine.graph();
        let first = machine.log_node(graph, &[], &log, "first");
        let left = machine.log_node(graph, &[first], &log, "left");
        let right = machine.log_node(graph, &[first], &log, "right");
        machine.log_node(graph, &[left, right], &log, "last");
        machine.run(graph, machine.stream());
        let words = log.words();
        assert_eq!(
            (words.len(), words.first(), words.last()),
            (4, Some(&"first"), Some(&"last")),
            "{words:?}"
        );
    }
}

#[test]
fn an_edge_can_be_added_later_and_a_circle_is_refused_when_the_graph_is_instantiated() {
    let machine = Machine::new("");
    let log = Log::default();
    let graph = machine.graph();
    let late = machine.log_node(graph, &[], &log, "late");
    let early = machine.log_node(graph, &[], &log, "early");
    ok!(machine, hipGraphAddDependencies(graph, &early, &late, 1));
    fails!(hipErrorInvalidValue, machine, hipGraphAddDependencies(graph, &early, &late, 1));
    ok!(machine, hipGraphAddDependencies(graph, &late, &early, 1));
    let mut exec = null_mut();
    fails!(hipErrorInvalidValue, machine, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(machine, hipGraphRemoveDependencies(graph, &late, &early, 1));
    machine.run(graph, machine.stream());
    assert_eq!(log.words(), ["early", "late"]);
}

#[test]
fn a_launch_is_one_piece_of_its_stream() {
    let machine = Machine::new("");
    let log = Log::default();
    let graph = machine.graph();
    let branches: Vec<_> = (0..20).map(|_| machine.log_node(graph, &[], &log, "graph")).collect();
    assert_eq!(branches.len(), 20);
    let exec = machine.exec(graph);
    let (stream, other) = (machine.stream(), machine.stream());
    let gate = machine.gate(stream);
    machine.log_on(stream, &log, "before");
    ok!(machine, hipGraphLaunch(exec, stream));
    // A graph does not run beside itself: the second launch waits for the first, with its gate.
    ok!(machine, hipGraphLaunch(exec, other));
    machine.log_on(stream, &log, "after");
    fails!(hipErrorNotReady, machine, hipStreamQuery(other));
    assert_eq!(log.words(), [""; 0]);
    drop(gate);
    ok!(machine, hipDeviceSynchronize());
    let words = log.words();
    assert_eq!(words.len(), 42);
    let place = |word| words.iter().position(|other| *other == word).unwrap();
    assert_eq!(place("before"), 0);
    assert!(words.iter().take(place("after")).filter(|word| **word == "graph").count() >= 20, "{words:?}");
}

#[test]
fn the_null_stream_waits_for_a_graph_on_a_blocking_stream() {
    let machine = Machine::new("");
    let log = Log::default();
    let graph = machine.graph();
    machine.log_node(graph, &[], &log, "graph");
    let stream = machine.stream_with(0);
    let gate = machine.gate(stream);
    let exec = machine.exec(graph);
    ok!(machine, hipGraphLaunch(exec, stream));
    machine.log_on(null_mut(), &log, "null");
    drop(gate);
    ok!(machine, hipDeviceSynchronize());
    assert_eq!(log.words(), ["graph", "null"]);
}

#[test]
fn events_are_recorded_and_waited_for() {
    let machine = Machine::new("");
    let log = Log::default();
    let (recorded, awaited) = (machine.event(), machine.event());
    let graph = machine.graph();
    let mut wait = null_mut();
    ok!(machine, hipGraphAddEventWaitNode(&mut wait, graph, null(), 0, awaited));
    let said = machine.log_node(graph, &[wait], &log, "graph");
    let mut node = null_mut();
    ok!(machine, hipGraphAddEventRecordNode(&mut node, graph, &said, 1, recorded));

    let (stream, other, third) = (machine.stream(), machine.stream(), machine.stream());
    let gate = machine.gate(other);
    machine.log_on(other, &log, "other");
    ok!(machine, hipEventRecord(awaited, other));
    let exec = machine.exec(graph);
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamWaitEvent(third, recorded, 0));
    machine.log_on(third, &log, "third");
    fails!(hipErrorNotReady, machine, hipEventQuery(recorded));
    drop(gate);
    ok!(machine, hipStreamSynchronize(third));
    assert_eq!(log.words(), ["other", "graph", "third"]);
    ok!(machine, hipEventQuery(recorded));
}

#[test]
fn a_child_graph_is_taken_as_it_is_when_it_is_added() {
    let machine = Machine::new("");
    let log = Log::default();
    let child = machine.graph();
    let inner = machine.log_node(child, &[], &log, "child");
    let graph = machine.graph();
    let before = machine.log_node(graph, &[], &log, "before");
    let mut node = null_mut();
    ok!(machine, hipGraphAddChildGraphNode(&mut node, graph, &before, 1, child));
    machine.log_node(graph, &[node], &log, "after");
    machine.log_node(child, &[inner], &log, "too late");
    ok!(machine, hipGraphDestroy(child));
    machine.run(graph, machine.stream());
    assert_eq!(log.words(), ["before", "child", "after"]);
    // A graph without nodes only orders the work around it.
    let log = Log::default();
    let (graph, empty) = (machine.graph(), machine.graph());
    let before = machine.log_node(graph, &[], &log, "before");
    ok!(machine, hipGraphAddChildGraphNode(&mut node, graph, &before, 1, empty));
    machine.log_node(graph, &[node], &log, "after");
    machine.run(graph, machine.stream());
    assert_eq!(log.words(), ["before", "after"]);
}

#[test]
fn a_graph_tells_its_nodes_and_edges() {
    let machine = Machine::new("");
    let log = Log::default();
    let graph = machine.graph();
    let first = machine.log_node(graph, &[], &log, "");
    let mut second = null_mut();
    ok!(machine, hipGraphAddEmptyNode(&mut second, graph, &first, 1));

    let mut count = 0;
    ok!(machine, hipGraphGetNodes(graph, null_mut(), &mut count));
    assert_eq!(count, 2);
    let mut nodes = [without_provenance(); 3];
    count = 3;
    ok!(machine, hipGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
    assert_eq!((count, nodes), (2, [first, second, null_mut()]));

    count = 1;
    let (mut from, mut to) = (null_mut(), null_mut());
    ok!(machine, hipGraphGetEdges(graph, &mut from, &mut to, &mut count));
    assert_eq!((count, from, to), (1, first, second));

    let mut kind = hipGraphNodeType::hipGraphNodeTypeKernel;
    ok!(machine, hipGraphNodeGetType(first, &mut kind));
    assert_eq!(kind, hipGraphNodeType::hipGraphNodeTypeHost);
    ok!(machine, hipGraphDestroy(graph));
    fails!(hipErrorInvalidValue, machine, hipGraphNodeGetType(first, &mut kind));
    fails!(hipErrorIllegalState, machine, hipGraphDestroy(graph));
}

fn without_provenance() -> hipGraphNode_t {
    std::ptr::without_provenance_mut(7)
}

#[test]
fn parameters_of_a_kernel_can_change_between_launches() {
    let machine = Machine::new("");
    let function = machine.vector_add();
    let (one, ten) = (machine.upload(&[1_f32; 64]), machine.upload(&[10_f32; 64]));
    let out = machine.upload(&[0_f32; 64]);
    let graph = machine.graph();
    let mut node = null_mut();
    let add = |left: *mut c_void, right: *mut c_void| Launch {
        addresses: [left as u64, right as u64, out as u64],
        count: 64,
    };
    add(one, one).with(function, |parameters| {
        ok!(machine, hipGraphAddKernelNode(&mut node, graph, null(), 0, parameters));
    });
    let stream = machine.stream();
    let exec = machine.exec(graph);
    let sum = || {
        ok!(machine, hipGraphLaunch(exec, stream));
        ok!(machine, hipStreamSynchronize(stream));
        machine.download::<f32>(out, 64)
    };
    assert_eq!(sum(), [2.0; 64]);
    add(one, ten).with(function, |parameters| {
        ok!(machine, hipGraphExecKernelNodeSetParams(exec, node, parameters));
    });
    assert_eq!(sum(), [11.0; 64]);
    // The graph's own node has not changed, and can be applied again.
    let (mut differs, mut result) = (null_mut(), hipGraphExecUpdateResult::hipGraphExecUpdateError);
    ok!(machine, hipGraphExecUpdate(exec, graph, &mut differs, &mut result));
    assert_eq!(sum(), [2.0; 64]);
    add(ten, ten).with(function, |parameters| {
        ok!(machine, hipGraphKernelNodeSetParams(node, parameters));
    });
    assert_eq!(sum(), [2.0; 64]);
    ok!(machine, hipGraphExecUpdate(exec, graph, &mut differs, &mut result));
    assert_eq!(result, hipGraphExecUpdateResult::hipGraphExecUpdateSuccess);
    assert_eq!(sum(), [20.0; 64]);

    let mut empty = null_mut();
    ok!(machine, hipGraphAddEmptyNode(&mut empty, graph, null(), 0));
    fails!(
        hipErrorGraphExecUpdateFailure,
        machine,
        hipGraphExecUpdate(exec, graph, &mut differs, &mut result)
    );
    assert_eq!(result, hipGraphExecUpdateResult::hipGraphExecUpdateErrorTopologyChanged);
    add(one, one).with(function, |parameters| {
        fails!(hipErrorInvalidValue, machine, hipGraphExecKernelNodeSetParams(exec, empty, parameters));
    });
}

#[test]
fn what_cannot_be_done_is_refused_when_it_is_added() {
    let machine = Machine::new("");
    let graph = machine.graph();
    let memory = machine.malloc(64);
    let (mut node, mut other) = (null_mut(), null_mut());
    let mut parameters =
        hipMemsetParams { dst: memory, elementSize: 3, height: 1, pitch: 0, value: 0, width: 1 };
    fails!(hipErrorInvalidValue, machine, hipGraphAddMemsetNode(&mut node, graph, null(), 0, &parameters));
    parameters.elementSize = 4;
    parameters.width = 17;
    fails!(hipErrorInvalidValue, machine, hipGraphAddMemsetNode(&mut node, graph, null(), 0, &parameters));
    fails!(hipErrorInvalidValue, machine, hipGraphAddEmptyNode(&mut node, null_mut(), null(), 0));
    fails!(hipErrorInvalidValue, machine, hipGraphAddEmptyNode(&mut node, graph, null(), 1));

    ok!(machine, hipGraphAddEmptyNode(&mut node, graph, null(), 0));
    // A node of another graph, and one node twice.
    fails!(hipErrorInvalidValue, machine, hipGraphAddEmptyNode(&mut other, machine.graph(), &node, 1));
    let twice = [node, node];
    fails!(hipErrorInvalidValue, machine, hipGraphAddEmptyNode(&mut other, graph, twice.as_ptr(), 2));

    let mut exec = null_mut();
    fails!(hipErrorInvalidValue, machine, hipGraphInstantiateWithFlags(&mut exec, graph, 4));
    fails!(
        hipErrorInvalidValue,
        machine,
        hipGraphInstantiate(&mut exec, null_mut(), null_mut(), null_mut(), 0)
    );
    let array = hipMemcpy3DParms { srcArray: std::ptr::without_provenance_mut(8), ..Default::default() };
    fails!(hipErrorNotSupported, machine, hipGraphAddMemcpyNode(&mut node, graph, null(), 0, &array));
}

#[test]
fn a_copy_of_nothing_is_a_node_before_hip_6() {
    let machine = Machine::new("gfx942?hip=5.2");
    let graph = machine.graph();
    machine.copy_node(graph, &[], null_mut(), null(), 0);
    machine.run(graph, machine.stream());

    let machine = Machine::new("");
    let (graph, mut node) = (machine.graph(), null_mut());
    let kind = hipMemcpyKind::hipMemcpyDefault;
    fails!(
        hipErrorInvalidValue,
        machine,
        hipGraphAddMemcpyNode1D(&mut node, graph, null(), 0, null_mut(), null(), 0, kind)
    );
}

#[test]
fn memory_that_was_freed_since_is_not_touched() {
    let machine = Machine::new("");
    let memory = machine.malloc(64);
    let graph = machine.graph();
    machine.fill_node(graph, &[], memory, 1, 16);
    let exec = machine.exec(graph);
    let stream = machine.stream();
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipFree(memory));
    fails!(hipErrorInvalidValue, machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamSynchronize(stream));
}

#[test]
fn a_kernel_of_a_graph_that_goes_wrong_fails_its_stream() {
    let machine = Machine::new("gfx942?faults=submission");
    let function = machine.vector_add();
    let graph = machine.graph();
    let mut node = null_mut();
    Launch { addresses: [0x1000; 3], count: 64 }.with(function, |parameters| {
        ok!(machine, hipGraphAddKernelNode(&mut node, graph, null(), 0, parameters));
    });
    let stream = machine.stream();
    let exec = machine.exec(graph);
    ok!(machine, hipGraphLaunch(exec, stream));
    fails!(hipErrorIllegalAddress, machine, hipStreamSynchronize(stream));
    let report = machine.simulator.last_fault().unwrap();
    assert!(report.contains("vector_add"), "{report}");
    ok!(machine, hipStreamSynchronize(stream));
}

/// A box of 2 by 3 by 2 in 4 by 5 by 3 bytes.
#[test]
fn boxes_are_copied() {
    let machine = Machine::new("");
    let source: Vec<u8> = (0..60).collect();
    let device = machine.upload(&[0xff_u8; 60]);
    let pitched = |pointer: *mut c_void| hipPitchedPtr { ptr: pointer, pitch: 4, xsize: 4, ysize: 5 };
    let mut copy = hipMemcpy3DParms {
        srcPtr: pitched(source.as_ptr().cast_mut().cast()),
        srcPos: hipPos { x: 1, y: 1, z: 1 },
        dstPtr: pitched(device),
        dstPos: hipPos { x: 2, y: 0, z: 0 },
        extent: hipExtent { width: 2, height: 3, depth: 2 },
        kind: hipMemcpyKind::hipMemcpyHostToDevice,
        ..Default::default()
    };
    ok!(machine, hipMemcpy3D(&copy));
    let mut expected = vec![0xff_u8; 60];
    for (z, y, x) in (0..2).flat_map(|z| (0..3).flat_map(move |y| (0..2).map(move |x| (z, y, x)))) {
        expected[z * 20 + y * 4 + x + 2] = source[(z + 1) * 20 + (y + 1) * 4 + x + 1];
    }
    assert_eq!(machine.download::<u8>(device, 60), expected);
    // Past the row, and past the memory.
    copy.extent.width = 4;
    fails!(hipErrorInvalidValue, machine, hipMemcpy3D(&copy));
    copy.extent = hipExtent { width: 2, height: 3, depth: 4 };
    fails!(hipErrorInvalidValue, machine, hipMemcpy3D(&copy));

    let mut back = [0_u8; 12];
    let drv = HIP_MEMCPY3D {
        srcXInBytes: 2,
        srcMemoryType: hipMemoryType::hipMemoryTypeDevice,
        srcDevice: device,
        srcPitch: 4,
        srcHeight: 5,
        dstMemoryType: hipMemoryType::hipMemoryTypeHost,
        dstHost: back.as_mut_ptr().cast(),
        WidthInBytes: 2,
        Height: 3,
        Depth: 2,
        ..Default::default()
    };
    ok!(machine, hipDrvMemcpy3D(&drv));
    assert_eq!(back, [25, 26, 29, 30, 33, 34, 45, 46, 49, 50, 53, 54]);
}

#[test]
fn a_reset_takes_the_graphs_of_its_device_along() {
    let machine = Machine::new("gfx942?devices=2");
    let function = machine.vector_add();
    let (own, empty) = (machine.graph(), machine.graph());
    let words = machine.malloc(64);
    let node = machine.fill_node(own, &[], words, 1, 16);
    let exec = machine.exec(own);
    ok!(machine, hipSetDevice(1));
    // One graph that only launches a kernel of the first device, and one that does not use it.
    let (launching, other) = (machine.graph(), machine.graph());
    let mut arguments = [0_u64; 4];
    let mut arguments = arguments.each_mut().map(|argument| (&raw mut *argument).cast::<c_void>());
    let parameters = hipKernelNodeParams {
        func: function.cast(),
        kernelParams: arguments.as_mut_ptr(),
        blockDim: dim3 { x: 64, y: 1, z: 1 },
        gridDim: dim3 { x: 1, y: 1, z: 1 },
        ..Default::default()
    };
    let mut kernel = null_mut();
    ok!(machine, hipGraphAddKernelNode(&mut kernel, launching, null(), 0, &parameters));
    let other_exec = machine.exec(other);
    ok!(machine, hipSetDevice(0));
    ok!(machine, hipDeviceReset());
    let mut count = 0;
    for graph in [own, empty, launching] {
        fails!(hipErrorInvalidValue, machine, hipGraphGetNodes(graph, null_mut(), &mut count));
        fails!(hipErrorIllegalState, machine, hipGraphDestroy(graph));
    }
    for node in [node, kernel] {
        fails!(hipErrorInvalidValue, machine, hipGraphNodeGetType(node, &mut hipGraphNodeType(0)));
    }
    fails!(hipErrorInvalidValue, machine, hipGraphLaunch(exec, null_mut()));
    fails!(hipErrorInvalidValue, machine, hipGraphExecDestroy(exec));
    ok!(machine, hipGraphGetNodes(other, null_mut(), &mut count));
    ok!(machine, hipGraphLaunch(other_exec, null_mut()));
    ok!(machine, hipGraphExecDestroy(other_exec));
}
