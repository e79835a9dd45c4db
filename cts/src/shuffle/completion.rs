// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals that are held back: the wrapped device signals a semaphore of ours, and the client's signals follow when the
//! schedule says so, and not before the work has ended.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Wake, Waker},
};

use windlass_hal::{Notifications, Point, Points, Probe, Semaphore, Wait};

use super::schedule::Turn;

/// The signals of one submission whose work was handed on.
#[derive(Debug)]
pub(super) struct Completion {
    pub(super) id: u64,
    pub(super) turn: Turn,
    ended: Semaphore,
    signals: Points,
    stage: Mutex<Stage>,
}

#[derive(Debug, Default)]
struct Stage {
    released: bool,
    settled: bool,
    /// Registered with `ended` while it is here.
    wait: Option<Wait>,
}

impl Completion {
    /// Holds `signals` back.
    pub(super) fn new(id: u64, turn: Turn, signals: Points) -> Arc<Self> {
        Arc::new(Self { id, turn, ended: Semaphore::new(0), signals, stage: Mutex::default() })
    }

    /// What the wrapped device signals instead.
    pub(super) fn ended(&self) -> Point {
        self.ended.at(1)
    }

    /// What is held back.
    pub(super) fn signals(&self) -> &Points {
        &self.signals
    }

    /// Lets the signals go: now if the work has ended, else as soon as it has.
    pub(super) fn release(self: Arc<Self>) {
        self.lock().released = true;
        if self.settle() {
            return;
        }
        let mut wait = self.ended.wait(1);
        let waker = Waker::from(self.clone());
        if Pin::new(&mut wait).poll(&mut Context::from_waker(&waker)).is_pending() {
            self.lock().wait = Some(wait);
        }
        self.settle();
    }

    /// Signals or fails, once, if the signals were released and the work has ended. Whether that is so.
    pub(super) fn settle(&self) -> bool {
        let mut notifications = Notifications::new();
        let mut stage = self.lock();
        if !stage.released {
            return false;
        }
        if !stage.settled {
            match self.ended.probe(1, None) {
                Probe::Reached => {
                    for signal in self.signals.iter() {
                        signal.semaphore.advance(signal.value, &mut notifications);
                    }
                }
                Probe::Failed(error) => {
                    for signal in self.signals.iter() {
                        signal.semaphore.fail_into(error.clone(), &mut notifications);
                    }
                }
                _ => return false,
            }
            stage.settled = true;
        }
        let wait = stage.wait.take();
        drop(stage);
        drop(wait);
        notifications.fire();
        true
    }

    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Completion {
    fn wake(self: Arc<Self>) {
        self.settle();
    }
}
