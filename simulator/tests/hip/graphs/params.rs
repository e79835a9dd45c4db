// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters of nodes, told and set: what was given comes back, and what is set counts from the next instantiation on.

use std::ffi::c_void;
use std::ptr::{null, null_mut, without_provenance_mut};

use windlass_hip_sys::bindings::*;

use super::build::{Launch, floats};
use crate::common::{Block, Log, Machine};

/// A kernel node c = a + b over 64 floats.
fn addition(machine: &Machine, graph: hipGraph_t, [a, b, c]: [*mut c_void; 3]) -> hipGraphNode_t {
    let (function, mut node) = (machine.vector_add(), null_mut());
    Launch { addresses: [a as u64, b as u64, c as u64], count: 64 }.with(function, |parameters| {
        ok!(machine, hipGraphAddKernelNode(&mut node, graph, null(), 0, parameters));
    });
    node
}

#[test]
fn a_kernel_node_lends_its_arguments_which_may_be_changed_and_set() {
    let machine = Machine::new("");
    let [a, b, c] = [1_f32, 2.0, 0.0].map(|value| machine.upload(&[value; 64]));
    let graph = machine.graph();
    let node = addition(&machine, graph, [a, b, c]);
    let mut told = hipKernelNodeParams::default();
    ok!(machine, hipGraphKernelNodeGetParams(node, &mut told));
    assert_eq!((told.gridDim.x, told.blockDim.x, told.sharedMemBytes), (1, 64, 0));
    assert!(told.extra.is_null() && !told.func.is_null());
    // SAFETY: the node lends four pointers: three to addresses, one to a number of 32 bits.
    let argument = |index: usize| unsafe { told.kernelParams.add(index).read() };
    // SAFETY: as above.
    unsafe {
        assert_eq!(argument(0).cast::<u64>().read(), a as u64);
        assert_eq!(argument(2).cast::<u64>().read(), c as u64);
        assert_eq!(argument(3).cast::<u32>().read(), 64);
        // c = b + b.
        argument(0).cast::<u64>().write(b as u64);
    }
    ok!(machine, hipGraphKernelNodeSetParams(node, &told));
    machine.run(graph, machine.stream());
    assert_eq!(machine.download::<f32>(c, 64), [4.0; 64]);
    // The pointers stay, so that a loop may change and set again.
    let mut again = hipKernelNodeParams::default();
    ok!(machine, hipGraphKernelNodeGetParams(node, &mut again));
    assert_eq!((again.kernelParams, again.func), (told.kernelParams, told.func));
    // SAFETY: as above.
    unsafe { argument(1).cast::<u64>().write(a as u64) };
    let exec = machine.exec(graph);
    ok!(machine, hipGraphExecKernelNodeSetParams(exec, node, &told));
    let stream = machine.stream();
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<f32>(c, 64), [3.0; 64]);

    fails!(hipErrorInvalidValue, machine, hipGraphKernelNodeGetParams(node, null_mut()));
    fails!(hipErrorInvalidValue, machine, hipGraphKernelNodeGetParams(null_mut(), &mut told));
    told.blockDim.x = 2048;
    let mut other = null_mut();
    fails!(hipErrorInvalidValue, machine, hipGraphAddKernelNode(&mut other, graph, null(), 0, &told));
    fails!(hipErrorInvalidValue, machine, hipGraphKernelNodeSetParams(node, &told));
    fails!(hipErrorInvalidValue, machine, hipGraphExecKernelNodeSetParams(exec, node, &told));
}

