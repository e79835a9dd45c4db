// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runner: runs each case on each device, and applies the expectations to the outcomes.

use std::{
    fmt,
    io::{self, Write},
    time::{Duration, Instant},
};

use windlass_hal::{DeviceInfo, Registry};

use crate::{
    case::Case,
    demands,
    expectations::{Expectation, ExpectationKind, Expectations, ExpectationsError},
    in_child::InChild,
    in_process::InProcess,
    options::Options,
    report::Report,
    summary::{CaseResult, Exit, Problem, Summary, TestedDevice, Verdict},
};

/// A place where cases run: this process or children.
pub(crate) trait Bench {
    /// Opens the device under test.
    fn open(&mut self) -> Result<DeviceInfo, Problem>;

    /// Runs a case once. The verdict is pass, fail or skip, without regard to expectations.
    fn attempt(&mut self, case: Case, seed: u64) -> Verdict;
}

/// Runs the cases that `options` select over each device, and writes the results to `out` as they come.
///
/// A case that exceeds the timeout is reported as hung, and the next case runs on a freshly opened device. After the
/// third hung case the rest is skipped. Hung threads keep running and keep everything that they hold, so end the
/// process after such a run. With [`Options::isolate`] the child is killed instead.
///
/// # Errors
/// Errors of `out` and of the files that `options` name, and a file of expectations that cannot be used.
pub fn run_cases(
    registry: &Registry,
    cases: &[Case],
    options: &Options,
    out: &mut dyn Write,
) -> Result<Summary, RunError> {
    let expectations = match &options.expectations {
        Some(path) => Expectations::read(path, cases, registry)?,
        None => Expectations::default(),
    };
    let mut report = Report::new(out, options).map_err(RunError::Report)?;
    let selected: Vec<Case> = cases.iter().filter(|case| options.selects(case)).copied().collect();
    let mut summary = Summary { filtered_out: cases.len() - selected.len(), ..Summary::default() };
    if options.list {
        report.list(&selected)?;
        return Ok(summary);
    }
    let start = Instant::now();
    let default = default_device(registry);
    let devices =
        if options.devices.is_empty() { std::slice::from_ref(&default) } else { &options.devices[..] };
    for uri in devices {
        let selected = if options.probe { &[] } else { &selected[..] };
        run_device(registry, selected, options, uri, &expectations, &mut report, &mut summary)?;
    }
    summary.elapsed = start.elapsed();
    summary.unmet = demands::unmet(&summary, cases, options);
    for unmet in &summary.unmet {
        summary.exit = summary.exit.and(unmet.exit);
    }
    report.end(&summary)?;
    Ok(summary)
}

/// The default device of the driver that was registered last.
pub(crate) fn default_device(registry: &Registry) -> String {
    registry.drivers().next().map_or(String::new(), |driver| format!("{}://", driver.scheme()))
}

fn run_device(
    registry: &Registry,
    selected: &[Case],
    options: &Options,
    uri: &str,
    expectations: &Expectations,
    report: &mut Report<'_>,
    summary: &mut Summary,
) -> io::Result<()> {
    let mut bench: Box<dyn Bench + '_> = if options.isolate {
        Box::new(InChild::new(options, uri))
    } else {
        Box::new(InProcess::new(registry, options, uri))
    };
    let device = summary.devices.len();
    let (info, problem) = match bench.open() {
        Ok(info) => (Some(info), None),
        Err(problem) => (None, Some(problem)),
    };
    let exit = problem.as_ref().map_or(Exit::Passed, |problem| problem.exit(options.require));
    summary.exit = summary.exit.and(exit);
    summary.devices.push(TestedDevice {
        uri: uri.to_owned(),
        info: info.clone(),
        problem: problem.clone(),
        exit,
    });
    report.device(&summary.devices[device], selected.len())?;
    for &case in selected {
        let mut result =
            CaseResult { case, device, verdict: Verdict::Pass, expectation: None, elapsed: Duration::ZERO };
        match (&info, &problem) {
            (Some(info), _) => {
                report.running(&case);
                let start = Instant::now();
                result.expectation = expectations.find(&case, uri, info).cloned();
                result.verdict = run_case(bench.as_mut(), case, result.expectation.as_ref(), options);
                result.elapsed = start.elapsed();
                if matches!(result.verdict, Verdict::Fail(_)) {
                    summary.exit = summary.exit.and(Exit::Failed);
                }
                summary.results.push(result);
                report.case(summary)?;
            }
            // The report of the device shows the problem once.
            (None, problem) => {
                let reason = problem.as_ref().map_or("", Problem::reason).lines().next().unwrap_or_default();
                result.verdict = Verdict::Skip(format!("{uri} could not be opened: {reason}"));
                summary.results.push(result);
            }
        }
    }
    Ok(())
}

/// Runs all repetitions of a case, and judges the outcome.
fn run_case(bench: &mut dyn Bench, case: Case, entry: Option<&Expectation>, options: &Options) -> Verdict {
    if let Some(entry) = entry.filter(|entry| !entry.run) {
        return Verdict::Skip(entry.to_string());
    }
    let mut verdict = Verdict::Pass;
    let mut seen = None;
    for round in 0..options.repeat.max(1) {
        let seed = options.seed.wrapping_add(u64::from(round));
        verdict = bench.attempt(case, seed);
        for _ in 0..entry.map_or(0, |entry| entry.retries) {
            let Verdict::Fail(message) = verdict else { break };
            seen.get_or_insert(message);
            verdict = bench.attempt(case, seed);
        }
        if verdict != Verdict::Pass {
            if let Verdict::Fail(message) = &mut verdict
                && options.repeat > 1
            {
                message.push_str(&format!(
                    "\nin repetition {} of {}, --seed {seed}",
                    round + 1,
                    options.repeat
                ));
            }
            break;
        }
    }
    match (entry, verdict, seen) {
        (Some(entry), verdict, seen) => judge(entry, verdict, seen),
        (None, verdict, _) => verdict,
    }
}

/// Applies an entry to a verdict. `seen` is the first failure of a flake that was retried.
fn judge(entry: &Expectation, verdict: Verdict, seen: Option<String>) -> Verdict {
    match (entry.kind, verdict) {
        (ExpectationKind::Flake, Verdict::Pass) => seen.map_or(Verdict::Pass, Verdict::Flaky),
        (ExpectationKind::Flake, Verdict::Fail(message)) => {
            Verdict::Fail(format!("{message}\n{} retries did not help; {entry}", entry.retries))
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

/// The reason why a run was not made or not reported.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The output or a report could not be written. All cases were run, unless the output failed.
    Output(io::Error),
    /// A report's file could not be opened. Nothing was run.
    Report(io::Error),
    /// The file of expectations cannot be used.
    Expectations(ExpectationsError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(error) => write!(f, "the results could not be written: {error}"),
            Self::Report(error) => write!(f, "a report cannot be written to {error}"),
            Self::Expectations(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<ExpectationsError> for RunError {
    fn from(error: ExpectationsError) -> Self {
        Self::Expectations(error)
    }
}
