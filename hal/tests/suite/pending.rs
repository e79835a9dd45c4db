// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pending set on one thread: the operations that it issues, its counts, and the reuse of a place by another
//! operation. `loom.rs` tests its interleavings.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Wake, Waker},
};

use windlass_hal::{
    Code, Error, Notifications, Point, Result, Semaphore,
    edge::{Domain, Edge, EdgeSource},
    pending::{Edges, Issue, Ordered, PendingSet},
};

/// The call in which the device panics.
const PANICS: &str = "panics";

/// A device that notes the operations issued to it and runs none.
struct Device {
    pending: PendingSet<Device>,
    domain: Domain,
    issued: Mutex<Vec<(&'static str, Edges)>>,
}

impl Device {
    fn new() -> Arc<Self> {
        Arc::new(Self { pending: PendingSet::new(), domain: Domain::unique(), issued: Mutex::default() })
    }

    fn submit(self: &Arc<Self>, name: &'static str, waits: &[Point], signals: &[Point]) -> Result<()> {
        self.pending.submit(self, waits, signals, name.into())
    }

    /// The operations issued so far, with the epochs of their edges.
    fn log(&self) -> Vec<(&'static str, Vec<u64>)> {
        let epochs = |edges: &Edges| edges.iter().map(|edge| edge.epoch).collect();
        self.issued.lock().unwrap().iter().map(|(name, edges)| (*name, epochs(edges))).collect()
    }
}

impl Issue for Device {
    type Work = Ordered<&'static str>;

    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    fn domain_for(&self, _: &Ordered<&'static str>) -> Option<Domain> {
        Some(self.domain)
    }

