// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runner: one device after the other, one case after the other, and what the expectations make of it.

use std::{
    fmt,
    io::{self, Write},
    time::{Duration, Instant},
};

use windlass_hal::{DeviceInfo, Registry};

use crate::{
    case::Case,
    expectations::{Expectation, Expectations, ExpectationsError, Kind},
    in_child::InChild,
    in_process::InProcess,
    options::Options,
    report::Report,
    summary::{CaseResult, Exit, Problem, Summary, TestedDevice, Verdict},
};

/// Where cases run.
pub(crate) trait Bench {
    /// Opens the device under test.
    fn open(&mut self) -> Result<DeviceInfo, Problem>;

    /// Runs a case once. The verdict knows nothing of expectations: it is pass, fail or skip.
    fn attempt(&mut self, case: Case, seed: u64) -> Verdict;
}

/// Runs the cases that `options` select over each of the devices, and writes what comes of them to `out` as it comes.
///
/// A case that does not end in time is reported as hung, and the next runs on a device that is opened anew; after the
/// third the rest is skipped. The threads that hang, and whatever they hold, cannot be taken back: end the process
/// after such a run. With [`Options::isolate`] the child is killed instead.
///
/// # Errors
/// Those of `out` and of the files that `options` name, and a file of expectations that cannot be used.
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
            // Told once, with the device.
            (None, problem) => {
                let reason = problem.as_ref().map_or("", Problem::reason).lines().next().unwrap_or_default();
                result.verdict = Verdict::Skip(format!("{uri} could not be opened: {reason}"));
                summary.results.push(result);
            }
        }
    }
    Ok(())
}

/// Runs a case as often as it is to be repeated, and judges it.
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

/// What an entry makes of a verdict; `seen` is what a flake was tried again for.
fn judge(entry: &Expectation, verdict: Verdict, seen: Option<String>) -> Verdict {
    match (entry.kind, verdict) {
        (Kind::Flake, Verdict::Pass) => seen.map_or(Verdict::Pass, Verdict::Flaky),
        (Kind::Flake, Verdict::Fail(message)) => {
            Verdict::Fail(format!("{message}\n{} retries did not help; {entry}", entry.retries))
        }
        (Kind::Unsupported, Verdict::Fail(_)) => Verdict::Skip(entry.to_string()),
        (Kind::ExpectedFailure, Verdict::Fail(message)) => Verdict::ExpectedFailure(message),
        (_, Verdict::Pass) => Verdict::Fail(format!(
            "it passed against line {} of the expectations: {entry}\nif it is mended, take the entry out",
            entry.line
        )),
        (_, verdict) => verdict,
    }
}

/// Why a run could not be made, or not be reported.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The output or a report could not be written. Everything was run, unless it was the output.
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
