// SPDX-License-Identifier: MIT OR Apache-2.0
//! Children by `fork` of a process that has opened devices: every call that would wait for the parent's threads is an
//! error.
#![cfg(unix)]

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass::{BufferParams, Code, Deadline, Device, Error, Queue, Semaphore};

/// Runs a check in a child by `fork`, and returns its result.
fn holds_in_child(check: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs only the check, and ends without the parent's exit handlers.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: a timer of this process, which ends a child that hangs.
            unsafe { libc::alarm(20) };
            let held = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).unwrap_or(false);
            // SAFETY: ends the process.
            unsafe { libc::_exit(i32::from(!held)) }
        }
        child => {
            assert!(child > 0, "fork: {}", std::io::Error::last_os_error());
            let mut status = 0;
            // SAFETY: a child of this process, and a local.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
        }
    }
}

/// A child of a process that has opened no device may open one. Each test begins with this check, because another test
/// may open a device in this process.
fn opens_before_the_parent() {
    static OPENS: OnceLock<bool> = OnceLock::new();
    assert!(
        OPENS.get_or_init(|| holds_in_child(|| windlass::open("null://").is_ok())),
        "nothing was opened before"
    );
}

fn is_told<T>(result: Result<T, Error>) -> bool {
    result.is_err_and(|error| {
        error.code() == Code::FailedPrecondition && error.to_string().contains("was forked from")
    })
}

/// All calls that may need threads, locks or HIP. A host call needs a thread on every driver.
fn is_refused((device, queue): &(Device, Queue)) -> bool {
    let done = Semaphore::new(0);
    is_told(done.wait_blocking(1, Deadline::NEVER))
        && is_told(pollster::block_on(done.wait(1)))
        && is_told(done.signal(1))
        && is_told(queue.host_call(&[], &[done.at(1)], Default::default(), |_| Ok(())))
        && is_told(queue.alloca(&[], &[done.at(1)], &BufferParams::device(), 64))
        && is_told(device.allocate_device(64))
        && is_told(device.drain(Deadline::NEVER))
        && is_told(device.record().and_then(windlass::Recorder::finish))
        && is_told(device.import_host(&BufferParams::host(), vec![0_u8; 64]))
        && done.query().is_ok_and(|value| value == 0)
}

/// Threads of the parent hold locks at almost any time, so a child that takes one of them hangs.
#[test]
fn a_child_of_a_busy_process_lets_go_of_what_it_has() {
    opens_before_the_parent();
    for uri in ["null://", "local://?threads=2", "hip-sim://gfx942"] {
        let device = windlass::open(uri).expect("a device");
        let stop = AtomicBool::new(false);
        let shared = Semaphore::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut value = 0;
                while !stop.load(Ordering::Relaxed) {
                    value += 1;
                    shared.signal(value).expect("signals");
                    drop(device.allocate_device(4096).expect("memory"));
                }
            });
            for _ in 0..200 {
                let buffer = device.allocate_device(4096).expect("memory");
                let mut buffer = Some(buffer);
                let ended = holds_in_child(|| {
                    drop(buffer.take());
                    let _ = shared.query();
                    is_told(shared.signal(u64::MAX / 4))
                        && is_told(shared.wait_blocking(u64::MAX / 4, Deadline::NEVER))
                });
                if !ended {
                    stop.store(true, Ordering::Relaxed);
                }
                assert!(ended, "{uri}");
            }
            stop.store(true, Ordering::Relaxed);
        });
    }
}

#[test]
fn a_child_is_told_and_the_parent_goes_on() {
    opens_before_the_parent();
    for uri in ["null://", "local://?threads=2", "local://?threads=0", "hip-sim://gfx942"] {
        let device = windlass::open(uri).expect("a device");
        let queue = device.queue(0).expect("a queue");
        let timeline = Semaphore::new(0);
        // Starts threads and uses HIP.
        let call = |queue: &Queue, value| {
            queue.host_call(&[], &[timeline.at(value)], Default::default(), |_| Ok(())).expect("submits");
            timeline.wait_blocking(value, Deadline::NEVER).expect("runs");
        };
        call(&queue, 1);
        let handles = (device, queue);
        assert!(holds_in_child(|| is_refused(&handles)), "{uri}");
        // The device of the parent owes this value, and only a thread of the parent may ask it.
        let owed = Semaphore::new(0);
        let buffer = handles.0.allocate_device(4096).expect("memory");
        handles.1.fill(&[], &[owed.at(1)], &buffer, 7_u8).expect("submits");
        // A query of a child asks no device, so 1 means that the work was done at once.
        let is_left_alone = || match owed.query() {
            Ok(1) => true,
            _ => is_told(owed.wait_blocking(1, Deadline::NEVER)),
        };
        assert!(holds_in_child(is_left_alone), "{uri}");
        assert!(holds_in_child(|| is_told(windlass::open(uri))), "{uri}");
        // The last handle is dropped in a child only.
        let mut handles = Some(handles);
        let ended = holds_in_child(|| {
            let (device, queue) = handles.take().expect("both");
            device.poll();
            device.trim();
            device.close();
            drop((device, queue));
            true
        });
        assert!(ended, "{uri}");
        let (device, queue) = handles.expect("the parent's are its own");
        let child = holds_in_child(|| std::process::Command::new("true").status().is_ok_and(|s| s.success()));
        assert!(child, "a child may start programs");
        call(&queue, 2);
        device.drain(Deadline::NEVER).expect("drains");
    }
}
