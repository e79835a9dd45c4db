// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results, and their form as text and as JSON lines.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    process::ExitCode,
    time::Duration,
};

use serde_json::{Value, json};
use windlass_hal::DeviceInfo;

use crate::{case::Case, options::Format};

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It kept its contract.
    Pass,
    /// It did not; what was seen.
    Fail(String),
    /// It was not tried; why.
    Skip(String),
}

/// A case and how it ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CaseResult {
    /// The case.
    pub case: Case,
    /// How it ended.
    pub verdict: Verdict,
    /// How long it took, repetitions included.
    pub elapsed: Duration,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// The device, as it reported itself; nothing where it could not be opened.
    pub device: Option<DeviceInfo>,
    /// One result for each selected case, in their order.
    pub results: Vec<CaseResult>,
    /// Cases that the filters left out.
    pub filtered_out: usize,
    /// All cases, from the opening of the device on.
    pub elapsed: Duration,
    /// What to end the process with.
    pub exit: Exit,
}

impl Summary {
    pub(crate) fn count(&self, which: impl Fn(&Verdict) -> bool) -> usize {
        self.results.iter().filter(|result| which(&result.verdict)).count()
    }

    /// Cases that kept their contract.
    pub fn passed(&self) -> usize {
        self.count(|verdict| *verdict == Verdict::Pass)
    }

    /// Cases that did not.
    pub fn failed(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Fail(_)))
    }

    /// Cases that were not tried.
    pub fn skipped(&self) -> usize {
        self.count(|verdict| matches!(verdict, Verdict::Skip(_)))
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
    /// 2: the command line is wrong.
    Usage = 2,
    /// 3: the device is absent, and was required.
    Absent = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Writes results as they come.
pub(crate) struct Report<'a> {
    out: &'a mut dyn Write,
    format: Format,
}

impl<'a> Report<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, format: Format) -> Self {
        Self { out, format }
    }

    pub(crate) fn list(&mut self, cases: &[Case]) -> io::Result<()> {
        for case in cases {
            let requires: Vec<_> = case.requires.iter().map(|feature| feature.name()).collect();
            match self.format {
                Format::Json => self.line(&json!({
                    "event": "listed", "case": case.name, "contract": case.contract, "requires": requires,
                }))?,
                Format::Terse => writeln!(self.out, "{}: test", case.name)?,
                Format::Text => writeln!(self.out, "{:44} {}", case.name, case.contract)?,
            }
        }
        Ok(())
    }

    pub(crate) fn start(&mut self, device: &DeviceInfo, cases: usize) -> io::Result<()> {
        if self.format == Format::Json {
            return self.line(&json!({ "event": "started", "device": identity(device), "cases": cases }));
        }
        writeln!(self.out, "device        {} ({})", device.uri, describe(device))?;
        if let Some(uuid) = &device.uuid {
            writeln!(self.out, "uuid          {uuid}")?;
        }
        writeln!(self.out, "library       {}", device.library.as_deref().unwrap_or("none"))?;
        for lack in &device.lacks {
            writeln!(self.out, "lacks         {}: {}", lack.feature.name(), lack.reason)?;
        }
        writeln!(self.out, "running {cases} cases")
    }

    pub(crate) fn not_opened(&mut self, uri: &str, reason: &str) -> io::Result<()> {
        match self.format {
            Format::Json => self.line(&json!({ "event": "not_opened", "uri": uri, "reason": reason })),
            _ => writeln!(self.out, "device        {uri} could not be opened: {reason}"),
        }
    }

    pub(crate) fn case(&mut self, result: &CaseResult) -> io::Result<()> {
        let (word, message) = match &result.verdict {
            Verdict::Pass => ("pass", None),
            Verdict::Fail(message) => ("fail", Some(message)),
            Verdict::Skip(reason) => ("skip", Some(reason)),
        };
        let name = result.case.name;
        if self.format == Format::Json {
            return self.line(&json!({
                "event": "case", "case": name, "contract": result.case.contract, "verdict": word,
                "message": message, "seconds": result.elapsed.as_secs_f64(),
            }));
        }
        match &result.verdict {
            Verdict::Pass => writeln!(self.out, "pass  {name}"),
            Verdict::Skip(reason) => writeln!(self.out, "skip  {name}: {reason}"),
            Verdict::Fail(message) => {
                writeln!(self.out, "FAIL  {name}")?;
                writeln!(self.out, "      contract: {}", result.case.contract)?;
                message.lines().try_for_each(|line| writeln!(self.out, "      {line}"))
            }
        }
    }

    pub(crate) fn end(&mut self, summary: &Summary) -> io::Result<()> {
        let (passed, failed, skipped) = (summary.passed(), summary.failed(), summary.skipped());
        let seconds = summary.elapsed.as_secs_f64();
        if self.format == Format::Json {
            return self.line(&json!({
                "event": "ended", "passed": passed, "failed": failed, "skipped": skipped,
                "skip_reasons": summary.skip_reasons(), "filtered_out": summary.filtered_out,
                "seconds": seconds, "exit": summary.exit as u8,
            }));
        }
        for (reason, count) in summary.skip_reasons() {
            writeln!(self.out, "skipped {count:4}: {reason}")?;
        }
        for result in summary.results.iter().filter(|result| matches!(result.verdict, Verdict::Fail(_))) {
            writeln!(self.out, "failed        {}", result.case.name)?;
        }
        // The words of Rust's own test harness, for the eyes and tools that look for them.
        writeln!(
            self.out,
            "test result: {}. {passed} passed; {failed} failed; {skipped} ignored; 0 measured; {} filtered out; \
             finished in {seconds:.2}s",
            if summary.exit == Exit::Passed { "ok" } else { "FAILED" },
            summary.filtered_out
        )
    }

    fn line(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.out, "{value}")
    }
}

/// Name, architecture, and whether it is what it looks like.
pub(crate) fn describe(device: &DeviceInfo) -> String {
    let simulated = if device.simulated { ", simulated" } else { "" };
    format!("{}, {}{simulated}", device.name, device.architecture)
}

fn identity(device: &DeviceInfo) -> Value {
    json!({
        "uri": device.uri, "name": device.name, "architecture": device.architecture, "uuid": device.uuid,
        "library": device.library, "simulated": device.simulated,
        "lacks": device.lacks.iter().map(|lack| json!({
            "feature": lack.feature.name(), "reason": lack.reason,
        })).collect::<Vec<_>>(),
    })
}
