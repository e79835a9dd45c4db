// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work runs on the thread that makes it ready, and never nests.

mod common;

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    task::{Context, Wake, Waker},
    thread,
};

use windlass_hal::{Code, Deadline, Error, Queue, Semaphore};
use windlass_local::Kernel;

use common::{LONG, device, device_with, held, single};

/// Runs a test on a stack that recursion of any length would overflow.
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(128 << 10).spawn(test).unwrap().join().unwrap();
}

const LINKS: u64 = 100_000;

#[test]
fn a_long_chain_resolved_by_one_signal() {
    on_a_small_stack(|| {
        let (device, step) = (device(), Semaphore::new(0));
        let (queue, counter) = (device.queue(0).unwrap(), device.allocate_device(8).unwrap());
        for link in 1..LINKS {
            let value = link.to_le_bytes();
            queue.update(&[step.at(link)], &[step.at(link + 1)], &value, &counter).unwrap();
        }
        assert_eq!(step.query().unwrap(), 0);
        step.signal(1).unwrap();
        assert_eq!(step.query().unwrap(), LINKS);
        let last = queue.download(&[], &counter).unwrap().wait(LONG).unwrap();
        assert_eq!(last, (LINKS - 1).to_le_bytes());
    });
}

/// A waker that panics when it is woken. The panic's payload panics when it is dropped.
struct Bomb;

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        std::panic::panic_any(Self);
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        std::panic::panic_any(Self);
    }
}

/// The waker's last handle is leaked, because its drop would end the test.
#[test]
fn a_waker_that_panics_stops_no_work_of_its_thread() {
    let device = device();
    let queue = device.queue(0).unwrap();
    let done = Semaphore::new(0);
    let bomb = std::mem::ManuallyDrop::new(Waker::from(Arc::new(Bomb)));
    let mut wait = done.wait(1);
    assert!(Pin::new(&mut wait).poll(&mut Context::from_waker(&bomb)).is_pending());
    queue.barrier(&[], &[done.at(1)]).unwrap();
    queue.barrier(&[done.at(1)], &[done.at(2)]).unwrap();
    assert_eq!(done.query().unwrap(), 2);
    device.drain(LONG).unwrap();
}

#[test]
fn a_long_chain_submitted_backwards() {
    on_a_small_stack(|| {
        let (device, step) = (device(), Semaphore::new(0));
        let queue = device.queue(0).unwrap();
        let links: Vec<_> = (0..LINKS).map(|_| Semaphore::new(0)).collect();
        for pair in links.windows(2).rev() {
            queue.barrier(&[pair[0].at(1)], &[pair[1].at(1)]).unwrap();
        }
        queue.barrier(&[step.at(1)], &[links[0].at(1)]).unwrap();
        step.signal(1).unwrap();
        assert_eq!(links[links.len() - 1].query().unwrap(), 1);
    });
}

#[test]
fn a_long_chain_that_fails() {
    on_a_small_stack(|| {
        let (device, step) = (device(), Semaphore::new(0));
        let queue = device.queue(0).unwrap();
        let links: Vec<_> = (0..LINKS).map(|_| Semaphore::new(0)).collect();
        queue.barrier(&[step.at(1)], &[links[0].at(1)]).unwrap();
        for pair in links.windows(2) {
            queue.barrier(&[pair[0].at(1)], &[pair[1].at(1)]).unwrap();
        }
        step.fail(Error::aborted("on purpose"));
        assert_eq!(links[links.len() - 1].query().unwrap_err().code(), Code::Aborted);
    });
}

#[test]
fn a_chain_over_two_devices() {
    on_a_small_stack(|| {
        let (devices, step) = ([device(), device()], Semaphore::new(0));
        for link in 1..20_000 {
            let queue = devices[link as usize % 2].queue(0).unwrap();
            queue.barrier(&[step.at(link)], &[step.at(link + 1)]).unwrap();
        }
        step.signal(1).unwrap();
        assert_eq!(step.query().unwrap(), 20_000);
    });
}

/// A waker that submits the next link of a chain.
struct Next {
    queue: Queue,
    step: Semaphore,
    link: u64,
}

impl Wake for Next {
    fn wake(self: Arc<Self>) {
        self.queue.barrier(&[], &[self.step.at(self.link + 1)]).unwrap();
    }
}

#[test]
fn a_chain_of_wakers_that_submit() {
    on_a_small_stack(|| {
        let (device, step) = (device(), Semaphore::new(0));
        let queue = device.queue(0).unwrap();
        let mut waits: Vec<_> = (1..10_000).map(|link| (link, step.wait(link))).collect();
        for (link, wait) in &mut waits {
            let waker = Waker::from(Arc::new(Next { queue: queue.clone(), step: step.clone(), link: *link }));
            assert!(Pin::new(wait).poll(&mut Context::from_waker(&waker)).is_pending());
        }
        queue.barrier(&[], &[step.at(1)]).unwrap();
        assert_eq!(step.query().unwrap(), 10_000);
    });
}

