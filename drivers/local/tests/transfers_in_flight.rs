// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transfers of files take no thread each, and work without a ring or without new threads.
//!
//! Each test is a process of its own, because it counts threads or forbids itself system calls for good.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use std::{
    env, fs,
    process::Command,
    sync::{Arc, mpsc},
};

use windlass_hal::{
    BufferParams, Deadline, Device, Error, HostCallFlags, Registry, Semaphore, WaitPolicy, file::File,
    wait_all,
};
use windlass_local::LocalDriver;

/// The name of the ring's thread.
const RING: &str = "windlass-files";
const MANY: u64 = 3000;
const LENGTH: u64 = 4099;

fn device() -> Device {
    let mut registry = Registry::new();
    registry.register(Arc::new(LocalDriver::new()));
    registry.open("local://?threads=1").expect("the local device opens")
}

/// An unnamed temporary file with these bytes.
fn scratch(bytes: &[u8]) -> File {
    let path = env::temp_dir().join(format!("windlass-in-flight-{}", std::process::id()));
    fs::write(&path, bytes).expect("room for a file");
    let file = fs::File::options().read(true).write(true).open(&path).expect("opens");
    fs::remove_file(path).expect("goes");
    File::from(file)
}

/// The names of the process's threads, and of the kernel's threads for the ring.
fn threads() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("Linux tells of threads").flatten();
    tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok()).collect()
}

fn has_ring() -> bool {
    threads().iter().any(|name| name.trim() == RING)
}

/// Whether the system offers a ring to this process.
fn offers_ring() -> bool {
    let offers = io_uring::IoUring::new(8).is_ok();
    if !offers {
        println!("skipped: this system offers no io_uring");
    }
    offers
}

/// Reads and writes a file in a hundred concurrent ranges, and compares.
fn moves_files(device: &Device) {
    let bytes: Vec<u8> = (0..100 * LENGTH).map(|at| (at * 31 / 7) as u8).collect();
    let (from, to) = (scratch(&bytes), scratch(&[]));
    let buffer = device.allocate(&BufferParams::host(), bytes.len() as u64).expect("memory");
    let (queue, gate) = (device.queue(0).expect("a queue"), Semaphore::new(0));
    let points: Vec<_> = (0..100)
        .map(|index| {
            let (at, order) = (index * LENGTH, Semaphore::new(0));
            let range = buffer.subspan(at, LENGTH).expect("in bounds");
            queue.read(&[gate.at(1)], &[order.at(1)], &from, at, &range).expect("submits");
            queue.write(&[order.at(1)], &[order.at(2)], &range, &to, at).expect("submits");
            order.at(2)
        })
        .collect();
    gate.signal(1).expect("opens");
    wait_all(&points, Deadline::NEVER, WaitPolicy::default()).expect("all go through");
    assert!(buffer.map().expect("maps").to_vec() == bytes, "what was read");
    let (again, done) =
        (device.allocate(&BufferParams::host(), buffer.len()).expect("memory"), Semaphore::new(0));
    queue.read(&[], &[done.at(1)], &to, 0, &again).expect("submits");
    done.wait_blocking(1, Deadline::NEVER).expect("reads");
    assert!(again.map().expect("maps").to_vec() == bytes, "what was written");
}

/// Makes these system calls fail on every thread of this process, from now on.
fn forbid(calls: &[libc::c_long], error: i32) {
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let answer = libc::SECCOMP_RET_ERRNO | error as u32;
    // A filter sees the number of the call as its first word.
    let mut steps = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for call in calls {
        steps.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, *call as u32));
        steps.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, answer));
    }
    steps.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the call takes numbers only.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    let (mode, threads) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_TSYNC);
    // SAFETY: the program and its steps live until the call has copied them.
    let installed = unsafe { libc::syscall(libc::SYS_seccomp, mode, threads, &raw const program) };
    assert_eq!(installed, 0, "a filter");
}

