// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runs of one case: its repetitions, its retries, the health check after a failure, and the judgement.

use std::{
    sync::{Mutex, OnceLock, PoisonError},
    thread,
    time::{Duration, Instant},
};

use windlass_hal::DeviceInfo;

use crate::{
    case::Case,
    expectations::{Expectation, ExpectationKind},
    health::HEALTH,
    interrupt,
    options::Options,
    summary::Verdict,
};

use super::{bench::Bench, kernel_log::KernelLog};

/// The time for a real device to recover.
const RECOVERY: Duration = Duration::from_secs(10);
/// The pause before the third health check. Each later one is twice as long.
const PAUSE: Duration = Duration::from_millis(50);

/// A case of the run, with its expectation on the device under test.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) case: Case,
    pub(super) entry: Option<Expectation>,
}

/// The outcome of all runs of a case.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) verdict: Verdict,
    /// The failures that were followed by a retry.
    pub(super) failures: Vec<String>,
    pub(super) elapsed: Duration,
    /// Whether the case would have run, had the device or this process not been spoilt by an earlier one.
    pub(super) not_run: bool,
}

impl Ended {
    pub(super) fn at_once(verdict: Verdict) -> Self {
        Self { verdict, failures: Vec::new(), elapsed: Duration::ZERO, not_run: false }
    }

    pub(super) fn not_run(reason: String) -> Self {
        Self { not_run: true, ..Self::at_once(Verdict::Skip(reason)) }
    }
}

/// The runs of cases on one device, by one worker or several.
pub(super) struct Attempts<'a> {
    options: &'a Options,
    /// The time for a device to recover. `None` if it is not checked.
    recovery: Option<Duration>,
    lost: OnceLock<String>,
    /// The cases that were running when a signal asked for the end.
    interrupted: Mutex<Vec<&'static str>>,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(options: &'a Options, device: &DeviceInfo) -> Self {
        let usual = (!device.simulated).then_some(RECOVERY);
        // The parent of a child checks the device.
        let recovery = options.recovery.or(usual).filter(|_| !options.child);
        Self { options, recovery, lost: OnceLock::new(), interrupted: Mutex::default() }
    }

    /// The reason why the device counts as lost.
    pub(super) fn lost(&self) -> Option<&str> {
        self.lost.get().map(String::as_str)
    }

    /// The cases that were running when a signal asked for the end.
    pub(super) fn interrupted(self) -> Vec<&'static str> {
        self.interrupted.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs all repetitions of a case, and judges the outcome. `None` if a signal ended the case.
    pub(super) fn run(&self, bench: &mut dyn Bench, log: &mut KernelLog, planned: &Planned) -> Option<Ended> {
        let entry = planned.entry.as_ref();
        if let Some(entry) = entry.filter(|entry| !entry.run) {
            return Some(Ended::at_once(Verdict::Skip(entry.to_string())));
        }
        if let Some(reason) = self.lost() {
            return Some(Ended::not_run(format!("not run: {reason}")));
        }
        if let Some(reason) = bench.exhausted() {
            return Some(Ended::not_run(reason));
        }
        let start = Instant::now();
        let mut failures = Vec::new();
        let verdict = self.repeat(bench, log, planned, &mut failures);
        // The signal may have caused the failure.
        if matches!(verdict, Verdict::Fail(_)) && interrupt::signal().is_some() {
            self.interrupted.lock().unwrap_or_else(PoisonError::into_inner).push(planned.case.name);
            return None;
        }
        let verdict = judge(entry, verdict, &failures);
        Some(Ended { verdict, failures, elapsed: start.elapsed(), not_run: false })
    }

    fn repeat(
        &self,
        bench: &mut dyn Bench,
        log: &mut KernelLog,
        planned: &Planned,
        failures: &mut Vec<String>,
    ) -> Verdict {
        let retries = match &planned.entry {
            None => self.options.retry,
            Some(entry) if entry.kind == ExpectationKind::Flake => entry.retries.max(self.options.retry),
            Some(_) => 0,
        };
        for round in 0..self.options.repeat.max(1) {
            let seed = self.options.seed.wrapping_add(u64::from(round));
            let mut verdict = self.attempt(bench, log, planned.case, seed);
            for _ in 0..retries {
                let Verdict::Fail(message) = &verdict else { break };
                if self.lost().is_some() || bench.exhausted().is_some() || interrupt::signal().is_some() {
                    break;
                }
                failures.push(message.clone());
                verdict = self.attempt(bench, log, planned.case, seed);
            }
            if let Verdict::Fail(message) = &mut verdict
                && self.options.repeat > 1
            {
                let (round, repeat) = (round + 1, self.options.repeat);
                message.push_str(&format!("\nin repetition {round} of {repeat}, --seed {seed}"));
            }
            if verdict != Verdict::Pass {
                return verdict;
            }
        }
        Verdict::Pass
    }

    /// Runs a case once. A failure states the device's health afterwards and the kernel's messages.
    fn attempt(&self, bench: &mut dyn Bench, log: &mut KernelLog, case: Case, seed: u64) -> Verdict {
        log.mark();
        let mut verdict = bench.attempt(case, seed);
        if let Verdict::Fail(message) = &mut verdict
            && interrupt::signal().is_none()
        {
            if let Some(health) = self.recover(bench, case) {
                message.push('\n');
                message.push_str(&health);
            }
            // The kernel resets a device some time after the case has hung.
            for line in log.since_mark() {
                message.push_str("\nkernel: ");
                message.push_str(&line);
            }
        }
        verdict
    }

    /// Checks the device, which is opened anew after each failure, until it works or its time is over. Returns the
    /// trouble.
    fn recover(&self, bench: &mut dyn Bench, case: Case) -> Option<String> {
        let deadline = Instant::now() + self.recovery?;
        let mut first: Option<String> = None;
        let mut pause = PAUSE;
        for tried in 1.. {
            if bench.exhausted().is_some() || interrupt::signal().is_some() {
                break;
            }
            let Verdict::Fail(message) = bench.attempt(HEALTH, self.options.seed) else { break };
            // The rest is advice about cases.
            let line = message.lines().next().unwrap_or_default();
            let message = first.get_or_insert_with(|| line.to_owned());
            let left = deadline.saturating_duration_since(Instant::now());
            if tried >= 2 {
                if left.is_zero() {
                    let reason = format!("after {} the device failed the health check: {message}", case.name);
                    let told = format!("the device is lost: it then failed {tried} health checks: {message}");
                    self.lost.get_or_init(|| reason);
                    return Some(told);
                }
                thread::sleep(pause.min(left));
                pause *= 2;
            }
        }
        first.map(|message| {
            format!("it then failed a health check, and works since it was opened again: {message}")
        })
    }
}

