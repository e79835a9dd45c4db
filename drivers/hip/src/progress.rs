// SPDX-License-Identifier: MIT OR Apache-2.0
//! Progress: each thread that submits, queries, polls or waits retires finished work, and enqueues the pieces that follow.

use windlass_hal::{Notifications, QueueAffinity};

use crate::{
    device::Inner,
    retire::{Retired, Turn},
    submission::{Next, Stack},
};

impl Inner {
    /// Retires all finished work, unless another thread is retiring; then that thread looks once more.
    pub(crate) fn retire(&self) {
        while let Some(turn) = self.retirer.turn_or_note() {
            let more = self.round(turn, u64::MAX);
            if !more && !self.retirer.is_noted() {
                return;
            }
        }
    }

    /// Retires all finished work, also work that nobody was to be told of: records the events that it lacks.
    pub(crate) fn retire_all(&self) {
        for queue in self.queues.of_bits(self.queues.busy()).filter(|_| !self.is_lost()) {
            if let Err(error) = queue.try_cover_newest() {
                tracing::debug!(target: "windlass::hip", %error, "no event behind the newest work, which retires later");
            }
        }
        self.retire();
    }

    /// Retires on behalf of a submission, at a cost that does not depend on how many queues are busy: looks at the queue of
    /// the submission, if it names one, and at one other queue, each in turn. So every queue is looked at in time.
    #[inline]
    pub(crate) fn retire_some(&self, affinity: QueueAffinity) {
        if self.queues.busy() != 0 {
            self.retire_one_or_two(affinity);
        }
    }

    fn retire_one_or_two(&self, affinity: QueueAffinity) {
        if self.is_lost() {
            return self.retire();
        }
        let bits = affinity.bits();
        let own = if bits.is_power_of_two() { bits } else { 0 };
        let other = self.retirer.next_busy(&self.queues, own);
        // A thread that has the turn looks at more queues than this.
        let Some(turn) = self.retirer.try_turn() else { return };
        let more = self.round(turn, own | other);
        if more || self.is_lost() || self.retirer.is_noted() {
            self.retire();
        }
    }

    /// Retires finished work of some queues, given as bits. Returns whether another round may find more.
    fn round(&self, turn: Turn<'_>, queues: u64) -> bool {
        let mut retired = Retired::default();
        {
            // The wakers run once the turn is over.
            let mut notifications = Notifications::new();
            self.queues.collect(queues, &mut retired, &mut notifications);
            drop(turn);
        }
        let more = retired.is_full() || retired.goes_on;
        if retired.goes_on {
            let mut ended = Stack::default();
            while let Some(submission) = retired.submissions.pop() {
                match submission.piece.next {
                    Next::Resume => self.resume(submission),
                    _ => ended.push(submission),
                }
            }
            retired.submissions = ended;
        }
        self.boxes.give_back(retired.submissions);
        if let Some(error) = self.lost() {
            self.close_pending(error.clone());
        }
        more
    }
}
