// SPDX-License-Identifier: MIT OR Apache-2.0
//! Progress: threads that look let the devices retire finished work, and threads that go to sleep demand progress of
//! the devices.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use windlass_hal::{
    Code, Deadline, Error, Fence, Notifications, Point, Semaphore, WaitPolicy,
    edge::{Domain, Edge, EdgeSource},
    wait_all, wait_any,
};

/// A device that reaches its points after a number of polls, or at the first demand.
struct Device {
    domain: Domain,
    points: Vec<Point>,
    polls: AtomicUsize,
    needed: usize,
    demands: AtomicUsize,
    helps_sleepers: bool,
}

impl Device {
    /// Owes value 1 of this many semaphores, and reaches it at the poll with this number.
    fn owing<const N: usize>(needed: usize, helps_sleepers: bool) -> (Arc<Self>, [Semaphore; N]) {
        let semaphores = [(); N].map(|()| Semaphore::new(0));
        let device = Arc::new(Self {
            domain: Domain::unique(),
            points: semaphores.iter().map(|semaphore| semaphore.at(1)).collect(),
            polls: AtomicUsize::new(0),
            needed,
            demands: AtomicUsize::new(0),
            helps_sleepers,
        });
        for (epoch, semaphore) in (1..).zip(&semaphores) {
            let edge = Edge { source: device.clone(), lane: 0, epoch };
            let mut notifications = Notifications::new();
            semaphore.attach_edge(1, edge, &mut notifications);
            notifications.fire();
        }
        (device, semaphores)
    }

    fn retire(&self) {
        let mut notifications = Notifications::new();
        self.points.iter().for_each(|point| point.semaphore.advance(point.value, &mut notifications));
        notifications.fire();
    }
}

impl EdgeSource for Device {
    fn domain(&self) -> Domain {
        self.domain
    }
    fn poll(&self) {
        if self.polls.fetch_add(1, SeqCst) + 1 == self.needed {
            self.retire();
        }
    }
    fn demand(&self, _: u32, _: u64) {
        self.demands.fetch_add(1, SeqCst);
        if self.helps_sleepers {
            self.retire();
        }
    }
}

const SOON: Duration = Duration::from_secs(30);

fn poll_once(future: &mut (impl Future<Output = windlass_hal::Result<()>> + Unpin)) -> Poll<bool> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop())).map(|result| result.is_ok())
}

#[test]
fn a_query_lets_the_device_retire() {
    let (device, [semaphore]) = Device::owing(1, false);
    assert_eq!(semaphore.query().unwrap(), 1);
    // Nothing is owed any more, so no device is polled.
    assert_eq!(semaphore.query().unwrap(), 1);
    assert_eq!((device.polls.load(SeqCst), device.demands.load(SeqCst)), (1, 0));
}

#[test]
fn a_failed_semaphore_asks_nobody() {
    let (device, [semaphore]) = Device::owing(1, false);
    semaphore.fail(Error::data_loss("on purpose"));
    assert_eq!(semaphore.query().unwrap_err().code(), Code::DataLoss);
    assert_eq!(device.polls.load(SeqCst), 0);
}

#[test]
fn a_fence_that_is_queried_lets_the_device_retire() {
    let (_device, [a, b]) = Device::owing(1, false);
    assert!(Fence::from_iter([a.at(1), b.at(1)]).query().unwrap());
}

#[test]
fn a_future_that_is_polled_lets_the_device_retire() {
    let (device, [semaphore]) = Device::owing(1, false);
    assert_eq!(poll_once(&mut semaphore.wait(1)), Poll::Ready(true));
    assert_eq!(device.demands.load(SeqCst), 0, "nobody sleeps");
}

#[test]
fn a_future_that_is_pending_depends_on_the_device() {
    let (device, [semaphore]) = Device::owing(0, false);
    let mut wait = semaphore.wait(1);
    assert_eq!(poll_once(&mut wait), Poll::Pending);
    assert_eq!(device.demands.load(SeqCst), 1);
    assert_eq!(poll_once(&mut wait), Poll::Pending);
    assert_eq!((device.demands.load(SeqCst), semaphore.waiter_count()), (1, 1), "registered once");
    device.retire();
    assert_eq!(poll_once(&mut wait), Poll::Ready(true));
}

#[test]
fn a_thread_that_looks_once_lets_the_device_retire() {
    let (_device, [a, b]) = Device::owing(1, false);
    wait_all(&[a.at(1), b.at(1)], Deadline::now(), WaitPolicy::Block).unwrap();
    let (_device, [a, b]) = Device::owing(1, false);
    assert!(wait_any(&[a.at(1), b.at(1)], Deadline::now(), WaitPolicy::Block).is_ok());
    let (_device, [semaphore]) = Device::owing(1, false);
    semaphore.wait_blocking(1, Deadline::now()).unwrap();
}

#[test]
fn a_thread_that_spins_goes_on_asking() {
    let (device, [semaphore]) = Device::owing(10_000, false);
    semaphore.wait_blocking_with(1, SOON, WaitPolicy::Spin).unwrap();
    assert_eq!((device.polls.load(SeqCst), device.demands.load(SeqCst)), (10_000, 0));
}

#[test]
fn a_thread_that_spins_a_little_asks_before_it_sleeps() {
    let (device, [semaphore]) = Device::owing(10, false);
    semaphore.wait_blocking(1, SOON).unwrap();
    assert_eq!(device.demands.load(SeqCst), 0, "reached while it was spinning");
}

#[test]
fn a_thread_that_goes_to_sleep_depends_on_every_device() {
    for policy in [WaitPolicy::Block, WaitPolicy::SpinThenBlock] {
        let (one, [a]) = Device::owing(0, true);
        let (other, [b]) = Device::owing(0, true);
        wait_all(&[a.at(1), b.at(1)], SOON, policy).unwrap();
        assert_eq!((one.demands.load(SeqCst), other.demands.load(SeqCst)), (1, 1), "{policy:?}");
        assert_eq!(a.waiter_count() + b.waiter_count(), 0, "{policy:?}");
    }
}

#[test]
fn a_thread_that_sleeps_looks_for_itself_now_and_then() {
    // No thread wakes the sleeper. The device retires at the third poll, which comes after some sleep.
    let (device, [semaphore]) = Device::owing(3, false);
    semaphore.wait_blocking_with(1, SOON, WaitPolicy::Block).unwrap();
    assert_eq!((device.polls.load(SeqCst), device.demands.load(SeqCst)), (3, 1));
}

#[test]
fn a_deadline_that_passes_leaves_nothing_and_names_what_is_open() {
    let (_device, [owed]) = Device::owing(0, false);
    let (reached, unpromised) = (Semaphore::new(1), Semaphore::new(0));
    let points = [reached.at(1), owed.at(1), unpromised.at(7)];
    for policy in [WaitPolicy::Block, WaitPolicy::SpinThenBlock, WaitPolicy::Spin] {
        for deadline in [Deadline::now(), Deadline::after(Duration::from_millis(1))] {
            let late = wait_all(&points, deadline, policy).unwrap_err();
            assert_eq!(late.code(), Code::DeadlineExceeded, "{policy:?}");
            let text = late.to_string();
            assert!(text.contains("to reach 7") && text.contains(&format!("{owed:?}")), "{text}");
            assert!(!text.contains(&format!("{reached:?}")), "{text}");
        }
    }
    assert_eq!(owed.waiter_count() + unpromised.waiter_count(), 0);
}
