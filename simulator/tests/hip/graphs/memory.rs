// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes that give and free memory, and the memory that a device keeps for graphs.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use windlass_hip_sys::bindings::*;

use super::build::floats;
use crate::common::Machine;

/// The parameters of a node that gives memory of device 0.
fn wanted(bytes: usize) -> hipMemAllocNodeParams {
    let location = hipMemLocation { type_: hipMemLocationType::hipMemLocationTypeDevice, id: 0 };
    let kind = hipMemAllocationType::hipMemAllocationTypePinned;
    let props = hipMemPoolProps { allocType: kind, location, ..Default::default() };
    hipMemAllocNodeParams { poolProps: props, bytesize: bytes, ..Default::default() }
}

impl Machine {
    /// A node that gives memory, and the memory.
    fn memory_node(&self, graph: hipGraph_t, bytes: usize) -> (hipGraphNode_t, *mut c_void) {
        let (mut node, mut parameters) = (null_mut(), wanted(bytes));
        ok!(self, hipGraphAddMemAllocNode(&mut node, graph, null(), 0, &mut parameters));
        assert!(!parameters.dptr.is_null());
        (node, parameters.dptr)
    }

    fn graph_memory(&self, attribute: hipGraphMemAttributeType) -> u64 {
        let mut value = 99_u64;
        ok!(self, hipDeviceGetGraphMemAttribute(0, attribute, (&raw mut value).cast()));
        value
    }

    /// Used, most used, reserved, most reserved.
    fn graph_memories(&self) -> [u64; 4] {
        [0, 1, 2, 3].map(|number| self.graph_memory(hipGraphMemAttributeType(number)))
    }
}

fn free_bytes(machine: &Machine) -> usize {
    let (mut free, mut total) = (0, 0);
    ok!(machine, hipMemGetInfo(&mut free, &mut total));
    free
}

/// Launches a graph three times that takes 4096 bytes, uses them and frees them.
fn take_use_and_free(machine: &Machine) {
    let before = free_bytes(machine);
    let graph = machine.graph();
    let (given, memory) = machine.memory_node(graph, 4096);
    let mut back = [0_f32; 16];
    let fill = machine.fill_node(graph, &[given], memory, floats(3.0), 16);
    let copy = machine.copy_node(graph, &[fill], back.as_mut_ptr().cast(), memory, 64);
    let mut freed = null_mut();
    ok!(machine, hipGraphAddMemFreeNode(&mut freed, graph, &copy, 1, memory));
    // A graph gives its memory when it is launched.
    assert_eq!((machine.graph_memories(), free_bytes(machine)), ([0; 4], before));
    let (exec, stream) = (machine.exec(graph), machine.stream());
    for _ in 0..3 {
        back.fill(0.0);
        ok!(machine, hipGraphLaunch(exec, stream));
        ok!(machine, hipStreamSynchronize(stream));
        assert_eq!(back, [3.0; 16]);
    }
    ok!(machine, hipGraphExecDestroy(exec));
    ok!(machine, hipGraphDestroy(graph));
}

/// The memory that the device kept goes back, and the marks fall.
fn trim(machine: &Machine) {
    ok!(machine, hipDeviceGraphMemTrim(0));
    assert_eq!(machine.graph_memories(), [0, 4096, 0, 4096]);
    let mut zero = 0_u64;
    let high = hipGraphMemAttributeType::hipGraphMemAttrUsedMemHigh;
    ok!(machine, hipDeviceSetGraphMemAttribute(0, high, (&raw mut zero).cast()));
    let high = hipGraphMemAttributeType::hipGraphMemAttrReservedMemHigh;
    ok!(machine, hipDeviceSetGraphMemAttribute(0, high, (&raw mut zero).cast()));
    assert_eq!(machine.graph_memories(), [0; 4]);
}

#[test]
fn launches_give_and_free_memory() {
    let machine = Machine::new("");
    let before = free_bytes(&machine);
    take_use_and_free(&machine);
    assert_eq!((machine.graph_memories(), free_bytes(&machine)), ([0, 4096, 0, 4096], before));
    trim(&machine);
    assert_eq!(machine.simulator.last_fault(), None);
}

