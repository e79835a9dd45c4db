// SPDX-License-Identifier: MIT OR Apache-2.0
//! Demands on a whole run: that something ran, that few cases were skipped, and that certain cases passed.

use std::collections::BTreeMap;

use glob::Pattern;

use crate::{
    case::Case,
    options::Options,
    summary::{Exit, Problem, Summary, Verdict},
};

/// A demand that a run did not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unmet {
    /// The demand as reports call it: `a case must run`, `--max-skips 3`, `--must-pass dispatch.*`.
    pub demand: String,
    /// The reason, which may have several lines.
    pub reason: String,
    /// The exit code that it causes alone.
    pub exit: Exit,
}

/// The demands of `options` that a finished run did not meet. `cases` are all cases, selected or not.
pub(crate) fn unmet(summary: &Summary, cases: &[Case], options: &Options) -> Vec<Unmet> {
    let mut unmet = Vec::new();
    if options.must_run {
        unmet.extend(nothing_ran(summary, cases, options));
    }
    if options.probe {
        return unmet;
    }
    unmet.extend(options.max_skips.and_then(|most| too_many_skips(summary, most)));
    unmet.extend(options.must_pass.iter().filter_map(|pattern| not_passed(summary, cases, options, pattern)));
    unmet
}

/// The demand that a signal kept the run from meeting. `during` are the cases that were running.
pub(crate) fn interrupted(
    summary: &Summary,
    cases: &[Case],
    options: &Options,
    signal: &str,
    during: &[&str],
) -> Unmet {
    let selected = cases.iter().filter(|case| options.selects(case)).count() * options.devices.len();
    let during = if during.is_empty() { String::new() } else { format!(" during {}", during.join(", ")) };
    let known = summary.results.len();
    Unmet {
        demand: "the run must come to its end".to_owned(),
        reason: format!("{signal} ended the run{during}; {known} of {selected} cases have a verdict"),
        exit: Exit::Failed,
    }
}

fn nothing_ran(summary: &Summary, cases: &[Case], options: &Options) -> Option<Unmet> {
    let reason = if options.probe {
        if summary.devices.iter().any(|device| device.info.is_some()) {
            return None;
        }
        "no device could be opened".to_owned()
    } else if summary.results.is_empty() {
        // The parts of a suite together are the run, and a part may be empty.
        let everywhere = Options { shard: None, ..options.clone() };
        if options.shard.is_some() && cases.iter().any(|case| everywhere.selects(case)) {
            return None;
        }
        "no case fits the filters and the level".to_owned()
    } else if summary.count(|verdict| !matches!(verdict, Verdict::Skip(_))) == 0 {
        "every case was skipped".to_owned()
    } else {
        return None;
    };
    let mut lines = vec![reason];
    for device in &summary.devices {
        if let Some(problem) = &device.problem {
            let reason = Problem::reason(problem).lines().next().unwrap_or_default();
            lines.push(format!("{} {}: {reason}", device.uri, problem.words()));
        }
    }
    if summary.devices.iter().all(|device| device.problem.is_none()) {
        lines.extend(summary.skip_reasons().iter().map(|(reason, count)| {
            format!("{count} skipped: {}", reason.lines().next().unwrap_or_default())
        }));
    }
    Some(Unmet { demand: "a case must run".to_owned(), reason: lines.join("\n"), exit: Exit::Nothing })
}

fn too_many_skips(summary: &Summary, most: usize) -> Option<Unmet> {
    let count = summary.skipped();
    if count <= most {
        return None;
    }
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for result in &summary.results {
        if let Verdict::Skip(reason) = &result.verdict {
            let names = by_reason.entry(reason.lines().next().unwrap_or_default()).or_default();
            names.push(format!("{}{}", result.case.name, summary.on(result.device)));
        }
    }
    let mut reason = format!("{count} cases were skipped");
    for (why, names) in by_reason {
        reason.push_str(&format!("\n{why}: {}", names.join(", ")));
    }
    Some(Unmet { demand: format!("--max-skips {most}"), reason, exit: Exit::Failed })
}

fn not_passed(summary: &Summary, cases: &[Case], options: &Options, pattern: &Pattern) -> Option<Unmet> {
    let mut lines = Vec::new();
    let matching = || summary.results.iter().filter(|result| pattern.matches(result.case.name));
    for result in matching() {
        if matches!(result.verdict, Verdict::Pass | Verdict::Flaky(_)) {
            continue;
        }
        let message = result.verdict.message().and_then(|text| text.lines().next()).unwrap_or_default();
        let (name, on, verdict) = (result.case.name, summary.on(result.device), result.verdict.name());
        lines.push(format!("{name}{on}: {verdict}: {message}"));
    }
    if matching().next().is_none() {
        let everywhere = Options { shard: None, ..options.clone() };
        let fitting: Vec<_> = cases.iter().filter(|case| pattern.matches(case.name)).collect();
        lines.push(match &fitting[..] {
            [] => "no case has such a name; in a pattern `*` stands for any text, and --list shows the names"
                .to_owned(),
            _ if fitting.iter().any(|case| everywhere.selects(case)) => return None,
            _ => "the filters and the level leave out every case with such a name".to_owned(),
        });
    }
    let demand = format!("--must-pass {pattern}");
    (!lines.is_empty()).then(|| Unmet { demand, reason: lines.join("\n"), exit: Exit::Failed })
}
