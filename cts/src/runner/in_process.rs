// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs cases in this process, each on its own thread under a watchdog.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use windlass_hal::{Device, DeviceInfo, Registry, panics::caught};

use crate::{
    case::Case,
    context::Context,
    health, interrupt,
    options::Options,
    outcome::Stop,
    summary::{Problem, Verdict},
};

use super::bench::Bench;

/// The number of hung cases after which the rest is not run. A thread that hangs is abandoned with everything that it
/// holds.
const HUNG: usize = 3;

/// The device under test, which cases share as long as they pass.
pub(crate) struct InProcess<'a> {
    registry: &'a Registry,
    options: &'a Options,
    uri: &'a str,
    /// `None` after a failure, whose leftovers must not spoil the next case.
    device: Option<Device>,
    hung: Vec<&'static str>,
}

impl<'a> InProcess<'a> {
    pub(crate) fn new(registry: &'a Registry, options: &'a Options, uri: &'a str) -> Self {
        Self { registry, options, uri, device: None, hung: Vec::new() }
    }

    fn device(&mut self) -> Result<Device, Problem> {
        if let Some(device) = &self.device {
            return Ok(device.clone());
        }
        let (registry, uri) = (self.registry.clone(), self.uri.to_owned());
        let opened = watched("open", self.options.timeout, move || registry.open(&uri));
        let device = opened.map_err(|unfinished| {
            Problem::Broken(format!(
                "opening it {unfinished}; `open` must answer every failure at once, with an error"
            ))
        })?;
        let device = device.map_err(|error| Problem::from_error(&error))?;
        self.device = Some(device.clone());
        Ok(device)
    }

    fn run(&mut self, case: Case, seed: u64) -> Verdict {
        let device = match self.device() {
            Ok(device) => device,
            Err(problem) => {
                return Verdict::Fail(format!("the device could not be opened again: {}", problem.reason()));
            }
        };
        let lack = device.info().lacks.iter().find(|lack| case.requires.contains(&lack.feature));
        if let Some(lack) = lack {
            return Verdict::Skip(format!("declared lack `{}`: {}", lack.feature.name(), lack.reason));
        }
        let context = Context::new(self.registry, self.uri, device, self.options, seed);
        match watched(case.name, health::limit(&case, self.options.timeout), move || (case.run)(&context)) {
            Ok(Ok(())) => Verdict::Pass,
            Ok(Err(Stop::Skip(reason))) => Verdict::Skip(reason),
            Ok(Err(Stop::Fail(message))) => Verdict::Fail(message),
            Err(unfinished) => {
                if matches!(unfinished, Unfinished::Hung(_)) {
                    self.hung.push(case.name);
                }
                Verdict::Fail(format!("the case {unfinished}; {}", unfinished.advice(case.name)))
            }
        }
    }
}

impl Bench for InProcess<'_> {
    fn open(&mut self) -> Result<DeviceInfo, Problem> {
        self.device().map(|device| device.info().clone())
    }

    fn attempt(&mut self, case: Case, seed: u64) -> Verdict {
        let verdict = self.run(case, seed);
        if matches!(verdict, Verdict::Fail(_)) {
            self.device = None;
        }
        verdict
    }

    fn exhausted(&self) -> Option<String> {
        (self.hung.len() >= HUNG).then(|| {
            let hung = self.hung.join(", ");
            format!("not run, because {hung} hung; with --isolate a case that hangs is killed, and the others go on")
        })
    }
}

/// The reason why a watched function gave no result.
enum Unfinished {
    Hung(Duration),
    Interrupted(&'static str),
    Panicked(String),
    NoThread(std::io::Error),
}

impl std::fmt::Display for Unfinished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Hung(limit) => write!(f, "hung: it did not end within {} s", limit.as_secs_f64()),
            Self::Interrupted(signal) => write!(f, "was running when {signal} came"),
            Self::Panicked(text) => write!(f, "panicked: {text}"),
            Self::NoThread(error) => write!(f, "got no thread to run on: {error}"),
        }
    }
}

impl Unfinished {
    /// Advice on how to find out more about a case that ended in this way.
    fn advice(&self, case: &str) -> String {
        match self {
            Self::Hung(_) => format!(
                "a wait without a deadline, or a method of the driver that waits for other work: `--exact {case} --timeout \
                 600` leaves time to look with a debugger"
            ),
            Self::Panicked(_) => {
                format!(
                    "a driver answers with an error: `RUST_BACKTRACE=1` with `--exact {case}` shows where from"
                )
            }
            Self::Interrupted(_) => "the run ends".to_owned(),
            Self::NoThread(_) => "the process has as many as the system allows".to_owned(),
        }
    }
}

/// Runs a function on a new thread. Abandons the thread if it does not end in time.
fn watched<T: Send + 'static>(
    name: &str,
    limit: Duration,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Unfinished> {
    let (sender, receiver) = mpsc::channel();
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(move || {
        let result = caught(run);
        // After a hang the receiver is gone.
        let _ = sender.send(result);
    });
    spawned.map_err(Unfinished::NoThread)?;
    let deadline = Instant::now() + limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        return match receiver.recv_timeout(left.min(interrupt::PAUSE)) {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(text)) => Err(Unfinished::Panicked(text)),
            Err(RecvTimeoutError::Timeout) => match interrupt::signal() {
                Some(signal) => Err(Unfinished::Interrupted(signal)),
                None if left.is_zero() => Err(Unfinished::Hung(limit)),
                None => continue,
            },
            Err(RecvTimeoutError::Disconnected) => {
                Err(Unfinished::Panicked("its thread vanished".to_owned()))
            }
        };
    }
}
