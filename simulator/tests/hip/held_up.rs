// SPDX-License-Identifier: MIT OR Apache-2.0
//! The log's reports about streams that a hardware queue blocks, maybe for ever.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::common::events::{Line, listen};
use crate::common::{Block, Log, Machine};
use tracing::Level;
use windlass_hip_sys::Api;
use windlass_hip_sys::bindings::*;

fn name(stream: hipStream_t) -> String {
    format!("stream {:#x}", stream as u64)
}

/// Streams that another thread uses.
#[derive(Clone, Copy)]
struct Streams([hipStream_t; 2]);

// SAFETY: handles may be used on any thread.
unsafe impl Send for Streams {}

impl Streams {
    fn get(self) -> [hipStream_t; 2] {
        self.0
    }
}

/// Whether a line is about two streams.
fn names(line: &Line, streams: [hipStream_t; 2]) -> bool {
    streams.iter().all(|stream| line.1.contains(&name(*stream)))
}

/// Waits for a line of the log. Under a seed the work of the stream advances in calls.
fn told(
    machine: &Machine,
    stream: hipStream_t,
    lines: &Receiver<Line>,
    found: impl Fn(&Line) -> bool,
) -> Line {
    let begin = Instant::now();
    loop {
        assert!(begin.elapsed() < Duration::from_secs(120), "the log has no report");
        let _ = hip!(machine, hipStreamQuery(stream));
        if let Some(line) = lines.try_iter().find(&found) {
            return line;
        }
    }
}

#[test]
fn a_stream_that_is_held_up_by_a_host_function_is_told_of() {
    for options in ["?hardware_queues=1", "?hardware_queues=1&seed=2"] {
        let lines = listen();
        let machine = Machine::new(options);
        let [holding, held] = [(); 2].map(|()| machine.stream());
        let gate = machine.gate(holding);
        machine.log_on(held, &Log::default(), "ran");
        let streams = Streams([holding, held]);
        let line = std::thread::scope(|scope| {
            // The gate opens when the log reports the blocked stream, and never without the report.
            let opener = scope.spawn(move || {
                let line = lines.iter().find(|line| names(line, streams.get())).unwrap();
                drop(gate);
                line
            });
            ok!(machine, hipStreamSynchronize(held));
            opener.join().unwrap()
        });
        assert_eq!(line.0, Level::WARN);
        for part in [
            "device=0 hardware_queue=0",
            "(hardware_queues=1)",
            &format!("{} cannot go on", name(held)),
            &format!("the host function that {} runs does not end", name(holding)),
        ] {
            assert!(line.1.contains(part), "{part}: {}", line.1);
        }
    }
}

/// A kernel's own wait: under a seed it is detected by steps, otherwise by time.
#[test]
fn a_stream_that_is_held_up_by_a_kernel_is_told_of() {
    for options in ["?hardware_queues=1", "?hardware_queues=1&seed=2", "?hardware_queues=1&seed=3"] {
        let lines = listen();
        let machine = Machine::new(options);
        let [holding, held] = [(); 2].map(|()| machine.stream());
        let module = machine.load(include_bytes!("../../../cts/kernels/bundles/spin.ccob"));
        let function = machine.function(module, c"spin_until_host");
        let mut flag = std::ptr::null_mut();
        ok!(machine, hipHostMalloc(&mut flag, 4, 0));
        // SAFETY: four bytes of pinned memory that live as long as the machine; they are accessed only by
        // atomics.
        let value = unsafe { AtomicU32::from_ptr(flag.cast()) };
        value.store(0, Ordering::SeqCst);
        let arguments = Block::default().pointer(flag).u32(1).pointer(machine.malloc(4)).done();
        assert_eq!(machine.launch(function, 1, 1, holding, &arguments), hipError_t::hipSuccess);
        machine.log_on(held, &Log::default(), "ran");
        let streams = Streams([holding, held]);
        let line = std::thread::scope(|scope| {
            let opener = scope.spawn(move || {
                let line = lines.iter().find(|line| names(line, streams.get())).unwrap();
                value.store(1, Ordering::SeqCst);
                line
            });
            ok!(machine, hipStreamSynchronize(held));
            opener.join().unwrap()
        });
        assert_eq!(line.0, Level::WARN);
        let runs = format!("the kernel that {} runs does not end", name(holding));
        assert!(line.1.contains(&runs), "{}", line.1);
    }
}