#[test]
fn memory_of_graphs_stayed_with_the_device_until_it_was_trimmed_before_hip_6_2() {
    for options in ["?hip=6.1", "gfx942?hip=6.1&seed=4"] {
        let machine = Machine::new(options);
        let before = free_bytes(&machine);
        take_use_and_free(&machine);
        assert_eq!(machine.graph_memories(), [0, 4096, 4096, 4096], "{options}");
        assert_eq!(free_bytes(&machine), before - 4096, "{options}");
        trim(&machine);
        assert_eq!(free_bytes(&machine), before, "{options}");
        assert_eq!(machine.simulator.last_fault(), None, "{options}");
    }
}

#[test]
fn memory_that_nobody_freed_bars_the_next_launch_unless_launches_free_it() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let build = |flags| {
        let (graph, mut exec) = (machine.graph(), null_mut());
        let (given, memory) = machine.memory_node(graph, 4096);
        machine.fill_node(graph, &[given], memory, 7, 16);
        ok!(machine, hipGraphInstantiateWithFlags(&mut exec, graph, flags));
        ok!(machine, hipGraphLaunch(exec, stream));
        ok!(machine, hipStreamSynchronize(stream));
        assert_eq!(machine.download::<u32>(memory, 16), [7; 16]);
        (exec, memory)
    };
    let (exec, memory) = build(0);
    fails!(hipErrorInvalidValue, machine, hipGraphLaunch(exec, stream));
    assert_eq!(machine.graph_memories()[0], 4096);
    ok!(machine, hipFreeAsync(memory, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.graph_memories()[0], 0);
    // hipGraphInstantiateFlagAutoFreeOnLaunch.
    let (exec, memory) = build(1);
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u32>(memory, 16), [7; 16]);
    assert_eq!(machine.graph_memories()[0], 4096);
    // The memory outlives the graph.
    ok!(machine, hipGraphExecDestroy(exec));
    ok!(machine, hipFree(memory));
    assert_eq!(machine.graph_memories()[0], 0);
}

#[test]
fn memory_of_one_graph_can_be_freed_by_another() {
    let machine = Machine::new("");
    let (giver, taker, stream) = (machine.graph(), machine.graph(), machine.stream());
    let (_, memory) = machine.memory_node(giver, 4096);
    let mut node = null_mut();
    ok!(machine, hipGraphAddMemFreeNode(&mut node, taker, null(), 0, memory));
    // Only one node frees it.
    fails!(hipErrorInvalidValue, machine, hipGraphAddMemFreeNode(&mut node, giver, null(), 0, memory));
    let (gives, frees) = (machine.exec(giver), machine.exec(taker));
    ok!(machine, hipGraphLaunch(gives, stream));
    assert_eq!(machine.graph_memories()[0], 4096);
    ok!(machine, hipGraphLaunch(frees, stream));
    assert_eq!(machine.graph_memories()[0], 0);
    ok!(machine, hipStreamSynchronize(stream));
}

#[test]
fn a_graph_gives_memory_again_whoever_freed_it() {
    let machine = Machine::new("");
    let (giver, taker, stream) = (machine.graph(), machine.graph(), machine.stream());
    let (_, memory) = machine.memory_node(giver, 4096);
    let mut node = null_mut();
    ok!(machine, hipGraphAddMemFreeNode(&mut node, taker, null(), 0, memory));
    let (gives, frees) = (machine.exec(giver), machine.exec(taker));
    for _ in 0..2 {
        ok!(machine, hipGraphLaunch(gives, stream));
        ok!(machine, hipGraphLaunch(frees, stream));
        ok!(machine, hipGraphLaunch(gives, stream));
        ok!(machine, hipFreeAsync(memory, stream));
    }
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.graph_memories()[0], 0);
}

