// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies of graphs, nodes that are left out, child graphs of instantiated graphs, and graphs as text.

use std::ffi::CString;
use std::ptr::{null, null_mut, without_provenance_mut};

use windlass_hip_sys::bindings::*;

use super::build::floats;
use crate::common::{Log, Machine};

#[test]
fn a_copy_of_a_graph_lives_by_itself() {
    let machine = Machine::new("");
    let log = Log::default();
    let (graph, inner) = (machine.graph(), machine.graph());
    machine.log_node(inner, &[], &log, "inner");
    let first = machine.log_node(graph, &[], &log, "first");
    let mut child = null_mut();
    ok!(machine, hipGraphAddChildGraphNode(&mut child, graph, &first, 1, inner));
    let last = machine.log_node(graph, &[child], &log, "last");
    let (mut copy, mut twin) = (null_mut(), null_mut());
    ok!(machine, hipGraphClone(&mut copy, graph));
    ok!(machine, hipGraphNodeFindInClone(&mut twin, last, copy));
    machine.log_node(copy, &[twin], &log, "more");
    machine.run(graph, machine.stream());
    assert_eq!(log.take(), ["first", "inner", "last"]);

    let mut of_copy = null_mut();
    ok!(machine, hipGraphClone(&mut of_copy, copy));
    // A node is found in direct copies of its graph alone.
    fails!(hipErrorInvalidValue, machine, hipGraphNodeFindInClone(&mut twin, last, of_copy));
    fails!(hipErrorInvalidValue, machine, hipGraphNodeFindInClone(&mut twin, last, graph));
    fails!(hipErrorInvalidValue, machine, hipGraphNodeFindInClone(null_mut(), last, copy));
    ok!(machine, hipGraphDestroy(graph));
    ok!(machine, hipGraphDestroy(copy));
    machine.run(of_copy, machine.stream());
    assert_eq!(log.take(), ["first", "inner", "last", "more"]);
    fails!(hipErrorInvalidValue, machine, hipGraphClone(&mut copy, graph));
    fails!(hipErrorInvalidValue, machine, hipGraphClone(null_mut(), of_copy));
}

#[test]
fn a_destroyed_node_is_found_in_no_copy() {
    let machine = Machine::new("");
    let (log, graph) = (Log::default(), machine.graph());
    let node = machine.log_node(graph, &[], &log, "");
    let (mut copy, mut twin) = (null_mut(), null_mut());
    ok!(machine, hipGraphClone(&mut copy, graph));
    ok!(machine, hipGraphDestroy(graph));
    fails!(hipErrorInvalidValue, machine, hipGraphNodeFindInClone(&mut twin, node, copy));
}

#[test]
fn a_node_of_an_instantiated_graph_can_be_left_out() {
    let machine = Machine::new("");
    let memory = machine.upload(&[floats(0.0); 4]);
    let log = Log::default();
    let graph = machine.graph();
    let fill = machine.fill_node(graph, &[], memory, floats(1.0), 4);
    let said = machine.log_node(graph, &[fill], &log, "after");
    let (exec, stream) = (machine.exec(graph), machine.stream());
    let run = || {
        ok!(machine, hipGraphLaunch(exec, stream));
        ok!(machine, hipStreamSynchronize(stream));
        let values = machine.download::<f32>(memory, 4);
        ok!(machine, hipMemset(memory, 0, 16));
        // The stream does not wait for the null stream.
        ok!(machine, hipDeviceSynchronize());
        values
    };
    let mut is_enabled = 7;
    ok!(machine, hipGraphNodeGetEnabled(exec, fill, &mut is_enabled));
    assert_eq!(is_enabled, 1);
    ok!(machine, hipGraphNodeSetEnabled(exec, fill, 0));
    ok!(machine, hipGraphNodeGetEnabled(exec, fill, &mut is_enabled));
    assert_eq!((is_enabled, run(), log.take()), (0, vec![0.0; 4], vec!["after"]));
    // New parameters leave it out still.
    let parameters =
        hipMemsetParams { dst: memory, elementSize: 4, height: 1, pitch: 0, value: floats(2.0), width: 4 };
    ok!(machine, hipGraphExecMemsetNodeSetParams(exec, fill, &parameters));
    assert_eq!(run(), [0.0; 4]);
    ok!(machine, hipGraphNodeSetEnabled(exec, fill, 1));
    assert_eq!(run(), [2.0; 4]);

    fails!(hipErrorInvalidValue, machine, hipGraphNodeSetEnabled(exec, said, 0));
    fails!(hipErrorInvalidValue, machine, hipGraphNodeGetEnabled(exec, said, &mut is_enabled));
    fails!(hipErrorInvalidValue, machine, hipGraphNodeGetEnabled(exec, fill, null_mut()));
    fails!(hipErrorInvalidValue, machine, hipGraphNodeSetEnabled(null_mut(), fill, 0));
    let foreign = machine.fill_node(machine.graph(), &[], memory, 0, 4);
    fails!(hipErrorInvalidValue, machine, hipGraphNodeSetEnabled(exec, foreign, 0));
}

