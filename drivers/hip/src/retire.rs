// SPDX-License-Identifier: MIT OR Apache-2.0
//! Retirement: finds finished pieces, settles their signals, and lets go of everything they kept.
//!
//! One thread at a time retires, for all queues of the device, under a lock that is only ever tried. A thread that finds the
//! lock taken leaves a note and goes on. A piece retires only after the work that its edges name, so payloads grow in the
//! order of cause and effect. Wakers run, and objects are dropped, after all locks are released.

use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use windlass_hal::{Error, Notifications, Probe};

use crate::{
    call::{Event, EventStatus},
    group::Group,
    queue::{Queue, QueueState},
    queues::Queues,
    submission::{Next, Stack, Submission},
    sync::try_lock,
};

/// The most pieces that one round retires, which bounds how long a thread has the turn.
const ROUND: usize = 32;

/// The pieces that one round retired.
#[derive(Default)]
pub(crate) struct Retired {
    pub(crate) submissions: Stack,
    count: usize,
    /// Whether a piece follows one of them.
    pub(crate) goes_on: bool,
}

impl Retired {
    /// Whether the round ended before it had looked at everything.
    pub(crate) fn is_full(&self) -> bool {
        self.count == ROUND
    }
}

/// The pieces whose memory a queue keeps after a burst.
const KEPT: usize = 1024;

#[derive(Default)]
pub(crate) struct Retirer {
    /// Held by the thread that retires.
    turn: Mutex<()>,
    /// A thread came while another one had the turn.
    again: AtomicBool,
    /// The queue that the next submission to another queue looks at.
    next: AtomicUsize,
}

/// The turn to retire.
pub(crate) type Turn<'a> = MutexGuard<'a, ()>;

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

    /// A busy queue other than those in `own`, each in turn, as a bit.
    pub(crate) fn next_busy(&self, queues: &Queues, own: u64) -> u64 {
        let others = queues.busy() & !own;
        if others == 0 {
            return 0;
        }
        let passed = self.next.load(Ordering::Relaxed) & 63;
        let later = others >> passed << passed;
        let next = if later == 0 { others } else { later }.trailing_zeros();
        self.next.store(next as usize + 1, Ordering::Relaxed);
        1 << next
    }
}

impl Queues {
    /// Retires finished pieces of some queues, given as bits, at most [`ROUND`].
    pub(crate) fn collect(&self, bits: u64, retired: &mut Retired, notifications: &mut Notifications) {
        let mut progress = true;
        while std::mem::take(&mut progress) {
            let mut left = bits & self.busy();
            while let Some(queue) = self.get(left.trailing_zeros() as usize) {
                left &= left - 1;
                progress |= self.collect_queue(queue, retired, notifications);
            }
        }
    }

    /// Retires finished pieces of a queue. Returns whether there were any.
    fn collect_queue(&self, queue: &Queue, retired: &mut Retired, notifications: &mut Notifications) -> bool {
        let before = retired.count;
        while !retired.is_full()
            && let Some((epoch, fault)) = self.finished(queue)
            && self.take(queue, epoch, fault, retired, notifications)
        {}
        let progress = retired.count > before;
        if progress {
            queue.watchers.tell(queue.retired.load(Ordering::Acquire), notifications);
        }
        progress
    }

    /// The epoch up to which a queue has completed since the last call, if any, and the fault of the piece of that epoch. A
    /// queue that HIP is taking work into is skipped: the caller may have a deadline. Only the thread that has the turn calls
    /// this, so a piece that it finds stays in flight, and keeps its event, until that thread takes it out.
    fn finished(&self, queue: &Queue) -> Option<(u64, Option<Error>)> {
        let (epoch, event) = {
            let state = try_lock(&queue.state)?;
            let mut pieces = state.in_flight.iter().map(|submission| &submission.piece);
            if self.hip.lost().is_some() {
                return pieces.next_back().map(|last| (last.epoch, None));
            }
            let piece = pieces.find(|piece| piece.event.is_some() || matches!(piece.next, Next::Fail(_)))?;
            (piece.epoch, piece.event.as_deref().copied())
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
        self.outcome(event).map(|fault| (epoch, fault))
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

    /// Takes completed pieces out, up to the first whose edges have not retired, and settles their signals. `fault` is that of
    /// the piece of `epoch`. Returns whether more pieces of the queue may have completed.
    fn take(
        &self,
        queue: &Queue,
        epoch: u64,
        fault: Option<Error>,
        retired: &mut Retired,
        notifications: &mut Notifications,
    ) -> bool {
        let Some(mut state) = try_lock(&queue.state) else { return false };
        let QueueState { in_flight, events, clock, .. } = &mut *state;
        while !retired.is_full()
            && let Some(mut submission) = in_flight.pop_front()
        {
            let edges = &submission.order.edges;
            let ready = submission.piece.epoch <= epoch
                && (edges.is_empty()
                    || self.hip.lost().is_some()
                    || edges.iter().all(|edge| self.has_retired(edge.lane, edge.epoch)))
                && submission.unawaited_group().is_none_or(|group| self.has_ended(group));
            if !ready {
                let goes_on = submission.piece.epoch > epoch;
                in_flight.push_front(submission);
                return goes_on;
            }
            if submission.timing.has_begun() {
                clock.tell_times(&queue.gpu, &mut submission);
            }
            if let Some(event) = submission.piece.event.take() {
                events.release(event);
            }
            queue.retired.store(submission.piece.epoch, Ordering::SeqCst);
            let fault = fault.as_ref().filter(|_| submission.piece.epoch == epoch);
            self.settle_signals(&mut submission, fault, notifications);
            retired.goes_on |= matches!(submission.piece.next, Next::Resume);
            retired.count += 1;
            retired.submissions.push(submission);
        }
        if in_flight.is_empty() {
            in_flight.shrink_to(KEPT);
            self.note(queue, false);
            return false;
        }
        true
    }

    /// Whether a group of collective operations has ended, or no call tells of it any more.
    #[cold]
    fn has_ended(&self, group: &Group) -> bool {
        self.hip.lost().is_some() || self.outcome(*group.end).is_some()
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
        if let Some(error) = submission.issued_group().and_then(|group| group.failure.get()) {
            return Some(error.clone().context(submission.work.name()));
        }
        let fault = fault.cloned().or_else(|| self.foreign_fault(submission));
        let fault = fault.map(|fault| fault.context(submission.work.name()));
        fault.or_else(|| failed_wait(submission))
    }

    /// The fault of work in a foreign stream, or in that of a channel, that a submission stands behind. On hardware a fault loses the device.
    fn foreign_fault(&self, submission: &Submission) -> Option<Error> {
        if !self.hip.quirks.contained_faults {
            return None;
        }
        let of_timepoint = || submission.timepoint()?.event.as_ref();
        let event = submission.issued_group().map(|group| &group.end).or_else(of_timepoint)?;
        self.outcome(**event).flatten()
    }
}

/// The error of a wait that failed before its value was reached, although the work ran behind its edge.
fn failed_wait(submission: &Submission) -> Option<Error> {
    submission.order.waits.iter().find_map(|wait| match wait.semaphore.probe(wait.value, None) {
        Probe::Failed(error) => Some(error),
        _ => None,
    })
}
