// SPDX-License-Identifier: MIT OR Apache-2.0
//! Behaviour of HIP that other people's programs rely on.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::null_mut;

use crate::common::{Block, Log, Machine};
use windlass_hip_sys::bindings::*;

/// The bytes of a file of the project's kernels.
fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Launches by sizes in work-items, with one pointer as the argument.
fn launch_items(
    machine: &Machine,
    function: hipFunction_t,
    (items, block): ([u32; 3], [u32; 3]),
    mut pointer: *mut c_void,
    (stream, start, stop): (hipStream_t, hipEvent_t, hipEvent_t),
) -> hipError_t {
    let mut each: [*mut c_void; 1] = [(&raw mut pointer).cast()];
    let ([x, y, z], [bx, by, bz], each) = (items, block, each.as_mut_ptr());
    hip!(
        machine,
        hipExtModuleLaunchKernel(function, x, y, z, bx, by, bz, 0, stream, each, null_mut(), start, stop, 0)
    )
}

/// A module of positions, for which whole workgroups are no condition, as for kernels of assembly.
fn positions(uniform: bool) -> Vec<u8> {
    let mut code = file("positions.gfx942.co");
    let key = b".uniform_work_group_size";
    let places: Vec<usize> = (0..code.len() - key.len()).filter(|at| code[*at..].starts_with(key)).collect();
    assert!(!places.is_empty());
    for place in places {
        assert_eq!(code[place + key.len()], 1);
        code[place + key.len()] = uniform.into();
    }
    code
}

#[test]
fn launches_by_work_items_have_partial_workgroups_and_events() {
    let machine = Machine::new("?hip=7.1");
    let function = machine.function(machine.load(&positions(false)), c"write_hidden_arguments");
    let out = machine.upload(&[0_u64; 13]);
    let stream = machine.stream();
    let (start, stop) = (machine.event(), machine.event());
    let gate = machine.gate(stream);
    let place = (stream, start, stop);
    assert_eq!(
        launch_items(&machine, function, ([130, 3, 1], [64, 2, 4]), out, place),
        hipError_t::hipSuccess
    );
    fails!(hipErrorNotReady, machine, hipEventQuery(start));
    fails!(hipErrorNotReady, machine, hipEventQuery(stop));
    drop(gate);
    ok!(machine, hipEventSynchronize(stop));
    let mut milliseconds = -1.0;
    ok!(machine, hipEventElapsedTime(&mut milliseconds, start, stop));
    assert!(milliseconds >= 0.0, "{milliseconds}");
    // Whole workgroups, their size (none is larger than the grid), and the rest.
    assert_eq!(machine.download::<u64>(out, 9), [2, 1, 1, 64, 2, 1, 2, 1, 0]);

    // The other spelling, without flags.
    let mut pointer = out;
    let mut each: [*mut c_void; 1] = [(&raw mut pointer).cast()];
    let (each, null) = (each.as_mut_ptr(), null_mut());
    ok!(
        machine,
        hipHccModuleLaunchKernel(function, 65, 1, 1, 64, 1, 1, 0, stream, each, null, null_mut(), null_mut())
    );
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u64>(out, 9), [1, 1, 1, 64, 1, 1, 1, 0, 0]);
}

#[test]
fn launches_by_work_items_are_refused_with_their_reason() {
    let machine = Machine::new("?hip=7.1");
    let uniform = machine.function(machine.load(&positions(true)), c"write_hidden_arguments");
    let out = machine.upload(&[0_u64; 13]);
    let place = (null_mut(), null_mut(), null_mut());
    let launch = |items, block| launch_items(&machine, uniform, (items, block), out, place);
    assert_eq!(launch([128, 1, 1], [64, 1, 1]), hipError_t::hipSuccess);
    assert_eq!(launch([130, 1, 1], [64, 1, 1]), hipError_t::hipErrorInvalidValue);
    let reason = machine.api.diagnose().unwrap();
    assert!(reason.contains("write_hidden_arguments") && reason.contains("whole workgroups"), "{reason}");
    assert_eq!(launch([0, 1, 1], [64, 1, 1]), hipError_t::hipErrorInvalidValue);
    assert_eq!(launch([64, 1, 1], [64, 0, 1]), hipError_t::hipErrorInvalidValue);
    assert_eq!(launch([2048, 1, 1], [2048, 1, 1]), hipError_t::hipErrorInvalidConfiguration);
    assert_eq!(launch([64, 1, 1], [1025, 1, 1]), hipError_t::hipErrorInvalidConfiguration);
    // Nothing is launched with an event that is none.
    ok!(machine, hipMemsetD32(out, 0, 26));
    let (stream, event) = (machine.stream(), machine.event());
    ok!(machine, hipEventDestroy(event));
    let with_event =
        launch_items(&machine, uniform, ([64, 1, 1], [64, 1, 1]), out, (stream, null_mut(), event));
    assert_ne!(with_event, hipError_t::hipSuccess);
    ok!(machine, hipDeviceSynchronize());
    assert_eq!(machine.download::<u64>(out, 1), [0]);
}

