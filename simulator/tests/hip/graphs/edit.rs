// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of graphs after their nodes were added, and of instantiated graphs.

use std::ffi::c_void;
use std::ptr::null_mut;

use windlass_hip_sys::bindings::*;

use crate::common::{Log, Machine};

#[test]
fn nodes_and_edges_are_taken_away() {
    let machine = Machine::new("");
    let (graph, log) = (machine.graph(), Log::default());
    let first = machine.log_node(graph, &[], &log, "first");
    let second = machine.log_node(graph, &[first], &log, "second");
    let third = machine.log_node(graph, &[first, second], &log, "third");
    type List = fn(&Machine, hipGraphNode_t, *mut hipGraphNode_t, *mut usize) -> hipError_t;
    let of = |list: List, node: hipGraphNode_t| {
        let (mut nodes, mut count) = ([null_mut(); 4], 0);
        assert_eq!(list(&machine, node, null_mut(), &mut count), hipError_t::hipSuccess);
        assert_eq!(list(&machine, node, nodes.as_mut_ptr(), &mut count), hipError_t::hipSuccess);
        nodes[..count].to_vec()
    };
    let before: List =
        |machine, node, list, count| hip!(machine, hipGraphNodeGetDependencies(node, list, count));
    let behind: List =
        |machine, node, list, count| hip!(machine, hipGraphNodeGetDependentNodes(node, list, count));
    let roots: List =
        |machine, graph, list, count| hip!(machine, hipGraphGetRootNodes(graph.cast(), list, count));
    assert_eq!((of(before, first), of(before, third)), (vec![], vec![first, second]));
    assert_eq!((of(behind, first), of(behind, third)), (vec![second, third], vec![]));
    assert_eq!(of(roots, graph.cast()), [first]);

    // The first edge exists, the second does not: none is removed.
    let (from, to) = ([first, third], [second, first]);
    fails!(hipErrorInvalidValue, machine, hipGraphRemoveDependencies(graph, from.as_ptr(), to.as_ptr(), 2));
    assert_eq!(of(before, second), [first]);
    ok!(machine, hipGraphRemoveDependencies(graph, from.as_ptr(), to.as_ptr(), 1));
    assert_eq!((of(before, second), of(roots, graph.cast())), (vec![], vec![first, second]));

    let exec = machine.exec(graph);
    ok!(machine, hipGraphDestroyNode(second));
    fails!(hipErrorInvalidValue, machine, hipGraphDestroyNode(second));
    assert_eq!((of(before, third), of(roots, graph.cast())), (vec![first], vec![first]));
    machine.run(graph, null_mut());
    assert_eq!(log.take(), ["first", "third"]);
    // The graph that was instantiated before has all three.
    ok!(machine, hipGraphLaunch(exec, null_mut()));
    ok!(machine, hipDeviceSynchronize());
    assert_eq!(log.take().len(), 3);
}

#[test]
fn nodes_are_given_something_else_to_do() {
    let machine = Machine::new("");
    let (graph, log) = (machine.graph(), Log::default());
    let (words, others) = (machine.upload(&[0_u32; 4]), machine.upload(&[8_u32; 4]));
    let fill = machine.fill_node(graph, &[], words, 1, 4);
    let copy = machine.copy_node(graph, &[fill], others, words, 4);
    let said = machine.log_node(graph, &[copy], &log, "before");
    let event = [machine.event(), machine.event()];
    let (mut recorded, mut awaited) = (null_mut(), null_mut());
    ok!(machine, hipGraphAddEventWaitNode(&mut awaited, graph, &said, 1, event[1]));
    ok!(machine, hipGraphAddEventRecordNode(&mut recorded, graph, &awaited, 1, event[0]));
    let exec = machine.exec(graph);

    let kind = hipMemcpyKind::hipMemcpyDefault;
    let all_of = |value| hipMemsetParams { dst: words, elementSize: 4, height: 1, pitch: 0, value, width: 4 };
    unsafe extern "C" fn nothing(_data: *mut c_void) {}
    let host = hipHostNodeParams { fn_: Some(nothing), userData: null_mut() };
    // In the graph itself, which does not change the instantiated one.
    ok!(machine, hipGraphMemsetNodeSetParams(fill, &all_of(5)));
    ok!(machine, hipGraphMemcpyNodeSetParams1D(copy, others, words, 16, kind));
    ok!(machine, hipGraphHostNodeSetParams(said, &host));
    ok!(machine, hipGraphEventRecordNodeSetEvent(recorded, event[1]));
    ok!(machine, hipGraphEventWaitNodeSetEvent(awaited, event[0]));
    ok!(machine, hipGraphLaunch(exec, null_mut()));
    assert_eq!(machine.download::<u32>(others, 4), [1, 8, 8, 8]);
    assert_eq!(log.take(), ["before"]);
    machine.run(graph, null_mut());
    assert_eq!(machine.download::<u32>(others, 4), [5; 4]);
    assert!(log.take().is_empty());

    // In the instantiated one, which does not change the graph.
    ok!(machine, hipGraphExecMemsetNodeSetParams(exec, fill, &all_of(7)));
    ok!(machine, hipGraphExecMemcpyNodeSetParams1D(exec, copy, others, words, 8, kind));
    ok!(machine, hipGraphExecHostNodeSetParams(exec, said, &host));
    ok!(machine, hipGraphExecEventRecordNodeSetEvent(exec, recorded, event[1]));
    ok!(machine, hipGraphExecEventWaitNodeSetEvent(exec, awaited, event[0]));
    ok!(machine, hipGraphLaunch(exec, null_mut()));
    assert_eq!(machine.download::<u32>(others, 4), [7, 7, 5, 5]);
    let mut box_of_rows = hipMemcpy3DParms {
        srcPtr: hipPitchedPtr { ptr: words, pitch: 16, xsize: 16, ysize: 1 },
        dstPtr: hipPitchedPtr { ptr: others, pitch: 16, xsize: 16, ysize: 1 },
        extent: hipExtent { width: 12, height: 1, depth: 1 },
        kind,
        ..Default::default()
    };
    ok!(machine, hipGraphMemcpyNodeSetParams(copy, &box_of_rows));
    ok!(machine, hipGraphExecMemcpyNodeSetParams(exec, copy, &mut box_of_rows));
    ok!(machine, hipGraphLaunch(exec, null_mut()));
    assert_eq!(machine.download::<u32>(others, 4), [7, 7, 7, 5]);
    assert!(log.take().is_empty());

    // Nodes keep their kind.
    fails!(hipErrorInvalidValue, machine, hipGraphMemsetNodeSetParams(copy, &all_of(1)));
    fails!(hipErrorInvalidValue, machine, hipGraphExecMemsetNodeSetParams(exec, copy, &all_of(1)));
    fails!(hipErrorInvalidValue, machine, hipGraphExecMemsetNodeSetParams(exec, null_mut(), &all_of(1)));
    fails!(hipErrorInvalidValue, machine, hipGraphEventRecordNodeSetEvent(awaited, event[0]));
}
