// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process for each driver, or for one device. It answers with the devices, and then with each check.

use std::{
    io,
    time::{Duration, Instant},
};

use crate::driver::Driver;
use serde::{Deserialize, Serialize};

use super::{
    check::check,
    look, opened,
    report::{Check, DriverReport},
    verbose::{Description, describe},
};
use crate::command::child::{Asked, Errors, Line, Stopped, say};

/// Says how to give a driver more time.
const LONGER: &str = "--timeout waits longer";

/// An answer of a driver's process.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    /// The devices.
    Listed(DriverReport),
    /// Their processors and links.
    Described(Description),
    /// The result of the check of the next device in the list.
    Checked(Check),
}

/// The questions to a process beside its devices.
#[derive(Clone, Copy, Default)]
pub(super) struct Questions {
    /// The processors and links, as of `--verbose`.
    pub(super) verbose: bool,
    /// A kernel on each device, as of `--check`.
    pub(super) checks: bool,
}

/// The work of a driver's process.
pub(super) fn answer(driver: &dyn Driver, questions: Questions) {
    answer_with(look(driver), questions);
}

/// The work of a device's process.
pub(super) fn answer_one(uri: &str, questions: Questions) {
    answer_with(opened(uri), questions);
}

fn answer_with(report: DriverReport, questions: Questions) {
    let uris: Vec<_> = report.devices.iter().map(|device| device.uri.clone()).collect();
    say(&Line::Answer(Answer::Listed(report)));
    if questions.verbose {
        say(&Line::Answer(Answer::Described(describe(&uris))));
    }
    for uri in uris.iter().filter(|_| questions.checks) {
        say(&Line::Answer(Answer::Checked(check(uri))));
    }
}

/// The times for a process.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// For the devices, and then for each check.
    pub(super) answer: Duration,
    /// The end of all.
    pub(super) end: Option<Instant>,
}

/// A driver's process.
pub(super) struct Answers {
    report: DriverReport,
    questions: Questions,
    running: io::Result<Asked<Answer>>,
    started: Instant,
}

impl Answers {
    /// Starts the process of a driver.
    pub(super) fn start(driver: &dyn Driver, questions: Questions) -> Self {
        let report = DriverReport::of(driver.scheme(), driver.description());
        Self::run(report, ["devices", "--driver", driver.scheme()], questions)
    }

    /// Starts the process of a device.
    pub(super) fn start_one(uri: &str, questions: Questions) -> Self {
        let scheme = uri.split_once("://").map_or(uri, |(scheme, _)| scheme);
        let report = DriverReport::of(scheme, format!("the device {uri}"));
        Self::run(report, ["devices", "--uri", uri], questions)
    }

    fn run(report: DriverReport, arguments: [&str; 3], questions: Questions) -> Self {
        let arguments = arguments.into_iter().chain(questions.checks.then_some("--check"));
        let arguments = arguments.chain(questions.verbose.then_some("--verbose"));
        Self { report, questions, running: Asked::start(arguments, Errors::Shown), started: Instant::now() }
    }

    /// Reads the answers.
    pub(super) fn read(self, limits: Limits) -> DriverReport {
        let Self { mut report, questions, running, started } = self;
        let mut process = match running {
            Ok(process) => process,
            Err(error) => {
                report.problem = Some(format!("no process for it could be started: {error}"));
                report.stopped = Some(Stopped::Died);
                return report;
            }
        };
        let (mut since, mut listed, mut checked) = (started, false, 0);
        let open = |report: &DriverReport, checked: usize| {
            (questions.verbose && report.topology.is_none())
                || (questions.checks && checked < report.devices.len())
        };
        while !listed || open(&report, checked) {
            let left = limits.end.map_or(limits.answer, |end| limits.answer.min(end.duration_since(since)));
            match process.answer(since, left, LONGER) {
                Ok((at, Answer::Listed(answer))) => (report, since, listed) = (answer, at, true),
                Ok((at, Answer::Described(description))) => {
                    (report.topology, since) = (Some(description), at);
                }
                Ok((at, Answer::Checked(check))) => {
                    if let Some(device) = report.devices.get_mut(checked) {
                        device.check = Some(check);
                    }
                    (since, checked) = (at, checked + 1);
                }
                Err(silence) => {
                    let place = match report.devices.get(checked).filter(|_| listed) {
                        Some(_) if questions.verbose && report.topology.is_none() => {
                            "the description of its devices: ".to_owned()
                        }
                        Some(device) => format!("the check of {}: ", device.uri),
                        None => String::new(),
                    };
                    report.problem = Some(format!("{place}{}", silence.message));
                    report.stopped = Some(silence.stopped);
                    return report;
                }
            }
        }
        process.finish();
        report
    }
}