#[test]
fn arguments_that_were_given_as_one_block_are_told_as_one_block() {
    let machine = Machine::new("");
    let [a, b, c] = [1_f32, 2.0, 0.0].map(|value| machine.upload(&[value; 64]));
    let arguments = Block::default().pointer(a).pointer(b).pointer(c).u32(64).done();
    let mut size = arguments.len();
    let mut extra = [
        without_provenance_mut(1),
        arguments.as_ptr().cast_mut().cast(),
        without_provenance_mut(2),
        (&raw mut size).cast(),
        without_provenance_mut(3),
    ];
    let parameters = hipKernelNodeParams {
        blockDim: dim3 { x: 64, y: 1, z: 1 },
        extra: extra.as_mut_ptr(),
        func: machine.vector_add().cast(),
        gridDim: dim3 { x: 1, y: 1, z: 1 },
        kernelParams: null_mut(),
        sharedMemBytes: 0,
    };
    let (graph, mut node) = (machine.graph(), null_mut());
    ok!(machine, hipGraphAddKernelNode(&mut node, graph, null(), 0, &parameters));
    let mut told = hipKernelNodeParams::default();
    ok!(machine, hipGraphKernelNodeGetParams(node, &mut told));
    assert!(told.kernelParams.is_null());
    // SAFETY: the list has five entries, of which the second is the block and the fourth its size.
    unsafe {
        assert_eq!((told.extra.add(3).read()).cast::<usize>().read(), size);
        let block = told.extra.add(1).read().cast::<u8>();
        assert_eq!(std::slice::from_raw_parts(block, size), arguments);
    }
    // The list suits a second node.
    let mut other = null_mut();
    ok!(machine, hipGraphAddKernelNode(&mut other, graph, &node, 1, &told));
    machine.run(graph, machine.stream());
    assert_eq!(machine.download::<f32>(c, 64), [3.0; 64]);
}

/// The copy of a box in the words of the runtime API.
fn boxes(to: *mut c_void, from: *mut c_void) -> hipMemcpy3DParms {
    let side = |ptr| hipPitchedPtr { ptr, pitch: 16, xsize: 8, ysize: 4 };
    hipMemcpy3DParms {
        srcPtr: side(from),
        dstPtr: side(to),
        dstPos: hipPos { x: 4, y: 1, z: 0 },
        extent: hipExtent { width: 8, height: 2, depth: 2 },
        kind: hipMemcpyKind::hipMemcpyDeviceToDevice,
        ..Default::default()
    }
}

#[test]
fn a_copy_is_told_and_set_in_the_words_that_made_it() {
    let machine = Machine::new("");
    let (from, to, graph) = (machine.upload(&[7_u8; 256]), machine.malloc(256), machine.graph());
    let (given, mut node, mut context) = (boxes(to, from), null_mut(), null_mut());
    ok!(machine, hipGraphAddMemcpyNode(&mut node, graph, null(), 0, &given));
    let mut told = hipMemcpy3DParms::default();
    ok!(machine, hipGraphMemcpyNodeGetParams(node, &mut told));
    assert_eq!(format!("{told:?}"), format!("{given:?}"));

    ok!(machine, hipCtxGetCurrent(&mut context));
    let mut driver = HIP_MEMCPY3D {
        srcXInBytes: 1,
        srcMemoryType: hipMemoryType::hipMemoryTypeDevice,
        srcDevice: from,
        srcPitch: 16,
        srcHeight: 4,
        dstMemoryType: hipMemoryType::hipMemoryTypeDevice,
        dstDevice: to,
        dstPitch: 16,
        dstHeight: 4,
        WidthInBytes: 8,
        Height: 2,
        Depth: 2,
        ..Default::default()
    };
    ok!(machine, hipDrvGraphAddMemcpyNode(&mut node, graph, null(), 0, &driver, context));
    let mut again = HIP_MEMCPY3D::default();
    ok!(machine, hipDrvGraphMemcpyNodeGetParams(node, &mut again));
    assert_eq!(format!("{again:?}"), format!("{driver:?}"));
    driver.srcXInBytes = 2;
    ok!(machine, hipDrvGraphMemcpyNodeSetParams(node, &driver));
    ok!(machine, hipDrvGraphMemcpyNodeGetParams(node, &mut again));
    assert_eq!(again.srcXInBytes, 2);
    let exec = machine.exec(graph);
    driver.WidthInBytes = 4;
    ok!(machine, hipDrvGraphExecMemcpyNodeSetParams(exec, node, &driver, context));
    driver.srcDevice = null_mut();
    fails!(hipErrorInvalidValue, machine, hipDrvGraphExecMemcpyNodeSetParams(exec, node, &driver, context));
}

