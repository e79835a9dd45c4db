// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory use and the debug texts of semaphores. The conformance suite tests their behaviour.

use std::{future::Future, pin::pin, sync::Arc, task};

use windlass_hal::{
    Error, Fence, Notifications, Semaphore,
    edge::{Domain, Edge, EdgeSource},
};

struct Device(Domain);

impl EdgeSource for Device {
    fn domain(&self) -> Domain {
        self.0
    }
    fn poll(&self) {}
    fn demand(&self, _: u32, _: u64) {}
}

fn promise(device: &Arc<Device>, semaphore: &Semaphore, value: u64) {
    let mut notifications = Notifications::new();
    semaphore.attach_edge(value, Edge { source: device.clone(), lane: 3, epoch: 7 }, &mut notifications);
    notifications.fire();
}

#[test]
fn a_device_is_kept_while_it_owes_something() {
    let device = Arc::new(Device(Domain::unique()));
    let [reached, failed] = [(); 2].map(|()| Semaphore::new(0));
    let owes = || Arc::strong_count(&device) - 1;
    [1, 2, 5].into_iter().for_each(|value| promise(&device, &reached, value));
    promise(&device, &failed, 1);
    assert_eq!(owes(), 4);
    reached.signal(2).unwrap();
    assert_eq!(owes(), 2, "a value that is reached is owed no more");
    failed.fail(Error::aborted("on purpose"));
    assert_eq!(owes(), 1, "a semaphore that failed is owed nothing");
    // A promise is dropped if it comes after the value or the failure.
    promise(&device, &reached, 2);
    promise(&device, &reached, 1);
    promise(&device, &failed, 9);
    assert_eq!(owes(), 1);
    reached.signal(5).unwrap();
    assert_eq!(owes(), 0);
}

#[test]
fn a_promise_of_a_greater_value_covers_smaller_ones() {
    let [near, far] = [(); 2].map(|()| Arc::new(Device(Domain::unique())));
    let semaphore = Semaphore::new(0);
    promise(&near, &semaphore, 2);
    promise(&far, &semaphore, 9);
    let promised = |value, device: &Arc<Device>| {
        matches!(semaphore.probe(value, Some(device.domain())), windlass_hal::Probe::Edge(_))
    };
    assert!(promised(1, &near) && promised(2, &near) && !promised(3, &near));
    assert!(promised(1, &far) && promised(9, &far) && !promised(10, &far));
}

#[test]
fn text_says_where_it_stands() {
    let semaphore = Semaphore::new(3);
    let text = |semaphore: &Semaphore| format!("{semaphore:?}");
    assert!(
        text(&semaphore).starts_with("Semaphore(0x") && text(&semaphore).ends_with(" at 3)"),
        "{semaphore:?}"
    );
    assert_ne!(text(&semaphore), text(&Semaphore::new(3)), "two timelines");
    semaphore.fail(Error::aborted("on purpose"));
    assert!(text(&semaphore).ends_with(" at 3, failed)"), "{semaphore:?}");
    let device = Arc::new(Device(Domain::unique()));
    let edge = Edge { source: device.clone(), lane: 3, epoch: 7 };
    assert_eq!(format!("{edge:?}"), format!("Edge({:?} lane 3 epoch 7)", device.domain()));
    let (waited, mut notifications) = (Semaphore::new(0), Notifications::new());
    let mut wait = pin!(waited.wait(2));
    assert!(format!("{wait:?}").ends_with(" at 0) for 2)"), "{wait:?}");
    assert!(wait.as_mut().poll(&mut task::Context::from_waker(task::Waker::noop())).is_pending());
    waited.advance(2, &mut notifications);
    assert_eq!(format!("{notifications:?}"), "Notifications(1)");
}

#[test]
fn a_fence_that_failed_says_so_each_time() {
    let [failed, reached] = [(); 2].map(|()| Semaphore::new(0));
    let mut wait = pin!(Fence::from_iter([failed.at(1), reached.at(1)]).wait());
    let mut context = task::Context::from_waker(task::Waker::noop());
    failed.fail(Error::aborted("on purpose"));
    reached.signal(1).unwrap();
    for _ in 0..2 {
        assert!(matches!(wait.as_mut().poll(&mut context), task::Poll::Ready(Err(_))));
    }
}

#[test]
fn a_wrapper_knows_a_timeline_again_and_sees_its_last_handle() {
    let (first, second) = (Semaphore::new(0), Semaphore::new(0));
    assert_ne!(first.id(), second.id());
    assert!(!first.is_shared());
    let point = first.at(1);
    assert_eq!(point.semaphore.id(), first.id());
    assert!(first.is_shared());
    drop(point);
    assert!(!first.is_shared());
}
