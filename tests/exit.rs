// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a process that uses devices: no crash in any state, and the program's exit code stays. Each program runs
//! in a process of its own. For `hip://` the drop-in library stands in, which aborts in every case in which AMD's HIP
//! may crash: when it is called after its end.
#![cfg(target_os = "linux")]

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc, Condvar, Mutex, OnceLock,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use windlass::{Argument, Buffer, Code, Deadline, Device, DispatchConfig, Error, Function, Queue, Semaphore};

const BUNDLE: &[u8] = include_bytes!("../cts/kernels/bundles/vector_add.ccob");

/// The variable with the device of a program.
const URI: &str = "WINDLASS_TEST_EXIT_URI";

/// The exit codes of programs that end themselves. A panic is 101, a failed check in a handler 9.
const CODE: i32 = 7;

// The programs.

fn uri() -> String {
    std::env::var(URI).expect("run by the tests below")
}

/// A device with some work.
#[derive(Clone)]
struct Busy {
    device: Device,
    function: Option<Function>,
    buffers: Vec<Buffer>,
    timeline: Semaphore,
}

impl Busy {
    fn open() -> Self {
        let device = windlass::open(&uri()).expect("a device");
        // SAFETY: the project's own kernel stays within the buffers that it is given.
        let executable = unsafe { device.load_executable(BUNDLE) };
        // A CPU has other kernels.
        let function =
            executable.ok().map(|executable| executable.function("vector_add").expect("the kernel"));
        let buffers = (0..3).map(|_| device.allocate_device(1 << 20).expect("memory")).collect();
        Self { device, function, buffers, timeline: Semaphore::new(0) }
    }

