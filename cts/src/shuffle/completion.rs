// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals that are held back. The wrapped device signals a semaphore of this wrapper. The client's signals follow
//! when the schedule releases them and the work has ended.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Wake, Waker},
};

use windlass_hal::{Notifications, Point, Points, Probe, Semaphore, Wait};

use super::schedule::Turn;

/// The signals of one submission that went to the wrapped device.
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
    signalled: bool,
    /// The registration with `ended`. `None` before and after it.
    wait: Option<Wait>,
}

impl Completion {
    /// Holds `signals` back.
    pub(super) fn new(id: u64, turn: Turn, signals: Points) -> Arc<Self> {
        Arc::new(Self { id, turn, ended: Semaphore::new(0), signals, stage: Mutex::default() })
    }

    /// The point that the wrapped device signals instead.
    pub(super) fn ended(&self) -> Point {
        self.ended.at(1)
    }

    /// The signals that are held back.
    pub(super) fn signals(&self) -> &Points {
        &self.signals
    }

    /// Releases the signals: at once if the work has ended, otherwise at its end.
    pub(super) fn release(self: Arc<Self>) {
        self.lock().released = true;
        if self.signal_if_ended() {
            return;
        }
        let mut wait = self.ended.wait(1);
        let waker = Waker::from(self.clone());
        if Pin::new(&mut wait).poll(&mut Context::from_waker(&waker)).is_pending() {
            self.lock().wait = Some(wait);
        }
        self.signal_if_ended();
    }

    /// Reaches or fails the signals once they are released and the work has ended. Returns whether both hold.
    pub(super) fn signal_if_ended(&self) -> bool {
        let mut notifications = Notifications::new();
        let mut stage = self.lock();
        if !stage.released {
            return false;
        }
        if !stage.signalled {
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
            stage.signalled = true;
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
        self.signal_if_ended();
    }
}