#[test]
fn copies_are_told_in_the_words_of_either_api() {
    let machine = Machine::new("");
    let (from, to) = (machine.upload(&[7_u8; 256]), machine.malloc(256));
    let graph = machine.graph();
    let plain = machine.copy_node(graph, &[], to, from, 64);
    let mut told = hipMemcpy3DParms::default();
    ok!(machine, hipGraphMemcpyNodeGetParams(plain, &mut told));
    let extent = told.extent;
    assert_eq!((told.srcPtr.ptr, told.dstPtr.ptr), (from, to));
    assert_eq!((extent.width, extent.height, extent.depth), (64, 1, 1));
    assert_eq!(told.kind, hipMemcpyKind::hipMemcpyDefault);

    let mut node = null_mut();
    ok!(machine, hipGraphAddMemcpyNode(&mut node, graph, null(), 0, &boxes(to, from)));
    let mut driver = HIP_MEMCPY3D::default();
    ok!(machine, hipDrvGraphMemcpyNodeGetParams(node, &mut driver));
    assert_eq!((driver.WidthInBytes, driver.Height, driver.Depth), (8, 2, 2));
    assert_eq!((driver.srcDevice, driver.dstDevice), (from, to.wrapping_byte_add(16 + 4)));
    assert_eq!((driver.srcPitch, driver.srcHeight), (16, 4));
    // The words of one API make the same node in the other's.
    driver.srcXInBytes = 1;
    ok!(machine, hipDrvGraphMemcpyNodeSetParams(node, &driver));
    let mut again = HIP_MEMCPY3D::default();
    ok!(machine, hipDrvGraphMemcpyNodeGetParams(node, &mut again));
    assert_eq!(again.srcXInBytes, 1);
    ok!(machine, hipGraphMemcpyNodeGetParams(node, &mut told));
    assert_eq!(told.srcPtr.ptr, from.wrapping_byte_add(1));
    machine.run(graph, machine.stream());

    let exec = machine.exec(graph);
    let context = without_provenance_mut(1);
    driver.srcDevice = null_mut();
    driver.WidthInBytes = 512;
    (driver.Height, driver.Depth) = (1, 1);
    fails!(hipErrorInvalidValue, machine, hipDrvGraphExecMemcpyNodeSetParams(exec, node, &driver, context));
    driver.srcDevice = from;
    driver.WidthInBytes = 16;
    ok!(machine, hipDrvGraphExecMemcpyNodeSetParams(exec, node, &driver, context));
    fails!(hipErrorInvalidValue, machine, hipDrvGraphExecMemcpyNodeSetParams(exec, node, null(), context));
}

#[test]
fn a_captured_copy_of_rows_tells_its_pitches() {
    let machine = Machine::new("");
    let (from, to, stream) = (machine.malloc(256), machine.malloc(256), machine.stream());
    ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeGlobal));
    let kind = hipMemcpyKind::hipMemcpyDeviceToDevice;
    ok!(machine, hipMemcpy2DAsync(to, 32, from, 16, 8, 3, kind, stream));
    ok!(machine, hipMemset2DAsync(to, 32, 1, 8, 2, stream));
    let mut graph = null_mut();
    ok!(machine, hipStreamEndCapture(stream, &mut graph));
    let (mut nodes, mut count) = ([null_mut(); 2], 2);
    ok!(machine, hipGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
    let mut told = hipMemcpy3DParms::default();
    ok!(machine, hipGraphMemcpyNodeGetParams(nodes[0], &mut told));
    assert_eq!((told.srcPtr.pitch, told.dstPtr.pitch, told.extent.height), (16, 32, 3));
    assert_eq!(told.kind, kind);
    let mut fill = hipMemsetParams::default();
    ok!(machine, hipGraphMemsetNodeGetParams(nodes[1], &mut fill));
    assert_eq!((fill.pitch, fill.width, fill.height, fill.elementSize), (32, 8, 2, 1));
}

