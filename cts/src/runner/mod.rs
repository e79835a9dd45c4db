// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runner: runs each case on each device, and applies the expectations to the outcomes.

mod attempts;
mod bench;
mod error;
mod in_child;
mod in_process;
mod jobs;
mod journal;
mod kernel_log;
mod lock;
mod regular;

use std::{
    io::{self, Write},
    time::Instant,
};

use windlass_hal::{DeviceInfo, Registry};

use crate::{
    case::Case,
    demands,
    expectations::Expectations,
    interrupt,
    options::Options,
    report::Report,
    summary::{CaseResult, Exit, Problem, Summary, TestedDevice, Verdict},
};

use attempts::{Attempts, Ended, Planned};
use bench::Bench;
pub use error::RunError;
use in_child::InChild;
use in_process::InProcess;
use journal::Journal;
use kernel_log::KernelLog;
use lock::DeviceLock;

/// Runs the cases that `options` select over each device, and writes the results to `out` as they come.
///
/// A case that exceeds the timeout is reported as hung, and the next case runs on a freshly opened device. After the
/// third hung case the rest is not run. Hung threads keep running and keep everything that they hold, so end the
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
    let summary = Summary { filtered_out: cases.len() - selected.len(), ..Summary::default() };
    if options.list {
        report.list(&selected)?;
        return Ok(summary);
    }
    let mut options = options.clone();
    if options.devices.is_empty() {
        options.devices.push(default_device(registry));
    }
    let options = &options;
    let journal =
        options.resume.as_deref().map(|path| Journal::open(path, options, &selected)).transpose()?;
    if let Some(journal) = journal.as_ref().filter(|journal| journal.resumed()) {
        report.resumed(journal.ended(), selected.len() * options.devices.len())?;
    }
    let start = Instant::now();
    let mut run = Run {
        registry,
        options,
        expectations,
        journal,
        report,
        summary,
        incomplete: false,
        during: Vec::new(),
    };
    let wrong = run.unexpected();
    for (index, uri) in options.devices.iter().enumerate() {
        let selected = if options.probe { &[] } else { &selected[..] };
        run.device(uri, selected, wrong.get(index).cloned())?;
    }
    run.end(cases, start)
}

/// The default device of the driver that was registered last.
pub(crate) fn default_device(registry: &Registry) -> String {
    registry.drivers().next().map_or(String::new(), |driver| format!("{}://", driver.scheme()))
}

/// A run over one device after the other.
struct Run<'a> {
    registry: &'a Registry,
    options: &'a Options,
    expectations: Expectations,
    journal: Option<Journal>,
    report: Report<'a>,
    summary: Summary,
    /// Whether a device that fails the run, or its loss, kept cases from running.
    incomplete: bool,
    /// The cases that were running when a signal asked for the end.
    during: Vec<&'static str>,
}

