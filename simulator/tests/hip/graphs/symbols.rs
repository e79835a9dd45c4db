// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes that copy from and to global variables.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::{null, null_mut};

use windlass_hip_sys::bindings::*;

use crate::common::Machine;

/// The start of a fat binary in a program.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    binary: *const c_void,
    unused: *const c_void,
}

/// Registers the variable `table` of 64 bytes under a symbol.
fn register(machine: &Machine, symbol: *const u8) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles/globals.gfx942.co");
    let image = Box::leak(std::fs::read(file).unwrap().into_boxed_slice());
    let wrapper = Wrapper { magic: 0x4849_5046, version: 1, binary: image.as_ptr().cast(), unused: null() };
    let wrapper: *const Wrapper = Box::leak(Box::new(wrapper));
    let name = c"table".as_ptr().cast_mut();
    let modules = hip!(machine, __hipRegisterFatBinary(wrapper.cast()));
    let variable = symbol.cast_mut().cast::<c_void>();
    hip!(machine, __hipRegisterVar(modules, variable, name, name, 0, 64, 0, 0));
}

#[test]
fn nodes_copy_to_and_from_a_variable() {
    let machine = Machine::new("");
    let symbol = Box::leak(Box::new(0_u8));
    register(&machine, symbol);
    let variable: *const c_void = std::ptr::from_ref(&*symbol).cast();
    let (mut values, mut back) = ([1_u32, 2, 3, 4], [0_u32; 2]);
    let (graph, mut to, mut from) = (machine.graph(), null_mut(), null_mut());
    let (host_to, to_host) = (hipMemcpyKind::hipMemcpyHostToDevice, hipMemcpyKind::hipMemcpyDeviceToHost);
    let source = values.as_mut_ptr().cast::<c_void>();
    let target = back.as_mut_ptr().cast::<c_void>();
    ok!(machine, hipGraphAddMemcpyNodeToSymbol(&mut to, graph, null(), 0, variable, source, 16, 32, host_to));
    ok!(machine, hipGraphAddMemcpyNodeFromSymbol(&mut from, graph, &to, 1, target, variable, 8, 40, to_host));
    let mut kind = hipGraphNodeType::hipGraphNodeTypeCount;
    ok!(machine, hipGraphNodeGetType(from, &mut kind));
    assert_eq!(kind, hipGraphNodeType::hipGraphNodeTypeMemcpy);
    machine.run(graph, machine.stream());
    assert_eq!(back, [3, 4]);

    ok!(machine, hipGraphMemcpyNodeSetParamsFromSymbol(from, target, variable, 8, 32, to_host));
    machine.run(graph, machine.stream());
    assert_eq!(back, [1, 2]);
    let (exec, stream) = (machine.exec(graph), machine.stream());
    ok!(machine, hipGraphExecMemcpyNodeSetParamsToSymbol(exec, to, variable, source, 8, 36, host_to));
    ok!(machine, hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, target, variable, 8, 36, to_host));
    // The host's memory is read by the launch.
    values[0] = 9;
    assert_eq!(values[0], 9);
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(back, [9, 2]);

    // Wrong parameters of new nodes, of nodes, and of nodes of instantiated graphs.
    let mut node = null_mut();
    let mut add = |target, variable, size, offset| {
        hip!(
            machine,
            hipGraphAddMemcpyNodeFromSymbol(
                &mut node,
                graph,
                null(),
                0,
                target,
                variable,
                size,
                offset,
                to_host
            )
        )
    };
    let invalid = hipError_t::hipErrorInvalidValue;
    assert_eq!(add(target, variable, 8, 60), invalid, "the copy leaves the variable");
    assert_eq!(add(target, variable, 0, 0), invalid);
    assert_eq!(add(null_mut(), variable, 8, 0), invalid);
    assert_eq!(add(target, null(), 8, 0), hipError_t::hipErrorInvalidSymbol);
    assert_eq!(add(target, target.cast_const(), 8, 0), hipError_t::hipErrorInvalidSymbol);
    fails!(
        hipErrorInvalidSymbol,
        machine,
        hipGraphMemcpyNodeSetParamsFromSymbol(from, target, null(), 8, 0, to_host)
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipGraphMemcpyNodeSetParamsToSymbol(to, variable, variable, 8, 0, host_to)
    );
    // Pageable memory is the host's.
    let on_device = hipMemcpyKind::hipMemcpyDeviceToDevice;
    fails!(
        hipErrorInvalidMemcpyDirection,
        machine,
        hipGraphMemcpyNodeSetParamsFromSymbol(from, target, variable, 8, 0, on_device)
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipGraphMemcpyNodeSetParamsToSymbol(to, variable, source, 8, 0, on_device)
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, target, variable, 8, 0, on_device)
    );
    // An instantiated copy keeps its direction.
    let any = hipMemcpyKind::hipMemcpyDefault;
    fails!(
        hipErrorInvalidValue,
        machine,
        hipGraphExecMemcpyNodeSetParamsToSymbol(exec, to, variable, source, 8, 0, any)
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipGraphExecMemcpyNodeSetParamsFromSymbol(null_mut(), from, target, variable, 8, 0, to_host)
    );
}

#[test]
fn a_copy_of_an_instantiated_graph_stays_on_its_device() {
    let machine = Machine::new("gfx942?devices=2");
    let symbol = Box::leak(Box::new(0_u8));
    register(&machine, symbol);
    let variable: *const c_void = std::ptr::from_ref(&*symbol).cast();
    let memory = machine.malloc(64);
    ok!(machine, hipSetDevice(1));
    let elsewhere = machine.malloc(64);
    ok!(machine, hipSetDevice(0));
    let (graph, mut node) = (machine.graph(), null_mut());
    let kind = hipMemcpyKind::hipMemcpyDeviceToDevice;
    ok!(machine, hipGraphAddMemcpyNodeFromSymbol(&mut node, graph, null(), 0, memory, variable, 8, 0, kind));
    let exec = machine.exec(graph);
    fails!(
        hipErrorInvalidValue,
        machine,
        hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, elsewhere, variable, 8, 0, kind)
    );
    let place = memory.wrapping_byte_add(8);
    ok!(machine, hipGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, place, variable, 8, 0, kind));
}