#[test]
fn a_launch_by_work_items_becomes_a_node() {
    let machine = Machine::new("?hip=7.1");
    let function = machine.function(machine.load(&positions(false)), c"write_hidden_arguments");
    let out = machine.upload(&[0_u64; 13]);
    let stream = machine.stream();
    ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed));
    let place = (stream, null_mut(), null_mut());
    assert_eq!(
        launch_items(&machine, function, ([70, 1, 1], [64, 1, 1]), out, place),
        hipError_t::hipSuccess
    );
    let (mut graph, mut exec) = (null_mut(), null_mut());
    ok!(machine, hipStreamEndCapture(stream, &mut graph));
    ok!(machine, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u64>(out, 7)[6], 6, "a partial workgroup");
}

#[test]
fn a_query_of_the_null_stream_sees_the_work_of_blocking_streams() {
    let machine = Machine::new("?hip=7.1");
    ok!(machine, hipStreamQuery(null_mut()));
    let (blocking, other) = (machine.stream_with(0), machine.stream());
    let _beside = machine.gate(other);
    ok!(machine, hipStreamQuery(null_mut()));
    let gate = machine.gate(blocking);
    fails!(hipErrorNotReady, machine, hipStreamQuery(null_mut()));
    drop(gate);
    ok!(machine, hipStreamSynchronize(blocking));
    ok!(machine, hipStreamQuery(null_mut()));
}

#[test]
fn the_limit_of_the_stack_is_that_of_recursive_kernels() {
    let machine = Machine::new("?hip=7.1");
    let function = machine.function(machine.load(&file("scratch.ccob")), c"recurse");
    let (input, out) = (machine.upload(&[13_u32]), machine.upload(&[0_u32]));
    let arguments = Block::default().pointer(input).pointer(out).u32(1).done();
    let run = || {
        assert_eq!(machine.launch(function, 1, 1, null_mut(), &arguments), hipError_t::hipSuccess);
        hip!(machine, hipDeviceSynchronize())
    };
    let stack = hipLimit_t::hipLimitStackSize;
    assert_eq!(run(), hipError_t::hipSuccess);
    ok!(machine, hipDeviceSetLimit(stack, 64));
    assert_ne!(run(), hipError_t::hipSuccess, "13 calls fit into 64 bytes");
    ok!(machine, hipDeviceSetLimit(stack, 32 << 10));
    assert_eq!(run(), hipError_t::hipSuccess);
    assert_eq!(machine.download::<u32>(out, 1), [233]);
    let mut bytes = 0;
    ok!(machine, hipDeviceGetLimit(&mut bytes, stack));
    assert_eq!(bytes, 32 << 10);
}

#[test]
fn grids_above_the_maximum_are_refused() {
    for (options, symbols) in [
        ("?hip=7.1", hipError_t::hipErrorInvalidConfiguration),
        ("?hip=6.4", hipError_t::hipErrorInvalidValue),
    ] {
        let machine = Machine::new(options);
        let function = machine.function(machine.load(&file("vector_add.ccob")), c"vector_add");
        let mut each = [null_mut::<c_void>(); 4];
        let null = null_mut();
        let each = each.as_mut_ptr();
        fails!(
            hipErrorInvalidValue,
            machine,
            hipModuleLaunchKernel(function, 0x8000_0000, 1, 1, 1, 1, 1, 0, null_mut(), each, null)
        );
        let (grid, block) = (dim3 { x: 0x8000_0000, y: 1, z: 1 }, dim3 { x: 1, y: 1, z: 1 });
        let none = dim3 { x: 0, y: 1, z: 1 };
        let symbol = crate::symbols::kernel(&machine);
        let by_symbol = |grid| hip!(machine, hipLaunchKernel(symbol, grid, block, each, 0, null_mut()));
        assert_eq!([by_symbol(grid), by_symbol(none)], [symbols; 2]);
    }
}

