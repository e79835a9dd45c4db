// SPDX-License-Identifier: MIT OR Apache-2.0
//! The results of a run.

use std::{collections::BTreeMap, process::ExitCode, time::Duration};

use windlass_hal::{Code, DeviceInfo, Error};

use crate::{case::Case, demands::Unmet, expectations::Expectation};

/// The outcome of a case, after the expectations.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It kept its contract.
    Pass,
    /// The case kept its contract at a retry. The text is the first failure.
    Flaky(String),
    /// The case failed as expected. The text is the failure.
    ExpectedFailure(String),
    /// The case failed, or passed although a failure was expected. The text says how.
    Fail(String),
    /// The case was not tried, or is known as unsupported. The text is the reason.
    Skip(String),
}

impl Verdict {
    /// The word in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Flaky(_) => "flaky",
            Self::ExpectedFailure(_) => "expected_failure",
            Self::Fail(_) => "fail",
            Self::Skip(_) => "skip",
        }
    }

    /// The verdict of a [name](Self::name). A name that is none is a failure.
    pub(crate) fn named(name: &str, message: String) -> Self {
        match name {
            "pass" => Self::Pass,
            "flaky" => Self::Flaky(message),
            "expected_failure" => Self::ExpectedFailure(message),
            "skip" => Self::Skip(message),
            _ => Self::Fail(message),
        }
    }

    /// The text of the verdict: the failure, or the reason of the skip.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Pass => None,
            Self::Flaky(message)
            | Self::ExpectedFailure(message)
            | Self::Fail(message)
            | Self::Skip(message) => Some(message),
        }
    }
}

/// The failure of a case that was running when the machine or the runner ended.
pub(crate) const KILLED: &str = "the machine went down or the runner was killed during it";

/// A case and its outcome.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CaseResult {
    /// The case.
    pub case: Case,
    /// The device, as an index of [`Summary::devices`].
    pub device: usize,
    /// The outcome.
    pub verdict: Verdict,
    /// The expectation, if it is not simply to pass.
    pub expectation: Option<Expectation>,
    /// The failures of the runs before the last one, each of which a retry followed.
    pub failures: Vec<String>,
    /// The duration, with all repetitions.
    pub elapsed: Duration,
}

/// A device under test.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TestedDevice {
    /// The URI by which the device was requested.
    pub uri: String,
    /// The device's own description. `None` if it could not be opened.
    pub info: Option<DeviceInfo>,
    /// The reason why it could not be opened, or why cases could not be run any more.
    pub problem: Option<Problem>,
    /// The exit that this device alone would cause. [`Exit::Passed`] for a device that may be absent.
    pub exit: Exit,
}

/// The reason why a device could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The device is not there, or this process may not use it.
    Absent(String),
    /// Its URI is wrong.
    Uri(String),
    /// Opening the device failed, or did not end.
    Broken(String),
    /// Another run holds its lock.
    Busy(String),
    /// It, or another device of the run, has not the expected architecture.
    Architecture(String),
    /// It, or another device of the run, is simulated, and a real one is required.
    Simulated(String),
    /// It was opened, and did not recover from a failure.
    Lost(String),
}

impl Problem {
    pub(crate) fn from_error(error: &Error) -> Self {
        let reason = error.to_string();
        match error.code() {
            Code::Unavailable | Code::NotFound | Code::PermissionDenied => Self::Absent(reason),
            Code::InvalidArgument | Code::OutOfRange => Self::Uri(reason),
            _ => Self::Broken(reason),
        }
    }

    /// The word in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Absent(_) => "absent",
            Self::Uri(_) => "uri",
            Self::Broken(_) => "broken",
            Self::Busy(_) => "busy",
            Self::Architecture(_) => "architecture",
            Self::Simulated(_) => "simulated",
            Self::Lost(_) => "lost",
        }
    }

    /// The whole reason. It may have several lines.
    pub fn reason(&self) -> &str {
        match self {
            Self::Absent(reason)
            | Self::Uri(reason)
            | Self::Broken(reason)
            | Self::Busy(reason)
            | Self::Architecture(reason)
            | Self::Simulated(reason)
            | Self::Lost(reason) => reason,
        }
    }

    /// The words between the device and the reason.
    pub(crate) const fn words(&self) -> &'static str {
        match self {
            Self::Absent(_) | Self::Uri(_) | Self::Broken(_) => "could not be opened",
            Self::Busy(_) => "is in use",
            Self::Architecture(_) | Self::Simulated(_) => "is not tested",
            Self::Lost(_) => "was lost",
        }
    }

    pub(crate) const fn exit(&self, require: bool) -> Exit {
        match self {
            Self::Absent(_) if require => Exit::Absent,
            Self::Absent(_) => Exit::Passed,
            Self::Uri(_) => Exit::Usage,
            Self::Broken(_) | Self::Lost(_) => Exit::Failed,
            Self::Busy(_) | Self::Architecture(_) | Self::Simulated(_) => Exit::Absent,
        }
    }
}

