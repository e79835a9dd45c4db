// SPDX-License-Identifier: MIT OR Apache-2.0
//! Failed work, and who has not been told of it yet.
//!
//! Under [`Faults::Sticky`](crate::options::Faults) a failure makes its device unusable, as on hardware. Under
//! [`Faults::Submission`](crate::options::Faults) work behind it goes on, and the failure is told once: by the next
//! synchronisation with its stream or with its device, whichever comes first. The event recorded next on its stream
//! stands for it as well, unless it was told before that call, and repeats it until it is recorded anew; what an event
//! has told, no synchronisation tells again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::packet::Trouble;

use super::call;
use super::code::{Code, Outcome};

/// Why an item of work could not be done: the code that HIP answers, and a report for people.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) report: String,
    /// Whether it was the kernel or copy alone. Otherwise the device cannot be trusted any more, whatever the options.
    pub(crate) contained: bool,
    /// Whether a call has answered it.
    told: AtomicBool,
}

impl Failure {
    /// A failure that a kernel or copy brought upon itself.
    pub(crate) fn new(code: Code, report: String) -> Self {
        Self { code, report, contained: true, told: AtomicBool::new(false) }
    }

    /// A defect of the simulator.
    pub(crate) fn defect() -> Self {
        let report = "the simulator itself failed".to_owned();
        Self { contained: false, ..Self::new(Code::UNKNOWN, report) }
    }

    /// The answer to the call at work on this thread, which is explained by the report.
    pub(crate) fn answer<T>(&self) -> Outcome<T> {
        self.told.store(true, Ordering::Relaxed);
        call::remind(&self.report);
        Err(self.code)
    }

    fn is_told(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }
}

/// What failed since somebody asked last, the first of it first.
#[derive(Debug, Default)]
pub(crate) struct Unreported(Mutex<Vec<Arc<Failure>>>);

impl Unreported {
    /// More are not kept for a client that never asks.
    const MOST: usize = 64;

    pub(crate) fn note(&self, failure: &Arc<Failure>) {
        let mut failures = self.lock();
        failures.retain(|failure| !failure.is_told());
        if failures.len() < Self::MOST {
            failures.push(failure.clone());
        }
    }

    /// All of it, told or not.
    pub(crate) fn take(&self) -> Vec<Arc<Failure>> {
        std::mem::take(&mut *self.lock())
    }

    /// What was told elsewhere.
    pub(crate) fn told(&self) -> Vec<Arc<Failure>> {
        self.lock().iter().filter(|failure| failure.is_told()).cloned().collect()
    }

    /// `Err` with the first that was not told, once. It speaks for the others.
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

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Fault(fault) => Self::new(Code::LAUNCH_FAILURE, fault.to_string()),
            Trouble::Memory(what, error) => {
                Self::new(Code::ILLEGAL_ADDRESS, format!("{what} on a stream went wrong: {error}"))
            }
            Trouble::Defect => Self::defect(),
        }
    }
}
