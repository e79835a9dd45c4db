// SPDX-License-Identifier: MIT OR Apache-2.0
//! The semaphore: signals, failures, observers, futures, threads that wait, and promises.

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
    Code, Deadline, Error, Notifications, Observer, Semaphore, WaitPolicy, edge::Domain, pending, wait_all,
    wait_any,
};

use crate::{Source, model};

struct CountWakes(AtomicUsize);

impl Wake for CountWakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Remembers what it hears: payloads, and `u64::MAX` for the failure.
#[derive(Default)]
struct Ear(std::sync::Mutex<Vec<u64>>);

impl Observer for Ear {
    fn advanced(&self, payload: u64) {
        self.0.lock().unwrap().push(payload);
    }

    fn failed(&self, _: &Error) {
        self.0.lock().unwrap().push(u64::MAX);
    }
}

#[test]
fn an_observer_hears_racing_signals_in_order() {
    model(|| {
        let semaphore = Semaphore::new(0);
        let ear = Arc::new(Ear::default());
        let observation = semaphore.observe(ear.clone());
        let threads = [1, 2].map(|value| {
            let semaphore = semaphore.clone();
            thread::spawn(move || semaphore.signal(value).unwrap())
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let heard = ear.0.lock().unwrap().clone();
        assert!(heard == [1, 2] || heard == [2], "{heard:?}");
        drop(observation);
        assert_eq!(Arc::strong_count(&ear), 1);
    });
}

#[test]
fn an_observer_hears_the_payload_before_a_failure_and_nothing_behind_it() {
    model(|| {
        let semaphore = Semaphore::new(0);
        let ear = Arc::new(Ear::default());
        let _observation = semaphore.observe(ear.clone());
        let signaller = thread::spawn({
            let semaphore = semaphore.clone();
            move || semaphore.signal(1).unwrap()
        });
        let failing = thread::spawn({
            let semaphore = semaphore.clone();
            move || semaphore.fail(Error::aborted("planned"))
        });
        signaller.join().unwrap();
        failing.join().unwrap();
        let reached = semaphore.wait_blocking(1, Deadline::now()).is_ok();
        let expected: &[u64] = if reached { &[1, u64::MAX] } else { &[u64::MAX] };
        assert_eq!(*ear.0.lock().unwrap(), expected);
    });
}

#[test]
fn an_observer_that_comes_while_a_signal_is_made_hears_it_or_finds_it() {
    model(|| {
        let semaphore = Semaphore::new(0);
        let signaller = thread::spawn({
            let semaphore = semaphore.clone();
            move || semaphore.signal(1).unwrap()
        });
        let ear = Arc::new(Ear::default());
        let observation = semaphore.observe(ear.clone());
        let found = semaphore.query().unwrap() == 1;
        signaller.join().unwrap();
        assert!(found || *ear.0.lock().unwrap() == [1]);
        drop(observation);
    });
}

/// Another thread may see a list between two of its signals, and never a signal before an earlier one of its list. Work
/// that such a thread runs behind the last signal ends after all of them.
#[test]
fn signals_are_seen_in_the_order_of_their_list() {
    model(|| {
        let [first, last, after] = [(); 3].map(|()| Semaphore::new(0));
        let ending = thread::spawn({
            let signals = [first.at(1), last.at(1)];
            move || pending::reach(&signals)
        });
        let next = thread::spawn({
            let (last, after) = (last.clone(), after.clone());
            move || {
                if last.query().unwrap() == 1 {
                    after.signal(1).unwrap();
                }
            }
        });
        if last.query().unwrap() == 1 || after.query().unwrap() == 1 {
            assert_eq!(first.query().unwrap(), 1);
        }
        ending.join().unwrap();
        next.join().unwrap();
    });
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
        for failing in failers {
            failing.join().unwrap();
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

#[test]
fn a_thread_that_waits_for_any_is_woken_by_either() {
    model(|| {
        let (a, b) = (Semaphore::new(0), Semaphore::new(0));
        let other = thread::spawn({
            let b = b.clone();
            move || b.signal(1).unwrap()
        });
        assert_eq!(wait_any(&[a.at(1), b.at(1)], Deadline::NEVER, WaitPolicy::Block).unwrap(), 1);
        other.join().unwrap();
        assert_eq!((a.waiter_count(), b.waiter_count()), (0, 0));
    });
}

#[test]
fn a_failure_among_several_points_does_not_hide_one_that_is_reached() {
    model(|| {
        let (a, b) = (Semaphore::new(0), Semaphore::new(0));
        let other = thread::spawn({
            let (a, b) = (a.clone(), b.clone());
            move || {
                b.signal(1).unwrap();
                a.fail(Error::aborted("planned"));
            }
        });
        // The value is reached before the failure. A thread that sees the failure also sees the value, even if it
        // looked for the failure first.
        assert_eq!(wait_any(&[b.at(1), a.at(1)], Deadline::NEVER, WaitPolicy::Block).unwrap(), 0);
        other.join().unwrap();
    });
}

#[test]
fn payloads_that_a_driver_advances_together_are_seen_in_that_order() {
    model(|| {
        let (cause, effect) = (Semaphore::new(0), Semaphore::new(0));
        let driver = thread::spawn({
            let (cause, effect) = (cause.clone(), effect.clone());
            move || {
                let mut notifications = Notifications::new();
                cause.advance(1, &mut notifications);
                effect.advance(1, &mut notifications);
                notifications.fire();
            }
        });
        if effect.query().unwrap() == 1 {
            assert_eq!(cause.query().unwrap(), 1);
        }
        loom::future::block_on(effect.wait(1)).unwrap();
        assert_eq!(cause.query().unwrap(), 1);
        driver.join().unwrap();
    });
}

#[test]
fn a_value_reached_before_the_failure_stays_reached() {
    model(|| {
        let semaphore = Semaphore::new(0);
        let other = thread::spawn({
            let semaphore = semaphore.clone();
            move || {
                semaphore.signal(1).unwrap();
                semaphore.fail(Error::aborted("planned"));
            }
        });
        loom::future::block_on(semaphore.wait(1)).unwrap();
        assert_eq!(loom::future::block_on(semaphore.wait(2)).unwrap_err().code(), Code::Aborted);
        loom::future::block_on(semaphore.wait(1)).unwrap();
        other.join().unwrap();
    });
}

#[test]
fn two_signallers_leave_the_greater_payload() {
    model(|| {
        let semaphore = Semaphore::new(0);
        let signallers = [2, 3].map(|value| {
            let semaphore = semaphore.clone();
            thread::spawn(move || semaphore.signal(value).unwrap())
        });
        let seen = semaphore.query().unwrap();
        assert!(semaphore.query().unwrap() >= seen, "a payload only grows");
        for signaller in signallers {
            signaller.join().unwrap();
        }
        assert_eq!(semaphore.query().unwrap(), 3);
    });
}

#[test]
fn a_device_knows_of_each_waiter_for_its_promise() {
    model(|| {
        let semaphore = Semaphore::new(0);
        let source = Source::new(Domain::unique());
        let producer = thread::spawn({
            let (semaphore, source) = (semaphore.clone(), source.clone());
            move || source.promise(&semaphore, 1)
        });
        let mut wait = Box::pin(semaphore.wait(1));
        assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        producer.join().unwrap();
        assert!(source.demands.load(SeqCst) > 0, "nobody makes progress for the waiter");
    });
}

#[test]
fn a_future_dropped_while_a_promise_is_made_and_kept_leaves_nothing() {
    model(|| {
        let semaphore = Semaphore::new(0);
        let source = Source::new(Domain::unique());
        let producer = thread::spawn({
            let (semaphore, source) = (semaphore.clone(), source.clone());
            move || {
                source.promise(&semaphore, 1);
                semaphore.signal(1).unwrap();
            }
        });
        {
            let mut wait = pin!(semaphore.wait(1));
            let _ = wait.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
        producer.join().unwrap();
        assert_eq!(semaphore.waiter_count(), 0);
        assert_eq!(Arc::strong_count(&source), 1, "a kept promise keeps no device");
    });
}
