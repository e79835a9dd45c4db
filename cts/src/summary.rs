// SPDX-License-Identifier: MIT OR Apache-2.0
//! What came of a run.

use std::{collections::BTreeMap, process::ExitCode, time::Duration};

use windlass_hal::{Code, DeviceInfo, Error};

use crate::{case::Case, expectations::Expectation};

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It kept its contract.
    Pass,
    /// It is known as a flake, and kept its contract at a retry; what was seen before.
    Flaky(String),
    /// It did not keep its contract, as the expectations say; what was seen.
    ExpectedFailure(String),
    /// It did not keep its contract, or kept it against the expectations; what was seen.
    Fail(String),
    /// It was not tried, or is known as unsupported; why.
    Skip(String),
}

impl Verdict {
    /// The word of reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Flaky(_) => "flaky",
            Self::ExpectedFailure(_) => "expected_failure",
            Self::Fail(_) => "fail",
            Self::Skip(_) => "skip",
        }
    }

    /// What was seen, or why it was not tried.
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

/// A case and how it ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CaseResult {
    /// The case.
    pub case: Case,
    /// The device, as an index of [`Summary::devices`].
    pub device: usize,
    /// How it ended.
    pub verdict: Verdict,
    /// What was expected of it, where that is not simply to pass.
    pub expectation: Option<Expectation>,
    /// How long it took, repetitions included.
    pub elapsed: Duration,
}

/// A device under test.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TestedDevice {
    /// The URI that it was asked for by.
    pub uri: String,
    /// The device, as it reports itself; nothing where it could not be opened.
    pub info: Option<DeviceInfo>,
    /// Why it could not be opened.
    pub problem: Option<Problem>,
    /// What that alone makes of the run: [`Exit::Passed`] for a device that may be absent.
    pub exit: Exit,
}

/// Why a device could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// It is not there, or this process may not use it.
    Absent(String),
    /// Its URI is wrong.
    Uri(String),
    /// Opening it failed, or did not end.
    Broken(String),
}

impl Problem {
    pub(crate) fn of(error: &Error) -> Self {
        let reason = error.to_string();
        match error.code() {
            Code::Unavailable | Code::NotFound | Code::PermissionDenied => Self::Absent(reason),
            Code::InvalidArgument | Code::OutOfRange => Self::Uri(reason),
            _ => Self::Broken(reason),
        }
    }

    /// The word of reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Absent(_) => "absent",
            Self::Uri(_) => "uri",
            Self::Broken(_) => "broken",
        }
    }

    /// The whole reason, of several lines maybe.
    pub fn reason(&self) -> &str {
        match self {
            Self::Absent(reason) | Self::Uri(reason) | Self::Broken(reason) => reason,
        }
    }

    pub(crate) const fn exit(&self, require: bool) -> Exit {
        match self {
            Self::Absent(_) if require => Exit::Absent,
            Self::Absent(_) => Exit::Passed,
            Self::Uri(_) => Exit::Usage,
            Self::Broken(_) => Exit::Failed,
        }
    }
}

impl TestedDevice {
    /// Name, architecture, and whether it is what it looks like.
    pub(crate) fn describe(&self) -> String {
        let Some(info) = &self.info else { return "could not be opened".to_owned() };
        let simulated = if info.simulated { ", simulated" } else { "" };
        format!("{}, {}{simulated}", info.name, info.architecture)
    }
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// The devices, in the order in which they were tested.
    pub devices: Vec<TestedDevice>,
    /// One result for each device and selected case, in their order.
    pub results: Vec<CaseResult>,
    /// Cases that the options left out.
    pub filtered_out: usize,
    /// Everything, from the opening of the first device on.
    pub elapsed: Duration,
    /// What to end the process with.
    pub exit: Exit,
}

impl Summary {
    /// How many results are of a kind.
    pub fn count(&self, which: impl Fn(&Verdict) -> bool) -> usize {
        self.results.iter().filter(|result| which(&result.verdict)).count()
    }

    /// Cases that kept their contract, flakes among them.
    pub fn passed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Pass | Verdict::Flaky(_)))
    }

    /// Cases that did not, or did against the expectations.
    pub fn failed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Fail(_)))
    }

    /// Devices that could not be opened and so fail the run.
    pub fn errors(&self) -> usize {
        self.devices.iter().filter(|device| device.exit != Exit::Passed).count()
    }

    /// Cases that were not tried, or are known as unsupported.
    pub fn skipped(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Skip(_)))
    }

    /// Cases that failed as the expectations say.
    pub fn expected_failures(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::ExpectedFailure(_)))
    }

    /// Cases that passed at a retry.
    pub fn flaky(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Flaky(_)))
    }

    /// The reasons of skips, each with the number of cases that gave it.
    pub fn skip_reasons(&self) -> BTreeMap<&str, usize> {
        let mut reasons = BTreeMap::new();
        for result in &self.results {
            if let Verdict::Skip(reason) = &result.verdict {
                *reasons.entry(reason.as_str()).or_default() += 1;
            }
        }
        reasons
    }

    /// What is added to a case's name where there are several devices: which one.
    pub(crate) fn on(&self, device: usize) -> String {
        match &self.devices[..] {
            [_, _, ..] => format!(" on {}", self.devices[device].uri),
            _ => String::new(),
        }
    }
}

/// How a run ends, with the exit code it stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum Exit {
    /// 0: no case failed.
    #[default]
    Passed = 0,
    /// 1: a case failed, or the results could not be written.
    Failed = 1,
    /// 2: the command line or the expectations file is wrong, or a report cannot be opened.
    Usage = 2,
    /// 3: a device is absent, and was required.
    Absent = 3,
}

impl Exit {
    /// Of two ends the one that says more: a wrong command line, then a failure, then an absent device.
    pub(crate) fn and(self, other: Self) -> Self {
        let order = [Self::Usage, Self::Failed, Self::Absent];
        order.into_iter().find(|exit| [self, other].contains(exit)).unwrap_or_default()
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
