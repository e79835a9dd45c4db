// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every interleaving of the semaphore, its waiters, its failure and the pending set, by loom.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p windlass-hal --test loom`
#![cfg(loom)]

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use loom::{
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
};
use windlass_hal::{
    Code, Deadline, Error, Notifications, Point, Points, Semaphore, WaitPolicy,
    edge::{Domain, Edge, EdgeSource},
    pending::{Edges, Issue, PendingSet},
    wait_all,
};

fn model(check: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(check);
}

struct CountWakes(AtomicUsize);

impl Wake for CountWakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_signal_is_never_lost_by_a_future() {
    model(|| {
        let semaphore = Semaphore::new(0);
        let signaller = thread::spawn({
            let semaphore = semaphore.clone();
            move || semaphore.signal(1).unwrap()
        });
        loom::future::block_on(semaphore.wait(1)).unwrap();
        signaller.join().unwrap();
        assert_eq!(semaphore.waiter_count(), 0);
    });
}

#[test]
fn a_pending_future_is_woken_by_a_failure_and_the_first_failure_wins() {
    model(|| {
        let semaphore = Semaphore::new(0);
        let failers: Vec<_> = [Code::DataLoss, Code::Aborted]
            .map(|code| {
                let semaphore = semaphore.clone();
                thread::spawn(move || semaphore.fail(Error::new(code, "planned")))
            })
            .into();
        let first = loom::future::block_on(semaphore.wait(1)).unwrap_err().code();
        for failer in failers {
            failer.join().unwrap();
        }
        assert_eq!(semaphore.query().unwrap_err().code(), first);
    });
}

#[test]
fn a_future_polled_once_and_dropped_leaves_nothing() {
    model(|| {
        let semaphore = Semaphore::new(0);
        let signaller = thread::spawn({
            let semaphore = semaphore.clone();
            move || semaphore.signal(1).unwrap()
        });
        let wakes = Arc::new(CountWakes(AtomicUsize::new(0)));
        let waker = Waker::from(wakes.clone());
        let pending = {
            let mut wait = pin!(semaphore.wait(1));
            wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending()
        };
        signaller.join().unwrap();
        assert_eq!(semaphore.waiter_count(), 0);
        assert!(wakes.0.load(SeqCst) <= usize::from(pending));
    });
}

#[test]
fn a_future_that_changes_its_waker_wakes_the_last_one() {
    model(|| {
        let semaphore = Semaphore::new(0);
        let wakes = [(); 2].map(|()| Arc::new(CountWakes(AtomicUsize::new(0))));
        let wakers = wakes.clone().map(Waker::from);
        let mut wait = Box::pin(semaphore.wait(1));
        assert!(wait.as_mut().poll(&mut Context::from_waker(&wakers[0])).is_pending());
        let signaller = thread::spawn({
            let semaphore = semaphore.clone();
            move || semaphore.signal(1).unwrap()
        });
        let second = wait.as_mut().poll(&mut Context::from_waker(&wakers[1]));
        signaller.join().unwrap();
        if second.is_pending() {
            assert_eq!(wakes[1].0.load(SeqCst), 1);
        }
        assert!(matches!(wait.as_mut().poll(&mut Context::from_waker(&wakers[1])), Poll::Ready(Ok(()))));
    });
}

#[test]
fn a_sleeping_thread_sees_both_of_its_signals() {
    model(|| {
        let (a, b) = (Semaphore::new(0), Semaphore::new(0));
        let signallers =
            [a.clone(), b.clone()].map(|semaphore| thread::spawn(move || semaphore.signal(1).unwrap()));
        wait_all(&[a.at(1), b.at(1)], Deadline::NEVER, WaitPolicy::Block).unwrap();
        for signaller in signallers {
            signaller.join().unwrap();
        }
        assert_eq!((a.waiter_count(), b.waiter_count()), (0, 0));
    });
}

/// A device that "runs" work by counting it and signalling at once.
struct Device {
    pending: PendingSet<Device>,
    domain: Domain,
    issued: AtomicUsize,
    by_edge: AtomicUsize,
}

impl Device {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            pending: PendingSet::new(),
            domain: Domain::unique(),
            issued: AtomicUsize::new(0),
            by_edge: AtomicUsize::new(0),
        })
    }

    fn submit(self: &Arc<Self>, waits: &[Point], signals: &[Point]) -> windlass_hal::Result<()> {
        self.pending.submit(self, Points::from(waits), Points::from(signals), ())
    }
}

impl Issue for Device {
    type Work = ();

    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    fn domain_for(&self, (): &()) -> Option<Domain> {
        Some(self.domain)
    }

