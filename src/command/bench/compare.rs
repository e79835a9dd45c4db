// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass bench compare`: the rows that became slower beyond their noise.

use std::path::PathBuf;

use clap::Args;

use super::{
    recorded::Recorded,
    report::number,
    result::{RowResult, Status},
    sample::{Statistics, median},
};
use crate::command::{
    failure::{Failure, Outcome, note},
    input, output,
    table::Table,
};

/// Options of `compare`.
#[derive(Args)]
#[command(
    after_long_help = "Exit codes: 0 no row is slower; 1 a row is slower, or failed in NEW; 2 a file cannot be read, has \
                       no row, or has no row in common with the other. Rows of one file only, and facts of machine and \
                       device that differ, are said on standard error and change no exit code."
)]
pub(super) struct Compare {
    /// The output of `windlass bench --format jsonl` before
    old: PathBuf,
    /// The output after
    new: PathBuf,
    /// Changes up to this much do not count
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percent)]
    threshold: f64,
    /// Compare the first run of each row in OLD with its first in NEW, the second with the second, and so on: for files
    /// to which runs were appended in turns
    #[arg(long)]
    paired: bool,
}

/// The least number of pairs from which a verdict is drawn.
const PAIRS: usize = 3;

/// How many MADs a change must exceed to be no noise: three standard deviations of a normal distribution.
const NOISE: f64 = 3.0 * 1.4826;

/// The change of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Slower,
    Faster,
    Same,
}

impl Compare {
    /// Compares, and fails if a row became slower.
    pub(super) fn run(self) -> Outcome {
        let (old, new) = (Recorded::read(&self.old)?, Recorded::read(&self.new)?);
        let mut table = Table::new(&["row", ">old", ">new", "unit", ">change", ">noise", "verdict"]);
        let (mut worse, mut gone, mut compared) = (Vec::new(), Vec::new(), 0);
        for key in keys(&old.rows) {
            let name = &key.0;
            let found = match self.row(&key, &old.rows, &new.rows)? {
                Verdict::Unmeasured => continue,
                Verdict::Gone => {
                    gone.push(key);
                    continue;
                }
                Verdict::Failed(reason) => {
                    worse.push(format!("failed: {name}: {reason}"));
                    continue;
                }
                Verdict::Found(found) => found,
            };
            compared += 1;
            let verdict = match found.change {
                Change::Slower => {
                    worse.push(format!("slower: {name}"));
                    "SLOWER"
                }
                Change::Faster => "faster",
                Change::Same => "",
            };
            table.row([
                name.clone(),
                number(found.old),
                number(found.new),
                key.1.clone(),
                format!("{:+.1}%", found.by * 100.0),
                format!("{:.1}%", found.noise * 100.0),
                verdict.to_owned(),
            ]);
        }
        if compared == 0 && worse.is_empty() {
            return Err(Failure::input(format!(
                "{} and {} have no measured row of one device and one unit in common; OLD measured {}, and NEW {}",
                old.name(),
                new.name(),
                old.measured_devices(),
                new.measured_devices()
            )));
        }
        let mut text = String::new();
        table.print("", &mut text);
        output::write(&text)?;
        let added = keys(&new.rows)
            .into_iter()
            .filter(|key| has_numbers(&new.rows, key) && !has_numbers(&old.rows, key));
        say_missing(&gone, "OLD", "NEW");
        say_missing(&added.collect::<Vec<_>>(), "NEW", "OLD");
        old.differences(&new).iter().for_each(|difference| note(difference));
        match worse.is_empty() {
            true => Ok(()),
            false => Err(Failure::failed(worse.join("\n  "))),
        }
    }

