// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every HIP function that the driver calls fails once, early and late, in three ways: nothing hangs, nothing panics,
//! nothing that did not happen is reported as done, the error names the call, and a new device works afterwards.

mod common;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use common::{SOON, nothing_leaks};
use windlass_hal::{Buffer, BufferParams, Code, Device, HostCallFlags, Point, Registry, Result, Semaphore};
use windlass_hip_sys::{
    bindings::hipError_t,
    null::{Instance, Options},
};

const SIZE: u64 = 64;

/// The steps of a program that uses all of a device, and what each came to.
#[derive(Default)]
struct Program {
    /// What happened at once.
    outcomes: Vec<(&'static str, Result<()>)>,
    /// What was submitted.
    steps: Vec<(&'static str, Semaphore)>,
    /// Host memory, and what it holds once the step of that name has succeeded.
    expected: Vec<(&'static str, Buffer, u8)>,
    /// Everything is submitted: work may complete now.
    submitted: Arc<AtomicBool>,
}

impl Program {
    /// Submits a step behind all those before. A refusal is the submitter's to pass on.
    fn step(&mut self, name: &'static str, submit: impl FnOnce(&[Point], &[Point]) -> Result<()>) {
        let done = Semaphore::new(0);
        let waits: Vec<_> = self.steps.last().map(|(_, before)| before.at(1)).into_iter().collect();
        if let Err(error) = submit(&waits, &[done.at(1)]) {
            done.fail(error);
        }
        self.steps.push((name, done));
    }

    /// Runs the whole; stops where something at once fails.
    fn run(&mut self, open: impl FnOnce() -> Result<Device>) {
        let at_once = self.try_run(open);
        self.submitted.store(true, SeqCst);
        for (name, done) in &self.steps {
            self.outcomes.push((name, done.wait_blocking(1, SOON)));
        }
        if let Err((name, error)) = at_once {
            self.outcomes.push((name, Err(error)));
        }
        for (name, buffer, byte) in &self.expected {
            let done = self.outcomes.iter().any(|(step, outcome)| step == name && outcome.is_ok());
            let bytes = buffer.map().expect("host memory").to_vec();
            assert!(!done || bytes.iter().all(|b| b == byte), "{name} succeeded and left {bytes:?}");
        }
    }

    fn try_run(
        &mut self,
        open: impl FnOnce() -> Result<Device>,
    ) -> std::result::Result<(), (&'static str, windlass_hal::Error)> {
        fn at<T>(
            name: &'static str,
            result: Result<T>,
        ) -> std::result::Result<T, (&'static str, windlass_hal::Error)> {
            result.map_err(|error| (name, error))
        }
        let device = at("open", open())?;
        let mut queues = Vec::new();
        for index in 0..4 {
            queues.push(at("queue", device.queue(index))?);
        }
        let memory = at("allocate", device.allocate_device(SIZE))?;
        let mut host = Vec::new();
        for _ in 0..3 {
            host.push(at("allocate", device.allocate(&BufferParams::host(), SIZE))?);
        }
        // SAFETY: the project's own kernel, which the null HIP does not run.
        let executable = at("load", unsafe { device.load_executable(common::VECTOR_ADD) })?;
        let function = at("function", executable.function("vector_add"))?;
        let arguments = [memory.arg(), memory.arg(), memory.arg(), 16_i32.into()];
        let mut recorder = at("record", device.record())?;
        at("record", recorder.copy(&memory, &host[1]))?;
        at("record", recorder.update(&[9; SIZE as usize], &memory))?;
        at("record", recorder.dispatch(&function, common::grid(), &arguments))?;
        let commands = at("finish", recorder.finish())?;

        let [q0, q1, q2, q3] = &queues[..] else { unreachable!("four queues") };
        self.step("fill bytes", |waits, signals| q0.fill(waits, signals, &memory, 0x10_u8));
        self.step("fill words", |waits, signals| q1.fill(waits, signals, &memory, 0x1010_u16));
        self.step("fill dwords", |waits, signals| q2.fill(waits, signals, &memory, 0x1111_1111_u32));
        self.step("copy", |waits, signals| q3.copy(waits, signals, &memory, &host[0]));
        self.step("dispatch", |waits, signals| {
            q0.dispatch(waits, signals, &function, common::grid(), &arguments)
        });
        self.step("execute", |waits, signals| q1.execute(waits, signals, &commands, []));
        self.step("update", |waits, signals| q2.update(waits, signals, &[0x33; SIZE as usize], &host[2]));
        let mut transient = None;
        self.step("alloca", |waits, signals| {
            q0.alloca(waits, signals, &BufferParams::device(), SIZE).map(|buffer| transient = Some(buffer))
        });
        if let Some(transient) = transient {
            self.step("use", |waits, signals| q0.fill(waits, signals, &transient, 1_u8));
            self.step("dealloca", |waits, signals| q0.dealloca(waits, signals, &transient));
        }
        self.step("alloca again", |waits, signals| {
            q1.alloca(waits, signals, &BufferParams::device(), SIZE).map(drop)
        });
        self.step("host call", |waits, signals| {
            q3.host_call(waits, signals, HostCallFlags::NONE, |_| Ok(()))
        });
        self.step("barrier", |waits, signals| q2.barrier(waits, signals));
        let waits: Vec<_> = self.steps.last().map(|(_, before)| before.at(1)).into_iter().collect();
        let download = at("download", q0.download(&waits, &host[0]))?;
        self.submitted.store(true, SeqCst);
        let bytes = at("download", download.wait(SOON))?;
        assert_eq!(bytes, [0x11; SIZE as usize], "a download succeeded with other bytes");
        at("drain", device.drain(SOON))?;
        for (name, buffer, byte) in [("copy", 0, 0x11), ("execute", 1, 0x11), ("update", 2, 0x33)] {
            self.expected.push((name, host[buffer].clone(), byte));
        }
        Ok(())
    }

    fn errors(&self) -> impl Iterator<Item = &windlass_hal::Error> {
        self.outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().err())
    }
}

/// What the null HIP is to be like.
#[derive(Clone, Copy, Debug, PartialEq)]
enum World {
    /// All work is complete at once.
    Immediate,
    /// The device is not the current one.
    Second,
    /// Another thread completes work again and again.
    Later,
    /// The same, but only once all is submitted: everything that waits does so on the device.
    Last,
}

impl World {
    fn is_manual(self) -> bool {
        matches!(self, Self::Later | Self::Last)
    }
}

struct Bench {
    instance: Arc<Instance>,
    registry: Registry,
    uri: &'static str,
    world: World,
    /// Work may complete.
    go: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
    completer: Option<thread::JoinHandle<()>>,
}

impl Bench {
    fn new(world: World) -> Self {
        let options = Options {
            devices: if world == World::Second { 2 } else { 1 },
            manual: world.is_manual(),
            ..Options::default()
        };
        let instance = Instance::new(options);
        let mut registry = Registry::new();
        registry.register(windlass_hip::Driver::new("test", windlass_hip::table(instance.api())));
        let (go, over) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(false)));
        let completer = world.is_manual().then(|| {
            let (instance, go, over) = (instance.clone(), go.clone(), over.clone());
            thread::spawn(move || {
                while !over.load(SeqCst) {
                    if go.load(SeqCst) {
                        instance.complete();
                    }
                    thread::yield_now();
                }
            })
        });
        let uri = if world == World::Second { "test://1" } else { "test://" };
        Self { instance, registry, uri, world, go, over, completer }
    }

