// SPDX-License-Identifier: MIT OR Apache-2.0
//! Retirement: finding what has finished, reaching its signals, letting go of what it kept.
//!
//! One thread at a time retires, for all queues of the device, under a lock that is only ever tried: whoever finds
//! it taken leaves a note and goes on. Payloads grow in the order of cause and effect, because work retires only
//! after the work that its edges name. Wakers run, and resources go, after the lock is released.

use std::sync::{
    Mutex, TryLockError,
    atomic::{AtomicBool, Ordering},
};

use windlass_hal::{Error, Notifications};

use crate::{
    device::{Inner, lock},
    queue::{InFlight, Queue},
};

#[derive(Default)]
pub(crate) struct Retirer {
    /// Room for what is let go, kept between rounds.
    turn: Mutex<Vec<InFlight>>,
    /// Somebody came while another thread had the turn.
    again: AtomicBool,
}

impl Inner {
    /// Retires whatever has finished, unless another thread is doing so; then that thread looks once more.
    pub(crate) fn retire(&self) {
        loop {
            let mut turn = match self.retirer.turn.try_lock() {
                Ok(turn) => turn,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    self.retirer.again.store(true, Ordering::SeqCst);
                    // The other thread may have looked for the note just before.
                    match self.retirer.turn.try_lock() {
                        Ok(turn) => turn,
                        Err(_) => return,
                    }
                }
            };
            self.retirer.again.store(false, Ordering::SeqCst);
            let mut notifications = Notifications::new();
            self.collect(&mut turn, &mut notifications);
            let mut gone = std::mem::take(&mut *turn);
            drop(turn);
            notifications.fire();
            let lost = self.lost().cloned();
            gone.clear();
            if let Ok(mut turn) = self.retirer.turn.try_lock() {
                if turn.capacity() < gone.capacity() {
                    *turn = gone;
                }
            }
            if let Some(error) = lost {
                self.close_pending(error);
            }
            if !self.retirer.again.load(Ordering::SeqCst) {
                return;
            }
        }
    }

    fn collect(&self, gone: &mut Vec<InFlight>, notifications: &mut Notifications) {
        let mut progress = true;
        while std::mem::take(&mut progress) {
            for queue in &self.queues {
                while let Some(epoch) = self.finished(queue) {
                    let before = gone.len();
                    self.take(queue, epoch, gone);
                    progress |= gone.len() > before;
                    for flight in &mut gone[before..] {
                        self.settle(flight, notifications);
                    }
                    if gone.len() == before {
                        break;
                    }
                }
            }
        }
    }

    /// The epoch up to which a queue has completed since it was last asked, if any.
    fn finished(&self, queue: &Queue) -> Option<u64> {
        let (epoch, event) = {
            let state = lock(&queue.state);
            if self.is_lost() {
                return state.in_flight.back().map(|last| last.epoch);
            }
            let flight =
                state.in_flight.iter().find(|flight| flight.event.is_some() || flight.failure.is_some())?;
            (flight.epoch, flight.event.clone())
        };
        let Some(event) = event else {
            // Enqueuing failed and so did recording: wait for the work before it by an event of our own.
            return match queue.event_from(self, epoch) {
                Ok(Some(event)) => self.complete(*event).then_some(epoch),
                Ok(None) => None,
                Err(error) => {
                    self.lose(error);
                    Some(epoch)
                }
            };
        };
        self.complete(*event).then_some(epoch)
    }

    fn complete(&self, event: crate::call::Event) -> bool {
        self.hip.query(event).unwrap_or_else(|error| {
            self.lose(error);
            true
        })
    }

    /// Takes out what has completed, as far as its edges have retired.
    fn take(&self, queue: &Queue, epoch: u64, gone: &mut Vec<InFlight>) {
        let mut state = lock(&queue.state);
        while let Some(flight) = state.in_flight.front() {
            let ready = flight.epoch <= epoch
                && (self.is_lost()
                    || flight.edges.iter().all(|edge| self.has_retired(edge.lane, edge.epoch)));
            if !ready {
                return;
            }
            queue.retired.store(flight.epoch, Ordering::Release);
            gone.extend(state.in_flight.pop_front());
        }
    }

    /// Reaches the signals of completed work, or fails them with whatever it depends on.
    fn settle(&self, flight: &mut InFlight, notifications: &mut Notifications) {
        if let Some(event) = flight.event.take() {
            self.events.release(event);
        }
        let failure = self.lost().cloned().or_else(|| flight.failure.take()).or_else(|| failed_wait(flight));
        for signal in flight.signals.iter() {
            match &failure {
                Some(error) => signal.semaphore.fail_into(error.clone(), notifications),
                None => signal.semaphore.advance(signal.value, notifications),
            }
        }
    }

    /// The device cannot be trusted any more. The first error stays; memory is never reused. Everything in flight
    /// fails at the next [`retire`](Self::retire).
    pub(crate) fn lose(&self, error: Error) {
        let error = error.context(format!("using {}; the device is lost, open it anew", self.info.uri));
        if self.set_lost(error.clone()) {
            tracing::error!(target: "windlass::hip", %error, "device lost");
            self.allocator.quarantine();
        }
    }
}

/// The error of a wait that failed before it was reached, although the work ran behind its edge.
fn failed_wait(flight: &InFlight) -> Option<Error> {
    flight.waits.iter().find_map(|wait| match wait.semaphore.probe(wait.value, None) {
        windlass_hal::Probe::Failed(error) => Some(error),
        _ => None,
    })
}
