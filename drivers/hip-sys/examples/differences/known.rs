// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of known differences.
//!
//! A line is `VERSIONS | CASE | AMD'S ANSWER | OURS`, below a line `= REASON`. In a case and in answers, `*` stands for anything. A version
//! with a `?` behind it: the difference may be missing, since AMD's answer there is chance.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

pub(crate) struct Known {
    pub(crate) entries: Vec<Entry>,
}

pub(crate) struct Entry {
    versions: Vec<String>,
    case: String,
    theirs: String,
    ours: String,
    reason: String,
}

/// The machine that a version of AMD's HIP knows.
pub(crate) fn machine(version: &str) -> Result<&'static str> {
    Ok(match version {
        "6.4" => "gfx942?hip=6.4&devices=2",
        "5.2" => "gfx90a?hip=5.2&devices=2",
        _ => bail!("no HIP {version} is compared: 6.4 and 5.2 are"),
    })
}

/// Whether a text is as a pattern with stars has it.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((before, behind)) = pattern.split_once('*') else { return pattern == text };
    let Some(rest) = text.strip_prefix(before) else { return false };
    (0..=rest.len()).filter(|place| rest.is_char_boundary(*place)).any(|place| fits(behind, &rest[place..]))
}

impl Entry {
    fn parse(line: &str, reason: &str) -> Result<Self> {
        let mut parts = line.split(" | ").map(|part| part.trim().to_owned());
        let mut part = || parts.next().with_context(|| format!("four parts in: {line}"));
        let versions: Vec<String> = part()?.split(' ').map(str::to_owned).collect();
        let entry =
            Self { versions, case: part()?, theirs: part()?, ours: part()?, reason: reason.to_owned() };
        ensure!(!entry.reason.is_empty(), "a reason above: {line}");
        for version in &entry.versions {
            machine(version.trim_end_matches('?'))?;
        }
        Ok(entry)
    }

    /// Whether the list is stale if this is not seen.
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
        let (mut entries, mut reason) = (Vec::new(), "");
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.strip_prefix("= ") {
                Some(above) => reason = above,
                None => entries.push(Entry::parse(line, reason)?),
            }
        }
        Ok(Self { entries })
    }

    /// The entries that have such a difference.
    pub(crate) fn find(&self, version: &str, case: &str, theirs: &str, ours: &str) -> Vec<usize> {
        let has = |entry: &Entry| {
            entry.versions.iter().any(|own| own.trim_end_matches('?') == version)
                && fits(&entry.case, case)
                && fits(&entry.theirs, theirs)
                && fits(&entry.ours, ours)
        };
        self.entries.iter().enumerate().filter(|(_, entry)| has(entry)).map(|(place, _)| place).collect()
    }

    /// The list as tables, one for each reason.
    pub(crate) fn document(&self) -> String {
        let mut reasons: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        for entry in &self.entries {
            reasons.entry(&entry.reason).or_default().push(entry);
        }
        let mut text = String::new();
        for (reason, entries) in reasons {
            let _ = writeln!(text, "\n{reason}\n\n| HIP | case | AMD's | simulated |\n|---|---|---|---|");
            for entry in entries {
                let Entry { versions, case, theirs, ours, .. } = entry;
                let _ = writeln!(text, "| {} | `{case}` | {theirs} | {ours} |", versions.join(", "));
            }
        }
        text
    }
}