    fn issue(self: &Arc<Self>, (): (), waits: Points, signals: Points, edges: Edges) {
        let unreached =
            waits.iter().filter(|wait| wait.semaphore.query().is_ok_and(|value| value < wait.value)).count();
        assert!(unreached <= edges.len(), "issued before its waits were reached or promised");
        self.issued.fetch_add(1, SeqCst);
        self.by_edge.fetch_add(usize::from(!edges.is_empty()), SeqCst);
        let mut notifications = Notifications::new();
        for signal in signals.iter() {
            signal.semaphore.advance(signal.value, &mut notifications);
        }
        notifications.fire();
    }
}

struct Source(Domain);

impl EdgeSource for Source {
    fn domain(&self) -> Domain {
        self.0
    }
    fn poll(&self) {}
    fn demand(&self, _lane: u32, _epoch: u64) {}
}

#[test]
fn an_operation_with_two_waits_is_issued_once() {
    model(|| {
        let device = Device::new();
        let (a, b, done) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
        let signallers =
            [a.clone(), b.clone()].map(|semaphore| thread::spawn(move || semaphore.signal(1).unwrap()));
        device.submit(&[a.at(1), b.at(1)], &[done.at(1)]).unwrap();
        for signaller in signallers {
            signaller.join().unwrap();
        }
        assert_eq!(done.query().unwrap(), 1);
        assert_eq!(device.issued.load(SeqCst), 1);
        assert!(device.pending.is_empty());
        assert_eq!(a.waiter_count() + b.waiter_count(), 0);
    });
}

#[test]
fn an_operation_is_issued_or_failed_and_never_both() {
    model(|| {
        let device = Device::new();
        let (a, b, done) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
        let signaller = thread::spawn({
            let a = a.clone();
            move || a.signal(1).unwrap()
        });
        let failer = thread::spawn({
            let b = b.clone();
            move || b.fail(Error::data_loss("planned"))
        });
        device.submit(&[a.at(1), b.at(1)], &[done.at(1)]).unwrap();
        signaller.join().unwrap();
        failer.join().unwrap();
        assert_eq!(done.query().unwrap_err().code(), Code::DataLoss);
        assert_eq!(device.issued.load(SeqCst), 0);
        assert_eq!(a.waiter_count() + b.waiter_count(), 0);
        assert!(device.pending.is_empty());
    });
}

#[test]
fn closing_fails_what_was_not_issued() {
    model(|| {
        let device = Device::new();
        let (a, done) = (Semaphore::new(0), Semaphore::new(0));
        device.submit(&[a.at(1)], &[done.at(1)]).unwrap();
        let signaller = thread::spawn({
            let a = a.clone();
            move || a.signal(1).unwrap()
        });
        device.pending.close(&device, Error::cancelled("planned"));
        signaller.join().unwrap();
        let issued = device.issued.load(SeqCst);
        match done.query() {
            Ok(value) => assert_eq!((value, issued), (1, 1)),
            Err(error) => assert_eq!((error.code(), issued), (Code::Cancelled, 0)),
        }
        assert_eq!(a.waiter_count(), 0);
        assert_eq!(device.submit(&[], &[]).unwrap_err().code(), Code::Cancelled);
    });
}

#[test]
fn an_edge_attached_during_the_submission_is_seen() {
    model(|| {
        let device = Device::new();
        let (a, done) = (Semaphore::new(0), Semaphore::new(0));
        let producer = thread::spawn({
            let (a, domain) = (a.clone(), device.domain);
            move || {
                let edge = Edge { source: Arc::new(Source(domain)), lane: 0, epoch: 1 };
                let mut notifications = Notifications::new();
                a.attach_edge(1, edge, &mut notifications);
                notifications.fire();
            }
        });
        device.submit(&[a.at(1)], &[done.at(1)]).unwrap();
        producer.join().unwrap();
        assert_eq!(done.query().unwrap(), 1);
        assert_eq!(device.by_edge.load(SeqCst), 1);
    });
}

#[test]
fn a_chain_is_drained_by_whoever_starts_it() {
    model(|| {
        let device = Device::new();
        let timeline = Semaphore::new(0);
        for value in [3, 2] {
            device.submit(&[timeline.at(value - 1)], &[timeline.at(value)]).unwrap();
        }
        let other = thread::spawn({
            let (device, timeline) = (device.clone(), timeline.clone());
            move || device.submit(&[timeline.at(3)], &[timeline.at(4)]).unwrap()
        });
        timeline.signal(1).unwrap();
        other.join().unwrap();
        assert_eq!(timeline.query().unwrap(), 4);
        assert_eq!(device.issued.load(SeqCst), 3);
    });
}
