// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of known differences.
//!
//! A line is `VERSIONS | CASE | AMD'S ANSWER | OURS`, below a line `= REASON`. `{a,b}` in a case stands for two lines,
//! one with each. `*` stands for any answer. It is allowed only for AMD's answer, and only if a version has a `?`
//! behind it: AMD's answer is random then, and the difference may be absent.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

pub(crate) struct Known {
    pub(crate) entries: Vec<Entry>,
    /// The entries as written, by reason.
    lines: BTreeMap<String, Vec<[String; 4]>>,
}

pub(crate) struct Entry {
    versions: Vec<String>,
    pub(crate) case: String,
    theirs: String,
    ours: String,
}

/// The machine that a version of AMD's HIP supports.
pub(crate) fn machine(version: &str) -> Result<&'static str> {
    Ok(match version {
        "6.4" => "gfx942?hip=6.4&devices=2",
        "5.2" => "gfx90a?hip=5.2&devices=2",
        _ => bail!("no HIP {version} is compared: 6.4 and 5.2 are"),
    })
}

/// The texts that a text with `{a,b}` stands for.
fn expand(text: &str) -> Result<Vec<String>> {
    let Some((before, rest)) = text.split_once('{') else { return Ok(vec![text.to_owned()]) };
    let (among, behind) = rest.split_once('}').with_context(|| format!("no }} behind {{ in: {text}"))?;
    let mut texts = Vec::new();
    for behind in expand(behind)? {
        texts.extend(among.split(',').map(|word| format!("{before}{word}{behind}")));
    }
    Ok(texts)
}

/// The parts of a line.
fn parts(line: &str) -> Result<[String; 4]> {
    let parts: Vec<String> = line.split(" | ").map(|part| part.trim().to_owned()).collect();
    let Ok([versions, case, theirs, ours]) = <[String; 4]>::try_from(parts) else {
        bail!("four parts in: {line}")
    };
    for version in versions.split(' ') {
        machine(version.trim_end_matches('?'))?;
        let chance = theirs == "*" && version.ends_with('?');
        ensure!(
            chance || !theirs.contains('*'),
            "a star is a whole answer, of versions with a question mark: {line}"
        );
    }
    ensure!(!case.contains('*') && !ours.contains('*'), "a star is for AMD's answer: {line}");
    Ok([versions, case, theirs, ours])
}

impl Entry {
    /// Whether the list is stale if this difference does not occur.
    pub(crate) fn must_occur(&self, version: &str) -> bool {
        self.versions.iter().any(|own| own == version)
    }

    pub(crate) fn describe(&self) -> String {
        format!("\"{}\", {} beside {}", self.case, self.theirs, self.ours)
    }
}

impl Known {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let (mut known, mut reason) = (Self { entries: Vec::new(), lines: BTreeMap::new() }, "");
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(above) = line.strip_prefix("= ") {
                reason = above;
                continue;
            }
            ensure!(!reason.is_empty(), "a reason above: {line}");
            let parts = parts(line)?;
            let [versions, case, theirs, ours] = &parts;
            for case in expand(case)? {
                let versions = versions.split(' ').map(str::to_owned).collect();
                let (theirs, ours) = (theirs.clone(), ours.clone());
                known.entries.push(Entry { versions, case, theirs, ours });
            }
            known.lines.entry(reason.to_owned()).or_default().push(parts);
        }
        Ok(known)
    }

    /// The entries with such a difference.
    pub(crate) fn find(&self, version: &str, case: &str, theirs: &str, ours: &str) -> Vec<usize> {
        let has = |entry: &Entry| {
            entry.versions.iter().any(|own| own.trim_end_matches('?') == version)
                && entry.case == case
                && (entry.theirs == "*" || entry.theirs == theirs)
                && entry.ours == ours
        };
        self.entries.iter().enumerate().filter(|(_, entry)| has(entry)).map(|(place, _)| place).collect()
    }

    /// The page with this list as tables, one for each reason.
    pub(crate) fn in_page(&self, page: &str) -> Result<String> {
        const HEADING: &str = "\n## The tables\n";
        let (before, _) = page.split_once(HEADING).with_context(|| format!("no{HEADING}in the page"))?;
        let mut text = format!("{before}{HEADING}");
        for (reason, lines) in &self.lines {
            let _ = writeln!(text, "\n{reason}\n\n| HIP | case | AMD's | simulated |\n|---|---|---|---|");
            for [versions, case, theirs, ours] in lines {
                let _ = writeln!(text, "| {} | `{case}` | {theirs} | {ours} |", versions.replace(' ', ", "));
            }
        }
        Ok(text)
    }
}
