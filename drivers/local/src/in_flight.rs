// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was issued and has not ended: work on the lists of any thread.

use std::sync::{Mutex, MutexGuard, PoisonError};

use slab::Slab;
use windlass_hal::{Notifications, Point, Semaphore};

/// The operations of one device that are in flight, numbered in the order in which they were issued.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<State>);

#[derive(Default)]
struct State {
    issued: u64,
    running: Slab<u64>,
    /// Each is signalled when no operation below its number is left.
    sleepers: Vec<(u64, Semaphore)>,
}

impl InFlight {
    /// An operation was issued; gives the key to [`end`](Self::end) it with.
    pub(crate) fn begin(&self) -> usize {
        let mut state = self.lock();
        let number = state.issued;
        state.issued += 1;
        state.running.insert(number)
    }

    /// An operation has settled its signals.
    pub(crate) fn end(&self, key: usize) {
        let mut notifications = Notifications::new();
        let mut state = self.lock();
        state.running.try_remove(key);
        if !state.sleepers.is_empty() {
            let oldest = state.running.iter().map(|(_, number)| *number).min().unwrap_or(u64::MAX);
            state.sleepers.retain(|(bound, semaphore)| {
                let waits = oldest < *bound;
                if !waits {
                    semaphore.advance(1, &mut notifications);
                }
                waits
            });
        }
        drop(state);
        notifications.fire();
    }

    /// A point that is reached when everything issued so far has ended; `None` where it has.
    pub(crate) fn end_of_all(&self) -> Option<Point> {
        let mut state = self.lock();
        if state.running.is_empty() {
            return None;
        }
        let (bound, semaphore) = (state.issued, Semaphore::new(0));
        let end = semaphore.at(1);
        state.sleepers.push((bound, semaphore));
        Some(end)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
