// SPDX-License-Identifier: MIT OR Apache-2.0
//! Demand on a queue: how far it must progress without a polling thread, and whether a reaper takes care of that.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use crate::sync::lock;

/// How long an idle reaper stays.
const KEEP: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(crate) struct Demand {
    state: Mutex<DemandState>,
    changed: Condvar,
}

#[derive(Default)]
struct DemandState {
    /// Everything up to this epoch is demanded.
    demanded: u64,
    has_reaper: bool,
    /// The device is gone.
    has_ended: bool,
}

impl Demand {
    /// Demands progress up to `epoch`. Returns whether the caller must start a reaper, which calls [`next`](Self::next).
    #[must_use]
    pub(crate) fn raise(&self, epoch: u64) -> bool {
        let mut state = lock(&self.state);
        if epoch <= state.demanded {
            return false;
        }
        state.demanded = epoch;
        if state.has_reaper {
            self.changed.notify_one();
        }
        !std::mem::replace(&mut state.has_reaper, true)
    }

    /// Withdraws everything, because the system had no thread for a reaper.
    pub(crate) fn withdraw(&self) {
        *lock(&self.state) = DemandState::default();
    }

    /// Ends the reaper, because the device is gone. Otherwise a program that opens many devices would have many idle threads.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.state);
        state.has_ended = true;
        if state.has_reaper {
            self.changed.notify_one();
        }
    }

    /// Puts the reaper to sleep until more than `done` is demanded. `None` if the device is gone or if that takes long: then the
    /// reaper must end.
    pub(crate) fn next(&self, done: u64) -> Option<u64> {
        let mut state = lock(&self.state);
        while state.demanded <= done {
            if state.has_ended {
                return None;
            }
            let (next, timeout) =
                self.changed.wait_timeout(state, KEEP).unwrap_or_else(PoisonError::into_inner);
            state = next;
            if timeout.timed_out() && state.demanded <= done {
                state.has_reaper = false;
                return None;
            }
        }
        Some(state.demanded)
    }
}
