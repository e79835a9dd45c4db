// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reaper of a queue: a thread that makes progress when somebody depends on it who does not poll.
//!
//! It is started when it is first needed, blocks inside HIP on the oldest event of its queue, and retires what has
//! finished. An idle reaper keeps nothing of the device alive, and goes away after a while.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError, Weak},
    thread,
    time::Duration,
};

use windlass_hal::panics::contain;

use crate::device::{Inner, lock};

/// How long an idle reaper stays.
const KEEP: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(crate) struct Reaper {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Somebody depends on everything up to this epoch.
    demanded: u64,
    running: bool,
}

impl Reaper {
    /// From now on, until `epoch` has retired, this queue progresses by itself.
    pub(crate) fn demand(self: &Arc<Self>, device: &Weak<Inner>, queue: u32, epoch: u64) {
        let mut state = lock(&self.state);
        if epoch <= state.demanded {
            return;
        }
        state.demanded = epoch;
        if state.running {
            self.changed.notify_one();
            return;
        }
        state.running = true;
        drop(state);
        let (reaper, device) = (self.clone(), device.clone());
        let name = format!("windlass-reaper-{queue}");
        let spawned = thread::Builder::new().name(name).spawn(move || reaper.run(&device, queue));
        if let Err(error) = spawned {
            tracing::error!(target: "windlass::hip", %error, "no thread for a reaper; only polling makes progress");
            let mut state = lock(&self.state);
            (state.running, state.demanded) = (false, 0);
        }
    }

    fn run(&self, device: &Weak<Inner>, queue: u32) {
        let mut done = 0;
        while let Some(demanded) = self.next(done) {
            // The device is kept only while there is something to do for it.
            let Some(device) = device.upgrade() else { break };
            contain("retiring work", || device.reap(queue, demanded));
            done = demanded;
        }
    }

    /// Sleeps until more than `done` is demanded; `None` when nobody needed the reaper for a while.
    fn next(&self, done: u64) -> Option<u64> {
        let mut state = lock(&self.state);
        while state.demanded <= done {
            let (next, timeout) =
                self.changed.wait_timeout(state, KEEP).unwrap_or_else(PoisonError::into_inner);
            state = next;
            if timeout.timed_out() && state.demanded <= done {
                state.running = false;
                return None;
            }
        }
        Some(state.demanded)
    }
}
