// SPDX-License-Identifier: MIT OR Apache-2.0
//! Retirement: finding what has finished, reaching its signals, letting go of what it kept.
//!
//! One thread at a time retires, for all queues of the device, under a lock that is only ever tried: whoever finds
//! it taken leaves a note and goes on. Payloads grow in the order of cause and effect, because work retires only
//! after the work that its edges name. Wakers run, and resources go, after the lock is released.

use std::sync::{
    Mutex, MutexGuard, TryLockError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use windlass_hal::{Error, Notifications, QueueAffinity};

use crate::{
    call::{Event, Progress},
    device::Inner,
    queue::{InFlight, Queue},
};

#[derive(Default)]
pub(crate) struct Retirer {
    /// Room for what is let go, kept between rounds.
    turn: Mutex<Vec<InFlight>>,
    /// Somebody came while another thread had the turn.
    again: AtomicBool,
    /// The queue that a submission to another one looks at next.
    next: AtomicUsize,
}

impl Inner {
    /// Retires whatever has finished, unless another thread is doing so; then that thread looks once more.
    pub(crate) fn retire(&self) {
        loop {
            let turn = match try_lock(&self.retirer.turn) {
                Some(turn) => turn,
                None => {
                    self.retirer.again.store(true, Ordering::SeqCst);
                    // The other thread may have looked for the note just before.
                    match try_lock(&self.retirer.turn) {
                        Some(turn) => turn,
                        None => return,
                    }
                }
            };
            self.retirer.again.store(false, Ordering::SeqCst);
            let went_on = self.round(turn, self.queues.iter());
            if !went_on && !self.retirer.again.load(Ordering::SeqCst) {
                return;
            }
        }
    }

    /// Retires on behalf of a submission, at a cost that does not depend on how many queues are busy: looks at the queue
    /// that it is for, if that is one, and at one other by turns. So no queue is forgotten that nobody asks about.
    pub(crate) fn retire_some(&self, affinity: QueueAffinity) {
        if self.is_lost() {
            return self.retire();
        }
        let busy = |queue: &&Queue| !queue.has_retired(queue.newest());
        let bits = affinity.bits();
        let own = self.queues.get(bits.trailing_zeros() as usize).filter(|_| bits.is_power_of_two());
        let count = self.queues.len();
        let start = self.retirer.next.load(Ordering::Relaxed);
        let turns = (0..count).filter_map(|step| self.queues.get((start + step) % count));
        let other = turns.filter(busy).find(|queue| own.is_none_or(|own| own.index != queue.index));
        if let Some(other) = other {
            self.retirer.next.store(other.index as usize + 1, Ordering::Relaxed);
        }
        // Whoever has the turn looks at more than this.
        let Some(turn) = try_lock(&self.retirer.turn) else { return };
        let went_on = self.round(turn, own.into_iter().filter(busy).chain(other));
        if went_on || self.is_lost() || self.retirer.again.load(Ordering::SeqCst) {
            self.retire();
        }
    }

    /// Retires what has finished on some queues. Whether an operation in pieces went on.
    fn round<'a>(
        &self,
        mut turn: MutexGuard<'_, Vec<InFlight>>,
        queues: impl Iterator<Item = &'a Queue> + Clone,
    ) -> bool {
        let mut notifications = Notifications::new();
        self.collect(queues, &mut turn, &mut notifications);
        let mut gone = std::mem::take(&mut *turn);
        drop(turn);
        notifications.fire();
        let lost = self.lost().cloned();
        let went_on = gone.iter().any(|flight| flight.rest.is_some());
        if went_on {
            for mut flight in gone.drain(..) {
                if let Some(rest) = flight.rest.take() {
                    self.resume(flight, rest);
                }
            }
        }
        gone.clear();
        if let Some(mut turn) = try_lock(&self.retirer.turn)
            && turn.capacity() < gone.capacity()
        {
            *turn = gone;
        }
        if let Some(error) = lost {
            self.close_pending(error);
        }
        went_on
    }

    fn collect<'a>(
        &self,
        queues: impl Iterator<Item = &'a Queue> + Clone,
        gone: &mut Vec<InFlight>,
        notifications: &mut Notifications,
    ) {
        let mut progress = true;
        while std::mem::take(&mut progress) {
            for queue in queues.clone() {
                while let Some((epoch, fault)) = self.finished(queue) {
                    let before = gone.len();
                    self.take(queue, epoch, gone);
                    if gone.len() == before {
                        break;
                    }
                    progress = true;
                    for flight in &mut gone[before..] {
                        if flight.epoch == epoch && flight.failure.is_none() {
                            flight.failure =
                                fault.as_ref().map(|fault| fault.clone().context(flight.operation.name()));
                        }
                        self.settle(queue, flight, notifications);
                    }
                    queue.watchers.tell(queue.retired.load(Ordering::Acquire), notifications);
                }
            }
        }
    }

    /// The epoch up to which a queue has completed since it was last asked, if any, and what went wrong with the work of
    /// that epoch. A queue that HIP takes work into just now is passed over: whoever asks may have a deadline.
    fn finished(&self, queue: &Queue) -> Option<(u64, Option<Error>)> {
        let (epoch, event) = {
            let state = try_lock(&queue.state)?;
            if self.is_lost() {
                return state.in_flight.back().map(|last| (last.epoch, None));
            }
            let flight =
                state.in_flight.iter().find(|flight| flight.event.is_some() || flight.failure.is_some())?;
            (flight.epoch, flight.event.clone())
        };
        let Some(event) = event else {
            // Enqueuing failed and so did recording: wait for the work before it by an event of our own.
            return match queue.event_from(epoch) {
                // Whatever that event has to tell is about later work.
                Ok(Some(event)) => self.outcome(*event).map(|_| (epoch, None)),
                Ok(None) => None,
                Err(error) => {
                    self.hip.lose(error);
                    Some((epoch, None))
                }
            };
        };
        self.outcome(*event).map(|fault| (epoch, fault))
    }

    /// What went wrong with the work that an event stands for, if anything; `None` while it runs.
    fn outcome(&self, event: Event) -> Option<Option<Error>> {
        match self.hip.query(event) {
            Ok(Progress::Running) => None,
            Ok(Progress::Complete) => Some(None),
            Ok(Progress::Faulted(error)) => Some(Some(error)),
            Err(error) => {
                self.hip.lose(error);
                Some(None)
            }
        }
    }

    /// Takes out what has completed, as far as its edges have retired.
    fn take(&self, queue: &Queue, epoch: u64, gone: &mut Vec<InFlight>) {
        let Some(mut state) = try_lock(&queue.state) else { return };
        while let Some(flight) = state.in_flight.front() {
            let ready = flight.epoch <= epoch
                && (self.is_lost()
                    || flight.edges.iter().all(|edge| self.has_retired(edge.lane, edge.epoch)));
            if !ready {
                return;
            }
            queue.retired.store(flight.epoch, Ordering::Release);
            if let Some(flight) = state.in_flight.pop_front() {
                gone.push(flight);
            }
        }
    }

    /// Reaches the signals of completed work, or fails them with whatever it depends on.
    fn settle(&self, queue: &Queue, flight: &mut InFlight, notifications: &mut Notifications) {
        if let Some(event) = flight.event.take() {
            queue.gpu.events.release(event);
        }
        let failure = self.lost().cloned().or_else(|| flight.failure.take()).or_else(|| failed_wait(flight));
        match failure {
            // Its signals are for the last piece to reach.
            None if flight.rest.is_some() => return,
            None => {}
            Some(_) => flight.rest = None,
        }
        for signal in flight.signals.iter() {
            match &failure {
                Some(error) => signal.semaphore.fail_into(error.clone(), notifications),
                None => signal.semaphore.advance(signal.value, notifications),
            }
        }
    }
}

/// Locks if nobody else does, whatever a thread that panicked left.
fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// The error of a wait that failed before it was reached, although the work ran behind its edge.
fn failed_wait(flight: &InFlight) -> Option<Error> {
    flight.waits.iter().find_map(|wait| match wait.semaphore.probe(wait.value, None) {
        windlass_hal::Probe::Failed(error) => Some(error),
        _ => None,
    })
}
