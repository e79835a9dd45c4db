// SPDX-License-Identifier: MIT OR Apache-2.0
//! Failed work, and which failures no call has answered yet.
//!
//! Under [`Faults::Sticky`](crate::options::Faults) a failure makes its device unusable, as on hardware. Under
//! [`Faults::Submission`](crate::options::Faults) later work goes on, and one call answers the failure: the next
//! synchronisation with its stream or its device, whichever comes first. The event that is recorded next on the stream
//! stands for the failure too, unless a call answered it before. Such an event repeats the failure until it is recorded
//! anew, and then no synchronisation answers that failure again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::code::{Code, Outcome};
use super::explanation::remind;
use crate::packet::WorkError;

/// Why an item of work failed: the code that HIP answers, and a report for people.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) report: String,
    /// Whether only the kernel or copy failed. Otherwise the device is unusable, whatever the options.
    pub(crate) contained: bool,
    /// Whether a call has answered the failure.
    told: AtomicBool,
}

impl Failure {
    /// A failure of a kernel or copy alone.
    pub(crate) fn new(code: Code, report: String) -> Self {
        Self { code, report, contained: true, told: AtomicBool::new(false) }
    }

    /// A defect of the simulator.
    pub(crate) fn defect() -> Self {
        let report = "the simulator itself failed".to_owned();
        Self { contained: false, ..Self::new(Code::UNKNOWN, report) }
    }

    /// The answer to this thread's current call. The report explains it.
    pub(crate) fn answer<T>(&self) -> Outcome<T> {
        self.told.store(true, Ordering::Relaxed);
        remind(&self.report);
        Err(self.code)
    }

    fn is_told(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }
}

/// The failures since the last question, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Unreported(Mutex<Vec<Arc<Failure>>>);

impl Unreported {
    /// The most failures that are kept for a client that never asks.
    const MOST: usize = 64;

    pub(crate) fn note(&self, failure: &Arc<Failure>) {
        let mut failures = self.lock();
        failures.retain(|failure| !failure.is_told());
        if failures.len() < Self::MOST {
            failures.push(failure.clone());
        }
    }

    /// Takes all failures, answered or not.
    pub(crate) fn take(&self) -> Vec<Arc<Failure>> {
        std::mem::take(&mut *self.lock())
    }

    /// The failures that another call has answered.
    pub(crate) fn told(&self) -> Vec<Arc<Failure>> {
        self.lock().iter().filter(|failure| failure.is_told()).cloned().collect()
    }

    /// `Err` with the first failure that no call has answered. All others count as answered then.
    pub(crate) fn report(&self) -> Outcome<()> {
        let failures = self.take();
        let mut untold = failures.iter().filter(|failure| !failure.is_told());
        let Some(first) = untold.next() else { return Ok(()) };
        untold.for_each(|failure| failure.told.store(true, Ordering::Relaxed));
        first.answer()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Failure>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Fault(fault) => Self::new(Code::LAUNCH_FAILURE, fault.to_string()),
            WorkError::Memory(what, error) => {
                Self::new(Code::ILLEGAL_ADDRESS, format!("{what} on a stream went wrong: {error}"))
            }
            WorkError::Defect => Self::defect(),
        }
    }
}