#[test]
fn one_node_frees_memory_whichever_function_adds_it() {
    let machine = Machine::new("");
    let (graph, mut node) = (machine.graph(), null_mut());
    let (given, memory) = machine.memory_node(graph, 4096);
    // A node that was not added does not count.
    fails!(hipErrorInvalidValue, machine, hipGraphAddMemFreeNode(&mut node, graph, &null_mut(), 1, memory));
    ok!(machine, hipDrvGraphAddMemFreeNode(&mut node, graph, &given, 1, memory));
    fails!(hipErrorInvalidValue, machine, hipDrvGraphAddMemFreeNode(&mut node, graph, &given, 1, memory));
    fails!(hipErrorInvalidValue, machine, hipGraphAddMemFreeNode(&mut node, graph, &given, 1, memory));
}

#[test]
fn what_a_device_lacks_is_refused_when_the_graph_is_launched() {
    // The simulator has room for the addresses of both devices.
    let machine = Machine::new("gfx942?memory=1m&devices=2");
    let (graph, stream) = (machine.graph(), machine.stream());
    let [first, second] = [(); 2].map(|()| machine.memory_node(graph, 700 << 10).1);
    let exec = machine.exec(graph);
    fails!(hipErrorOutOfMemory, machine, hipGraphLaunch(exec, stream));
    // Nothing is left of the launch.
    assert_eq!(machine.graph_memories()[0], 0);
    let mut node = null_mut();
    let too_much = &mut wanted(2 << 20);
    fails!(hipErrorOutOfMemory, machine, hipGraphAddMemAllocNode(&mut node, graph, null(), 0, too_much));
    assert!(too_much.dptr.is_null() && first != second);
}

#[test]
fn a_launch_takes_what_idle_pools_keep() {
    // The simulator has room for the addresses of both devices.
    let machine = Machine::new("gfx942?memory=1m&devices=2");
    let (stream, graph) = (machine.stream(), machine.graph());
    let (mut pool, mut memory, mut all) = (null_mut(), null_mut(), u64::MAX);
    ok!(machine, hipDeviceGetDefaultMemPool(&mut pool, 0));
    let threshold = hipMemPoolAttr::hipMemPoolAttrReleaseThreshold;
    ok!(machine, hipMemPoolSetAttribute(pool, threshold, (&raw mut all).cast()));
    ok!(machine, hipMallocAsync(&mut memory, 700 << 10, stream));
    ok!(machine, hipFreeAsync(memory, stream));
    ok!(machine, hipStreamSynchronize(stream));
    machine.memory_node(graph, 700 << 10);
    machine.run(graph, stream);
    assert_eq!(machine.graph_memories()[0], 700 << 10);
}

