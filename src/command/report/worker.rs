// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process that does a step of a report, seen from the report.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::child::{Asked, Errors, Silence, Stopped};

/// Says how to give a part more time.
const LONGER: &str = "--timeout PART=SECONDS waits longer";

/// A process that does a step.
pub(super) struct Worker {
    asked: Asked<Value>,
    since: Instant,
    until: Instant,
}

impl Worker {
    /// Starts the step. All of its answers must come within the limit.
    pub(super) fn start(step: &str, of: &str, limit: Duration) -> Result<Self, Silence> {
        Self::start_with(&["report", "--step", step, "--of", of], limit)
    }

    /// Starts a step that opens a device.
    #[cfg(feature = "hip")]
    pub(super) fn start_over(step: &str, of: &str, uri: &str, limit: Duration) -> Result<Self, Silence> {
        Self::start_with(&["report", "--step", step, "--of", of, "--device", uri], limit)
    }

    /// Starts a command line.
    fn start_with(arguments: &[&str], limit: Duration) -> Result<Self, Silence> {
        let since = Instant::now();
        let asked = Asked::start(arguments, Errors::Kept).map_err(|error| Silence {
            stopped: Stopped::Died,
            message: format!("no process could be started: {error}"),
        })?;
        Ok(Self { asked, since, until: since + limit })
    }

    /// The next answer. The error holds the last lines of standard error.
    pub(super) fn answer(&mut self) -> Result<Value, Silence> {
        let answer = self.asked.answer(self.since, self.until - self.since, LONGER);
        answer.map(|(_, value)| value).map_err(|silence| {
            let errors = self.asked.errors();
            let end = if errors.is_empty() { "" } else { "\n" };
            Silence { message: format!("{}{end}{errors}", silence.message), ..silence }
        })
    }

    /// Ends a process that has given its last answer. A library that hangs at the end of its process does not hang this one.
    #[cfg(feature = "hip")]
    pub(super) fn finish(self) {
        self.asked.finish();
    }
}

/// The only answer of a step about an object.
#[cfg(feature = "hip")]
pub(super) fn ask(step: &str, of: &str, limit: Duration) -> Result<Value, Silence> {
    let mut worker = Worker::start(step, of, limit)?;
    let answer = worker.answer()?;
    worker.finish();
    Ok(answer)
}
