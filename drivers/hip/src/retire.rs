// SPDX-License-Identifier: MIT OR Apache-2.0
//! Retirement: finds finished pieces, settles their signals, and lets go of everything they kept.
//!
//! One thread at a time retires, for all queues of the device, under a lock that is only ever tried. A thread that finds the
//! lock taken leaves a note and goes on. A piece retires only after the work that its edges name, so payloads grow in the
//! order of cause and effect. Wakers run, and objects are dropped, after the lock is released.

use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use windlass_hal::{Error, Notifications, Probe};

use crate::{
    call::{Event, EventStatus},
    queue::{Queue, QueueState},
    queues::Queues,
    submission::{Next, Submission},
    sync::try_lock,
};

/// The entries whose memory a list keeps after a burst.
const KEPT: usize = 1024;

#[derive(Default)]
pub(crate) struct Retirer {
    /// Held by the thread that retires. The memory of the list is kept between rounds.
    turn: Mutex<Vec<Box<Submission>>>,
    /// A thread came while another one had the turn.
    again: AtomicBool,
    /// The queue that the next submission to another queue looks at.
    next: AtomicUsize,
}

/// The turn to retire.
pub(crate) type Turn<'a> = MutexGuard<'a, Vec<Box<Submission>>>;

impl Retirer {
    /// Takes the turn if no other thread has it.
    pub(crate) fn try_turn(&self) -> Option<Turn<'_>> {
        try_lock(&self.turn)
    }

    /// Takes the turn, or has the thread that has it look once more.
    pub(crate) fn turn_or_note(&self) -> Option<Turn<'_>> {
        let turn = self.try_turn().or_else(|| {
            self.again.store(true, Ordering::SeqCst);
            // The other thread may have looked for the note just before.
            self.try_turn()
        })?;
        if self.is_noted() {
            self.again.store(false, Ordering::SeqCst);
        }
        Some(turn)
    }

    /// Whether a thread left a note since the turn was taken.
    pub(crate) fn is_noted(&self) -> bool {
        self.again.load(Ordering::SeqCst)
    }

    /// A busy queue other than `own`, each in turn.
    pub(crate) fn next_busy<'q>(&self, queues: &'q Queues, own: Option<&Queue>) -> Option<&'q Queue> {
        let (count, start) = (queues.len(), self.next.load(Ordering::Relaxed));
        let turns = (0..count).filter_map(|step| queues.get((start + step) % count));
        let other =
            turns.filter(|queue| is_busy(queue)).find(|queue| own.is_none_or(|own| own.index != queue.index));
        if let Some(other) = other {
            self.next.store(other.index as usize + 1, Ordering::Relaxed);
        }
        other
    }

    /// Retires the finished pieces of some queues. Returns them after the turn is over and the wakers have run.
    pub(crate) fn retire<'q>(
        &self,
        mut turn: Turn<'_>,
        queues: &Queues,
        some: impl Iterator<Item = &'q Queue> + Clone,
    ) -> Vec<Box<Submission>> {
        let mut notifications = Notifications::new();
        queues.collect(some, &mut turn, &mut notifications);
        // The list stays in place if nothing has finished, as in most rounds of submissions.
        let retired = if turn.is_empty() { Vec::new() } else { std::mem::take(&mut *turn) };
        drop(turn);
        notifications.fire();
        retired
    }

    /// Keeps the memory of an empty list for the next round.
    pub(crate) fn keep(&self, mut retired: Vec<Box<Submission>>) {
        retired.shrink_to(KEPT);
        if let Some(mut turn) = self.try_turn()
            && turn.capacity() < retired.capacity()
        {
            *turn = retired;
        }
    }
}

/// Whether a queue has pieces in flight.
pub(crate) fn is_busy(queue: &Queue) -> bool {
    !queue.has_retired(queue.newest())
}