/// The deadlock never ends: the thread is left behind.
#[test]
fn a_host_function_that_waits_for_a_stream_behind_it_is_a_deadlock() {
    for options in ["?hardware_queues=1", "?hardware_queues=1&seed=2"] {
        let lines = listen();
        let machine = Machine::new(options);
        let [holding, held] = [(); 2].map(|()| machine.stream());
        let (go, gone) = channel::<()>();
        let (api, streams) = (machine.simulator.api(), Streams([holding, held]));
        machine.call_on(holding, move || {
            let _: Result<(), _> = gone.recv();
            let [_, held] = streams.get();
            // SAFETY: a stream of the machine.
            unsafe { api.hipStreamSynchronize(held) };
        });
        machine.log_on(held, &Log::default(), "ran");
        drop(go);
        let found = |line: &Line| line.0 == Level::ERROR && names(line, streams.get());
        let line = told(&machine, holding, &lines, found);
        assert!(line.1.contains("deadlock"), "{}", line.1);
        assert!(lines.try_iter().filter(found).count() == 0, "told once");
    }
}

/// A host function that waits for its own stream needs no hardware queue to hang.
#[test]
fn a_host_function_that_waits_for_its_own_stream_is_a_deadlock() {
    for options in ["?hardware_queues=0", "?hardware_queues=0&seed=2"] {
        let lines = listen();
        let machine = Machine::new(options);
        let stream = machine.stream();
        let (api, streams) = (machine.simulator.api(), Streams([stream, stream]));
        machine.call_on(stream, move || {
            let [own, _] = streams.get();
            // SAFETY: a stream of the machine.
            unsafe { api.hipStreamSynchronize(own) };
        });
        let found = |line: &Line| line.0 == Level::ERROR && line.1.contains(&name(streams.get()[0]));
        let line = told(&machine, stream, &lines, found);
        assert!(line.1.contains("deadlock: the host function"), "{}", line.1);
        assert!(lines.try_iter().filter(found).count() == 0, "told once");
    }
}

/// The report names the stream that the program knows, not the queues that a graph is spread over.
#[test]
fn a_host_function_of_a_graph_that_waits_for_the_stream_is_a_deadlock() {
    struct Waits(Api, hipStream_t);
    unsafe extern "C" fn wait(data: *mut c_void) {
        // SAFETY: the box that was leaked below.
        let Waits(api, stream) = unsafe { &*data.cast() };
        // SAFETY: the stream is one of the machine.
        unsafe { api.hipStreamSynchronize(*stream) };
    }
    for options in ["?hardware_queues=0", "?hardware_queues=0&seed=2"] {
        let lines = listen();
        let machine = Machine::new(options);
        let (stream, graph) = (machine.stream(), machine.graph());
        let data: *mut Waits = Box::into_raw(Box::new(Waits(machine.simulator.api(), stream)));
        let given = hipHostNodeParams { fn_: Some(wait), userData: data.cast() };
        ok!(machine, hipGraphAddHostNode(&mut null_mut(), graph, null(), 0, &given));
        ok!(machine, hipGraphLaunch(machine.exec(graph), stream));
        let found = |line: &Line| line.0 == Level::ERROR && line.1.contains(&name(stream));
        let line = told(&machine, stream, &lines, found);
        let runs = format!("the host function that a graph in {} runs waits", name(stream));
        assert!(line.1.contains(&runs), "{}", line.1);
    }
}

/// A stream that waits for its own work is not reported, nor is a stream with a hardware queue of its own.
#[test]
fn streams_that_share_nothing_are_not_told_of() {
    let lines = listen();
    let machine = Machine::new("?hardware_queues=0&seed=2");
    let [holding, held] = [(); 2].map(|()| machine.stream());
    let gate = machine.gate(holding);
    let event = machine.event();
    ok!(machine, hipEventRecord(event, holding));
    ok!(machine, hipStreamWaitEvent(held, event, 0));
    let (blocked, reaches) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _: Result<(), _> = reaches.recv();
            drop(gate);
        });
        for _ in 0..2000 {
            fails!(hipErrorNotReady, machine, hipStreamQuery(held));
        }
        drop(blocked);
        ok!(machine, hipStreamSynchronize(held));
    });
    assert!(!lines.try_iter().any(|line| line.1.contains(&name(held))));
}
