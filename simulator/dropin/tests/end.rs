// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of HIP, as with AMD's library: a call after it, or in progress when it comes, aborts the process
//! with a message. Each program here is a process of its own, of this test, and calls the library directly.

#![cfg(target_os = "linux")]

mod common;

use std::ffi::c_void;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

type Status = i32;

/// The library's functions that the programs use, by their addresses.
fn function<T: Copy>(name: &str) -> T {
    static LIBRARY: OnceLock<libloading::Library> = OnceLock::new();
    // SAFETY: the library is the one of this package, and stays.
    let library = LIBRARY.get_or_init(|| unsafe { libloading::Library::new(common::library()) }.unwrap());
    // SAFETY: the programs name the signatures that HIP declares.
    *unsafe { library.get::<T>(name.as_bytes()) }.unwrap()
}

fn allocate() -> *mut c_void {
    let malloc: unsafe extern "C" fn(*mut *mut c_void, usize) -> Status = function("hipMalloc");
    let mut memory = null_mut();
    // SAFETY: a pointer to a local.
    assert_eq!(unsafe { malloc(&mut memory, 64) }, 0);
    memory
}

fn at_exit(handler: extern "C" fn()) {
    // SAFETY: a function of this program, which may run whenever the process ends.
    assert_eq!(unsafe { libc::atexit(handler) }, 0);
}

extern "C" fn free_nothing() {
    let free: unsafe extern "C" fn(*mut c_void) -> Status = function("hipFree");
    // SAFETY: null is no memory.
    unsafe { free(null_mut()) };
}

extern "C" fn free_nothing_in_other_words() {
    let fill: unsafe extern "C" fn(*mut c_void, i32, usize) -> Status = function("hipMemset_spt");
    // SAFETY: nothing is written.
    unsafe { fill(null_mut(), 0, 0) };
}

extern "C" fn refused() {
    let refused: unsafe extern "C" fn() -> Status = function("hipMallocArray");
    // SAFETY: the function ignores its arguments.
    unsafe { refused() };
}

extern "C" fn unregister() {
    let unregister: unsafe extern "C" fn(*mut *mut c_void) = function("__hipUnregisterFatBinary");
    // SAFETY: null is no registration.
    unsafe { unregister(null_mut()) };
}

macro_rules! handlers {
    ($($program:ident: $handler:ident;)*) => {$(
        #[test]
        #[ignore = "runs in a process of its own"]
        fn $program() {
            // Registered before the library is loaded, so it is called after the library's end.
            at_exit($handler);
            allocate();
        }
    )*};
}

handlers! {
    calls_late: free_nothing;
    calls_late_in_other_words: free_nothing_in_other_words;
    calls_late_what_is_refused: refused;
    unregisters_late: unregister;
}

#[test]
#[ignore = "runs in a process of its own"]
fn calls_in_time() {
    allocate();
    at_exit(free_nothing);
}

#[test]
#[ignore = "runs in a process of its own"]
fn calls_from_another_thread() {
    allocate();
    let (started, has_started) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        loop {
            free_nothing();
            let _ = started.send(());
        }
    });
    has_started.recv().unwrap();
}

/// Runs in the middle of a call of the library, on another thread.
extern "C" fn block(data: *mut c_void) {
    // SAFETY: the pointer that the program below passes, once.
    let told = unsafe { Box::from_raw(data.cast::<Sender<()>>()) };
    told.send(()).unwrap();
    loop {
        std::thread::park();
    }
}

#[test]
#[ignore = "runs in a process of its own"]
fn ends_with_a_call_inside() {
    let host: unsafe extern "C" fn(*mut c_void, extern "C" fn(*mut c_void), *mut c_void) -> Status =
        function("hipLaunchHostFunc");
    let synchronize: unsafe extern "C" fn() -> Status = function("hipDeviceSynchronize");
    let (told, blocked) = channel::<()>();
    // SAFETY: the function takes the box.
    assert_eq!(unsafe { host(null_mut(), block, Box::into_raw(Box::new(told)).cast()) }, 0);
    blocked.recv().unwrap();
    let (told, waits) = channel();
    std::thread::spawn(move || {
        told.send(()).unwrap();
        // SAFETY: no arguments.
        unsafe { synchronize() }
    });
    waits.recv().unwrap();
    // The call is in progress, or late.
}

#[test]
#[ignore = "runs in a process of its own"]
fn a_child_ends() {
    at_exit(free_nothing);
    allocate();
    // SAFETY: the child ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: this process has no other thread that could call it.
        unsafe { libc::exit(3) };
    }
    let mut status = 0;
    // SAFETY: a child of this process, and a local.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 3, "{status:#x}");
    // SAFETY: ends the process without its exit handlers.
    unsafe { libc::_exit(0) };
}

/// Runs a program. Returns its exit status and its standard error.
fn run(program: &str) -> (ExitStatus, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", program, "--ignored", "--nocapture", "--test-threads=1"]);
    for name in ["WINDLASS_SIM", "WINDLASS_LOG", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[track_caller]
fn aborts(program: &str, why: &[&str]) {
    let (status, said) = run(program);
    assert_eq!(status.signal(), Some(libc::SIGABRT), "{program}: {status} {said}");
    assert!(why.iter().any(|why| said.contains(why)), "{program}: {said}");
}

#[test]
fn a_call_behind_the_end_aborts_and_is_named() {
    aborts("calls_late", &["hipFree was called after the end of HIP"]);
    aborts("calls_late_in_other_words", &["hipMemset_spt was called after the end of HIP"]);
    aborts("calls_late_what_is_refused", &["hipMallocArray was called after the end of HIP"]);
    let either =
        ["hipFree was called after the end of HIP", "hipFree had not returned when the end of HIP came"];
    // The process may end before the thread gets to its next call, on a loaded machine often.
    let mut aborted = 0;
    for _ in 0..20 {
        let (status, said) = run("calls_from_another_thread");
        if !status.success() {
            let is_named =
                status.signal() == Some(libc::SIGABRT) && either.iter().any(|why| said.contains(why));
            assert!(is_named, "{status} {said}");
            aborted += 1;
        }
    }
    assert_ne!(aborted, 0);
}

#[test]
fn a_call_that_is_inside_aborts_and_is_named() {
    let inside = "hipDeviceSynchronize had not returned when the end of HIP came";
    let late = "hipDeviceSynchronize was called after the end of HIP";
    for _ in 0..5 {
        aborts("ends_with_a_call_inside", &[inside, late]);
    }
}

#[test]
fn what_is_right_ends_well() {
    for program in ["calls_in_time", "unregisters_late", "a_child_ends"] {
        let (status, said) = run(program);
        assert!(status.success(), "{program}: {status} {said}");
    }
}