#[test]
fn a_child_of_an_instantiated_graph_takes_operations_of_the_same_kinds() {
    let machine = Machine::new("");
    let memory = machine.upload(&[0_u32; 4]);
    let filling = |value| {
        let graph = machine.graph();
        machine.fill_node(graph, &[], memory, value, 4);
        graph
    };
    let (graph, one, two) = (machine.graph(), filling(1), filling(2));
    let mut node = null_mut();
    ok!(machine, hipGraphAddChildGraphNode(&mut node, graph, null(), 0, one));
    let (exec, stream) = (machine.exec(graph), machine.stream());
    let run = || {
        ok!(machine, hipGraphLaunch(exec, stream));
        ok!(machine, hipStreamSynchronize(stream));
        machine.download::<u32>(memory, 4)
    };
    assert_eq!(run(), [1; 4]);
    ok!(machine, hipGraphExecChildGraphNodeSetParams(exec, node, two));
    assert_eq!(run(), [2; 4]);

    let log = Log::default();
    let other = machine.graph();
    let said = machine.log_node(other, &[], &log, "");
    fails!(hipErrorUnknown, machine, hipGraphExecChildGraphNodeSetParams(exec, node, other));
    fails!(hipErrorUnknown, machine, hipGraphExecChildGraphNodeSetParams(exec, node, graph));
    fails!(hipErrorUnknown, machine, hipGraphExecChildGraphNodeSetParams(exec, node, machine.graph()));
    fails!(hipErrorInvalidValue, machine, hipGraphExecChildGraphNodeSetParams(exec, said, two));
    fails!(hipErrorInvalidValue, machine, hipGraphExecChildGraphNodeSetParams(exec, node, null_mut()));
    assert_eq!(run(), [2; 4]);
}

#[test]
fn nodes_of_a_child_graph_name_steps_of_the_instantiated_one() {
    let machine = Machine::new("");
    let (memory, graph, inner) = (machine.upload(&[0_u32; 4]), machine.graph(), machine.graph());
    machine.fill_node(inner, &[], memory, 1, 4);
    let mut node = null_mut();
    ok!(machine, hipGraphAddChildGraphNode(&mut node, graph, null(), 0, inner));
    let (exec, stream) = (machine.exec(graph), machine.stream());
    let (mut own, mut fill, mut count) = (null_mut(), null_mut(), 1);
    ok!(machine, hipGraphChildGraphNodeGetGraph(node, &mut own));
    ok!(machine, hipGraphGetNodes(own, &mut fill, &mut count));
    let parameters = hipMemsetParams { dst: memory, elementSize: 4, height: 1, pitch: 0, value: 3, width: 4 };
    ok!(machine, hipGraphExecMemsetNodeSetParams(exec, fill, &parameters));
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u32>(memory, 4), [3; 4]);
}