impl Queues {
    fn collect<'q>(
        &self,
        queues: impl Iterator<Item = &'q Queue> + Clone,
        retired: &mut Vec<Box<Submission>>,
        notifications: &mut Notifications,
    ) {
        let mut progress = true;
        while std::mem::take(&mut progress) {
            for queue in queues.clone() {
                while let Some((epoch, fault)) = self.finished(queue) {
                    let before = retired.len();
                    self.take(queue, epoch, retired);
                    if retired.len() == before {
                        break;
                    }
                    progress = true;
                    for submission in &mut retired[before..] {
                        let fault = fault.as_ref().filter(|_| submission.piece.epoch == epoch);
                        self.settle_signals(submission, fault, notifications);
                    }
                    queue.watchers.tell(queue.retired.load(Ordering::Acquire), notifications);
                }
            }
        }
    }

    /// The epoch up to which a queue has completed since the last call, if any, and the fault of the piece of that epoch. A
    /// queue that HIP is taking work into is skipped: the caller may have a deadline.
    fn finished(&self, queue: &Queue) -> Option<(u64, Option<Error>)> {
        if !is_busy(queue) {
            return None;
        }
        let (epoch, event) = {
            let state = try_lock(&queue.state)?;
            if self.hip.lost().is_some() {
                return state.in_flight.back().map(|last| (last.piece.epoch, None));
            }
            let piece = state
                .in_flight
                .iter()
                .map(|submission| &submission.piece)
                .find(|piece| piece.event.is_some() || matches!(piece.next, Next::Fail(_)))?;
            (piece.epoch, piece.event.clone())
        };
        let Some(event) = event else {
            // Enqueueing the piece failed, and so did recording its event: wait for the work before it by another event.
            return match queue.event_from(epoch) {
                // A fault that this event reports is that of later work.
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

    /// The fault of the work that an event stands for, if any; `None` while the work runs.
    fn outcome(&self, event: Event) -> Option<Option<Error>> {
        match self.hip.query(event) {
            Ok(EventStatus::Running) => None,
            Ok(EventStatus::Complete) => Some(None),
            Ok(EventStatus::Faulted(error)) => Some(Some(error)),
            Err(error) => {
                self.hip.lose(error);
                Some(None)
            }
        }
    }

    /// Takes completed pieces out, up to the first whose edges have not retired.
    fn take(&self, queue: &Queue, epoch: u64, retired: &mut Vec<Box<Submission>>) {
        let Some(mut state) = try_lock(&queue.state) else { return };
        let QueueState { in_flight, events, .. } = &mut *state;
        while let Some(mut submission) = in_flight.pop_front() {
            let mut edges = submission.order.edges.iter();
            let ready = submission.piece.epoch <= epoch
                && (self.hip.lost().is_some() || edges.all(|edge| self.has_retired(edge.lane, edge.epoch)));
            if !ready {
                return in_flight.push_front(submission);
            }
            if let Some(event) = submission.piece.event.take() {
                events.release(event);
            }
            queue.retired.store(submission.piece.epoch, Ordering::Release);
            retired.push(submission);
        }
        in_flight.shrink_to(KEPT);
    }

    /// Reaches the signals of a completed piece, or fails them. The signals of a piece that another follows stay open.
    fn settle_signals(
        &self,
        submission: &mut Submission,
        fault: Option<&Error>,
        notifications: &mut Notifications,
    ) {
        if let Some(error) = self.failure(submission, fault) {
            submission.piece.next = Next::Fail(error);
        }
        for signal in submission.order.signals.iter() {
            match &submission.piece.next {
                Next::Resume => return,
                Next::Signal => signal.semaphore.advance(signal.value, notifications),
                Next::Fail(error) => signal.semaphore.fail_into(error.clone(), notifications),
            }
        }
    }

    /// The failure of a completed piece: the loss of the device, an earlier failure of its own, its fault, or the failure
    /// of a wait.
    fn failure(&self, submission: &Submission, fault: Option<&Error>) -> Option<Error> {
        if let Some(lost) = self.hip.lost() {
            return Some(lost.clone());
        }
        if let Next::Fail(_) = submission.piece.next {
            return None;
        }
        let fault = fault.map(|fault| fault.clone().context(submission.work.name()));
        fault.or_else(|| failed_wait(submission))
    }
}

/// The error of a wait that failed before its value was reached, although the work ran behind its edge.
fn failed_wait(submission: &Submission) -> Option<Error> {
    submission.order.waits.iter().find_map(|wait| match wait.semaphore.probe(wait.value, None) {
        Probe::Failed(error) => Some(error),
        _ => None,
    })
}
