// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads that run packets without a seed.
//!
//! Each packet that is ready gets a thread: one that sleeps, or a new one. A thread that was woken counts as
//! asleep until it has the lock, so that packets that are queued meanwhile start no second thread for the
//! same packet. Conditions become true without notice, so one of the threads, the lookout, wakes each
//! millisecond and polls them.

use std::sync::{Arc, MutexGuard, PoisonError};

use super::refusal::Refusal;
use super::scheduler::Scheduler;
use super::state::{LOOK, SchedulerState};
use crate::trace::tell;

impl Scheduler {
    /// Starts or wakes threads for the packets that became ready, unless a schedule runs them.
    ///
    /// # Errors
    /// [`Refusal::NoThread`] when the first thread cannot be started.
    pub(super) fn start(self: &Arc<Self>, state: &mut SchedulerState) -> Result<(), Refusal> {
        if self.schedule.is_some() {
            return Ok(());
        }
        let mut wanted = state.count_ready();
        if !state.threads.lookout && state.has_conditions() {
            wanted += 1;
        }
        // A call to wake a thread costs a system call even if none sleeps, so it is made once for each thread.
        for _ in state.threads.coming..wanted.min(state.threads.idle) {
            self.ready.notify_one();
            state.threads.coming += 1;
        }
        for _ in state.threads.idle..wanted {
            let scheduler = self.clone();
            let name = format!("windlass-sim-{}", state.threads.all);
            match std::thread::Builder::new().name(name).spawn(move || scheduler.work()) {
                Ok(_) => {
                    state.threads.all += 1;
                    state.threads.idle += 1;
                    state.threads.coming += 1;
                }
                // The existing threads will run the packet.
                Err(_) if state.threads.all > 0 => break,
                Err(error) => {
                    tell(|| tracing::error!(target: "windlass::sim", %error, "no thread to run packets on"));
                    return Err(Refusal::NoThread);
                }
            }
        }
        Ok(())
    }

    /// The loop of each thread.
    fn work(self: Arc<Self>) {
        self.enter_thread();
        let mut state = self.lock();
        state.threads.come();
        while !state.closed {
            let next = state.ready_queues().first().copied();
            let Some((queue, item)) = next.and_then(|id| state.take_next(id)) else {
                state.threads.idle += 1;
                state = self.sleep(state);
                state.threads.come();
                continue;
            };
            // If no other thread starts, this one runs the other packets later.
            let _ = self.start(&mut state);
            drop(state);
            self.run_on_thread(&queue, || item.packet.run());
            state = self.lock();
            state.finish(&queue, item.number);
            if state.threads.waiters > 0 {
                self.finished.notify_all();
            }
        }
    }

    /// Waits until this thread is woken, or until it is time to poll conditions.
    fn sleep<'a>(&self, mut state: MutexGuard<'a, SchedulerState>) -> MutexGuard<'a, SchedulerState> {
        if state.threads.lookout || !state.has_conditions() {
            return self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.threads.lookout = true;
        let (mut state, _) = self.ready.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner);
        state.threads.lookout = false;
        state
    }

    /// Waits until a packet is ready. False once the scheduler is closed.
    pub(super) fn wait_for_ready(&self) -> bool {
        let mut state = self.lock();
        while !state.closed && state.ready_queues().is_empty() {
            state = if state.has_conditions() {
                self.ready.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0
            } else {
                self.ready.wait(state).unwrap_or_else(PoisonError::into_inner)
            };
        }
        !state.closed
    }

    /// Wakes the thread that waits until a packet is ready.
    pub(super) fn ring(&self) {
        self.ready.notify_one();
    }
}
