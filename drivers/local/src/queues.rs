// SPDX-License-Identifier: MIT OR Apache-2.0
//! All queues of a device: the operations that wait, the threads that run work, and draining.

use windlass_hal::{Deadline, Error, HostCalls, Limits, Result, WaitPolicy, pending::PendingSet, wait_all};

use crate::{
    in_flight::InFlight,
    submission::Job,
    threads::{self, Threads},
    trampoline,
};

/// The queues of one device. They share one pending set: nothing but semaphores orders them.
pub(crate) struct Queues {
    pub(crate) limits: Limits,
    pub(crate) pending: PendingSet<Self>,
    pub(crate) calls: HostCalls,
    pub(crate) in_flight: InFlight,
    /// The device's threads. `None` for the inline form.
    pub(crate) threads: Option<Threads<Job>>,
}

impl Queues {
    /// Queues with `threads` threads of their own.
    pub(crate) fn new(limits: Limits, threads: usize) -> Result<Self> {
        Ok(Self {
            limits,
            pending: PendingSet::new(),
            calls: HostCalls::default(),
            in_flight: InFlight::default(),
            threads: if threads > 0 { Some(Threads::start(threads)?) } else { None },
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The number of threads that can run parts of one operation.
    pub(crate) fn thread_count(&self) -> usize {
        self.threads.as_ref().map_or(1, Threads::count)
    }

    /// Asks other threads to help, at most one for each of `parts`.
    pub(crate) fn ask_for_help(&self, parts: u64, job: impl Fn() -> Job) {
        if let Some(threads) = &self.threads {
            for _ in 0..parts.min(threads.count() as u64 - 1) {
                threads.push(job());
            }
        }
    }

    /// Runs the end of an operation, which may issue others, on a thread that is free afterwards.
    pub(crate) fn ending(&self, end: impl FnOnce()) {
        match &self.threads {
            Some(threads) => threads.ending(end),
            None => end(),
        }
    }

    /// Waits for issued operations, host calls included.
    pub(crate) fn drain(&self, deadline: Deadline) -> Result<()> {
        if trampoline::is_running() || threads::is_worker() {
            return Err(Error::failed_precondition(
                "a drain inside an operation, or inside a waker that it calls, would wait for itself; drain from a \
                 thread of your own or from a host call",
            ));
        }
        let mut ends = self.calls.ends();
        ends.extend(self.in_flight.end_of_all());
        wait_all(&ends, deadline, WaitPolicy::default())
    }
}

/// Ends the threads. Each operation holds the queues, so no work is left for the threads by then.
impl Drop for Queues {
    fn drop(&mut self) {
        if let Some(threads) = &self.threads {
            threads.close();
        }
    }
}
