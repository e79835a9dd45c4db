// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runner: one case after the other, each on a thread of its own, under a watchdog.

use std::{
    io::{self, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use windlass_hal::{Code, Device, Error, Registry};

use crate::{
    case::{Case, Stop},
    context::Context,
    junit,
    options::Options,
    report::{CaseResult, Exit, Report, Summary, Verdict},
};

/// Runs the cases that `options` select over one device, and writes what comes of them to `out` as it comes.
///
/// A case that does not end in time is reported as hung and ends the run: its thread, and whatever it holds,
/// cannot be taken back. End the process after such a run.
///
/// # Errors
/// Those of `out` and of the JUnit file.
pub fn run_cases(
    registry: &Registry,
    cases: &[Case],
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<Summary> {
    let mut report = Report::new(out, options.format);
    let selected: Vec<Case> = cases.iter().filter(|case| options.selects(case)).copied().collect();
    let mut summary = Summary { filtered_out: cases.len() - selected.len(), ..Summary::default() };
    if options.list {
        report.list(&selected)?;
        return Ok(summary);
    }
    let start = Instant::now();
    match registry.open(&options.device) {
        Ok(device) => {
            report.start(device.info(), selected.len())?;
            summary.device = Some(device.info().clone());
            let mut bench = Bench { registry, options, device: Some(device), hung: None };
            for case in selected {
                let result = bench.run(case);
                report.case(&result)?;
                summary.results.push(result);
            }
            if summary.failed() > 0 {
                summary.exit = Exit::Failed;
            }
        }
        Err(error) => {
            summary.exit = match error.code() {
                Code::Unavailable | Code::NotFound | Code::PermissionDenied if options.require => {
                    Exit::Absent
                }
                Code::Unavailable | Code::NotFound | Code::PermissionDenied => Exit::Passed,
                Code::InvalidArgument | Code::OutOfRange => Exit::Usage,
                _ => Exit::Failed,
            };
            report.not_opened(&options.device, &error.to_string())?;
            let verdict = Verdict::Skip(format!("{} could not be opened", options.device));
            for case in selected {
                let result = CaseResult { case, verdict: verdict.clone(), elapsed: Duration::ZERO };
                summary.results.push(result);
            }
        }
    }
    summary.elapsed = start.elapsed();
    if let Some(path) = &options.junit {
        junit::write(path, &summary)?;
    }
    report.end(&summary)?;
    Ok(summary)
}

/// The device under test between two cases.
struct Bench<'a> {
    registry: &'a Registry,
    options: &'a Options,
    /// Nothing after a failure: what it left behind must not spoil the next case.
    device: Option<Device>,
    hung: Option<&'static str>,
}

impl Bench<'_> {
    fn run(&mut self, case: Case) -> CaseResult {
        let start = Instant::now();
        let mut verdict = Verdict::Pass;
        for _ in 0..self.options.repeat.max(1) {
            verdict = self.run_once(case);
            if verdict != Verdict::Pass {
                break;
            }
        }
        if matches!(verdict, Verdict::Fail(_)) {
            self.device = None;
        }
        CaseResult { case, verdict, elapsed: start.elapsed() }
    }

    fn run_once(&mut self, case: Case) -> Verdict {
        if let Some(hung) = self.hung {
            return Verdict::Skip(format!("not run, because {hung} hung"));
        }
        let device = match self.device() {
            Ok(device) => device,
            Err(error) => return Verdict::Fail(format!("the device could not be opened again: {error:?}")),
        };
        let lack = device.info().lacks.iter().find(|lack| case.requires.contains(&lack.feature));
        if let Some(lack) = lack {
            return Verdict::Skip(format!("declared lack `{}`: {}", lack.feature.name(), lack.reason));
        }
        let timeout = self.options.timeout;
        let context = Context::new(self.registry, device, self.options);
        let (sender, receiver) = mpsc::channel();
        let spawned = thread::Builder::new().name(case.name.to_owned()).spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| (case.run)(&context)));
            drop(context);
            // Nobody listens any more to a case that hung and came back.
            let _ = sender.send(result);
        });
        if let Err(error) = spawned {
            return Verdict::Fail(format!("the system gives no thread to run the case on: {error}"));
        }
        match receiver.recv_timeout(timeout) {
            Ok(Ok(Ok(()))) => Verdict::Pass,
            Ok(Ok(Err(Stop::Skip(reason)))) => Verdict::Skip(reason),
            Ok(Ok(Err(Stop::Fail(message)))) => Verdict::Fail(message),
            Ok(Err(panic)) => Verdict::Fail(format!("the case panicked: {}", panic_text(panic.as_ref()))),
            Err(RecvTimeoutError::Timeout) => {
                self.hung = Some(case.name);
                Verdict::Fail(format!("hung: it did not end within {} s", timeout.as_secs_f64()))
            }
            Err(RecvTimeoutError::Disconnected) => Verdict::Fail("the case's thread vanished".to_owned()),
        }
    }

    fn device(&mut self) -> Result<Device, Error> {
        if let Some(device) = &self.device {
            return Ok(device.clone());
        }
        let device = self.registry.open(&self.options.device)?;
        self.device = Some(device.clone());
        Ok(device)
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("with something that is no text")
}