    /// One row of both files.
    fn row(&self, key: &Key, old: &[RowResult], new: &[RowResult]) -> Outcome<Verdict> {
        let (before, after) = (runs(old, key), runs(new, key));
        if before.is_empty() {
            return Ok(Verdict::Unmeasured);
        }
        // One failed run of several counts too.
        let failed = new.iter().rfind(|row| Key::of(row) == *key && row.status == Status::Failed);
        if let Some(row) = failed {
            return Ok(Verdict::Failed(row.reason.clone().unwrap_or_default()));
        }
        if after.is_empty() {
            return Ok(Verdict::Gone);
        }
        Ok(self.compare(&key.0, &before, &after)?.map_or(Verdict::Gone, Verdict::Found))
    }

    fn compare(&self, name: &str, old: &[Statistics], new: &[Statistics]) -> Outcome<Option<Found>> {
        if self.paired {
            let pairs = old.len().min(new.len());
            if pairs < PAIRS {
                return Err(Failure::input(format!(
                    "--paired: {name} has {} in both files; append at least {PAIRS} runs to each, in turns",
                    input::count(pairs, "run", "runs")
                )));
            }
            return Ok(paired(old, new, self.threshold));
        }
        Ok(joined(old).zip(joined(new)).map(|(old, new)| apart(&old, &new, self.threshold)))
    }
}

/// The outcome for a row of the old file.
enum Verdict {
    /// The old file has no numbers.
    Unmeasured,
    /// The new file has no numbers.
    Gone,
    /// The row failed in the new file.
    Failed(String),
    Found(Found),
}

/// A row on a device, and its unit: times are not compared with instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key(String, String);

impl Key {
    fn of(row: &RowResult) -> Self {
        Self(row.full_name(), row.unit.clone())
    }
}

/// A comparison of a row.
struct Found {
    old: f64,
    new: f64,
    /// The relative change of the median.
    by: f64,
    /// The relative change that noise explains.
    noise: f64,
    change: Change,
}

/// Two runs. Both the median and the minimum must have changed by more than the threshold, and the median by more than
/// the noise of both runs.
fn apart(old: &Statistics, new: &Statistics, threshold: f64) -> Found {
    let by = relative(old.median, new.median);
    let noise = NOISE * old.mad.max(new.mad) / old.median.max(f64::MIN_POSITIVE);
    let least = threshold.max(noise);
    let minimum = relative(old.min, new.min);
    let change = match () {
        () if by > least && minimum > threshold => Change::Slower,
        () if by < -least && minimum < -threshold => Change::Faster,
        () => Change::Same,
    };
    Found { old: old.median, new: new.median, by, noise, change }
}

/// Pairs of runs that were taken in turns: the median of their ratios, with the noise of these ratios. The least minimum
/// must have changed by more than the threshold too: other programs slow all samples of some runs, and hardly ever of all runs.
fn paired(old: &[Statistics], new: &[Statistics], threshold: f64) -> Option<Found> {
    let changes: Vec<_> = old.iter().zip(new).map(|(old, new)| relative(old.median, new.median)).collect();
    let by = median(&changes)?;
    let distances: Vec<_> = changes.iter().map(|change| (change - by).abs()).collect();
    // The error of a median falls with the root of the number of pairs.
    let noise = NOISE * median(&distances)? / (changes.len() as f64).sqrt();
    let least = threshold.max(noise);
    let quietest = |runs: &[Statistics]| runs.iter().map(|run| run.min).min_by(f64::total_cmp);
    let minimum = relative(quietest(old)?, quietest(new)?);
    let change = match () {
        () if by > least && minimum > threshold => Change::Slower,
        () if by < -least && minimum < -threshold => Change::Faster,
        () => Change::Same,
    };
    let middle = |runs: &[Statistics]| median(&runs.iter().map(|run| run.median).collect::<Vec<_>>());
    Some(Found { old: middle(old)?, new: middle(new)?, by, noise, change })
}

