// SPDX-License-Identifier: MIT OR Apache-2.0
//! Progress: each thread that submits, queries, polls or waits retires finished work, and enqueues the pieces that follow.

use windlass_hal::QueueAffinity;

use crate::{
    device::Inner,
    queue::Queue,
    retire::{Turn, is_busy},
    submission::{Next, Submission},
};

impl Inner {
    /// Retires all finished work, unless another thread is retiring; then that thread looks once more.
    pub(crate) fn retire(&self) {
        while let Some(turn) = self.retirer.turn_or_note() {
            let resumed = self.round(turn, self.queues.iter());
            if !resumed && !self.retirer.is_noted() {
                return;
            }
        }
    }

    /// Retires all finished work, also work that nobody was to be told of: records the events that it lacks.
    pub(crate) fn retire_all(&self) {
        for queue in self.queues.iter().filter(|queue| is_busy(queue) && !self.is_lost()) {
            if let Err(error) = queue.try_cover_newest() {
                tracing::debug!(target: "windlass::hip", %error, "no event behind the newest work, which retires later");
            }
        }
        self.retire();
    }

    /// Retires on behalf of a submission, at a cost that does not depend on how many queues are busy: looks at the queue of
    /// the submission, if it names one, and at one other queue, each in turn. So every queue is looked at in time.
    pub(crate) fn retire_some(&self, affinity: QueueAffinity) {
        if self.is_lost() {
            return self.retire();
        }
        let bits = affinity.bits();
        let own = self.queues.get(bits.trailing_zeros() as usize).filter(|_| bits.is_power_of_two());
        let other = self.retirer.next_busy(&self.queues, own);
        // A thread that has the turn looks at more queues than this.
        let Some(turn) = self.retirer.try_turn() else { return };
        let own = own.into_iter().filter(|queue| is_busy(queue));
        let resumed = self.round(turn, own.chain(other));
        if resumed || self.is_lost() || self.retirer.is_noted() {
            self.retire();
        }
    }

    /// Retires finished work of some queues. Returns whether a next piece was enqueued.
    fn round<'a>(&self, turn: Turn<'_>, queues: impl Iterator<Item = &'a Queue> + Clone) -> bool {
        let mut retired = self.retirer.retire(turn, &self.queues, queues);
        let lost = self.lost().cloned();
        let goes_on = |submission: &mut Box<Submission>| matches!(submission.piece.next, Next::Resume);
        let next: Vec<_> = retired.extract_if(.., goes_on).collect();
        let resumed = !next.is_empty();
        next.into_iter().for_each(|submission| self.resume(submission));
        if retired.capacity() > 0 {
            self.boxes.give_back(&mut retired);
            self.retirer.keep(retired);
        }
        if let Some(error) = lost {
            self.close_pending(error);
        }
        resumed
    }
}