/// Runs one of the ignored tests below in a process of its own.
fn in_a_process_of_its_own(name: &str) {
    let own = env::current_exe().expect("a path");
    let output =
        Command::new(own).args(["--ignored", "--exact", "--nocapture", name]).output().expect("starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

#[test]
fn thousands_in_flight_have_no_thread_each() {
    in_a_process_of_its_own("own_process::thousands_in_flight");
}

#[test]
fn a_system_without_a_ring_moves_files_on_threads() {
    in_a_process_of_its_own("own_process::without_a_ring");
}

#[test]
fn a_ring_that_is_forbidden_later_gives_its_work_to_threads() {
    in_a_process_of_its_own("own_process::the_ring_is_forbidden_later");
}

#[test]
fn files_go_on_while_host_calls_hold_every_thread_there_is() {
    in_a_process_of_its_own("own_process::host_calls_hold_every_thread");
}

mod own_process {
    use super::*;

    #[test]
    #[ignore = "run by a test above"]
    fn thousands_in_flight() {
        if !offers_ring() {
            return;
        }
        let device = device();
        let file = scratch(&vec![7; (MANY + LENGTH) as usize]);
        let (queue, gate) = (device.queue(0).expect("a queue"), Semaphore::new(0));
        let buffer = device.allocate_device(MANY * LENGTH).expect("memory");
        let mut points = Vec::new();
        for index in 0..MANY {
            let (range, done) =
                (buffer.subspan(index * LENGTH, LENGTH).expect("in bounds"), Semaphore::new(0));
            queue.read(&[gate.at(1)], &[done.at(1)], &file, index, &range).expect("submits");
            points.push(done.at(1));
        }
        let before = threads().len();
        gate.signal(1).expect("opens");
        wait_all(&points, Deadline::NEVER, WaitPolicy::default()).expect("reads");
        // Threads that the pool started stay for some seconds.
        let after = threads();
        assert!(has_ring(), "{after:?}");
        assert!(after.len() < before + 64, "{before} threads became {}: {after:?}", after.len());
    }

    #[test]
    #[ignore = "run by a test above"]
    fn without_a_ring() {
        forbid(&[libc::SYS_io_uring_setup], libc::ENOSYS);
        moves_files(&device());
        assert!(!has_ring(), "{:?}", threads());
    }

    #[test]
    #[ignore = "run by a test above"]
    fn the_ring_is_forbidden_later() {
        if !offers_ring() {
            return;
        }
        let device = device();
        moves_files(&device);
        assert!(has_ring(), "{:?}", threads());
        forbid(&[libc::SYS_io_uring_enter, libc::SYS_io_uring_setup], libc::EPERM);
        moves_files(&device);
        moves_files(&device);
    }

    #[test]
    #[ignore = "run by a test above"]
    fn host_calls_hold_every_thread() {
        if !offers_ring() {
            return;
        }
        let device = device();
        moves_files(&device);
        let queue = device.queue(0).expect("a queue");
        let mut held = Vec::new();
        let of_pool = || threads().iter().filter(|name| name.starts_with("windlass-call")).count();
        // Each call takes an idle thread, or starts one.
        while held.len() < 16.max(of_pool()) {
            let (begun, ended) = (Semaphore::new(0), Semaphore::new(0));
            let (told, (go, wait_for_go)) = (begun.clone(), mpsc::channel::<()>());
            let call = move |_: &mut _| {
                told.signal(1)?;
                wait_for_go.recv().map_err(|_| Error::cancelled("the test has ended"))
            };
            queue.host_call(&[], &[ended.at(1)], HostCallFlags::NONE, call).expect("submits");
            begun.wait_blocking(1, Deadline::NEVER).expect("begins");
            held.push((go, ended));
        }
        forbid(&[libc::SYS_clone, libc::SYS_clone3], libc::EAGAIN);
        moves_files(&device);
        for (go, ended) in held {
            go.send(()).expect("the call waits");
            ended.wait_blocking(1, Deadline::NEVER).expect("ends");
        }
    }
}