#[test]
fn statuses_are_those_of_hip_7() {
    let machine = Machine::new("?devices=2");
    let [first, second] = [0, 1].map(|device| {
        ok!(machine, hipSetDevice(device));
        let event = machine.event();
        ok!(machine, hipEventRecord(event, null_mut()));
        ok!(machine, hipEventSynchronize(event));
        event
    });
    fails!(hipErrorInvalidHandle, machine, hipEventElapsedTime(&mut 0.0, first, second));
    // Of the flags, only the way to wait stays.
    let mut flags = 9;
    ok!(machine, hipSetDeviceFlags(16));
    ok!(machine, hipGetDeviceFlags(&mut flags));
    assert_eq!(flags, 0);
    let gone = machine.stream();
    ok!(machine, hipStreamDestroy(gone));
    let mut memory = null_mut();
    fails!(hipErrorInvalidHandle, machine, hipMallocAsync(&mut memory, 64, gone));
    let function = machine.function(machine.load(&file("vector_add.ccob")), c"vector_add");
    let mut each = [null_mut::<c_void>(); 4];
    let (each, null) = (each.as_mut_ptr(), null_mut());
    fails!(
        hipErrorContextIsDestroyed,
        machine,
        hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, gone, each, null)
    );
}

#[test]
fn registered_textures_leave_no_error() {
    let machine = Machine::new("?hip=7.1");
    let (text, list) = (null_mut::<std::ffi::c_char>, null_mut::<*mut c_void>);
    hip!(machine, __hipRegisterTexture(list(), null_mut(), text(), text(), 0, 0, 0));
    hip!(machine, __hipRegisterSurface(list(), null_mut(), text(), text(), 0, 0));
    ok!(machine, hipGetLastError());
}

#[test]
fn nodes_that_a_client_released_need_no_join() {
    let machine = Machine::new("?hip=7.1");
    let log = Log::default();
    let (stream, other) = (machine.stream(), machine.stream());
    ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed));
    machine.log_on(stream, &log, "released");
    // Nothing that is captured from now on waits for it.
    ok!(machine, hipStreamUpdateCaptureDependencies(stream, null_mut(), 0, 1));
    machine.log_on(stream, &log, "free");
    let (mut graph, mut exec) = (null_mut(), null_mut());
    ok!(machine, hipStreamEndCapture(stream, &mut graph));
    let (mut roots, mut edges) = (0, 9);
    ok!(machine, hipGraphGetRootNodes(graph, null_mut(), &mut roots));
    ok!(machine, hipGraphGetEdges(graph, null_mut(), null_mut(), &mut edges));
    assert_eq!((roots, edges), (2, 0));
    ok!(machine, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamSynchronize(stream));
    let mut words = log.words();
    words.sort_unstable();
    assert_eq!(words, ["free", "released"]);

    // A stream that joined still has to be waited for.
    ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed));
    let event = machine.event();
    ok!(machine, hipEventRecord(event, stream));
    ok!(machine, hipStreamWaitEvent(other, event, 0));
    machine.log_on(other, &log, "beside");
    fails!(hipErrorStreamCaptureUnjoined, machine, hipStreamEndCapture(stream, &mut graph));
}

#[test]
fn the_driver_s_fills_of_a_line_and_of_managed_memory_are_nodes() {
    /// `HIP_MEMSET_NODE_PARAMS` of HIP 6.
    #[repr(C)]
    struct Fill {
        dst: *mut c_void,
        pitch: usize,
        value: u32,
        element_size: u32,
        width: usize,
        height: usize,
    }
    let machine = Machine::new("?hip=6.4");
    let mut managed = null_mut();
    ok!(machine, hipMallocManaged(&mut managed, 64, 1));
    let mut context = null_mut();
    ok!(machine, hipCtxGetCurrent(&mut context));
    for (memory, pitch) in [(machine.malloc(64), 0), (machine.malloc(64), 64), (managed, 0)] {
        let (mut graph, mut node, mut exec) = (null_mut(), null_mut(), null_mut());
        ok!(machine, hipGraphCreate(&mut graph, 0));
        let fill = Fill { dst: memory, pitch, value: 7, element_size: 4, width: 16, height: 1 };
        let parameters = (&raw const fill).cast();
        ok!(machine, hipDrvGraphAddMemsetNode(&mut node, graph, null_mut(), 0, parameters, context));
        ok!(machine, hipGraphInstantiate(&mut exec, graph, null_mut(), null_mut(), 0));
        ok!(machine, hipGraphLaunch(exec, null_mut()));
        ok!(machine, hipDeviceSynchronize());
        assert_eq!(machine.download::<u32>(memory, 16), [7; 16]);
    }
}

