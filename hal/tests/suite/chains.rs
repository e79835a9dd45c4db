// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long chains and large bursts in pending sets: neither the stack of a thread nor the memory of an idle set grows with
//! them.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::Arc,
    thread,
};

use windlass_hal::{
    Error, Notifications, Point, Points, Semaphore,
    edge::{Domain, Edge, EdgeSource},
    pending::{Issue, Ordered, PendingSet, reach},
};

struct Counting;

thread_local! {
    /// The bytes that this thread allocated and did not free.
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
}

// SAFETY: passes every call on to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A device whose operations end when they are issued.
struct Device {
    pending: PendingSet<Self>,
    domain: Domain,
}

impl Device {
    fn new() -> Arc<Self> {
        Arc::new(Self { pending: PendingSet::new(), domain: Domain::unique() })
    }

    fn submit(self: &Arc<Self>, wait: Point, signal: Point) {
        self.pending.submit(self, &[wait], &[signal], ().into()).expect("is open");
    }
}

impl Issue for Device {
    type Work = Ordered<()>;

    fn pending(&self) -> &PendingSet<Self> {
        &self.pending
    }

    fn domain_for(&self, _: &Ordered<()>) -> Option<Domain> {
        Some(self.domain)
    }

    fn issue(self: &Arc<Self>, work: Ordered<()>) {
        reach(&work.order.signals);
    }
}

/// Each of many devices waits for the one before. Returns the semaphores between them, the first of which starts the
/// chain.
fn chain_over_devices(length: usize) -> (Vec<Arc<Device>>, Vec<Semaphore>) {
    let devices: Vec<_> = (0..length).map(|_| Device::new()).collect();
    let semaphores: Vec<_> = (0..=length).map(|_| Semaphore::new(0)).collect();
    for (device, between) in devices.iter().zip(semaphores.windows(2)) {
        device.submit(between[0].at(1), between[1].at(1));
    }
    (devices, semaphores)
}

fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(256 << 10).spawn(run).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn a_chain_over_thousands_of_devices_needs_little_stack() {
    on_a_small_stack(|| {
        let (_devices, semaphores) = chain_over_devices(5000);
        semaphores[0].signal(1).expect("a signal");
        assert_eq!(semaphores[5000].query().expect("no failure"), 1);
    });
}

#[test]
fn a_failure_along_thousands_of_devices_needs_little_stack() {
    on_a_small_stack(|| {
        let (_devices, semaphores) = chain_over_devices(5000);
        semaphores[0].fail(Error::data_loss("on purpose"));
        assert!(semaphores[5000].query().is_err());
    });
}

#[test]
fn an_idle_set_keeps_no_memory_of_a_burst() {
    let device = Device::new();
    let gate = Semaphore::new(0);
    let done = Semaphore::new(0);
    let burst = |count: u64| {
        for _ in 0..count {
            device.submit(gate.at(gate.query().expect("no failure") + 1), done.at(1));
        }
        gate.signal(gate.query().expect("no failure") + 1).expect("a signal");
        assert!(device.pending.is_empty());
    };
    burst(100);
    let before = LIVE.get();
    burst(50_000);
    let kept = LIVE.get() - before;
    assert!(kept < 1 << 20, "{kept} bytes");
}

/// A device that owes values, and does nothing else.
struct Owing(Domain);

impl EdgeSource for Owing {
    fn domain(&self) -> Domain {
        self.0
    }
    fn poll(&self) {}
    fn demand(&self, _: u32, _: u64) {}
}

#[test]
fn a_semaphore_keeps_no_memory_of_many_promises() {
    let (semaphore, source) = (Semaphore::new(0), Arc::new(Owing(Domain::unique())));
    let before = LIVE.get();
    for value in 1..=50_000 {
        let edge = Edge { source: source.clone(), lane: 0, epoch: value };
        semaphore.attach_edge(value, edge, &mut Notifications::new());
    }
    assert!(LIVE.get() - before > 1 << 20, "promises take memory while they are open");
    semaphore.signal(50_000).expect("a signal");
    let kept = LIVE.get() - before;
    assert!(kept < 1 << 17, "{kept} bytes");
}

#[test]
fn a_cleared_list_keeps_no_memory_of_many_points() {
    let semaphore = Semaphore::new(0);
    let points: Vec<Point> = (1..=50_000).map(|value| semaphore.at(value)).collect();
    let before = LIVE.get();
    let mut list = Points::default();
    list.extend(&points);
    list.clear();
    let kept = LIVE.get() - before;
    assert!(kept < 1 << 12, "{kept} bytes");
}
