// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pending set: operations that wait for semaphores and promises, and a close that races with them.

use std::sync::Arc;

use loom::{
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
};
use windlass_hal::{
    Code, Error, Notifications, Point, Semaphore,
    edge::Domain,
    pending::{Issue, Order, Ordered, PendingSet},
};

use crate::{Source, model};

/// A device that "runs" work by counting it and signalling at once.
struct Device {
    pending: PendingSet<Device>,
    domain: Domain,
    /// Its work runs on the host, which cannot wait for a promise.
    host: bool,
    issued: AtomicUsize,
    by_edge: AtomicUsize,
}

impl Device {
    fn new() -> Arc<Self> {
        Self::with(false)
    }

    fn with(host: bool) -> Arc<Self> {
        Arc::new(Self {
            pending: PendingSet::new(),
            domain: Domain::unique(),
            host,
            issued: AtomicUsize::new(0),
            by_edge: AtomicUsize::new(0),
        })
    }

    fn submit(self: &Arc<Self>, waits: &[Point], signals: &[Point]) -> windlass_hal::Result<()> {
        self.pending.submit(self, waits, signals, ().into())
    }
}

impl Issue for Device {
    type Work = Ordered<()>;

    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    fn domain_for(&self, _: &Ordered<()>) -> Option<Domain> {
        (!self.host).then_some(self.domain)
    }

    fn issue(self: &Arc<Self>, work: Ordered<()>) {
        let Order { waits, signals, edges, .. } = work.order;
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
        let failing = thread::spawn({
            let b = b.clone();
            move || b.fail(Error::data_loss("planned"))
        });
        device.submit(&[a.at(1), b.at(1)], &[done.at(1)]).unwrap();
        signaller.join().unwrap();
        failing.join().unwrap();
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
            move || Source::new(domain).promise(&a, 1)
        });
        device.submit(&[a.at(1)], &[done.at(1)]).unwrap();
        producer.join().unwrap();
        assert_eq!(done.query().unwrap(), 1);
        assert_eq!(device.by_edge.load(SeqCst), 1);
    });
}

#[test]
fn the_thread_that_starts_a_chain_drains_it() {
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

#[test]
fn a_host_operation_is_not_issued_by_a_promise() {
    model(|| {
        let device = Device::with(true);
        let (a, done) = (Semaphore::new(0), Semaphore::new(0));
        let producer = thread::spawn({
            let (a, domain) = (a.clone(), device.domain);
            move || {
                Source::new(domain).promise(&a, 1);
                a.signal(1).unwrap();
            }
        });
        // `issue` asserts that the value is reached.
        device.submit(&[a.at(1)], &[done.at(1)]).unwrap();
        producer.join().unwrap();
        assert_eq!(done.query().unwrap(), 1);
        assert_eq!(device.by_edge.load(SeqCst), 0);
    });
}

#[test]
fn an_operation_with_a_promise_and_a_failure_is_failed_and_not_issued() {
    model(|| {
        let device = Device::new();
        let (a, b, done) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
        let producer = thread::spawn({
            let (a, domain) = (a.clone(), device.domain);
            move || Source::new(domain).promise(&a, 1)
        });
        let failing = thread::spawn({
            let b = b.clone();
            move || b.fail(Error::data_loss("planned"))
        });
        device.submit(&[a.at(1), b.at(1)], &[done.at(1)]).unwrap();
        producer.join().unwrap();
        failing.join().unwrap();
        assert_eq!(done.query().unwrap_err().code(), Code::DataLoss);
        assert_eq!(device.issued.load(SeqCst), 0);
        assert_eq!(a.waiter_count() + b.waiter_count(), 0);
    });
}

#[test]
fn a_promise_and_a_close_issue_or_cancel() {
    model(|| {
        let device = Device::new();
        let (a, done) = (Semaphore::new(0), Semaphore::new(0));
        device.submit(&[a.at(1)], &[done.at(1)]).unwrap();
        let producer = thread::spawn({
            let (a, domain) = (a.clone(), device.domain);
            move || Source::new(domain).promise(&a, 1)
        });
        device.pending.close(&device, Error::cancelled("planned"));
        producer.join().unwrap();
        let issued = device.issued.load(SeqCst);
        match done.query() {
            Ok(value) => assert_eq!((value, issued), (1, 1)),
            Err(error) => assert_eq!((error.code(), issued), (Code::Cancelled, 0)),
        }
        assert_eq!(a.waiter_count(), 0);
        assert!(device.pending.is_empty());
    });
}

#[test]
fn submitting_while_closing_is_accepted_or_refused_and_never_lost() {
    model(|| {
        let device = Device::new();
        let (a, done) = (Semaphore::new(0), Semaphore::new(0));
        let closer = thread::spawn({
            let device = device.clone();
            move || device.pending.close(&device, Error::cancelled("planned"))
        });
        let accepted = device.submit(&[a.at(1)], &[done.at(1)]);
        closer.join().unwrap();
        assert_eq!(a.waiter_count(), 0);
        match accepted {
            Ok(()) => assert_eq!(done.query().unwrap_err().code(), Code::Cancelled),
            Err(error) => {
                assert_eq!(error.code(), Code::Cancelled);
                assert_eq!(done.query().unwrap(), 0, "refused, so its signals are untouched");
            }
        }
    });
}

#[test]
fn two_devices_hand_work_to_each_other() {
    model(|| {
        let (first, second) = (Device::new(), Device::new());
        let timeline = Semaphore::new(0);
        second.submit(&[timeline.at(2)], &[timeline.at(3)]).unwrap();
        let other = thread::spawn({
            let (second, timeline) = (second.clone(), timeline.clone());
            move || second.submit(&[], &[timeline.at(1)]).unwrap()
        });
        first.submit(&[timeline.at(1)], &[timeline.at(2)]).unwrap();
        other.join().unwrap();
        assert_eq!(timeline.query().unwrap(), 3);
        assert!(first.pending.is_empty() && second.pending.is_empty());
    });
}