    /// Gives the device some work; the last operation reaches `value`.
    fn submit(&self, value: u64) -> Result<(), Error> {
        let queues = self.device.limits().queues;
        for turn in 0..8 {
            let queue = self.device.queue(turn % queues)?;
            for buffer in &self.buffers {
                queue.fill(&[], &[], buffer, 1.0_f32)?;
            }
            if let (Some(function), [a, b, out]) = (&self.function, &self.buffers[..]) {
                let grid = DispatchConfig::new([4, 1, 1]).workgroup_size([256, 1, 1]);
                let arguments: [Argument<'_>; 4] = [a.arg(), b.arg(), out.arg(), 1024_i32.into()];
                queue.dispatch(&[], &[], function, grid, &arguments)?;
            }
            queue.host_call(&[], &[], Default::default(), |_| Ok(()))?;
        }
        self.queue()?.fill(&[], &[self.timeline.at(value)], &self.buffers[0], 2.0_f32)
    }

    fn queue(&self) -> Result<Queue, Error> {
        self.device.queue(0)
    }

    /// Each kind of use of a device, once.
    fn work(&self, value: u64) -> Result<(), Error> {
        drop(self.device.allocate_device(64 << 10)?);
        self.submit(value)?;
        self.timeline.wait_blocking(value, Deadline::NEVER)?;
        self.device.drain(Deadline::NEVER)
    }
}

/// Whether a device may return this error when the process ends.
fn is_right(result: &Result<(), Error>) -> bool {
    let may_end = uri().starts_with("hip://");
    match result {
        Ok(()) => true,
        Err(error) => {
            let told = error.code() == Code::FailedPrecondition
                && error.to_string().contains("before main returns or exit is called");
            may_end && told
        }
    }
}

/// Ends the process at once if a check in a handler fails, because a failure would not be noticed.
#[allow(clippy::print_stderr, reason = "the test shows it")]
fn must(right: bool, what: &dyn std::fmt::Debug) {
    if !right {
        eprintln!("wrong: {what:?}");
        // SAFETY: ends the process without its exit handlers.
        unsafe { libc::_exit(9) };
    }
}

fn at_exit(handler: extern "C" fn()) {
    // SAFETY: a function of this program, which may run whenever the process ends.
    assert_eq!(unsafe { libc::atexit(handler) }, 0);
}

#[test]
#[ignore = "runs in a process of its own"]
fn main_returns_with_work_in_flight() {
    let busy = Busy::open();
    let waiting = busy.clone();
    busy.submit(1).expect("submits");
    thread::spawn(move || waiting.timeline.wait_blocking(1, Deadline::NEVER));
    drop(busy);
}

#[test]
#[ignore = "runs in a process of its own"]
fn main_returns_behind_its_work() {
    let busy = Busy::open();
    busy.work(1).expect("works");
}

#[test]
#[ignore = "runs in a process of its own"]
fn exit_with_work_in_flight() {
    let busy = Busy::open();
    let waiting = busy.clone();
    busy.submit(1).expect("submits");
    thread::spawn(move || waiting.timeline.wait_blocking(1, Deadline::NEVER));
    std::process::exit(CODE);
}

#[test]
#[ignore = "runs in a process of its own"]
fn exit_in_a_host_call() {
    let busy = Busy::open();
    busy.submit(1).expect("submits");
    let never = Semaphore::new(0);
    let call = |_: &mut _| std::process::exit(CODE);
    busy.queue().expect("a queue").host_call(&[], &[never.at(1)], Default::default(), call).expect("submits");
    // This thread continues until the end has come.
    while busy.timeline.query().and_then(|now| busy.work(now + 1)).is_ok() {}
    let _ = never.wait_blocking(1, Deadline::NEVER);
}

/// The end of the process has come, and HIP's.
static LATE: AtomicBool = AtomicBool::new(false);
/// The result of a thread's round that began after that.
static ROUND: Mutex<Option<Result<(), Error>>> = Mutex::new(None);
static CHANGED: Condvar = Condvar::new();

/// Keeps the process alive until a thread has finished a round.
extern "C" fn let_others_go_on() {
    let mut round = ROUND.lock().expect("no panic");
    LATE.store(true, SeqCst);
    while round.is_none() {
        round = CHANGED.wait(round).expect("no panic");
    }
    let result = round.take().expect("a round");
    must(is_right(&result), &result);
    must(result.is_err() == uri().starts_with("hip://"), &result);
}

#[test]
#[ignore = "runs in a process of its own"]
fn a_thread_outlives_main() {
    // Registered before HIP's handlers, so it runs after all of them.
    at_exit(let_others_go_on);
    let busy = Busy::open();
    busy.work(1).expect("works");
    for _ in 0..2 {
        let busy = busy.clone();
        thread::spawn(move || {
            loop {
                let late = LATE.load(SeqCst);
                // The result for the loop's own device does not matter.
                let own = windlass::open(&uri());
                let result = busy.timeline.query().and_then(|now| busy.work(now + 1));
                drop(own);
                if late {
                    *ROUND.lock().expect("no panic") = Some(result);
                    CHANGED.notify_all();
                }
            }
        });
    }
}

static KEPT: OnceLock<Busy> = OnceLock::new();

/// The permitted calls in exit handlers and in a thread's destructors.
fn late_work() {
    let busy = KEPT.get().expect("set by main");
    let drained = busy.device.drain(Deadline::NEVER);
    must(is_right(&drained), &drained);
    let worked = busy.timeline.query().and_then(|now| busy.work(now + 1));
    must(is_right(&worked), &worked);
    let called = (|| {
        let done = Semaphore::new(0);
        let call = {
            let busy = busy.clone();
            move |_: &mut _| busy.device.drain(Deadline::NEVER)
        };
        busy.queue()?.host_call(&[], &[done.at(1)], Default::default(), call)?;
        done.wait_blocking(1, Deadline::NEVER)
    })();
    must(is_right(&called), &called);
    busy.device.trim();
    busy.device.poll();
    let opened = windlass::open(&uri()).map(drop);
    must(is_right(&opened), &opened);
}

extern "C" fn late() {
    late_work();
}

extern "C" fn late_and_close() {
    late_work();
    KEPT.get().expect("set by main").device.close();
}

struct AtThreadEnd;

impl Drop for AtThreadEnd {
    fn drop(&mut self) {
        late_work();
    }
}

thread_local! {
    static FIRST: AtThreadEnd = const { AtThreadEnd };
    static LAST: AtThreadEnd = const { AtThreadEnd };
}

#[test]
#[ignore = "runs in a process of its own"]
fn destructors_and_handlers_drain() {
    at_exit(late_and_close);
    // Destroyed after everything that the thread makes from here on.
    FIRST.with(|_| ());
    let busy = Busy::open();
    busy.work(1).expect("works");
    let _ = KEPT.set(busy.clone());
    LAST.with(|_| ());
    at_exit(late);
    let other = thread::spawn(|| {
        FIRST.with(|_| ());
        late_work();
        LAST.with(|_| ());
    });
    other.join().expect("no panic");
    busy.submit(busy.timeline.query().expect("works") + 1).expect("submits");
}

#[test]
#[ignore = "runs in a process of its own"]
fn a_child_by_fork_exits() {
    let busy = Busy::open();
    busy.work(1).expect("works");
    let stop = Arc::new(AtomicBool::new(false));
    let loops = {
        let (busy, stop) = (busy.clone(), stop.clone());
        thread::spawn(move || {
            let mut value = 1;
            while !stop.load(SeqCst) {
                value += 1;
                busy.work(value).expect("works");
            }
        })
    };
    for _ in 0..3 {
        // SAFETY: the child runs the handlers for its end, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: a timer of this process, which ends a child that hangs.
            unsafe { libc::alarm(60) };
            // SAFETY: only this thread calls it.
            unsafe { libc::exit(CODE) };
        }
        let mut status = 0;
        // SAFETY: a child of this process, and a local.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == CODE, "{status:#x}");
    }
    stop.store(true, SeqCst);
    loops.join().expect("works");
}