#[test]
fn fills_host_functions_and_events_are_told() {
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    let machine = Machine::new("");
    let (graph, mut memory, mut pitch, mut node) = (machine.graph(), null_mut(), 0, null_mut());
    ok!(machine, hipMallocPitch(&mut memory, &mut pitch, 10, 3));
    let given = hipMemsetParams { dst: memory, elementSize: 2, height: 2, pitch, value: 0x1234, width: 5 };
    ok!(machine, hipGraphAddMemsetNode(&mut node, graph, null(), 0, &given));
    let mut told = hipMemsetParams::default();
    ok!(machine, hipGraphMemsetNodeGetParams(node, &mut told));
    assert_eq!(format!("{told:?}"), format!("{given:?}"));

    let exec = machine.exec(graph);
    // An instantiated fill of rows keeps its extents.
    let taller = hipMemsetParams { height: 3, ..given };
    fails!(hipErrorInvalidValue, machine, hipGraphExecMemsetNodeSetParams(exec, node, &taller));
    ok!(machine, hipGraphMemsetNodeSetParams(node, &taller));
    let narrow = hipMemsetParams { pitch: 9, ..given };
    fails!(hipErrorInvalidValue, machine, hipGraphMemsetNodeSetParams(node, &narrow));

    let given = hipHostNodeParams { fn_: Some(nothing), userData: without_provenance_mut(7) };
    let mut host = null_mut();
    ok!(machine, hipGraphAddHostNode(&mut host, graph, null(), 0, &given));
    let mut told = hipHostNodeParams::default();
    ok!(machine, hipGraphHostNodeGetParams(host, &mut told));
    assert_eq!(
        (told.fn_.map(|f| f as *const () as usize), told.userData),
        (Some(nothing as *const () as usize), given.userData)
    );

    let (event, other) = (machine.event(), machine.event());
    let (mut record, mut wait, mut found) = (null_mut(), null_mut(), null_mut());
    ok!(machine, hipGraphAddEventRecordNode(&mut record, graph, null(), 0, event));
    ok!(machine, hipGraphAddEventWaitNode(&mut wait, graph, null(), 0, event));
    ok!(machine, hipGraphEventWaitNodeSetEvent(wait, other));
    ok!(machine, hipGraphEventRecordNodeGetEvent(record, &mut found));
    assert_eq!(found, event);
    ok!(machine, hipGraphEventWaitNodeGetEvent(wait, &mut found));
    assert_eq!(found, other);

    // A node of another kind.
    fails!(hipErrorInvalidValue, machine, hipGraphEventRecordNodeGetEvent(wait, &mut found));
    fails!(hipErrorInvalidValue, machine, hipGraphEventWaitNodeGetEvent(record, &mut found));
    fails!(hipErrorInvalidValue, machine, hipGraphEventWaitNodeGetEvent(wait, null_mut()));
    let mut child = without_provenance_mut(1);
    fails!(hipErrorInvalidValue, machine, hipGraphChildGraphNodeGetGraph(host, &mut child));
    assert!(child.is_null());
}

#[test]
fn a_node_of_another_kind_tells_no_parameters() {
    let machine = Machine::new("");
    let (graph, log) = (machine.graph(), Log::default());
    let host = machine.log_node(graph, &[], &log, "");
    let fill = machine.fill_node(graph, &[], machine.malloc(64), 0, 16);
    fails!(hipErrorInvalidValue, machine, hipGraphHostNodeGetParams(fill, &mut hipHostNodeParams::default()));
    fails!(hipErrorInvalidValue, machine, hipGraphMemsetNodeGetParams(host, &mut hipMemsetParams::default()));
    fails!(
        hipErrorInvalidValue,
        machine,
        hipGraphMemcpyNodeGetParams(host, &mut hipMemcpy3DParms::default())
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipGraphKernelNodeGetParams(host, &mut hipKernelNodeParams::default())
    );
}

/// Before HIP 7 the driver API had a struct of its own.
#[test]
fn the_driver_s_fill_of_hip_7_is_in_the_words_of_the_runtime() {
    let machine = Machine::new("?hip=7.1");
    let (memory, graph, mut node) = (machine.malloc(256), machine.graph(), null_mut());
    let given = hipMemsetParams { dst: memory, elementSize: 2, height: 2, pitch: 32, value: 7, width: 5 };
    ok!(machine, hipGraphAddMemsetNode(&mut node, graph, null(), 0, &given));
    let (exec, context) = (machine.exec(graph), without_provenance_mut(1));
    let taller = hipMemsetParams { height: 3, ..given };
    fails!(hipErrorInvalidValue, machine, hipDrvGraphExecMemsetNodeSetParams(exec, node, &taller, context));
    let other = hipMemsetParams { value: 3, ..given };
    ok!(machine, hipDrvGraphExecMemsetNodeSetParams(exec, node, &other, context));
    ok!(machine, hipGraphLaunch(exec, null_mut()));
    assert_eq!(machine.download::<u16>(memory, 5), [3; 5]);
}

