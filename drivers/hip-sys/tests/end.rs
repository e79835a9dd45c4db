// SPDX-License-Identifier: MIT OR Apache-2.0
//! No call enters a library when the process ends, and the end waits for calls in progress. Each program is a process
//! of its own over a small library that crashes at a late call. Without a C compiler, the tests say so and pass.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skipped test says why, and programs have nothing but that")]

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::thread;

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use windlass_hip_sys::bindings::{hipError_t, hipEvent_t, hipStream_t};
use windlass_hip_sys::{Api, EntryPoints, Source};

const LIBRARY: &str = "WINDLASS_TEST_END_LIBRARY";
const OK: hipError_t = hipError_t::hipSuccess;
const ENDED: hipError_t = hipError_t::hipErrorDeinitialized;
const RUNS: usize = 20;

// The programs.

/// An event of the library: whether a call has entered it, and whether the call may return.
#[repr(C)]
struct Latch {
    reached: AtomicI32,
    open: AtomicI32,
}

impl Latch {
    const fn new() -> Self {
        Self { reached: AtomicI32::new(0), open: AtomicI32::new(0) }
    }

    fn wait_for_call(&self) {
        while self.reached.load(SeqCst) == 0 {
            thread::yield_now();
        }
    }

    fn event(&'static self) -> hipEvent_t {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}

static LATCH: Latch = Latch::new();

fn api() -> &'static Api {
    static API: OnceLock<Api> = OnceLock::new();
    API.get_or_init(|| {
        let library = PathBuf::from(std::env::var_os(LIBRARY).expect("run by the tests below"));
        // SAFETY: the library is the one of these tests.
        unsafe { Api::load(&Source::Library(library)) }.expect("it has all that a driver needs")
    })
}

fn device() -> hipError_t {
    let mut device = 0;
    // SAFETY: a pointer to a local.
    unsafe { api().hipGetDevice(&mut device) }
}

fn synchronize() -> hipError_t {
    // SAFETY: no arguments.
    unsafe { api().hipDeviceSynchronize() }
}

fn wait_for_event() -> hipError_t {
    // SAFETY: the library's representation of an event.
    unsafe { api().hipEventSynchronize(LATCH.event()) }
}

fn at_exit(handler: extern "C" fn()) {
    // SAFETY: a function of this program, which may run whenever the process ends.
    assert_eq!(unsafe { libc::atexit(handler) }, 0);
}

/// Ends the process at once if a check in a handler fails, because a failure would not be noticed.
fn must(right: bool) {
    if !right {
        // SAFETY: ends the process without its exit handlers.
        unsafe { libc::_exit(9) };
    }
}

/// On another thread: lets the call of an event return when no call may enter any more.
fn open_when_ended() {
    thread::spawn(|| {
        while device() != ENDED {
            thread::yield_now();
        }
        LATCH.open.store(1, SeqCst);
    });
}

extern "C" fn calls_are_refused() {
    must(device() == ENDED && synchronize() == ENDED && api().has_ended());
    // SAFETY: no arguments.
    must(unsafe { api().hipGetErrorString(OK) }.is_null());
    // SAFETY: the library is the one of these tests.
    let again = unsafe { Api::load(&Source::Library(api().origin().path.clone().expect("a file"))) };
    must(again.is_ok_and(|again| again.has_ended()));
}

extern "C" fn calls_are_made() {
    must(device() == OK && !api().has_ended());
}

#[test]
#[ignore = "runs in a process of its own"]
fn registers_late() {
    assert_eq!(device(), OK);
    at_exit(calls_are_refused);
    // Now the library registers its handler, which runs before the test's.
    assert_eq!(synchronize(), OK);
    assert_eq!(synchronize(), OK);
    at_exit(calls_are_made);
}

#[test]
#[ignore = "runs in a process of its own"]
fn ends_with_a_call_inside() {
    assert_eq!((device(), synchronize()), (OK, OK));
    open_when_ended();
    thread::spawn(wait_for_event);
    LATCH.wait_for_call();
}

struct Waits;

impl Drop for Waits {
    fn drop(&mut self) {
        wait_for_event();
    }
}

#[test]
#[ignore = "runs in a process of its own"]
fn ends_with_a_call_of_a_destructor_inside() {
    thread_local! {
        // The thread's last thread-local to be destroyed.
        static WAITS: RefCell<Option<Waits>> = const { RefCell::new(None) };
    }
    assert_eq!((device(), synchronize()), (OK, OK));
    open_when_ended();
    thread::spawn(|| {
        WAITS.with_borrow_mut(|waits| *waits = Some(Waits));
        assert_eq!(device(), OK);
    });
    LATCH.wait_for_call();
}

/// Like a device in a thread-local.
struct Calls;

impl Drop for Calls {
    fn drop(&mut self) {
        for _ in 0..3 {
            must(device() == OK && synchronize() == OK);
        }
    }
}

#[test]
#[ignore = "runs in a process of its own"]
fn destructors_of_threads_call() {
    thread_local! {
        static BEFORE: Calls = const { Calls };
        static BEHIND: Calls = const { Calls };
    }
    let threads: Vec<_> = (0..8)
        .map(|_| {
            thread::spawn(|| {
                BEFORE.with(|_| ());
                must(device() == OK);
                BEHIND.with(|_| ());
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    BEFORE.with(|_| ());
    must(device() == OK);
}

#[test]
#[ignore = "runs in a process of its own"]
fn ends_while_threads_call() {
    assert_eq!((device(), synchronize()), (OK, OK));
    for _ in 0..4 {
        thread::spawn(|| {
            while device() == OK && synchronize() == OK {
                LATCH.reached.store(1, SeqCst);
            }
        });
    }
    // And short-lived threads, each with its own byte.
    thread::spawn(|| while thread::spawn(device).join().is_ok_and(|status| status == OK) {});
    LATCH.wait_for_call();
}

#[test]
#[ignore = "runs in a process of its own"]
fn ends_with_a_call_that_stays() {
    struct Tell;
    impl Subscriber for Tell {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() <= Level::WARN
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            eprintln!("told: {event:?}");
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }
    tracing::subscriber::set_global_default(Tell).expect("the first");
    assert_eq!((device(), synchronize()), (OK, OK));
    let stay = || {
        let stream: hipStream_t = LATCH.event().cast();
        // SAFETY: the library's representation of a stream.
        unsafe { api().hipStreamSynchronize(stream) }
    };
    thread::spawn(stay);
    LATCH.wait_for_call();
}

#[test]
#[ignore = "runs in a process of its own"]
fn forks_with_a_call_inside() {
    assert_eq!((device(), synchronize()), (OK, OK));
    let waiting = thread::spawn(|| device() == OK && wait_for_event() == OK);
    LATCH.wait_for_call();
    // SAFETY: the child ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: a timer of this process; the library of these tests tolerates the call, and the child has no timer.
        unsafe { libc::alarm(4) };
        at_exit(leave);
        // SAFETY: only this thread calls it.
        unsafe { libc::exit(3) };
    }
    let mut status = 0;
    // SAFETY: a child of this process, and a local.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    LATCH.open.store(1, SeqCst);
    assert!(waiting.join().expect("no panic"));
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGABRT, "{status:#x}");
}

/// The child's end concerns only the library: here it crashes at the call of a thread that the child does not have.
extern "C" fn leave() {
    calls_are_made();
}

// The tests.

/// Compiles the library, once.
fn library() -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let make = || {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("end");
        std::fs::create_dir_all(&folder).expect("the target folder is writable");
        let own = include_str!("end.c");
        let mut source = format!("{own}\n");
        for name in
            EntryPoints::none().missing_required().iter().chain(&["hipGetDevice", "hipGetErrorString"])
        {
            if !own.contains(&format!("int {name}(")) && !source.contains(&format!("long {name}(")) {
                writeln!(source, "long {name}() {{ return called(\"{name}\"); }}")
                    .expect("a string takes all");
            }
        }
        let (input, output) = (folder.join("hip.c"), folder.join("libhip.so"));
        std::fs::write(&input, source).expect("the folder is writable");
        let made = Command::new("cc")
            .args(["-w", "-O1", "-shared", "-fPIC", "-o"])
            .arg(&output)
            .arg(&input)
            .status();
        let Ok(made) = made else {
            eprintln!("skipped: there is no C compiler `cc` to make a library with");
            return None;
        };
        assert!(made.success(), "cc failed");
        Some(output)
    };
    MADE.get_or_init(make).as_deref()
}

/// Runs a program this many times; each run must succeed. Returns the output of the last one.
fn run(program: &str, times: usize) -> String {
    let Some(library) = library() else { return String::new() };
    let mut said = String::new();
    for time in 0..times {
        let mut command = Command::new(std::env::current_exe().expect("a path"));
        command
            .args(["--exact", program, "--ignored", "--nocapture", "--test-threads=1"])
            .env(LIBRARY, library);
        let output = command.output().expect("the program starts");
        said = String::from_utf8_lossy(&output.stderr).into_owned();
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{program}, run {time}: {}\n{out}{said}", output.status);
    }
    said
}

#[test]
fn what_hip_registers_late_comes_later_all_the_same() {
    run("registers_late", RUNS);
}

#[test]
fn calls_that_are_inside_are_waited_for() {
    run("ends_with_a_call_inside", RUNS);
    run("ends_with_a_call_of_a_destructor_inside", RUNS);
}

#[test]
fn calls_of_destructors_of_threads_find_what_hip_keeps_of_a_thread() {
    run("destructors_of_threads_call", RUNS);
}

#[test]
fn calls_of_all_threads_are_refused() {
    run("ends_while_threads_call", RUNS);
}

#[test]
fn the_wait_has_an_end() {
    let said = run("ends_with_a_call_that_stays", 1);
    assert!(said.contains("have not returned") || library().is_none(), "{said}");
}

#[test]
fn children_by_fork_wait_for_nobody() {
    run("forks_with_a_call_inside", 3);
}
