// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of a report: their order, their times, and the ways in which they end.

use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::command::{child::Stopped, failure};

/// The name of the schema of the JSON that holds the parts.
pub(super) const SCHEMA: &str = "windlass-report";

/// A part, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Part {
    /// Kernel, distribution, CPUs, kernel driver, firmware, device files
    System,
    /// Each libamdhip64 that is found
    Libraries,
    /// The devices of each driver, with a kernel on each
    Devices,
    /// The properties of HIP that Windlass relies on
    Assumptions,
    /// The conformance suite
    Cts,
    /// The short set of the benchmark
    Bench,
}

impl Part {
    pub(super) const ALL: [Self; 6] =
        [Self::System, Self::Libraries, Self::Devices, Self::Assumptions, Self::Cts, Self::Bench];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Libraries => "libraries",
            Self::Devices => "devices",
            Self::Assumptions => "assumptions",
            Self::Cts => "cts",
            Self::Bench => "bench",
        }
    }

    /// The time of the part. Together they are less than ten minutes.
    pub(super) fn limit(self) -> Duration {
        Duration::from_secs(match self {
            Self::System => 5,
            Self::Libraries | Self::Devices => 30,
            Self::Assumptions => 120,
            Self::Cts => 300,
            Self::Bench => 90,
        })
    }
}

/// How a part ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    /// It was not begun.
    Waiting,
    /// It was begun, and it has not ended. The machine or the command went down in it.
    Running,
    /// All as expected.
    Done,
    /// A number is wrong, a case failed, or an assumption is broken.
    Failed,
    /// A HIP call did not return, or the time of the part is over.
    Hung,
    /// Its process ended by itself.
    Died,
    /// The device is not there.
    Absent,
    /// It was not asked for, or it does not apply.
    Skipped,
}

impl End {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Hung => "hung",
            Self::Died => "died",
            Self::Absent => "absent",
            Self::Skipped => "skipped",
        }
    }
}

impl From<Stopped> for End {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Hung => Self::Hung,
            Stopped::Died => Self::Died,
        }
    }
}

/// The end of a part, and all that it found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) end: End,
    /// The reason of the end, or a summary.
    pub(super) message: Option<String>,
    pub(super) result: Value,
}

impl Found {
    pub(super) fn new(end: End, message: impl Into<String>, result: Value) -> Self {
        Self { end, message: Some(message.into()), result }
    }

    /// A part that found nothing.
    pub(super) fn none(end: End, message: impl Into<String>) -> Self {
        Self::new(end, message, Value::Null)
    }

    /// A part whose verdict is that of another subcommand.
    pub(super) fn judged(verdict: failure::Outcome, result: Value) -> Self {
        match verdict {
            Ok(()) => Self { end: End::Done, message: None, result },
            Err(failure) => {
                let end = match (failure.is_hung(), failure.is_absent()) {
                    (true, _) => End::Hung,
                    (_, true) => End::Absent,
                    _ => End::Failed,
                };
                Self::new(end, failure.message(), result)
            }
        }
    }
}

/// A part in the document.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    pub(super) name: Part,
    pub(super) outcome: End,
    pub(super) message: Option<String>,
    pub(super) seconds: Option<f64>,
    pub(super) limit_seconds: f64,
    pub(super) result: Value,
}