#[test]
fn a_child_graph_can_be_found_and_changed() {
    let machine = Machine::new("");
    let log = Log::default();
    let (child, graph, mut node) = (machine.graph(), machine.graph(), null_mut());
    let first = machine.log_node(child, &[], &log, "first");
    ok!(machine, hipGraphAddChildGraphNode(&mut node, graph, null(), 0, child));
    let mut own = null_mut();
    ok!(machine, hipGraphChildGraphNodeGetGraph(node, &mut own));
    assert_ne!(own, child);
    // It is a copy, whose nodes are copies.
    let mut twin = null_mut();
    ok!(machine, hipGraphNodeFindInClone(&mut twin, first, own));
    assert_ne!(twin, first);
    machine.log_node(own, &[twin], &log, "second");
    machine.run(graph, machine.stream());
    assert_eq!(log.take(), ["first", "second"]);
    ok!(machine, hipGraphDestroyNode(node));
    machine.run(child, machine.stream());
    assert_eq!(log.take(), ["first"]);
}

#[test]
fn a_node_owns_its_child_graph() {
    let machine = Machine::new("");
    let (child, graph, mut node, mut own) = (machine.graph(), machine.graph(), null_mut(), null_mut());
    ok!(machine, hipGraphAddChildGraphNode(&mut node, graph, null(), 0, child));
    ok!(machine, hipGraphChildGraphNodeGetGraph(node, &mut own));
    fails!(hipErrorInvalidValue, machine, hipGraphDestroy(own));
    ok!(machine, hipGraphDestroyNode(node));
    fails!(hipErrorInvalidValue, machine, hipGraphGetNodes(own, null_mut(), &mut 0));
}

/// Graphs in each other, up to a depth or to a refusal: the outermost, the depth, and the refusal.
fn nest(machine: &Machine, log: &Log, most: usize) -> (hipGraph_t, usize, hipError_t) {
    let mut graph = machine.graph();
    machine.log_node(graph, &[], log, "innermost");
    for depth in 0..most {
        let (outer, mut node) = (machine.graph(), null_mut());
        let status = hip!(machine, hipGraphAddChildGraphNode(&mut node, outer, null(), 0, graph));
        if status != hipError_t::hipSuccess {
            return (graph, depth, status);
        }
        graph = outer;
    }
    (graph, most, hipError_t::hipSuccess)
}

#[test]
fn child_graphs_nest() {
    let (machine, log) = (Machine::new(""), Log::default());
    let (graph, depth, _) = nest(&machine, &log, 20);
    machine.run(graph, machine.stream());
    assert_eq!((log.words(), depth), (vec!["innermost"], 20));
    ok!(machine, hipGraphDestroy(graph));
}

#[test]
fn child_graphs_nest_as_deep_as_the_machine_can_bear() {
    let (machine, log) = (Machine::new(""), Log::default());
    let (graph, depth, status) = nest(&machine, &log, 1000);
    assert_eq!((status, depth), (hipError_t::hipErrorInvalidValue, 128));
    machine.run(graph, machine.stream());
    assert_eq!(log.words(), ["innermost"]);
    ok!(machine, hipGraphDestroy(graph));
}

