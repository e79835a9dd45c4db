// SPDX-License-Identifier: MIT OR Apache-2.0
//! Misbehaving host calls and wakers, and their effect on others.

use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc, Mutex,
        mpsc::{Sender, channel},
    },
    task::{Context, Wake, Waker},
    time::Duration,
};

use windlass_hal::{Code, Deadline, HostCallFlags, Semaphore};

use crate::common;

const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_host_call_that_drains_does_not_wait_for_itself() {
    let (_instance, device) = common::open();
    let queue = device.queue(0).expect("a queue");
    let done = Semaphore::new(0);
    let inner = device.clone();
    queue.host_call(&[], &[done.at(1)], HostCallFlags::NONE, move |_| inner.drain(SOON)).expect("submits");
    done.wait_blocking(1, SOON).expect("the drain inside returns");
    device.drain(SOON).expect("and so does the one outside");
}

/// Over two devices: each call drains the other's device.
#[test]
fn host_calls_that_drain_each_others_device_do_not_wait_for_each_other() {
    let (here, there) = (common::open(), common::open());
    let both = Arc::new(std::sync::Barrier::new(2));
    let dones = [(&here.1, &there.1), (&there.1, &here.1)].map(|(own, other)| {
        let (done, both, other) = (Semaphore::new(0), both.clone(), other.clone());
        let queue = own.queue(0).expect("a queue");
        let call = move |_: &mut windlass_hal::HostCallContext| {
            both.wait();
            other.drain(SOON)
        };
        queue.host_call(&[], &[done.at(1)], HostCallFlags::NONE, call).expect("submits");
        done
    });
    dones.iter().for_each(|done| done.wait_blocking(1, Deadline::NEVER).expect("both drains return"));
}

#[test]
fn a_panic_whose_payload_panics_ends_its_host_call() {
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            panic!("the payload");
        }
    }
    let (_instance, device) = common::open();
    let queue = device.queue(0).expect("a queue");
    let done = Semaphore::new(0);
    queue
        .host_call(&[], &[done.at(1)], HostCallFlags::NONE, |_| std::panic::panic_any(Payload))
        .expect("submits");
    assert_eq!(done.wait_blocking(1, SOON).expect_err("it panicked").code(), Code::Aborted);
    device.drain(SOON).expect("its place among the running calls is free");
}

/// Reports that it was woken, and then blocks.
struct Blocks {
    woken: Mutex<Sender<()>>,
    gate: Arc<Mutex<()>>,
}

impl Wake for Blocks {
    fn wake(self: Arc<Self>) {
        let _ = self.woken.lock().expect("no panic").send(());
        drop(self.gate.lock());
    }
}

#[test]
fn a_waker_that_blocks_keeps_no_sleeping_thread_from_its_value() {
    let (instance, device) = common::open_manual();
    let queue = device.queue(0).expect("a queue");
    let buffer = device.allocate_device(256).expect("256 bytes");
    let [first, second] = [(); 2].map(|()| Semaphore::new(0));
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().expect("no panic");
    let (woken, was_woken) = channel();
    let waker = Waker::from(Arc::new(Blocks { woken: Mutex::new(woken), gate: gate.clone() }));

    queue.fill(&[], &[first.at(1)], &buffer, 1_u32).expect("submits");
    let mut wait = pin!(first.wait(1));
    assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    instance.complete();
    was_woken.recv_timeout(SOON).expect("the reaper wakes the waker, and is stuck in it now");

    queue.fill(&[], &[second.at(1)], &buffer, 2_u32).expect("submits");
    let sleeper = std::thread::spawn(move || second.wait_blocking(1, SOON));
    instance.complete();
    sleeper.join().expect("no panic").expect("the value is reached without that reaper");
    drop(closed);
}

#[test]
fn alloca_without_memory_fails_at_once_and_frees_for_the_next() {
    let options = windlass_hip_sys::null::Options { memory_bytes: 1 << 20, ..Default::default() };
    let (instance, device) = common::open_with(options, "test://");
    let queue = device.queue(0).expect("a queue");
    drop(device.allocate_device(700 << 10).expect("there is memory"));
    instance.reset_counts();
    let params = windlass_hal::BufferParams::device();
    let done = Semaphore::new(0);
    let error =
        queue.alloca(&[], &[done.at(1)], &params, 600 << 10).expect_err("the free block is too large");
    assert_eq!(error.code(), Code::ResourceExhausted);
    let own = std::thread::current().id();
    let freed_here = || {
        let threads = instance.calls_by_thread();
        threads
            .iter()
            .filter(|calls| calls.thread == Some(own))
            .map(|calls| calls.count("hipFree"))
            .sum::<u64>()
    };
    assert_eq!(freed_here(), 0, "hipFree on the caller's thread");
    let deadline = Deadline::after(SOON);
    while queue.alloca(&[], &[], &params, 600 << 10).is_err() {
        assert!(!deadline.passed(), "the freed block never came back");
        std::thread::yield_now();
    }
}
