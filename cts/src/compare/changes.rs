// SPDX-License-Identifier: MIT OR Apache-2.0
//! The changes between two runs.

use std::fmt;

use super::recorded::{Outcome, Recorded};

/// The difference from which a case counts as slower.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) factor: f64,
    /// In seconds.
    pub(super) floor: f64,
}

/// A change of a case or a device.
pub(super) struct Change {
    pub(super) kind: &'static str,
    subject: String,
    detail: String,
}

const BROKEN: &str = "broken";
const FIXED: &str = "fixed";
const FLAKY: &str = "newly flaky";
const SKIPPED: &str = "newly skipped";
const RUN: &str = "newly run";
const ABSENT: &str = "absent";
const SLOWER: &str = "slower";

impl Change {
    /// The kinds, in the order of the output.
    pub(super) const KINDS: [&'static str; 7] = [BROKEN, FIXED, FLAKY, SKIPPED, RUN, ABSENT, SLOWER];

    pub(super) fn is_absent(&self) -> bool {
        self.kind == ABSENT
    }

    pub(super) fn breaks(&self) -> bool {
        self.kind == BROKEN
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:13} {}: {}", self.kind, self.subject, self.detail)
    }
}

/// All changes, by kind, and the number of cases that both runs have.
pub(super) fn between(old: &Recorded, new: &Recorded, limits: Limits) -> (Vec<Change>, usize) {
    let mut changes = Vec::new();
    let mut common = 0;
    let mut push = |kind, subject: String, detail: String| changes.push(Change { kind, subject, detail });
    for problem in new.problems.iter().filter(|problem| !old.problems.contains(problem)) {
        push(BROKEN, "the run".to_owned(), problem.clone());
    }
    let several = new.devices().len() > 1;
    // The same GPU may have another URI on another machine.
    let renamed = match (&old.devices()[..], &new.devices()[..]) {
        ([one], [other]) if one != other => Some((other.clone(), one.clone())),
        _ => None,
    };
    for ((device, case), now) in &new.cases {
        let subject = if several { format!("{case} on {device}") } else { case.clone() };
        let earlier = match &renamed {
            Some((from, to)) if from == device => to,
            _ => device,
        };
        let before = old.cases.get(&(earlier.clone(), case.clone()));
        common += usize::from(before.is_some());
        if let Some((kind, detail)) = change(before, now) {
            push(kind, subject.clone(), detail);
        }
        if let Some(before) = before.filter(|before| before.ran() && now.ran())
            && now.seconds > limits.factor * before.seconds
            && now.seconds > before.seconds + limits.floor
        {
            push(SLOWER, subject, format!("{:.3} s instead of {:.3} s", now.seconds, before.seconds));
        }
    }
    for ((device, case), before) in &old.cases {
        let later = match &renamed {
            Some((to, from)) if from == device => to,
            _ => device,
        };
        if !new.cases.contains_key(&(later.clone(), case.clone())) {
            push(ABSENT, case.clone(), format!("was {}, and is not in the later run", before.verdict));
        }
    }
    changes.sort_by_key(|change| Change::KINDS.iter().position(|kind| *kind == change.kind));
    (changes, common)
}

fn change(before: Option<&Outcome>, now: &Outcome) -> Option<(&'static str, String)> {
    let was = before.map_or("absent", |before| before.verdict.as_str());
    let kind = match (was, now.verdict.as_str()) {
        ("fail", "fail") => return None,
        (_, "fail") => BROKEN,
        ("fail" | "expected_failure", "pass" | "flaky") => FIXED,
        ("pass", "flaky") => FLAKY,
        ("skip", "skip") => return None,
        (_, "skip") => SKIPPED,
        ("skip" | "absent", _) => RUN,
        _ => return None,
    };
    let message = now.message.lines().next().unwrap_or_default();
    let colon = if message.is_empty() { "" } else { ": " };
    Some((kind, format!("{} instead of {was}{colon}{message}", now.verdict)))
}