    fn issue(self: &Arc<Self>, work: Ordered<&'static str>) {
        let (name, edges) = (work.operation, work.order.edges);
        assert_ne!(name, PANICS, "on purpose");
        self.issued.lock().unwrap().push((name, edges));
    }
}

/// The source of an edge. It calls a function at the first demand.
struct Source {
    domain: Domain,
    demanded: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Source {
    fn new(domain: Domain) -> Arc<Self> {
        Self::with(domain, || {})
    }

    fn with(domain: Domain, demanded: impl FnOnce() + Send + 'static) -> Arc<Self> {
        Arc::new(Self { domain, demanded: Mutex::new(Some(Box::new(demanded))) })
    }

    fn promise(self: &Arc<Self>, semaphore: &Semaphore, value: u64, epoch: u64) {
        let edge = Edge { source: self.clone(), lane: 0, epoch };
        let mut notifications = Notifications::new();
        semaphore.attach_edge(value, edge, &mut notifications);
        notifications.fire();
    }
}

impl EdgeSource for Source {
    fn domain(&self) -> Domain {
        self.domain
    }
    fn poll(&self) {}
    fn demand(&self, _: u32, _: u64) {
        let demanded = self.demanded.lock().unwrap().take();
        demanded.into_iter().for_each(|act| act());
    }
}

/// A waker that calls a function once.
struct Once(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Wake for Once {
    fn wake(self: Arc<Self>) {
        let act = self.0.lock().unwrap().take();
        act.into_iter().for_each(|act| act());
    }
}

/// Waits for a point and calls a function when it is settled. The returned guard keeps the wait.
fn when_settled(point: &Point, act: impl FnOnce() + Send + 'static) -> Pin<Box<windlass_hal::Wait>> {
    let mut wait = Box::pin(point.semaphore.wait(point.value));
    let waker = Waker::from(Arc::new(Once(Mutex::new(Some(Box::new(act))))));
    assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    wait
}

fn on_purpose() -> Error {
    Error::data_loss("on purpose")
}

#[test]
fn edges_of_its_own_domain_are_handed_to_the_device() {
    let (device, [a, b, c]) = (Device::new(), [(); 3].map(|()| Semaphore::new(0)));
    let own = Source::new(device.domain);
    own.promise(&a, 1, 7);
    own.promise(&b, 1, 8);
    device.submit("at once", &[a.at(1), b.at(1)], &[]).unwrap();
    assert_eq!(device.log(), [("at once", vec![7, 8])]);
    // An edge that is attached later is passed on as well. A reached wait needs no edge.
    device.submit("later", &[a.at(1), c.at(1)], &[]).unwrap();
    assert_eq!(device.log().len(), 1);
    own.promise(&c, 1, 9);
    a.signal(1).unwrap();
    assert_eq!(device.log()[1..], [("later", vec![7, 9])]);
    let mut edges = Edges::default();
    edges.push(Edge { source: own, lane: 3, epoch: 10 });
    assert_eq!(edges.iter().map(|edge| (edge.lane, edge.epoch)).collect::<Vec<_>>(), [(3, 10)]);
}

#[test]
fn edges_of_another_domain_are_no_promise() {
    let (device, a) = (Device::new(), Semaphore::new(0));
    Source::new(Domain::unique()).promise(&a, 1, 7);
    device.submit("waits", &[a.at(1)], &[]).unwrap();
    assert_eq!(device.log(), []);
    a.signal(1).unwrap();
    assert_eq!(device.log(), [("waits", vec![])]);
}

#[test]
fn it_counts_what_waits() {
    let (device, gate) = (Device::new(), Semaphore::new(0));
    assert!(device.pending.is_empty() && !device.pending.is_closed());
    device.submit("reached", &[gate.at(0)], &[]).unwrap();
    assert_eq!((device.pending.len(), device.pending.is_empty()), (0, true));
    for value in 1..=3 {
        device.submit("waits", &[gate.at(value)], &[]).unwrap();
    }
    assert_eq!((device.pending.len(), device.pending.is_empty()), (3, false));
    assert_eq!(format!("{:?}", device.pending), "PendingSet(3)");
    gate.signal(2).unwrap();
    assert_eq!((device.pending.len(), device.log().len()), (1, 3));
    device.pending.close(&device, on_purpose());
    assert!(device.pending.is_empty() && device.pending.is_closed());
}

#[test]
fn what_is_ready_counts_until_it_is_issued() {
    /// Makes more work ready during `issue`, and looks at its own set.
    struct Looks(PendingSet<Looks>, Semaphore, Mutex<Vec<usize>>);
    impl Issue for Looks {
        type Work = Ordered<()>;
        fn pending(&self) -> &PendingSet<Self> {
            &self.0
        }
        fn domain_for(&self, _: &Ordered<()>) -> Option<Domain> {
            None
        }
        fn issue(self: &Arc<Self>, _: Ordered<()>) {
            self.1.signal(2).unwrap();
            self.2.lock().unwrap().push(self.0.len());
        }
    }
    let gate = Semaphore::new(0);
    let device = Arc::new(Looks(PendingSet::new(), gate.clone(), Mutex::default()));
    for value in [1, 2, 2, 3] {
        device.0.submit(&device, &[gate.at(value)], &[], ().into()).unwrap();
    }
    gate.signal(1).unwrap();
    assert_eq!(*device.2.lock().unwrap(), [3, 2, 1], "what is ready and not issued, and one that waits");
}

#[test]
fn closing_fails_what_waits_and_refuses_what_comes() {
    let (device, gate, done) = (Device::new(), Semaphore::new(0), Semaphore::new(0));
    device.submit("waits", &[gate.at(1)], &[done.at(1)]).unwrap();
    device.pending.close(&device, on_purpose());
    device.pending.close(&device, Error::internal("a second time"));
    assert_eq!(done.query().unwrap_err().code(), Code::DataLoss);
    assert_eq!(gate.waiter_count(), 0);
    for waits in [vec![], vec![gate.at(1)]] {
        let refused = device.submit("too late", &waits, &[]).unwrap_err();
        assert_eq!(refused.code(), Code::DataLoss);
    }
    assert_eq!(device.log(), []);
}

#[test]
fn a_device_that_panics_over_one_operation_is_given_the_next() {
    let (device, [a, b]) = (Device::new(), [(); 2].map(|()| Semaphore::new(0)));
    let owed = Semaphore::new(0);
    device.submit(PANICS, &[a.at(1)], &[owed.at(1)]).unwrap();
    device.submit("next", &[b.at(1)], &[]).unwrap();
    a.signal(1).unwrap();
    assert_eq!(owed.query().unwrap_err().code(), Code::Internal);
    b.signal(1).unwrap();
    assert_eq!((device.log(), device.pending.len()), (vec![("next", vec![])], 0));
}

/// An operation fails through one wait while the resolution of its other wait is on the way. When it arrives, another
/// operation has the place.
#[test]
fn word_for_an_operation_that_is_gone_does_not_reach_its_successor() {
    let device = Device::new();
    let [failing, reached, failed, gate] = [(); 4].map(|()| Semaphore::new(0));
    device.submit("first", &[failing.at(1), reached.at(1)], &[failed.at(1)]).unwrap();
    let (successor, waits) = (device.clone(), [gate.at(1), gate.at(2)]);
    let _wait = when_settled(&failed.at(1), move || successor.submit("second", &waits, &[]).unwrap());
    let mut notifications = Notifications::new();
    failing.fail_into(on_purpose(), &mut notifications);
    reached.advance(1, &mut notifications);
    notifications.fire();
    assert_eq!(device.pending.len(), 1);
    gate.signal(1).unwrap();
    assert_eq!(device.log(), [], "the second operation still waits for a value");
    gate.signal(2).unwrap();
    assert_eq!(device.log(), [("second", vec![])]);
}

/// An operation fails while its waits are being registered, and its place is reused at once. Each operation cancels
/// only its own registrations.
#[test]
fn a_registration_of_an_operation_that_is_gone_is_not_its_successors() {
    let device = Device::new();
    let [failing, gate, other] = [(); 3].map(|()| Semaphore::new(0));
    let woken = Arc::new(AtomicUsize::new(0));
    let count = woken.clone();
    // The first waiter of `gate` has the number of the failing operation's first registration.
    let _wait = when_settled(&gate.at(1), move || {
        count.fetch_add(1, SeqCst);
    });
    let foreign = Source::with(Domain::unique(), {
        let (device, failing, waits) = (device.clone(), failing.clone(), [gate.at(1), other.at(1)]);
        move || {
            failing.fail(on_purpose());
            device.submit("second", &waits, &[]).unwrap();
        }
    });
    foreign.promise(&failing, 1, 1);
    device.submit("first", &[failing.at(1)], &[]).unwrap();
    assert_eq!(device.pending.len(), 1);
    // Only the registrations of the second operation are cancelled.
    other.fail(on_purpose());
    gate.signal(1).unwrap();
    assert_eq!((device.pending.len(), woken.load(SeqCst)), (0, 1));
}