#[test]
fn nodes_of_memory_tell_their_parameters_and_stay_in_their_graph() {
    let machine = Machine::new("");
    let graph = machine.graph();
    let (given, memory) = machine.memory_node(graph, 100);
    let mut told = hipMemAllocNodeParams::default();
    ok!(machine, hipGraphMemAllocNodeGetParams(given, &mut told));
    assert_eq!((told.bytesize, told.dptr, told.poolProps.location.id), (100, memory, 0));
    let (mut freed, mut address) = (null_mut(), null_mut::<c_void>());
    ok!(machine, hipDrvGraphAddMemFreeNode(&mut freed, graph, &given, 1, memory));
    ok!(machine, hipGraphMemFreeNodeGetParams(freed, (&raw mut address).cast()));
    assert_eq!(address, memory);

    fails!(hipErrorInvalidValue, machine, hipGraphMemAllocNodeGetParams(freed, &mut told));
    fails!(hipErrorInvalidValue, machine, hipGraphMemFreeNodeGetParams(given, (&raw mut address).cast()));
    fails!(hipErrorInvalidValue, machine, hipGraphMemFreeNodeGetParams(freed, null_mut()));
    for node in [given, freed] {
        fails!(hipErrorNotSupported, machine, hipGraphDestroyNode(node));
    }
    fails!(hipErrorNotSupported, machine, hipGraphClone(&mut null_mut(), graph));
    let mut exec = machine.exec(graph);
    fails!(hipErrorNotSupported, machine, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
}

#[test]
fn nodes_of_memory_could_be_removed_before_hip_6_3() {
    let machine = Machine::new("gfx942?hip=6.2");
    let graph = machine.graph();
    let (given, memory) = machine.memory_node(graph, 64);
    let mut freed = null_mut();
    for _ in 0..2 {
        ok!(machine, hipGraphAddMemFreeNode(&mut freed, graph, &given, 1, memory));
        ok!(machine, hipGraphDestroyNode(freed));
    }
    let mut copy = null_mut();
    ok!(machine, hipGraphClone(&mut copy, graph));
    ok!(machine, hipGraphDestroyNode(given));
    machine.run(graph, machine.stream());
    assert_eq!(machine.graph_memories()[0], 0);
    machine.run(copy, machine.stream());
    assert_eq!(machine.graph_memories()[0], 64);
}

#[test]
fn wrong_parameters_of_memory_are_refused() {
    let machine = Machine::new("");
    let (graph, mut node) = (machine.graph(), null_mut());
    let mut wrong = [wanted(0), wanted(64), wanted(64), wanted(64), wanted(64)];
    wrong[1].poolProps.allocType = hipMemAllocationType::hipMemAllocationTypeInvalid;
    wrong[2].poolProps.location.type_ = hipMemLocationType::hipMemLocationTypeInvalid;
    wrong[3].poolProps.location.id = 1;
    wrong[4].poolProps.location.id = -1;
    for (index, parameters) in wrong.iter_mut().enumerate() {
        parameters.dptr = std::ptr::without_provenance_mut(8);
        fails!(
            hipErrorInvalidValue,
            machine,
            hipGraphAddMemAllocNode(&mut node, graph, null(), 0, parameters)
        );
        assert!(index > 2 || parameters.dptr.is_null(), "{index}");
    }
    let right = &mut wanted(64);
    fails!(hipErrorInvalidValue, machine, hipGraphAddMemAllocNode(null_mut(), graph, null(), 0, right));
    fails!(hipErrorInvalidValue, machine, hipGraphAddMemAllocNode(&mut node, null_mut(), null(), 0, right));
    fails!(hipErrorInvalidValue, machine, hipGraphAddMemAllocNode(&mut node, graph, null(), 1, right));
    fails!(hipErrorInvalidValue, machine, hipGraphAddMemAllocNode(&mut node, graph, null(), 0, null_mut()));
    // Memory that no node gives, an address within memory, and a list without nodes.
    let (plain, (given, memory)) = (machine.malloc(64), machine.memory_node(graph, 64));
    for address in [plain, null_mut(), memory.wrapping_byte_add(4)] {
        fails!(hipErrorInvalidValue, machine, hipGraphAddMemFreeNode(&mut node, graph, null(), 0, address));
    }
    fails!(hipErrorInvalidValue, machine, hipGraphAddMemFreeNode(&mut node, graph, &given, 0, memory));
    ok!(machine, hipGraphAddMemFreeNode(&mut node, graph, null(), 0, memory));

    let used = hipGraphMemAttributeType::hipGraphMemAttrUsedMemCurrent;
    let high = hipGraphMemAttributeType::hipGraphMemAttrUsedMemHigh;
    let mut value = 1_u64;
    let place = (&raw mut value).cast::<c_void>();
    fails!(hipErrorInvalidDevice, machine, hipDeviceGetGraphMemAttribute(1, used, place));
    fails!(hipErrorInvalidDevice, machine, hipDeviceSetGraphMemAttribute(-1, high, place));
    fails!(hipErrorInvalidDevice, machine, hipDeviceGraphMemTrim(7));
    fails!(
        hipErrorInvalidValue,
        machine,
        hipDeviceGetGraphMemAttribute(0, hipGraphMemAttributeType(4), place)
    );
    fails!(hipErrorInvalidValue, machine, hipDeviceGetGraphMemAttribute(0, used, null_mut()));
    // Marks fall to zero alone, and sizes are not set.
    fails!(hipErrorInvalidValue, machine, hipDeviceSetGraphMemAttribute(0, high, place));
    value = 0;
    fails!(hipErrorInvalidValue, machine, hipDeviceSetGraphMemAttribute(0, used, place));
    assert_eq!(value, 0);
}
