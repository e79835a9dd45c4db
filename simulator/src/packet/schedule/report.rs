// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports: one schedule, and the number of different schedules that this process has seen.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The schedule of a simulator with a seed so far.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScheduleReport {
    /// The number that it draws from.
    pub seed: u64,
    /// A hash of all calls and steps in their order. Equal hashes mean equal runs.
    pub hash: u64,
    /// Calls of HIP.
    pub calls: u64,
    /// Steps that ran inside waits, and while all clients waited outside HIP.
    pub steps: u64,
    /// Choices among several options.
    pub choices: u64,
    /// Binary logarithm of the number of ways in which these choices could have gone.
    pub freedom: f64,
    /// The point where a replay diverged from its log, and the event there.
    pub divergence: Option<String>,
}

impl fmt::Display for ScheduleReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "seed {}: schedule {:016x}, {} calls and {} choices, one of 2^{:.0} schedules",
            self.seed, self.hash, self.calls, self.choices, self.freedom
        )?;
        match &self.divergence {
            Some(divergence) => write!(f, "; {divergence}"),
            None => Ok(()),
        }
    }
}

/// The number of schedules that this process has run to their end, and of different ones among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schedules {
    /// Simulators with a seed that were closed after some call.
    pub runs: u64,
    /// The number of different orders of calls and steps.
    pub distinct: u64,
}

impl fmt::Display for Schedules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} different schedules in {} runs under a seed", self.distinct, self.runs)
    }
}

#[derive(Default)]
struct Seen {
    runs: u64,
    hashes: Option<HashSet<u64>>,
}

static SEEN: Mutex<Seen> = Mutex::new(Seen { runs: 0, hashes: None });

/// The schedules that this process's simulators have run, as far as they are closed.
pub fn schedules() -> Schedules {
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let distinct = seen.hashes.as_ref().map_or(0, |hashes| hashes.len() as u64);
    Schedules { runs: seen.runs, distinct }
}

/// Counts a schedule that has ended.
pub(super) fn note(report: &ScheduleReport) {
    if report.calls == 0 {
        return;
    }
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    seen.runs += 1;
    let hashes = seen.hashes.get_or_insert_default();
    let new = hashes.insert(report.hash);
    let distinct = hashes.len();
    tracing::info!(target: "windlass::sim", new, distinct, runs = seen.runs, "{report}");
}