#[test]
fn parameters_of_instantiation_tell_its_result() {
    let machine = Machine::new("");
    let log = Log::default();
    let graph = machine.graph();
    let first = machine.log_node(graph, &[], &log, "ran");
    let stream = machine.stream();
    for flags in [0, 1, 2, 4, 8] {
        let mut parameters = hipGraphInstantiateParams {
            errNode_out: without_provenance_mut(1),
            flags,
            result_out: hipGraphInstantiateResult::hipGraphInstantiateInvalidStructure,
            uploadStream: stream,
        };
        let (mut exec, mut told) = (null_mut(), 99);
        ok!(machine, hipGraphInstantiateWithParams(&mut exec, graph, &mut parameters));
        assert_eq!(parameters.result_out, hipGraphInstantiateResult::hipGraphInstantiateSuccess);
        assert!(parameters.errNode_out.is_null());
        ok!(machine, hipGraphExecGetFlags(exec, &mut told));
        assert_eq!(told, flags);
        ok!(machine, hipGraphLaunch(exec, stream));
        ok!(machine, hipStreamSynchronize(stream));
        fails!(hipErrorInvalidValue, machine, hipGraphExecGetFlags(exec, null_mut()));
    }
    assert_eq!(log.take().len(), 5);

    let mut exec = null_mut();
    let mut parameters = hipGraphInstantiateParams { flags: 3, ..Default::default() };
    fails!(hipErrorInvalidValue, machine, hipGraphInstantiateWithParams(&mut exec, graph, &mut parameters));
    assert_eq!(parameters.result_out, hipGraphInstantiateResult::hipGraphInstantiateError);
    let second = machine.log_node(graph, &[first], &log, "");
    ok!(machine, hipGraphAddDependencies(graph, &second, &first, 1));
    parameters = hipGraphInstantiateParams::default();
    fails!(hipErrorInvalidValue, machine, hipGraphInstantiateWithParams(&mut exec, graph, &mut parameters));
    assert_eq!(parameters.result_out, hipGraphInstantiateResult::hipGraphInstantiateError);
    fails!(hipErrorInvalidValue, machine, hipGraphInstantiateWithParams(&mut exec, graph, null_mut()));
    fails!(hipErrorInvalidValue, machine, hipGraphExecGetFlags(null_mut(), &mut 0));
}

#[test]
fn a_graph_is_printed_for_graphviz() {
    let machine = Machine::new("");
    let log = Log::default();
    let memory = machine.malloc(64);
    let (graph, inner) = (machine.graph(), machine.graph());
    machine.log_node(inner, &[], &log, "");
    let fill = machine.fill_node(graph, &[], memory, 5, 16);
    let mut child = null_mut();
    ok!(machine, hipGraphAddChildGraphNode(&mut child, graph, &fill, 1, inner));
    let path = std::env::temp_dir().join(format!("windlass-graph-{}.dot", std::process::id()));
    let name = CString::new(path.to_str().unwrap()).unwrap();
    ok!(machine, hipGraphDebugDotPrint(graph, name.as_ptr(), 0));
    let short = std::fs::read_to_string(&path).unwrap();
    ok!(machine, hipGraphDebugDotPrint(graph, name.as_ptr(), 1));
    let verbose = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(short.starts_with("digraph dot {") && short.ends_with("}\n}\n"), "{short}");
    for part in ["MEMSET", "(5,64)", "subgraph cluster_", "\" -> \"graph_", "HOST"] {
        assert!(short.contains(part), "{part} in {short}");
    }
    let address = format!("{:#x}", memory as u64);
    assert!(verbose.contains(&address) && !short.contains(&address), "{verbose}");
    fails!(hipErrorOperatingSystem, machine, hipGraphDebugDotPrint(graph, c"/no/such/folder/x".as_ptr(), 0));
    fails!(hipErrorInvalidValue, machine, hipGraphDebugDotPrint(graph, null(), 0));
    fails!(hipErrorInvalidValue, machine, hipGraphDebugDotPrint(null_mut(), name.as_ptr(), 0));
}