/// Several runs as one: the least minimum, the median of the medians, the greatest noise.
fn joined(runs: &[Statistics]) -> Option<Statistics> {
    let first = runs.first()?;
    let medians: Vec<_> = runs.iter().map(|run| run.median).collect();
    Some(Statistics {
        min: runs.iter().map(|run| run.min).min_by(f64::total_cmp)?,
        median: median(&medians)?,
        mad: runs.iter().map(|run| run.mad).max_by(f64::total_cmp)?,
        ..*first
    })
}

fn relative(old: f64, new: f64) -> f64 {
    (new - old) / old.max(f64::MIN_POSITIVE)
}

/// The rows of a file, each once, in the order of the file.
fn keys(rows: &[RowResult]) -> Vec<Key> {
    let mut keys = Vec::new();
    for key in rows.iter().map(Key::of) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

fn has_numbers(rows: &[RowResult], key: &Key) -> bool {
    rows.iter().any(|row| row.host.is_some() && Key::of(row) == *key)
}

/// Names the rows of one file that the other lacks.
fn say_missing(rows: &[Key], of: &str, other: &str) {
    /// The most rows that a message names.
    const MOST: usize = 8;
    let names: Vec<_> = rows.iter().take(MOST).map(|key| key.0.as_str()).collect();
    let more = rows.len().saturating_sub(MOST);
    let and = if more == 0 { String::new() } else { format!(" and {more} more") };
    let (count, are) = (input::count(rows.len(), "row", "rows"), if rows.len() == 1 { "is" } else { "are" });
    if !rows.is_empty() {
        note(&format!("{count} of {of} {are} not measured in {other}: {}{and}", names.join(", ")));
    }
}

/// The runs of a row that have numbers.
fn runs(rows: &[RowResult], key: &Key) -> Vec<Statistics> {
    rows.iter().filter(|row| Key::of(row) == *key).filter_map(|row| row.host).collect()
}

/// Parses `5%` or `5`.
fn percent(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.strip_suffix('%').unwrap_or(text).parse().ok();
    match number {
        Some(number) if number.is_finite() && number >= 0.0 => Ok(number / 100.0),
        _ => Err(format!("`{text}` is no percentage; write it like 5%")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(min: f64, median: f64, mad: f64) -> Statistics {
        Statistics { n: 100, batch: 1, min, median, p99: median * 2.0, mad }
    }

    #[test]
    fn a_change_counts_beyond_threshold_and_noise_in_minimum_and_median() {
        let of = |new: Statistics| apart(&run(90.0, 100.0, 1.0), &new, 0.05).change;
        assert_eq!(of(run(90.0, 100.0, 1.0)), Change::Same);
        assert_eq!(of(run(99.0, 110.0, 1.0)), Change::Slower);
        assert_eq!(of(run(81.0, 90.0, 1.0)), Change::Faster);
        // Only the median, only a little, or only as much as the noise.
        assert_eq!(of(run(90.0, 110.0, 1.0)), Change::Same);
        assert_eq!(of(run(94.0, 104.0, 0.1)), Change::Same);
        assert_eq!(of(run(99.0, 110.0, 5.0)), Change::Same);
    }

    #[test]
    fn pairs_show_a_change_through_a_drift_of_the_machine() {
        let times = [100.0, 200.0, 400.0, 150.0];
        let runs = |factor: f64| times.map(|time| run(time * factor, time * factor, 1.0));
        assert_eq!(paired(&runs(1.0), &runs(1.1), 0.05).unwrap().change, Change::Slower);
        assert_eq!(paired(&runs(1.0), &runs(1.0), 0.05).unwrap().change, Change::Same);
        // Another program slowed most of the new runs, and one of them was as fast as the old ones.
        let disturbed = [1.0, 1.6, 1.6, 1.6].map(|factor| run(100.0 * factor, 100.0 * factor, 1.0));
        let same = [100.0; 4].map(|time| run(time, time, 1.0));
        assert_eq!(paired(&same, &disturbed, 0.05).unwrap().change, Change::Same);
    }
}