    fn run(&self) -> Program {
        self.go.store(self.world != World::Last, SeqCst);
        let mut program = Program { submitted: self.go.clone(), ..Program::default() };
        program.run(|| self.registry.open(self.uri));
        program
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.over.store(true, SeqCst);
        if let Some(completer) = self.completer.take() {
            completer.join().expect("the completer does not panic");
        }
    }
}

/// Failing these harms nobody: they give back, or ask for what a device may do without, or have an alternative.
const HARMLESS: [&str; 10] = [
    "hipFree",
    "hipHostFree",
    "hipEventDestroy",
    "hipStreamDestroy",
    "hipModuleUnload",
    "hipDeviceGetAttribute",
    "hipDeviceGetUuid",
    "hipGetDevicePropertiesR0600",
    "hipGetLastError",
    // To make the device current is not harmless, to put back the one before is.
    "hipSetDevice",
];

/// Those of them after whose failure something stays behind.
const GIVES_BACK: [&str; 6] =
    ["hipFree", "hipHostFree", "hipEventDestroy", "hipStreamDestroy", "hipModuleUnload", "hipSetDevice"];

const STATUSES: [(hipError_t, Code); 3] = [
    (hipError_t::hipErrorUnknown, Code::Aborted),
    (hipError_t::hipErrorOutOfMemory, Code::ResourceExhausted),
    (hipError_t::hipErrorInvalidValue, Code::InvalidArgument),
];