impl<'a> Run<'a> {
    fn bench(&self, uri: &'a str) -> Box<dyn Bench + 'a> {
        if self.options.isolates() {
            Box::new(InChild::new(self.options, uri))
        } else {
            Box::new(InProcess::new(self.registry, self.options, uri))
        }
    }

    /// The reasons against running anything on each device, if the options demand architectures or real devices, and a
    /// device is another one or cannot be opened.
    fn unexpected(&self) -> Vec<Problem> {
        let Options { expect_arch: expected, real, .. } = self.options;
        if expected.is_empty() && !real {
            return Vec::new();
        }
        let problems: Vec<_> = self
            .options
            .devices
            .iter()
            .map(|uri| match self.bench(uri).open() {
                Err(problem) => Some(problem),
                Ok(info) if *real && info.simulated => Some(Problem::Simulated(format!(
                    "it is simulated ({}, {}), and --real asks for hardware",
                    info.name,
                    info.library.as_deref().unwrap_or("no library")
                ))),
                Ok(_) if expected.is_empty() => None,
                Ok(info) if expected.iter().any(|expected| is_of(&info.architecture, expected)) => None,
                Ok(info) => Some(Problem::Architecture(format!(
                    "it is {} ({}), and --expect-arch expects {}",
                    info.architecture,
                    info.name,
                    expected.join(" or ")
                ))),
            })
            .collect();
        let Some(first) = problems.iter().position(Option::is_some) else { return Vec::new() };
        let option = if *real { "--real" } else { "--expect-arch" };
        let other = format!("nothing runs, because {} is not as {option} says", self.options.devices[first]);
        let problem = |reason| if *real { Problem::Simulated(reason) } else { Problem::Architecture(reason) };
        problems.into_iter().map(|it| it.unwrap_or_else(|| problem(other.clone()))).collect()
    }

    /// Opens and locks a device.
    fn open(
        &mut self,
        bench: &mut dyn Bench,
        uri: &str,
    ) -> io::Result<Result<(DeviceInfo, DeviceLock), Problem>> {
        let info = match bench.open() {
            Ok(info) => info,
            Err(problem) => return Ok(Err(problem)),
        };
        let (report, options) = (&mut self.report, self.options);
        let held = lock::lock(&info, options, &mut |file| report.waiting(uri, file))?;
        Ok(held.map(|lock| (info, lock)))
    }

    fn device(&mut self, uri: &'a str, selected: &[Case], wrong: Option<Problem>) -> io::Result<()> {
        let options = self.options;
        let index = self.summary.devices.len();
        if interrupt::signal().is_some() {
            return Ok(());
        }
        let mut bench = self.bench(uri);
        let opened = match wrong {
            Some(problem) => Err(problem),
            None => self.open(bench.as_mut(), uri)?,
        };
        // The signal may have ended the opening.
        if opened.is_err() && interrupt::signal().is_some() {
            return Ok(());
        }
        let (info, problem, _lock) = match opened {
            Ok((info, lock)) => (Some(info), None, Some(lock)),
            Err(problem) => (None, Some(problem), None),
        };
        let require = options.require || options.real || !options.expect_arch.is_empty();
        let exit = problem.as_ref().map_or(Exit::Passed, |problem| problem.exit(require));
        self.summary.exit = self.summary.exit.and(exit);
        self.incomplete |= exit != Exit::Passed;
        let device = TestedDevice { uri: uri.to_owned(), info: info.clone(), problem: problem.clone(), exit };
        self.summary.devices.push(device);
        self.report.device(&self.summary.devices[index], selected.len())?;
        let Some(info) = info else {
            // The report of the device shows the problem once.
            let problem = problem.as_ref();
            let reason = problem.map_or("", Problem::reason).lines().next().unwrap_or_default();
            let words = problem.map_or("", Problem::words);
            for &case in selected {
                let ended = Ended::at_once(Verdict::Skip(format!("{uri} {words}: {reason}")));
                self.summary.results.push(result(index, &Planned { case, entry: None }, ended));
            }
            return Ok(());
        };
        let mut logs = vec![match KernelLog::open(options, &info) {
            Ok(log) => log,
            Err(trouble) => {
                self.report.no_kernel_log(&trouble)?;
                KernelLog::silent()
            }
        }];
        let entry = |case: &Case| self.expectations.find(case, uri, &info).cloned();
        let planned: Vec<_> =
            selected.iter().map(|case| Planned { case: *case, entry: entry(case) }).collect();
        let attempts = Attempts::new(options, &info);
        if options.jobs > 1 {
            for _ in 1..options.jobs {
                logs.push(KernelLog::open(options, &info).unwrap_or_else(|_| KernelLog::silent()));
            }
            let (attempts, journal) = (&attempts, self.journal.as_ref());
            let workers = logs.into_iter().map(|mut log| {
                let mut bench = InChild::new(options, uri);
                move |planned: &Planned| match interrupt::signal() {
                    Some(_) => Ok(None),
                    None => one(journal, index, attempts, &mut bench, &mut log, planned),
                }
            });
            let workers: Vec<_> = workers.collect();
            let (summary, report) = (&mut self.summary, &mut self.report);
            jobs::spread(&planned, workers, &mut |planned, ended| {
                self.incomplete |= ended.not_run;
                emit(summary, report, index, planned, ended)
            })?;
        } else {
            for planned in &planned {
                if interrupt::signal().is_some() {
                    break;
                }
                self.report.running(&planned.case);
                let ended =
                    one(self.journal.as_ref(), index, &attempts, bench.as_mut(), &mut logs[0], planned)?;
                let Some(ended) = ended else { break };
                self.incomplete |= ended.not_run;
                emit(&mut self.summary, &mut self.report, index, planned, ended)?;
            }
        }
        if let Some(reason) = attempts.lost() {
            let device = &mut self.summary.devices[index];
            let problem = Problem::Lost(reason.to_owned());
            device.exit = problem.exit(require);
            device.problem = Some(problem);
            self.summary.exit = self.summary.exit.and(device.exit);
            self.report.lost(&self.summary.devices[index])?;
        }
        self.during.extend(attempts.interrupted());
        Ok(())
    }

    fn end(mut self, cases: &[Case], start: Instant) -> Result<Summary, RunError> {
        let summary = &mut self.summary;
        summary.elapsed = start.elapsed();
        summary.interrupted = interrupt::signal();
        summary.unmet = match summary.interrupted {
            Some(signal) => vec![demands::interrupted(summary, cases, self.options, signal, &self.during)],
            None => demands::unmet(summary, cases, self.options),
        };
        self.incomplete |= summary.interrupted.is_some();
        // The demands cannot be met without the device, so its absence is the reason.
        let absent = summary.exit == Exit::Absent && summary.interrupted.is_none();
        for unmet in summary.unmet.iter().filter(|_| !absent) {
            summary.exit = summary.exit.and(unmet.exit);
        }
        self.report.end(summary)?;
        if let Some(journal) = self.journal.filter(|_| !self.incomplete) {
            journal.over()?;
        }
        Ok(self.summary)
    }
}

/// Runs a case, unless an earlier run has its verdict. `None` if a signal ended the case.
fn one(
    journal: Option<&Journal>,
    device: usize,
    attempts: &Attempts<'_>,
    bench: &mut dyn Bench,
    log: &mut KernelLog,
    planned: &Planned,
) -> io::Result<Option<Ended>> {
    let Some(journal) = journal else { return Ok(attempts.run(bench, log, planned)) };
    let ended = match journal.find(device, &planned.case) {
        Some(Ok(ended)) => return Ok(Some(ended)),
        Some(Err(failure)) => Ended::at_once(attempts::judge_once(planned.entry.as_ref(), failure)),
        None => {
            journal.begin(device, &planned.case)?;
            // A case that a signal ended fails in the run that continues this one, as it may be the reason for the signal.
            let Some(ended) = attempts.run(bench, log, planned) else { return Ok(None) };
            ended
        }
    };
    journal.end(device, &planned.case, &ended)?;
    Ok(Some(ended))
}

fn emit(
    summary: &mut Summary,
    report: &mut Report<'_>,
    device: usize,
    planned: &Planned,
    ended: Ended,
) -> io::Result<()> {
    let not_run = ended.not_run;
    let result = result(device, planned, ended);
    // An expected failure may keep the remaining cases from running.
    if not_run || matches!(result.verdict, Verdict::Fail(_)) {
        summary.exit = summary.exit.and(Exit::Failed);
    }
    summary.results.push(result);
    report.case(summary)
}

fn result(device: usize, planned: &Planned, ended: Ended) -> CaseResult {
    CaseResult {
        case: planned.case,
        device,
        verdict: ended.verdict,
        expectation: planned.entry.clone(),
        failures: ended.failures,
        elapsed: ended.elapsed,
    }
}

/// Whether an architecture such as `gfx942:sramecc+:xnack-` is the expected one, with each feature that is named.
fn is_of(architecture: &str, expected: &str) -> bool {
    let mut parts = architecture.split(':');
    let mut expected = expected.split(':');
    parts.next() == expected.next() && expected.all(|feature| architecture.split(':').any(|it| it == feature))
}