// The tests.

/// The drop-in library of this build, if it is there.
fn library() -> Option<PathBuf> {
    let test = std::env::current_exe().expect("a path");
    let folders = test.ancestors().skip(1).take(2).map(|folder| folder.join("libamdhip64.so"));
    let modified = |path: &PathBuf| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    folders.filter(|path| path.exists()).max_by_key(modified)
}

fn run(program: &str, uri: &str) -> (Option<i32>, String) {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    // On the main thread.
    command.args(["--exact", program, "--ignored", "--nocapture", "--test-threads=1"]).env(URI, uri);
    for name in ["WINDLASS_DEVICE", "WINDLASS_HIP_LIBRARY", "WINDLASS_SIM", "WINDLASS_LOG"] {
        command.env_remove(name);
    }
    let output = command.stdin(Stdio::null()).output().expect("the program starts");
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.code(), format!("{}\n{said}", output.status))
}

/// Runs a program several times on each device.
#[allow(clippy::print_stderr, reason = "a skip must be seen")]
fn check(program: &str, code: i32) {
    let mut uris: Vec<(String, usize)> =
        ["null://", "local://?threads=2", "local://?threads=0", "hip-null://", "hip-sim://gfx942"]
            .map(|uri| (uri.to_owned(), 3))
            .into();
    match library() {
        Some(library) => uris.push((on(&library), 20)),
        None => eprintln!("skipped: the drop-in library is not built; `cargo test --workspace` builds it"),
    }
    for (uri, times) in uris {
        for time in 0..times {
            let (ended, said) = run(program, &uri);
            assert_eq!(ended, Some(code), "{program} on {uri}, run {time}: {said}");
            assert!(!said.contains("panicked"), "{program} on {uri}, run {time}: {said}");
        }
    }
}

fn on(library: &Path) -> String {
    format!("hip://?library={}", library.display())
}

macro_rules! checks {
    ($($test:ident: $program:ident, $code:expr;)*) => {
        $(
            #[test]
            fn $test() {
                check(stringify!($program), $code);
            }
        )*
    };
}

checks! {
    nothing_crashes_when_main_returns_with_work_in_flight: main_returns_with_work_in_flight, 0;
    nothing_crashes_when_main_returns_behind_its_work: main_returns_behind_its_work, 0;
    nothing_crashes_at_exit_with_work_in_flight: exit_with_work_in_flight, CODE;
    nothing_crashes_at_exit_in_a_host_call: exit_in_a_host_call, CODE;
    nothing_crashes_when_a_thread_outlives_main: a_thread_outlives_main, 0;
    destructors_and_handlers_may_use_devices: destructors_and_handlers_drain, 0;
    children_by_fork_exit_as_they_are_told: a_child_by_fork_exits, 0;
}
