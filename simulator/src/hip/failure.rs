// SPDX-License-Identifier: MIT OR Apache-2.0
//! Failed work, and who has not been told of it yet.
//!
//! Under [`Faults::Sticky`](crate::options::Faults) a failure makes its device unusable, as on hardware. Under
//! [`Faults::Submission`](crate::options::Faults) work behind it goes on, and the failure is told once by each of: the
//! event recorded next on its stream, which repeats it until it is recorded anew; the next synchronisation with its
//! stream; the next synchronisation with its device.

use std::sync::{Arc, Mutex, PoisonError};

use super::call;
use super::code::{Code, Outcome};

/// Why an item of work could not be done: the code that HIP answers, and a report for people.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) report: String,
    /// Whether it was the kernel or copy alone. Otherwise the device cannot be trusted any more, whatever the options.
    pub(crate) contained: bool,
}

impl Failure {
    /// A failure that a kernel or copy brought upon itself.
    pub(crate) fn new(code: Code, report: String) -> Self {
        Self { code, report, contained: true }
    }

    /// A defect of the simulator.
    pub(crate) fn defect() -> Self {
        let report = "the simulator itself failed".to_owned();
        Self { code: Code::UNKNOWN, report, contained: false }
    }

    /// The answer to the call at work on this thread, which is explained by the report.
    pub(crate) fn answer<T>(&self) -> Outcome<T> {
        call::remind(&self.report);
        Err(self.code)
    }
}

/// The first failure since somebody asked last.
#[derive(Debug, Default)]
pub(crate) struct Unreported(Mutex<Option<Arc<Failure>>>);

impl Unreported {
    pub(crate) fn note(&self, failure: &Arc<Failure>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| failure.clone());
    }

    pub(crate) fn take(&self) -> Option<Arc<Failure>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// `Err` with what was noted, once.
    pub(crate) fn report(&self) -> Outcome<()> {
        self.take().map_or(Ok(()), |failure| failure.answer())
    }
}
