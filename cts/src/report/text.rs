// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes results as text.

use std::{
    io::{self, Write},
    path::Path,
};

use crate::{
    case::Case,
    options::{Format, Options},
    summary::{CaseResult, Exit, Problem, Summary, TestedDevice, Verdict},
};

pub(super) fn listed(out: &mut dyn Write, format: Format, case: &Case) -> io::Result<()> {
    match format {
        Format::Terse => writeln!(out, "{}: test", case.name),
        _ => writeln!(out, "{:44} {:6} {}", case.name, case.level.name(), case.contract),
    }
}

pub(super) fn device(
    out: &mut dyn Write,
    device: &TestedDevice,
    options: &Options,
    cases: usize,
) -> io::Result<()> {
    writeln!(out, "suite         {}", options.provenance)?;
    if let Some(choice) = &options.choice {
        writeln!(out, "choice        {choice}")?;
    }
    let Some(info) = &device.info else {
        let reason = device.problem.as_ref().map_or("", |problem| problem.reason());
        let reason = reason.replace('\n', "\n              ");
        let words = device.problem.as_ref().map_or("", Problem::words);
        writeln!(out, "device        {} {words}: {reason}", device.uri)?;
        return writeln!(out, "skipping {cases} cases");
    };
    writeln!(out, "device        {} ({})", info.uri, device.describe())?;
    if let Some(uuid) = &info.uuid {
        writeln!(out, "uuid          {uuid}")?;
    }
    writeln!(out, "library       {}", info.library.as_deref().unwrap_or("none"))?;
    for lack in &info.lacks {
        writeln!(out, "lacks         {}: {}", lack.feature.name(), lack.reason)?;
    }
    writeln!(out, "seed          {}", options.seed)?;
    let level = options.level.name();
    let shard = options.shard.map_or(String::new(), |shard| format!(", shard {shard}"));
    let isolated = if options.isolates() { ", each in a process of its own" } else { "" };
    let jobs = if options.jobs > 1 { format!(", {} at the same time", options.jobs) } else { String::new() };
    writeln!(out, "running {cases} cases, level {level}{shard}{isolated}{jobs}")
}

pub(super) fn resumed(out: &mut dyn Write, ended: usize, cases: usize) -> io::Result<()> {
    writeln!(out, "resumed       an earlier run did not end; it has the verdicts of {ended} of {cases} cases")
}

pub(super) fn waiting(out: &mut dyn Write, uri: &str, lock: &Path, seconds: f64) -> io::Result<()> {
    let lock = lock.display();
    writeln!(out, "waiting       {uri} is in use: another run holds {lock}; --lock-timeout is {seconds} s")?;
    out.flush()
}

pub(super) fn no_kernel_log(out: &mut dyn Write, reason: &str) -> io::Result<()> {
    writeln!(out, "kernel log    none, because {reason}")
}

pub(super) fn lost(out: &mut dyn Write, device: &TestedDevice) -> io::Result<()> {
    let reason = device.problem.as_ref().map_or("", Problem::reason);
    writeln!(out, "lost          {}: {reason}; the remaining cases are not run", device.uri)
}

pub(super) fn case(out: &mut dyn Write, summary: &Summary, result: &CaseResult) -> io::Result<()> {
    let name = result.case.name;
    let expected = super::expected(result).unwrap_or_default();
    let indent = |out: &mut dyn Write, message: &str| {
        message.lines().try_for_each(|line| writeln!(out, "      {}", plain(line)))
    };
    match &result.verdict {
        Verdict::Pass => writeln!(out, "pass  {name}"),
        Verdict::Skip(reason) => writeln!(out, "skip  {name}: {}", plain(first_line(reason))),
        Verdict::Flaky(message) => {
            let expected = if expected.is_empty() { expected } else { format!("; {expected}") };
            writeln!(out, "flaky {name}: passed at a retry{expected}")?;
            indent(out, message)
        }
        Verdict::ExpectedFailure(message) => {
            writeln!(out, "xfail {name}: {expected}")?;
            indent(out, message)
        }
        Verdict::Fail(message) => {
            writeln!(out, "FAIL  {name}{}", summary.on(result.device))?;
            writeln!(out, "      contract: {}", result.case.contract)?;
            indent(out, message)
        }
    }
}

pub(super) fn ended(out: &mut dyn Write, summary: &Summary, options: &Options) -> io::Result<()> {
    for result in summary.slowest(options.slowest) {
        let (name, on) = (result.case.name, summary.on(result.device));
        writeln!(out, "slow          {:8.3} s  {name}{on}", result.elapsed.as_secs_f64())?;
    }
    for (reason, count) in summary.skip_reasons() {
        writeln!(out, "skipped {count:4}: {}", plain(first_line(reason)))?;
    }
    for result in &summary.results {
        let words = match &result.verdict {
            Verdict::Flaky(_) => "flaky        ",
            Verdict::ExpectedFailure(_) => "failed as expected",
            Verdict::Fail(_) => "failed       ",
            Verdict::Pass | Verdict::Skip(_) => continue,
        };
        writeln!(out, "{words} {}{}", result.case.name, summary.on(result.device))?;
    }
    for device in summary.devices.iter().filter(|device| device.exit != Exit::Passed) {
        writeln!(out, "error         {} {}", device.uri, device.problem.as_ref().map_or("", Problem::words))?;
    }
    for unmet in &summary.unmet {
        writeln!(out, "not met       {}: {}", unmet.demand, unmet.reason.replace('\n', "\n              "))?;
    }
    // The words of Rust's own test harness, which people and tools look for. Expected failures count as ignored.
    let result = if summary.exit == Exit::Passed { "ok" } else { "FAILED" };
    writeln!(
        out,
        "test result: {result}. {} passed; {} failed; {} ignored; 0 measured; {} filtered out; finished in {:.2}s",
        summary.passed(),
        summary.failed(),
        summary.skipped() + summary.expected_failures(),
        summary.filtered_out,
        summary.elapsed.as_secs_f64()
    )
}

/// A message may come from the file of `--resume`, or from a program that died. A terminal does not obey it.
fn plain(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for letter in line.chars() {
        match letter {
            '\t' => shown.push(letter),
            letter if letter.is_ascii_control() => shown.push_str(&format!("\\x{:02x}", u32::from(letter))),
            letter if letter.is_control() => shown.extend(letter.escape_unicode()),
            letter => shown.push(letter),
        }
    }
    shown
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