#[test]
fn copies_of_an_instantiated_graph_keep_their_direction() {
    let machine = Machine::new("?hip=7.1");
    let (memory, other) = (machine.malloc(64), machine.malloc(64));
    let mut host = [0_u32; 16];
    let host: *mut c_void = host.as_mut_ptr().cast();
    let graph_of = |to, from, kind| {
        let (mut graph, mut node) = (null_mut(), null_mut());
        ok!(machine, hipGraphCreate(&mut graph, 0));
        ok!(machine, hipGraphAddMemcpyNode1D(&mut node, graph, null_mut(), 0, to, from, 64, kind));
        (graph, node)
    };
    let (graph, node) = graph_of(memory, host, hipMemcpyKind::hipMemcpyHostToDevice);
    let mut exec = null_mut();
    ok!(machine, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    let set =
        |to, from, kind| hip!(machine, hipGraphExecMemcpyNodeSetParams1D(exec, node, to, from, 64, kind));
    assert_eq!(set(other, host, hipMemcpyKind::hipMemcpyHostToDevice), hipError_t::hipSuccess);
    assert_eq!(set(host, memory, hipMemcpyKind::hipMemcpyDeviceToHost), hipError_t::hipErrorInvalidValue);
    let (turned, turned_node) = graph_of(host, memory, hipMemcpyKind::hipMemcpyDeviceToHost);
    let (mut failed, mut result) = (null_mut(), hipGraphExecUpdateResult(99));
    fails!(
        hipErrorGraphExecUpdateFailure,
        machine,
        hipGraphExecUpdate(exec, turned, &mut failed, &mut result)
    );
    assert_eq!(result, hipGraphExecUpdateResult::hipGraphExecUpdateErrorParametersChanged);
    assert_eq!(failed, turned_node);
}

#[test]
fn an_update_tells_the_first_difference_of_a_node() {
    let machine = Machine::new("");
    // Two nodes, the second of which copies or does nothing, and comes after the first or beside it.
    let graph_of = |copies: bool, is_after: bool| {
        let (mut graph, mut first, mut second) = (null_mut(), null_mut(), null_mut());
        ok!(machine, hipGraphCreate(&mut graph, 0));
        ok!(machine, hipGraphAddEmptyNode(&mut first, graph, null_mut(), 0));
        let (memory, count) = (machine.upload(&[0_u32; 16]).cast(), usize::from(is_after));
        if copies {
            let kind = hipMemcpyKind::hipMemcpyDeviceToDevice;
            ok!(machine, hipGraphAddMemcpyNode1D(&mut second, graph, &first, count, memory, memory, 4, kind));
        } else {
            ok!(machine, hipGraphAddEmptyNode(&mut second, graph, &first, count));
        }
        (graph, second)
    };
    let mut exec = null_mut();
    ok!(machine, hipGraphInstantiateWithFlags(&mut exec, graph_of(true, true).0, 0));
    for (copies, is_after, expected) in [
        (false, true, hipGraphExecUpdateResult::hipGraphExecUpdateErrorNodeTypeChanged),
        (false, false, hipGraphExecUpdateResult::hipGraphExecUpdateErrorNodeTypeChanged),
        (true, false, hipGraphExecUpdateResult::hipGraphExecUpdateErrorTopologyChanged),
    ] {
        let (graph, node) = graph_of(copies, is_after);
        let (mut failed, mut result) = (null_mut(), hipGraphExecUpdateResult(99));
        fails!(
            hipErrorGraphExecUpdateFailure,
            machine,
            hipGraphExecUpdate(exec, graph, &mut failed, &mut result)
        );
        assert_eq!((result, failed), (expected, node), "{copies} {is_after}");
    }
}