#[test]
fn work_that_a_kernel_submits_runs_behind_it() {
    let (seen, done) = (Arc::new(AtomicU64::new(u64::MAX)), Semaphore::new(0));
    let inner: Arc<Mutex<Option<Queue>>> = Arc::default();
    let (queue_of_kernel, seen_by_kernel, inner_done) = (inner.clone(), seen.clone(), done.clone());
    let kernel = Kernel::new("submits", move |_| {
        let queue = queue_of_kernel.lock().unwrap().take().unwrap();
        queue.barrier(&[], &[inner_done.at(1)])?;
        seen_by_kernel.store(inner_done.query()?, SeqCst);
        Ok(())
    });
    let (device, executable) = device_with([kernel]);
    let queue = device.queue(0).unwrap();
    *inner.lock().unwrap() = Some(queue.clone());
    let submits = executable.function("submits").unwrap();
    queue.dispatch(&[], &[done.at(2)], &submits, single(), &[]).unwrap();
    assert_eq!(seen.load(SeqCst), 0, "the barrier ran inside the kernel");
    assert_eq!(done.query().unwrap(), 2);
}

#[test]
fn threads_do_not_wait_for_each_other() {
    let (kernel, starts, end) = held();
    let (device, executable) = device_with([kernel]);
    let queue = device.queue(0).unwrap();
    let [gate, other, held, done] = [(); 4].map(|()| Semaphore::new(0));
    let function = executable.function("held").unwrap();
    queue.dispatch(&[gate.at(1)], &[held.at(1)], &function, single(), &[]).unwrap();
    queue.barrier(&[other.at(1)], &[done.at(1)]).unwrap();
    let signaller = thread::spawn(move || gate.signal(1).unwrap());
    starts.recv_timeout(LONG).unwrap();
    // The kernel runs inside the other thread's signal. This thread's own work does not wait for the kernel.
    other.signal(1).unwrap();
    assert_eq!(done.query().unwrap(), 1);
    assert_eq!(held.query().unwrap(), 0);
    end.send(()).unwrap();
    signaller.join().unwrap();
    assert_eq!(held.query().unwrap(), 1);
}

#[test]
fn a_drain_waits_for_what_other_threads_run() {
    let (kernel, starts, end) = held();
    let (device, executable) = device_with([kernel]);
    let (queue, held) = (device.queue(0).unwrap(), Semaphore::new(0));
    let function = executable.function("held").unwrap();
    let (submitting, signal) = (queue.clone(), held.at(1));
    let submitter =
        thread::spawn(move || submitting.dispatch(&[], &[signal], &function, single(), &[]).unwrap());
    starts.recv_timeout(LONG).unwrap();
    assert_eq!(device.drain(Deadline::now()).unwrap_err().code(), Code::DeadlineExceeded);
    let draining = device.clone();
    let drained = thread::spawn(move || draining.drain(LONG));
    end.send(()).unwrap();
    drained.join().unwrap().unwrap();
    assert_eq!(held.query().unwrap(), 1, "the drain returned before the kernel had ended");
    submitter.join().unwrap();
    device.drain(Deadline::now()).unwrap();
}

#[test]
fn a_closed_device_ends_what_runs() {
    let (kernel, starts, end) = held();
    let (device, executable) = device_with([kernel]);
    let (queue, held, behind) = (device.queue(0).unwrap(), Semaphore::new(0), Semaphore::new(0));
    let function = executable.function("held").unwrap();
    queue.barrier(&[held.at(1)], &[behind.at(1)]).unwrap();
    let (submitting, signal) = (queue.clone(), held.at(1));
    let submitter =
        thread::spawn(move || submitting.dispatch(&[], &[signal], &function, single(), &[]).unwrap());
    starts.recv_timeout(LONG).unwrap();
    device.close();
    assert_eq!(behind.query().unwrap_err().code(), Code::Cancelled);
    assert_eq!(queue.barrier(&[], &[behind.at(2)]).unwrap_err().code(), Code::Cancelled);
    end.send(()).unwrap();
    submitter.join().unwrap();
    assert_eq!(held.query().unwrap(), 1, "what ran when the device was closed");
}

/// A waker that drains.
struct Drains {
    device: windlass_hal::Device,
    result: Mutex<Option<windlass_hal::Result<()>>>,
}

impl Wake for Drains {
    fn wake(self: Arc<Self>) {
        *self.result.lock().unwrap() = Some(self.device.drain(LONG));
    }
}

#[test]
fn a_drain_inside_a_waker_is_refused() {
    let (device, done) = (device(), Semaphore::new(0));
    let drains = Arc::new(Drains { device: device.clone(), result: Mutex::default() });
    let mut wait = done.wait(1);
    let waker = Waker::from(drains.clone());
    assert!(Pin::new(&mut wait).poll(&mut Context::from_waker(&waker)).is_pending());
    device.queue(0).unwrap().barrier(&[], &[done.at(1)]).unwrap();
    let result = drains.result.lock().unwrap().take().unwrap();
    assert_eq!(result.unwrap_err().code(), Code::FailedPrecondition);
    device.drain(LONG).unwrap();
}

#[test]
fn nothing_is_left_of_a_dropped_device() {
    let alive = Arc::new(());
    let captured = alive.clone();
    let kernel = Kernel::new("captures", move |_| {
        let _ = &captured;
        Ok(())
    });
    let (device, executable) = device_with([kernel]);
    let (queue, gate, done) = (device.queue(0).unwrap(), Semaphore::new(0), Semaphore::new(0));
    let function = executable.function("captures").unwrap();
    queue.dispatch(&[gate.at(1)], &[done.at(1)], &function, single(), &[]).unwrap();
    let library: Weak<()> = Arc::downgrade(&alive);
    drop((alive, executable, function, queue, device));
    assert_eq!(done.query().unwrap_err().code(), Code::Cancelled);
    assert_eq!(library.strong_count(), 0, "the kernel outlives everything that could run it");
    assert_eq!(gate.waiter_count(), 0);
}