/// Applies an expectation to a verdict. `failures` are those that a retry followed.
fn judge(entry: Option<&Expectation>, verdict: Verdict, failures: &[String]) -> Verdict {
    let seen = failures.first().cloned();
    let Some(entry) = entry else {
        return match verdict {
            Verdict::Pass => seen.map_or(Verdict::Pass, Verdict::Flaky),
            // A skip at a retry does not excuse the failure before it.
            Verdict::Skip(reason) => match seen {
                Some(message) => Verdict::Fail(format!("{message}\nat a retry it was skipped: {reason}")),
                None => Verdict::Skip(reason),
            },
            verdict => verdict,
        };
    };
    match (entry.kind, verdict) {
        (ExpectationKind::Flake, Verdict::Pass) => seen.map_or(Verdict::Pass, Verdict::Flaky),
        (ExpectationKind::Flake, Verdict::Fail(message)) => {
            Verdict::Fail(format!("{message}\n{} retries did not help; {entry}", failures.len()))
        }
        (ExpectationKind::Unsupported, Verdict::Fail(_)) => Verdict::Skip(entry.to_string()),
        (ExpectationKind::ExpectedFailure, Verdict::Fail(message)) => Verdict::ExpectedFailure(message),
        (_, Verdict::Pass) => Verdict::Fail(format!(
            "it passed against line {} of the expectations: {entry}\nif it is mended, take the entry out",
            entry.line
        )),
        (_, verdict) => verdict,
    }
}

/// [`judge`] over a failure that no retry follows.
pub(super) fn judge_once(entry: Option<&Expectation>, failure: String) -> Verdict {
    judge(entry.filter(|entry| entry.kind != ExpectationKind::Flake), Verdict::Fail(failure), &[])
}
