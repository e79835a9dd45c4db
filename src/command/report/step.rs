// SPDX-License-Identifier: MIT OR Apache-2.0
//! The work that a process of its own does for a report, and the answers that it gives.

use std::time::{Duration, Instant};

use clap::Args;
use serde_json::Value;

use super::system;
#[cfg(feature = "hip")]
use super::{assumptions, library};
use crate::command::{
    child::{Asked, Errors, Line, Silence, Stopped, say},
    failure::{Failure, Outcome},
};

/// Says how to give a part more time.
const LONGER: &str = "--timeout PART=SECONDS waits longer";

/// The options of such a process.
#[derive(Args)]
pub(super) struct Step {
    /// The work that this process does, for the command that started it
    #[arg(long, hide = true)]
    step: Option<String>,
    /// The object of the work
    #[arg(long, hide = true, default_value = "")]
    of: String,
}

impl Step {
    /// Whether this process works for a report.
    pub(super) fn is_asked(&self) -> bool {
        self.step.is_some()
    }

    /// Does the work, if this process is there for it.
    pub(super) fn run(&self, uri: &str) -> Option<Outcome> {
        let step = self.step.as_deref()?;
        ends_with_parent();
        let answer = |value: Value| say(&Line::Answer(value));
        match step {
            "system" => system::answer(answer),
            #[cfg(feature = "hip")]
            "library" => answer(library::examine(&self.of)),
            #[cfg(feature = "hip")]
            "assumption" => return Some(assumptions::answer(&self.of, uri).map(answer)),
            _ => return Some(Err(Failure::input(format!("--step {step}: there is no such step")))),
        }
        Some(Ok(()))
    }
}

/// A report that is ended leaves no process behind in a HIP call that hangs.
fn ends_with_parent() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

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
    pub(super) fn finish(self) {
        self.asked.finish();
    }
}

/// The only answer of a step about an object.
pub(super) fn ask(step: &str, of: &str, limit: Duration) -> Result<Value, Silence> {
    let mut worker = Worker::start(step, of, limit)?;
    let answer = worker.answer()?;
    worker.finish();
    Ok(answer)
}
