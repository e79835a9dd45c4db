// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes a summary in Markdown, for the page of a CI job.

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, Write as _},
};

use crate::{
    options::Options,
    summary::{CaseResult, Exit, Summary, Verdict},
};

/// The most failures with full text. A job page holds a megabyte.
const TOLD: usize = 50;
/// The most characters of a failure's message.
const MESSAGE: usize = 4000;

/// Writes the page.
pub(super) fn write(file: &mut File, summary: &Summary, options: &Options) -> io::Result<()> {
    file.write_all(page(summary, options).as_bytes())
}

fn page(summary: &Summary, options: &Options) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write_page(&mut page, summary, options);
    page
}

fn write_page(page: &mut String, summary: &Summary, options: &Options) -> std::fmt::Result {
    let outcome = match summary.exit {
        Exit::Passed if summary.passed() == 0 => "nothing was run",
        Exit::Passed => "passed",
        Exit::Failed => "failed",
        Exit::Usage => "could not be run",
        Exit::Absent => "a required device is not there",
        Exit::Nothing => "nothing was run",
    };
    writeln!(page, "## Windlass conformance: {outcome}\n")?;
    writeln!(page, "| device | | errors | passed | failed | expected to fail | flaky | skipped |")?;
    writeln!(page, "|---|---|--:|--:|--:|--:|--:|--:|")?;
    for (index, device) in summary.devices.iter().enumerate() {
        let of = |which: fn(&Verdict) -> bool| {
            let results = summary.results.iter().filter(|result| result.device == index);
            results.filter(|result| which(&result.verdict)).count()
        };
        writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            cell(&device.uri),
            cell(&device.describe()),
            u8::from(device.exit != Exit::Passed),
            of(|verdict| matches!(verdict, Verdict::Pass | Verdict::Flaky(_))),
            of(|verdict| matches!(verdict, Verdict::Fail(_))),
            of(|verdict| matches!(verdict, Verdict::ExpectedFailure(_))),
            of(|verdict| matches!(verdict, Verdict::Flaky(_))),
            of(|verdict| matches!(verdict, Verdict::Skip(_))),
        )?;
    }
    writeln!(page)?;
    let shard = options.shard.map_or(String::new(), |shard| format!(", shard {shard}"));
    let (provenance, level, seed) = (cell(&options.provenance), options.level.name(), options.seed);
    let (filtered, seconds) = (summary.filtered_out, summary.elapsed.as_secs_f64());
    writeln!(
        page,
        "{provenance}; level {level}{shard}, seed {seed}; {filtered} cases left out; {seconds:.1} s\n"
    )?;
    if let Some(choice) = &options.choice {
        writeln!(page, "- {}", cell(choice))?;
    }
    for unmet in &summary.unmet {
        writeln!(page, "- not met: {}\n\n{}\n", cell(&unmet.demand), block(&unmet.reason))?;
    }
    for device in &summary.devices {
        if let Some(library) = device.info.as_ref().and_then(|info| info.library.as_ref()) {
            writeln!(page, "- {}: {}", cell(&device.uri), cell(library))?;
        }
        if let Some(problem) = &device.problem {
            let (uri, words) = (cell(&device.uri), problem.words());
            writeln!(page, "- {uri} {words}:\n\n{}\n", block(problem.reason()))?;
        }
    }
    writeln!(page)?;
    failures(page, summary)?;
    known(page, summary)?;
    skips(page, summary)
}

fn failures(page: &mut String, summary: &Summary) -> std::fmt::Result {
    let failed = || summary.results.iter().filter(|result| matches!(result.verdict, Verdict::Fail(_)));
    for result in failed().take(TOLD) {
        let message = result.verdict.message().unwrap_or_default();
        writeln!(
            page,
            "<details open><summary><b>{}</b>{}: {}</summary>\n\n{}\n</details>\n",
            html(result.case.name),
            html(&summary.on(result.device)),
            html(result.case.contract),
            block(message)
        )?;
    }
    match failed().count().saturating_sub(TOLD) {
        0 => Ok(()),
        more => writeln!(page, "And {more} failures more; the other reports have them.\n"),
    }
}

fn known(page: &mut String, summary: &Summary) -> std::fmt::Result {
    let is_known =
        |result: &&CaseResult| matches!(result.verdict, Verdict::Flaky(_) | Verdict::ExpectedFailure(_));
    if !summary.results.iter().any(|result| is_known(&result)) {
        return Ok(());
    }
    writeln!(page, "| flaky or known case | | why |\n|---|---|---|")?;
    for result in summary.results.iter().filter(is_known) {
        let why = match &result.expectation {
            Some(entry) => format!("{} ({})", entry.reason, entry.link),
            None => {
                result.verdict.message().and_then(|text| text.lines().next()).unwrap_or_default().to_owned()
            }
        };
        let word = if matches!(result.verdict, Verdict::Flaky(_)) { "passed at a retry" } else { "failed" };
        let (name, on) = (cell(result.case.name), cell(&summary.on(result.device)));
        writeln!(page, "| {name}{on} | {word} | {} |", cell(&why))?;
    }
    writeln!(page)
}

fn skips(page: &mut String, summary: &Summary) -> std::fmt::Result {
    let reasons = summary.skip_reasons();
    if reasons.is_empty() {
        return Ok(());
    }
    writeln!(page, "| skipped | because |\n|--:|---|")?;
    for (reason, count) in reasons {
        writeln!(page, "| {count} | {} |", cell(reason))?;
    }
    writeln!(page)
}

/// Escapes text for a cell of a table.
fn cell(text: &str) -> String {
    let mut safe = String::new();
    for character in html(text).chars() {
        match character {
            '|' | '*' | '_' | '`' | '\\' | '[' | ']' | '~' => safe.extend(['\\', character]),
            '\n' => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

/// Formats lines of text as a code block.
fn block(text: &str) -> String {
    let shown: String = text.chars().take(MESSAGE).collect();
    let cut = if shown.len() < text.len() { "\n..." } else { "" };
    format!("<pre>{}{cut}</pre>", html(&shown))
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