impl TestedDevice {
    /// The name, the architecture, and whether the device is simulated.
    pub(crate) fn describe(&self) -> String {
        let Some(info) = &self.info else { return "could not be opened".to_owned() };
        let simulated = if info.simulated { ", simulated" } else { "" };
        format!("{}, {}{simulated}", info.name, info.architecture)
    }
}

/// The results of a run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// The devices, in the order in which they were tested.
    pub devices: Vec<TestedDevice>,
    /// One result for each device and selected case, in their order.
    pub results: Vec<CaseResult>,
    /// The number of cases that the options left out.
    pub filtered_out: usize,
    /// The demands on the whole run that it did not meet.
    pub unmet: Vec<Unmet>,
    /// The name of the signal that ended the run, if one did. Cases without a result were not run.
    pub interrupted: Option<&'static str>,
    /// The duration, from the opening of the first device.
    pub elapsed: Duration,
    /// The exit code for the process.
    pub exit: Exit,
}

impl Summary {
    /// The number of results that match.
    pub fn count(&self, which: impl Fn(&Verdict) -> bool) -> usize {
        self.results.iter().filter(|result| which(&result.verdict)).count()
    }

    /// The number of cases that kept their contract, flakes included.
    pub fn passed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Pass | Verdict::Flaky(_)))
    }

    /// The number of cases that failed, or passed although a failure was expected.
    pub fn failed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Fail(_)))
    }

    /// The number of devices that fail the run, because they could not be opened or were lost.
    pub fn errors(&self) -> usize {
        self.devices.iter().filter(|device| device.exit != Exit::Passed).count()
    }

    /// The number of cases that were not tried, or are known as unsupported.
    pub fn skipped(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Skip(_)))
    }

    /// The number of cases that failed as expected.
    pub fn expected_failures(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::ExpectedFailure(_)))
    }

    /// The number of cases that passed at a retry.
    pub fn flaky(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Flaky(_)))
    }

    /// The reasons of skips, each with its number of cases.
    pub fn skip_reasons(&self) -> BTreeMap<&str, usize> {
        let mut reasons = BTreeMap::new();
        for result in &self.results {
            if let Verdict::Skip(reason) = &result.verdict {
                *reasons.entry(reason.as_str()).or_default() += 1;
            }
        }
        reasons
    }

    /// The results of at most `count` cases that took longest, slowest first.
    pub fn slowest(&self, count: usize) -> Vec<&CaseResult> {
        let mut results: Vec<_> = self.results.iter().filter(|result| !result.elapsed.is_zero()).collect();
        results.sort_by_key(|result| std::cmp::Reverse(result.elapsed));
        results.truncate(count);
        results
    }

    /// The suffix of a case's name that tells the device if there are several.
    pub(crate) fn on(&self, device: usize) -> String {
        match &self.devices[..] {
            [_, _, ..] => format!(" on {}", self.devices[device].uri),
            _ => String::new(),
        }
    }
}

/// The end of a run, with its exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum Exit {
    /// 0: no case failed.
    #[default]
    Passed = 0,
    /// 1: a case failed, a demand on the run was not met, or the results could not be written.
    Failed = 1,
    /// 2: the command line or the expectations file is wrong, or a report cannot be opened.
    Usage = 2,
    /// 3: a required device is absent, in use by another run, or not such a device as expected.
    Absent = 3,
    /// 4: no case ran, and [`Options::must_run`](crate::Options::must_run) was set.
    Nothing = 4,
}

impl Exit {
    /// The worse of two ends: a wrong command line, then a failure, then an absent device, then a run of nothing.
    pub(crate) fn and(self, other: Self) -> Self {
        let order = [Self::Usage, Self::Failed, Self::Absent, Self::Nothing];
        order.into_iter().find(|exit| [self, other].contains(exit)).unwrap_or_default()
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
