// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the expectations under which the results of a run fail no run, in the format of
//! [`Expectations`](crate::Expectations).

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, Seek as _, SeekFrom, Write as _},
};

use glob::Pattern;

use crate::{
    expectations::ExpectationKind,
    summary::{CaseResult, KILLED, Summary, Verdict},
};

const HEAD: &str = "\
# Written by --write-expectations. State in each new entry why the case fails, and where that is handled.
";
/// An address that readers see is none.
const LINK: &str = "todo://where-this-is-handled";
/// The most characters of a failure that become the reason.
const REASON: usize = 200;

/// Replaces the contents of the file.
pub(super) fn write(file: &mut File, summary: &Summary) -> io::Result<()> {
    let mut text = HEAD.to_owned();
    for result in &summary.results {
        if let Some(entry) = entry(result) {
            // Writing to a string cannot fail.
            let _ = write_entry(&mut text, summary, result, &entry);
        }
    }
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(text.as_bytes())
}

/// What an entry says beside its case and device.
struct Entry {
    kind: ExpectationKind,
    reason: String,
    link: String,
    /// A further key with its value.
    more: Option<String>,
}

/// The entry that a result needs. A case that passed against its expectation needs none.
fn entry(result: &CaseResult) -> Option<Entry> {
    let known = result.expectation.as_ref();
    let again = || {
        known.map(|known| Entry {
            kind: known.kind,
            reason: known.reason.clone(),
            link: known.link.clone(),
            more: match known.kind {
                ExpectationKind::Flake => Some(format!("retries = {}", known.retries)),
                _ => (!known.run).then(|| "run = false".to_owned()),
            },
        })
    };
    let new = |kind, message: &str, more| {
        let line = message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it failed");
        Some(Entry { kind, reason: line.chars().take(REASON).collect(), link: LINK.to_owned(), more })
    };
    match &result.verdict {
        Verdict::Fail(message) => match known.map(|known| known.kind) {
            Some(ExpectationKind::ExpectedFailure | ExpectationKind::Unsupported) => None,
            _ => {
                // It would take the machine down again.
                let more = message.starts_with(KILLED).then(|| "run = false".to_owned());
                new(ExpectationKind::ExpectedFailure, message, more)
            }
        },
        Verdict::Flaky(message) => again().or_else(|| {
            let retries = format!("retries = {}", result.failures.len().max(2));
            new(ExpectationKind::Flake, message, Some(retries))
        }),
        Verdict::Pass | Verdict::Skip(_) | Verdict::ExpectedFailure(_) => again(),
    }
}

fn write_entry(text: &mut String, summary: &Summary, result: &CaseResult, entry: &Entry) -> std::fmt::Result {
    let device = &summary.devices[result.device];
    let scheme = device.uri.split("://").next().unwrap_or_default();
    writeln!(text, "\n[[expect]]")?;
    writeln!(text, "case = {}", quoted(&Pattern::escape(result.case.name)))?;
    writeln!(text, "kind = {}", quoted(entry.kind.name()))?;
    writeln!(text, "reason = {}", quoted(&entry.reason))?;
    writeln!(text, "link = {}", quoted(&entry.link))?;
    writeln!(text, "driver = {}", quoted(&Pattern::escape(scheme)))?;
    if let Some(info) = &device.info {
        writeln!(text, "architecture = {}", quoted(&Pattern::escape(&info.architecture)))?;
    }
    if summary.devices.len() > 1 {
        writeln!(text, "device = {}", quoted(&Pattern::escape(&device.uri)))?;
    }
    entry.more.iter().try_for_each(|more| writeln!(text, "{more}"))
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    let mut safe = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => safe.extend(['\\', character]),
            control if control.is_control() => {
                let _ = write!(safe, "\\u{:04x}", u32::from(control));
            }
            other => safe.push(other),
        }
    }
    safe.push('"');
    safe
}
