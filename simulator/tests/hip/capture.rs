// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stream capture: the work that becomes a graph, how streams join and leave, and the calls that invalidate
//! it.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::{null, null_mut};

use crate::common::{Block, Log, Machine};
use windlass_hip_sys::bindings::*;

const GLOBAL: hipStreamCaptureMode = hipStreamCaptureMode::hipStreamCaptureModeGlobal;
const RELAXED: hipStreamCaptureMode = hipStreamCaptureMode::hipStreamCaptureModeRelaxed;

impl Machine {
    fn begin(&self, stream: hipStream_t) {
        ok!(self, hipStreamBeginCapture(stream, GLOBAL));
    }

    fn end(&self, stream: hipStream_t) -> hipGraph_t {
        let mut graph = null_mut();
        ok!(self, hipStreamEndCapture(stream, &mut graph));
        assert!(!graph.is_null());
        graph
    }

    fn status(&self, stream: hipStream_t) -> hipStreamCaptureStatus {
        let mut status = hipStreamCaptureStatus(9);
        ok!(self, hipStreamIsCapturing(stream, &mut status));
        status
    }

    fn exec_with_flags(&self, graph: hipGraph_t) -> hipGraphExec_t {
        let mut exec = null_mut();
        ok!(self, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
        exec
    }

    fn nodes(&self, graph: hipGraph_t) -> usize {
        let mut count = 0;
        ok!(self, hipGraphGetNodes(graph, null_mut(), &mut count));
        count
    }
}

#[test]
fn work_is_recorded_and_runs_when_the_graph_does() {
    let machine = Machine::new("");
    let log = Log::default();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles/vector_add.ccob");
    let module = machine.load(&std::fs::read(file).unwrap());
    let function = machine.function(module, c"vector_add");
    let [a, out] = [(); 2].map(|()| machine.upload(&[0_f32; 64]));
    let (ones, mut back) = ([1_f32; 64], [0_f32; 64]);
    let stream = machine.stream();
    machine.begin(stream);
    assert_eq!(machine.status(stream), hipStreamCaptureStatus::hipStreamCaptureStatusActive);
    let to_device = hipMemcpyKind::hipMemcpyHostToDevice;
    ok!(machine, hipMemcpyAsync(a, ones.as_ptr().cast(), 256, to_device, stream));
    ok!(machine, hipMemsetD32Async(out, -1, 64, stream));
    let arguments = Block::default().pointer(a).pointer(a).pointer(out).u32(64).done();
    assert_eq!(machine.launch(function, 1, 64, stream, &arguments), hipError_t::hipSuccess);
    machine.log_on(stream, &log, "done");
    ok!(machine, hipMemcpyDtoHAsync(back.as_mut_ptr().cast(), out, 256, stream));
    let graph = machine.end(stream);
    assert_eq!(machine.status(stream), hipStreamCaptureStatus::hipStreamCaptureStatusNone);

    // Nothing has run.
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!((log.words().len(), machine.nodes(graph), back[0]), (0, 5, 0.0));
    let exec = machine.exec_with_flags(graph);
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!((log.words().len(), back), (1, [2.0; 64]));
}

#[test]
fn streams_join_and_are_joined() {
    for seed in 1..=10 {
        let machine = Machine::new(&format!("gfx942?seed={seed}"));
        let log = Log::default();
        let (stream, other) = (machine.stream(), machine.stream());
        let (fork, join) = (machine.event(), machine.event());
        machine.begin(stream);
        machine.log_on(stream, &log, "first");
        ok!(machine, hipEventRecord(fork, stream));
        ok!(machine, hipStreamWaitEvent(other, fork, 0));
        assert_eq!(machine.status(other), hipStreamCaptureStatus::hipStreamCaptureStatusActive);
        machine.log_on(other, &log, "other");
        ok!(machine, hipEventRecord(join, other));
        machine.log_on(stream, &log, "own");
        ok!(machine, hipStreamWaitEvent(stream, join, 0));
        machine.log_on(stream, &log, "last");
        let mut graph = null_mut();
        fails!(hipErrorStreamCaptureUnmatched, machine, hipStreamEndCapture(other, &mut graph));
        let graph = machine.end(stream);
        assert_eq!(machine.status(other), hipStreamCaptureStatus::hipStreamCaptureStatusNone);
        // An event of a capture is not of any work that runs.
        fails!(hipErrorCapturedEvent, machine, hipStreamWaitEvent(other, join, 0));
        fails!(hipErrorCapturedEvent, machine, hipEventQuery(join));
        fails!(hipErrorCapturedEvent, machine, hipEventSynchronize(join));

        let exec = machine.exec_with_flags(graph);
        ok!(machine, hipGraphLaunch(exec, stream));
        ok!(machine, hipStreamSynchronize(stream));
        let words = log.words();
        assert_eq!((words.len(), words[0], words[3]), (4, "first", "last"), "{words:?}");
        // Recorded again, it is an ordinary event.
        ok!(machine, hipEventRecord(join, other));
        ok!(machine, hipEventSynchronize(join));
    }
}

#[test]
fn a_stream_that_is_not_waited_for_leaves_no_graph() {
    let machine = Machine::new("");
    let log = Log::default();
    let (stream, other) = (machine.stream(), machine.stream());
    let fork = machine.event();
    machine.begin(stream);
    machine.log_on(stream, &log, "first");
    ok!(machine, hipEventRecord(fork, stream));
    ok!(machine, hipStreamWaitEvent(other, fork, 0));
    machine.log_on(other, &log, "lost");
    let mut graph = null_mut();
    fails!(hipErrorStreamCaptureUnjoined, machine, hipStreamEndCapture(stream, &mut graph));
    assert!(graph.is_null());
    for stream in [stream, other] {
        assert_eq!(machine.status(stream), hipStreamCaptureStatus::hipStreamCaptureStatusNone);
        ok!(machine, hipStreamSynchronize(stream));
    }
    assert_eq!(log.words(), [""; 0]);
}

/// Begins a capture in which `act` fails, and checks that the capture is invalid and the stream works after
/// it.
fn spoils(machine: &Machine, act: impl FnOnce(hipStream_t)) {
    let stream = machine.stream();
    machine.begin(stream);
    act(stream);
    assert_eq!(machine.status(stream), hipStreamCaptureStatus::hipStreamCaptureStatusInvalidated);
    fails!(hipErrorStreamCaptureInvalidated, machine, hipStreamWaitEvent(stream, machine.event(), 1));
    let mut graph = null_mut();
    fails!(hipErrorStreamCaptureInvalidated, machine, hipStreamEndCapture(stream, &mut graph));
    assert!(graph.is_null());
    ok!(machine, hipStreamSynchronize(stream));
}

#[test]
fn what_a_graph_cannot_hold_spoils_the_capture() {
    let machine = Machine::new("");
    let memory = machine.malloc(64);
    let mut other = null_mut();
    let mut word = 0_u32;
    let recorded = machine.event();
    ok!(machine, hipEventRecord(recorded, null_mut()));
    spoils(&machine, |stream| {
        fails!(hipErrorStreamCaptureUnsupported, machine, hipStreamSynchronize(stream))
    });
    spoils(&machine, |stream| fails!(hipErrorStreamCaptureUnsupported, machine, hipStreamQuery(stream)));
    // To ask for another stream's work is unsafe too, but on the null stream.
    let bystander = machine.stream();
    spoils(&machine, |_| fails!(hipErrorStreamCaptureUnsupported, machine, hipStreamQuery(bystander)));
    spoils(&machine, |_| fails!(hipErrorStreamCaptureUnsupported, machine, hipStreamSynchronize(bystander)));
    let aside = machine.event();
    ok!(machine, hipEventRecord(aside, bystander));
    spoils(&machine, |_| fails!(hipErrorStreamCaptureUnsupported, machine, hipEventSynchronize(aside)));
    let stream = machine.stream();
    machine.begin(stream);
    ok!(machine, hipEventSynchronize(recorded));
    ok!(machine, hipEventSynchronize(machine.event()));
    ok!(machine, hipStreamEndCapture(stream, &mut null_mut()));
    ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed));
    ok!(machine, hipStreamSynchronize(bystander));
    ok!(machine, hipEventSynchronize(aside));
    ok!(machine, hipStreamEndCapture(stream, &mut null_mut()));
    spoils(&machine, |_| fails!(hipErrorStreamCaptureUnsupported, machine, hipDeviceSynchronize()));
    spoils(&machine, |_| fails!(hipErrorStreamCaptureUnsupported, machine, hipMalloc(&mut other, 64)));
    spoils(&machine, |_| fails!(hipErrorStreamCaptureUnsupported, machine, hipFree(memory)));
    spoils(&machine, |stream| {
        fails!(hipErrorStreamCaptureIsolation, machine, hipStreamWaitEvent(stream, recorded, 0));
    });
    let place = machine.event();
    spoils(&machine, |stream| {
        ok!(machine, hipEventRecord(place, stream));
        fails!(hipErrorCapturedEvent, machine, hipEventQuery(place));
    });
    spoils(&machine, |stream| {
        ok!(machine, hipEventRecord(place, stream));
        fails!(hipErrorCapturedEvent, machine, hipEventSynchronize(place));
    });
    // A capture gives an event no time.
    let mut time = 0.0;
    fails!(hipErrorInvalidHandle, machine, hipEventElapsedTime(&mut time, place, recorded));
    let to_host = hipMemcpyKind::hipMemcpyDeviceToHost;
    spoils(&machine, |stream| {
        let to = (&raw mut word).cast();
        fails!(
            hipErrorStreamCaptureUnsupported,
            machine,
            hipMemcpyWithStream(to, memory, 4, to_host, stream)
        );
    });
}