fn check(world: World, function: &'static str, kth: u64, status: hipError_t, code: Code) {
    let bench = Bench::new(world);
    let instance = &bench.instance;
    instance.fail(function, kth, status).expect("the null HIP has the function");
    let program = bench.run();
    let reached = instance.count(function) >= kth;
    let case = format!("{world:?}: {function} call {kth} returns {status}: {:?}", program.outcomes);
    assert!(program.errors().all(|error| error.code() != Code::DeadlineExceeded), "hangs: {case}");
    // An allocation that fails gives back what is kept and tries again.
    let recovers =
        HARMLESS.contains(&function) || (function.ends_with("alloc") && code == Code::ResourceExhausted);
    if !reached {
        assert_eq!(program.errors().count(), 0, "nothing failed: {case}");
    } else if !recovers {
        let named = program.errors().find(|error| error.message().contains(function));
        let named = named.unwrap_or_else(|| panic!("no error names the call: {case}"));
        assert!(named.to_string().contains(status.name().expect("a known status")), "{named}");
        if !matches!(function, "hipInit" | "hipGetDeviceCount") {
            assert_eq!(named.code(), code, "{case}");
        }
        let first = program.outcomes.iter().position(|(_, outcome)| outcome.is_err());
        let steps = &program.outcomes[first.unwrap_or(0)..];
        assert!(steps.iter().all(|(_, outcome)| outcome.is_err()), "ran behind failed work: {case}");
    }
    instance.fail_always(function, hipError_t::hipSuccess).expect("the null HIP has the function");
    let opened = program.outcomes.iter().all(|(name, outcome)| *name != "open" || outcome.is_ok());
    drop(program);
    // Without an answer to this nobody can tell what has completed: any status means that the device is lost.
    let vital = matches!(function, "hipEventQuery" | "hipEventSynchronize");
    let loses = vital || (status == hipError_t::hipErrorUnknown && !HARMLESS.contains(&function));
    let lost = opened && reached && loses;
    if lost {
        let given_back = ["hipFree", "hipHostFree"].map(|name| instance.count(name));
        assert_eq!(given_back, [0, 0], "memory of a lost device was given back: {case}");
    } else if !GIVES_BACK.contains(&function) {
        nothing_leaks(instance);
    }
    let before = instance.live();
    let again = bench.run();
    assert_eq!(again.errors().count(), 0, "a new device: {:?} after {case}", again.outcomes);
    if lost {
        drop(again);
        common::eventually("the second device leaves nothing", || instance.live() == before);
    }
}

/// Each function that a healthy run calls, and what only reapers and failures call.
fn functions(world: World) -> Vec<&'static str> {
    let bench = Bench::new(world);
    let healthy = bench.run();
    assert_eq!(healthy.errors().count(), 0, "{:?}", healthy.outcomes);
    drop(healthy);
    nothing_leaks(&bench.instance);
    let mut functions: Vec<_> = bench.instance.calls().into_iter().map(|(name, _)| name).collect();
    for more in [
        "hipStreamWaitEvent",
        "hipEventSynchronize",
        "hipGetLastError",
        "hipGetDeviceProperties",
        "hipMemGetInfo",
    ] {
        if !functions.contains(&more) {
            functions.push(more);
        }
    }
    functions
}

fn every_function_fails(world: World) {
    let functions = functions(world);
    for needed in
        ["hipModuleLaunchKernel", "hipMemcpyAsync", "hipEventRecord", "hipStreamWaitEvent", "hipMalloc"]
    {
        assert!(world != World::Last || functions.contains(&needed), "{needed} in {functions:?}");
    }
    for function in functions {
        for kth in 1..=3 {
            for (status, code) in STATUSES {
                check(world, function, kth, status, code);
            }
        }
    }
}

#[test]
fn every_call_may_fail_when_work_completes_at_once() {
    every_function_fails(World::Immediate);
}

#[test]
fn every_call_may_fail_on_a_device_that_is_not_current() {
    every_function_fails(World::Second);
}

#[test]
fn every_call_may_fail_when_work_completes_later() {
    every_function_fails(World::Later);
}

#[test]
fn every_call_may_fail_when_all_work_is_in_flight_at_once() {
    every_function_fails(World::Last);
}