#[test]
fn a_kernel_node_has_one_attribute() {
    let machine = Machine::new("");
    let memory = machine.upload(&[1_f32; 64]);
    let graph = machine.graph();
    let [node, other] = [(); 2].map(|()| addition(&machine, graph, [memory; 3]));
    let cooperative = hipLaunchAttributeID::hipLaunchAttributeCooperative;
    let window = hipLaunchAttributeID::hipLaunchAttributeAccessPolicyWindow;
    let mut value = hipLaunchAttributeValue { cooperative: 9 };
    ok!(machine, hipGraphKernelNodeGetAttribute(node, cooperative, &mut value));
    // SAFETY: any bits are a number.
    let number = |value: &hipLaunchAttributeValue| unsafe { value.cooperative };
    assert_eq!(number(&value), 0);
    ok!(
        machine,
        hipGraphKernelNodeSetAttribute(node, cooperative, &hipLaunchAttributeValue { cooperative: 1 })
    );
    ok!(machine, hipGraphKernelNodeGetAttribute(node, cooperative, &mut value));
    assert_eq!(number(&value), 1);
    fails!(hipErrorInvalidValue, machine, hipGraphKernelNodeGetAttribute(node, window, &mut value));
    // Parameters leave the attribute; copies of the node have it.
    let mut parameters = hipKernelNodeParams::default();
    ok!(machine, hipGraphKernelNodeGetParams(node, &mut parameters));
    ok!(machine, hipGraphKernelNodeSetParams(node, &parameters));
    ok!(machine, hipGraphKernelNodeCopyAttributes(node, other));
    let (mut copy, mut twin) = (null_mut(), null_mut());
    ok!(machine, hipGraphClone(&mut copy, graph));
    ok!(machine, hipGraphNodeFindInClone(&mut twin, other, copy));
    value = hipLaunchAttributeValue { cooperative: 9 };
    ok!(machine, hipGraphKernelNodeGetAttribute(twin, cooperative, &mut value));
    assert_eq!(number(&value), 1);

    let policy = |hit_ratio, bytes| hipLaunchAttributeValue {
        accessPolicyWindow: hipAccessPolicyWindow {
            hitRatio: hit_ratio,
            num_bytes: bytes,
            hitProp: hipAccessProperty::hipAccessPropertyStreaming,
            ..Default::default()
        },
    };
    fails!(hipErrorInvalidValue, machine, hipGraphKernelNodeSetAttribute(other, window, &policy(1.5, 0)));
    fails!(hipErrorInvalidValue, machine, hipGraphKernelNodeSetAttribute(other, window, &policy(0.5, 64)));
    ok!(machine, hipGraphKernelNodeSetAttribute(other, window, &policy(0.5, 0)));
    fails!(hipErrorInvalidContext, machine, hipGraphKernelNodeCopyAttributes(node, other));
    let synchronisation = hipLaunchAttributeID::hipLaunchAttributeSynchronizationPolicy;
    fails!(hipErrorInvalidValue, machine, hipGraphKernelNodeSetAttribute(node, synchronisation, &value));
    fails!(hipErrorInvalidValue, machine, hipGraphKernelNodeSetAttribute(node, cooperative, null()));
    let fill = machine.fill_node(graph, &[], memory, floats(1.0), 1);
    fails!(hipErrorInvalidValue, machine, hipGraphKernelNodeSetAttribute(fill, cooperative, &value));
    fails!(hipErrorInvalidValue, machine, hipGraphKernelNodeCopyAttributes(node, null_mut()));
}

#[test]
fn the_driver_s_copy_becomes_a_node() {
    let machine = Machine::new("");
    let (from, to) = (machine.upload(&(0..20).collect::<Vec<u8>>()), machine.upload(&[0xff_u8; 6]));
    let (graph, mut node, mut context) = (machine.graph(), null_mut(), null_mut());
    ok!(machine, hipCtxGetCurrent(&mut context));
    let copy = HIP_MEMCPY3D {
        srcXInBytes: 1,
        srcY: 1,
        srcMemoryType: hipMemoryType::hipMemoryTypeDevice,
        srcDevice: from,
        srcPitch: 5,
        dstMemoryType: hipMemoryType::hipMemoryTypeDevice,
        dstDevice: to,
        dstPitch: 3,
        WidthInBytes: 3,
        Height: 2,
        Depth: 1,
        ..Default::default()
    };
    ok!(machine, hipDrvGraphAddMemcpyNode(&mut node, graph, null(), 0, &copy, context));
    let mut kind = hipGraphNodeType(99);
    ok!(machine, hipGraphNodeGetType(node, &mut kind));
    assert_eq!(kind, hipGraphNodeType::hipGraphNodeTypeMemcpy);
    assert_eq!(machine.download::<u8>(to, 6), [0xff; 6]);
    machine.run(graph, machine.stream());
    assert_eq!(machine.download::<u8>(to, 6), [6, 7, 8, 11, 12, 13]);
    let null_node = null_mut();
    let (out, right) = (&raw mut node, &raw const copy);
    for (out, graph, count, copy, context) in [
        (null_node, graph, 0, right, context),
        (out, null_mut(), 0, right, context),
        (out, graph, 1, right, context),
        (out, graph, 0, null(), context),
        (out, graph, 0, right, null_mut()),
    ] {
        fails!(
            hipErrorInvalidValue,
            machine,
            hipDrvGraphAddMemcpyNode(out, graph, null(), count, copy, context)
        );
    }
    for wrong in [
        HIP_MEMCPY3D { WidthInBytes: 4, ..copy },
        HIP_MEMCPY3D { Height: 4, ..copy },
        HIP_MEMCPY3D { dstMemoryType: hipMemoryType(99), ..copy },
    ] {
        fails!(
            hipErrorInvalidValue,
            machine,
            hipDrvGraphAddMemcpyNode(&mut node, graph, null(), 0, &wrong, context)
        );
    }
    let mut count = 9;
    ok!(machine, hipGraphGetNodes(graph, null_mut(), &mut count));
    assert_eq!(count, 1, "none of the wrong ones is there");
}