/// This holds for non-blocking streams too.
#[test]
fn version_6_waits_for_the_null_stream_in_no_capture() {
    for (hip, refuses) in [("5.2", false), ("6.0", true), ("6.4", true), ("7.0", false)] {
        let machine = Machine::new(&format!("gfx942?devices=2&hip={hip}"));
        let memory = machine.malloc(64);
        for device in [0, 1] {
            ok!(machine, hipSetDevice(device));
            let stream = machine.stream();
            ok!(machine, hipStreamBeginCapture(stream, RELAXED));
            ok!(machine, hipSetDevice(0));
            ok!(machine, hipMemsetAsync(memory, 0, 64, null_mut()));
            let mut graph = null_mut();
            if refuses {
                fails!(hipErrorStreamCaptureImplicit, machine, hipMemset(memory, 0, 64));
                fails!(hipErrorStreamCaptureInvalidated, machine, hipStreamEndCapture(stream, &mut graph));
            } else {
                ok!(machine, hipMemset(memory, 0, 64));
                ok!(machine, hipStreamEndCapture(stream, &mut graph));
            }
            ok!(machine, hipMemset(memory, 0, 64));
        }
    }
}

#[test]
fn the_null_stream_is_no_part_of_a_capture() {
    let machine = Machine::new("");
    let memory = machine.malloc(64);
    fails!(hipErrorStreamCaptureUnsupported, machine, hipStreamBeginCapture(null_mut(), GLOBAL));
    // It would have to wait for a blocking stream, but not for others.
    let blocking = machine.stream_with(0);
    machine.begin(blocking);
    fails!(hipErrorStreamCaptureImplicit, machine, hipMemset(memory, 0, 64));
    let mut graph = null_mut();
    fails!(hipErrorStreamCaptureInvalidated, machine, hipStreamEndCapture(blocking, &mut graph));
    let apart = machine.stream();
    machine.begin(apart);
    ok!(machine, hipMemset(memory, 0, 64));
    assert_eq!(machine.nodes(machine.end(apart)), 0);
    // The thread's own stream can be captured.
    let own: hipStream_t = std::ptr::without_provenance_mut(2);
    machine.begin(own);
    ok!(machine, hipMemsetAsync(memory, 0, 64, own));
    assert_eq!(machine.nodes(machine.end(own)), 1);
}

#[test]
fn modes_say_what_others_may_do_meanwhile() {
    let machine = Machine::new("");
    let mut memory = null_mut();
    let stream = machine.stream();
    ok!(machine, hipStreamBeginCapture(stream, RELAXED));
    fails!(hipErrorIllegalState, machine, hipStreamBeginCapture(stream, RELAXED));
    ok!(machine, hipMalloc(&mut memory, 64));
    machine.end(stream);

    // A thread in relaxed mode may make any call.
    machine.begin(stream);
    let mut mode = RELAXED;
    ok!(machine, hipThreadExchangeStreamCaptureMode(&mut mode));
    assert_eq!(mode, GLOBAL);
    ok!(machine, hipMalloc(&mut memory, 64));
    machine.end(stream);
    ok!(machine, hipThreadExchangeStreamCaptureMode(&mut mode));

    // Only the thread that began a capture may end it.
    machine.begin(stream);
    let handle = stream as usize;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut graph = null_mut();
            let stream: hipStream_t = std::ptr::without_provenance_mut(handle);
            fails!(hipErrorStreamCaptureWrongThread, machine, hipStreamEndCapture(stream, &mut graph));
        });
    });
    machine.end(stream);
    fails!(hipErrorIllegalState, machine, hipStreamEndCapture(stream, &mut null_mut()));
    fails!(hipErrorInvalidValue, machine, hipStreamBeginCapture(stream, hipStreamCaptureMode(3)));
}

#[test]
fn captures_do_not_merge() {
    let machine = Machine::new("");
    let (stream, other) = (machine.stream(), machine.stream());
    let event = machine.event();
    machine.begin(stream);
    machine.begin(other);
    ok!(machine, hipEventRecord(event, stream));
    fails!(hipErrorStreamCaptureMerge, machine, hipStreamWaitEvent(other, event, 0));
    for stream in [stream, other] {
        fails!(hipErrorStreamCaptureInvalidated, machine, hipStreamEndCapture(stream, &mut null_mut()));
    }
}

#[test]
fn nodes_can_be_added_by_hand_meanwhile() {
    let machine = Machine::new("");
    let log = Log::default();
    let stream = machine.stream();
    machine.begin(stream);
    machine.log_on(stream, &log, "first");
    let mut status = hipStreamCaptureStatus(9);
    let (mut id, mut graph, mut nodes, mut count) = (0, null_mut(), null(), 0);
    ok!(
        machine,
        hipStreamGetCaptureInfo_v2(stream, &mut status, &mut id, &mut graph, &mut nodes, &mut count)
    );
    assert_eq!((status, count), (hipStreamCaptureStatus::hipStreamCaptureStatusActive, 1));
    assert!(id > 0 && !nodes.is_null());
    let memory = machine.upload_in(RELAXED, &[7_u32; 4]);
    let parameters = hipMemsetParams { dst: memory, elementSize: 4, height: 1, pitch: 0, value: 9, width: 4 };
    let mut node = null_mut();
    ok!(machine, hipGraphAddMemsetNode(&mut node, graph, nodes, count, &parameters));
    ok!(machine, hipStreamUpdateCaptureDependencies(stream, &mut node, 1, 1));
    machine.log_on(stream, &log, "last");
    // The client can neither destroy nor launch it yet.
    fails!(hipErrorInvalidValue, machine, hipGraphDestroy(graph));
    fails!(
        hipErrorInvalidValue,
        machine,
        hipGraphInstantiate(&mut null_mut(), graph, null_mut(), null_mut(), 0)
    );
    assert_eq!(machine.end(stream), graph);
    let exec = machine.exec_with_flags(graph);
    ok!(machine, hipGraphLaunch(exec, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(log.words(), ["first", "last"]);
    assert_eq!(machine.download::<u32>(memory, 4), [9; 4]);
    ok!(machine, hipGraphDestroy(graph));
}

impl Machine {
    /// As `log_on`, for work that may run more than once.
    fn log_often_on(&self, stream: hipStream_t, log: &Log, word: &'static str) {
        unsafe extern "C" fn append(data: *mut c_void) {
            // SAFETY: the pointer is a box that was leaked below, and is never freed.
            let (log, word) = unsafe { &*data.cast::<(Log, &'static str)>() };
            log.push(word);
        }
        let data: *mut (Log, &'static str) = Box::into_raw(Box::new((log.clone(), word)));
        ok!(self, hipLaunchHostFunc(stream, Some(append), data.cast()));
    }

    /// Device memory taken in another mode than the thread's.
    fn upload_in<T: Copy>(&self, mode: hipStreamCaptureMode, values: &[T]) -> *mut c_void {
        let mut mode = mode;
        ok!(self, hipThreadExchangeStreamCaptureMode(&mut mode));
        let memory = self.upload(values);
        ok!(self, hipThreadExchangeStreamCaptureMode(&mut mode));
        memory
    }
}

#[test]
fn a_graph_launched_into_a_capture_becomes_a_part_of_it() {
    let machine = Machine::new("");
    let log = Log::default();
    let stream = machine.stream();
    machine.begin(stream);
    machine.log_often_on(stream, &log, "inner");
    let inner = machine.exec_with_flags(machine.end(stream));
    machine.begin(stream);
    ok!(machine, hipGraphLaunch(inner, stream));
    ok!(machine, hipGraphLaunch(inner, stream));
    let outer = machine.exec_with_flags(machine.end(stream));
    ok!(machine, hipGraphExecDestroy(inner));
    ok!(machine, hipGraphLaunch(outer, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(log.words(), ["inner", "inner"]);
}

#[test]
fn a_destroyed_stream_takes_its_capture_along() {
    let machine = Machine::new("");
    let (stream, other) = (machine.stream(), machine.stream());
    let event = machine.event();
    machine.begin(stream);
    ok!(machine, hipEventRecord(event, stream));
    ok!(machine, hipStreamWaitEvent(other, event, 0));
    ok!(machine, hipStreamDestroy(stream));
    assert_eq!(machine.status(other), hipStreamCaptureStatus::hipStreamCaptureStatusNone);
    ok!(machine, hipStreamSynchronize(other));
    ok!(machine, hipDeviceSynchronize());
}

#[test]
fn a_thread_that_ends_takes_the_capture_of_its_own_stream_along() {
    let machine = Machine::new("");
    std::thread::scope(|scope| {
        scope.spawn(|| machine.begin(std::ptr::without_provenance_mut(2))).join().unwrap();
    });
    let mut memory = null_mut();
    ok!(machine, hipMalloc(&mut memory, 64));
    ok!(machine, hipDeviceSynchronize());
}

#[test]
fn a_stream_can_be_captured_into_a_graph_that_exists() {
    let machine = Machine::new("");
    let log = Log::default();
    let (graph, stream) = (machine.graph(), machine.stream());
    let first = machine.log_node(graph, &[], &log, "first");
    // Nobody waits for this node, and nobody has to.
    machine.log_node(graph, &[], &log, "beside");
    let mode = hipStreamCaptureMode::hipStreamCaptureModeGlobal;
    ok!(machine, hipStreamBeginCaptureToGraph(stream, graph, &first, null(), 1, mode));
    machine.log_on(stream, &log, "captured");
    fails!(
        hipErrorIllegalState,
        machine,
        hipStreamBeginCaptureToGraph(stream, graph, null(), null(), 0, mode)
    );
    assert_eq!(machine.end(stream), graph);
    assert_eq!(machine.nodes(graph), 3);
    machine.run(graph, stream);
    let words = log.take();
    let place = |word| words.iter().position(|other| *other == word).unwrap();
    assert!(place("first") < place("captured") && words.len() == 3, "{words:?}");

    let data = hipGraphEdgeData::default();
    fails!(
        hipErrorNotSupported,
        machine,
        hipStreamBeginCaptureToGraph(stream, graph, &first, &data, 1, mode)
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipStreamBeginCaptureToGraph(stream, graph, &first, null(), 0, mode)
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipStreamBeginCaptureToGraph(stream, graph, null(), null(), 1, mode)
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipStreamBeginCaptureToGraph(stream, null_mut(), null(), null(), 0, mode)
    );
    let no_mode = hipStreamCaptureMode(3);
    fails!(
        hipErrorInvalidValue,
        machine,
        hipStreamBeginCaptureToGraph(stream, graph, null(), null(), 0, no_mode)
    );
    fails!(
        hipErrorStreamCaptureUnsupported,
        machine,
        hipStreamBeginCaptureToGraph(null_mut(), graph, null(), null(), 0, mode)
    );
    ok!(machine, hipGraphDestroy(graph));
}

#[test]
fn a_graph_that_is_captured_into_has_one_capture_and_outlives_it() {
    let machine = Machine::new("");
    let log = Log::default();
    let (graph, stream, other) = (machine.graph(), machine.stream(), machine.stream());
    let foreign = machine.log_node(machine.graph(), &[], &log, "");
    let begin = |stream, after: &[hipGraphNode_t]| {
        let first = if after.is_empty() { null() } else { after.as_ptr() };
        hip!(machine, hipStreamBeginCaptureToGraph(stream, graph, first, null(), after.len(), GLOBAL))
    };
    assert_eq!(begin(stream, &[foreign]), hipError_t::hipErrorInvalidValue);
    assert_eq!(begin(stream, &[]), hipError_t::hipSuccess);
    assert_eq!(begin(other, &[]), hipError_t::hipErrorInvalidValue);
    fails!(hipErrorInvalidValue, machine, hipGraphDestroy(graph));
    // A capture that fails leaves the graph to the client.
    fails!(hipErrorStreamCaptureUnsupported, machine, hipStreamSynchronize(stream));
    let mut ended = null_mut();
    fails!(hipErrorStreamCaptureInvalidated, machine, hipStreamEndCapture(stream, &mut ended));
    assert_eq!(machine.nodes(graph), 0);
    ok!(machine, hipGraphDestroy(graph));
}

#[test]
fn a_stream_tells_the_number_of_its_capture() {
    let machine = Machine::new("");
    let (stream, other) = (machine.stream(), machine.stream());
    let (none, active) = (
        hipStreamCaptureStatus::hipStreamCaptureStatusNone,
        hipStreamCaptureStatus::hipStreamCaptureStatusActive,
    );
    let ask = |stream| {
        let (mut status, mut id) = (hipStreamCaptureStatus(9), 9);
        ok!(machine, hipStreamGetCaptureInfo(stream, &mut status, &mut id));
        (status, id)
    };
    assert_eq!(ask(stream), (none, 9), "without a capture there is no number");
    let mut numbers = Vec::new();
    for _ in 0..2 {
        ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed));
        let event = machine.event();
        ok!(machine, hipEventRecord(event, stream));
        ok!(machine, hipStreamWaitEvent(other, event, 0));
        let (status, id) = ask(stream);
        assert_eq!((status, ask(other)), (active, (active, id)), "both streams are of one capture");
        numbers.push(id);
        let mut status = none;
        ok!(machine, hipStreamGetCaptureInfo(stream, &mut status, null_mut()));
        fails!(hipErrorInvalidValue, machine, hipStreamGetCaptureInfo(stream, null_mut(), null_mut()));
        ok!(machine, hipEventRecord(event, other));
        ok!(machine, hipStreamWaitEvent(stream, event, 0));
        ok!(machine, hipStreamEndCapture(stream, &mut null_mut()));
    }
    assert!(numbers[0] != numbers[1] && !numbers.contains(&0), "{numbers:?}");
    let gone = machine.stream();
    ok!(machine, hipStreamDestroy(gone));
    let mut status = none;
    fails!(hipErrorContextIsDestroyed, machine, hipStreamGetCaptureInfo(gone, &mut status, null_mut()));
}

/// An event that is recorded as external is recorded by each launch, and is no part of the capture.
#[test]
fn an_event_of_other_streams_is_recorded_by_the_launch() {
    let machine = Machine::new("");
    let (stream, other, event) = (machine.stream(), machine.stream(), machine.event());
    ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed));
    ok!(machine, hipEventRecordWithFlags(event, stream, 1));
    let (mut graph, mut exec, mut count) = (null_mut(), null_mut(), 1);
    ok!(machine, hipStreamEndCapture(stream, &mut graph));
    let mut node = null_mut();
    ok!(machine, hipGraphGetNodes(graph, &mut node, &mut count));
    let mut kind = hipGraphNodeType(99);
    ok!(machine, hipGraphNodeGetType(node, &mut kind));
    assert_eq!((count, kind), (1, hipGraphNodeType::hipGraphNodeTypeEventRecord));
    ok!(machine, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    let gate = machine.gate(stream);
    ok!(machine, hipGraphLaunch(exec, stream));
    fails!(hipErrorNotReady, machine, hipEventQuery(event));
    drop(gate);
    ok!(machine, hipEventSynchronize(event));
    // Outside of captures both flags are plain recordings.
    for flags in [0, 1] {
        let gate = machine.gate(other);
        ok!(machine, hipEventRecordWithFlags(event, other, flags));
        fails!(hipErrorNotReady, machine, hipEventQuery(event));
        drop(gate);
        ok!(machine, hipEventSynchronize(event));
    }
    for flags in [2, u32::MAX] {
        fails!(hipErrorInvalidValue, machine, hipEventRecordWithFlags(event, other, flags));
    }
    let gone = machine.stream();
    ok!(machine, hipStreamDestroy(gone));
    fails!(hipErrorContextIsDestroyed, machine, hipEventRecordWithFlags(event, gone, 0));
    fails!(hipErrorInvalidHandle, machine, hipEventRecordWithFlags(null_mut(), other, 0));
}
