// SPDX-License-Identifier: MIT OR Apache-2.0
//! Times batches of rounds, a row and its lower bound in turns, and sums them up.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{
    interrupt::Interrupt,
    stop::{Stop, Work},
    subject::{Floor, Subject},
};

/// How long a row is measured.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    /// The time for the samples of a row with those of its floor.
    pub(super) time: Duration,
    /// The least number of samples, however long they take.
    pub(super) least: usize,
    /// The least time of a batch, above which the clock's own cost does not count.
    pub(super) batch: Duration,
}

/// Samples beyond this add nothing to a median.
const MOST: usize = 20_000;

/// The distribution of the samples of a row, each the mean of a batch, in the row's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Statistics {
    /// The number of samples.
    pub(super) n: usize,
    /// The rounds of a batch, which make one sample.
    pub(super) batch: u64,
    pub(super) min: f64,
    pub(super) median: f64,
    pub(super) p99: f64,
    /// The median of the samples' distances from their median.
    pub(super) mad: f64,
}

/// A floor or a peer of the same run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) n: usize,
    pub(super) min: f64,
    pub(super) median: f64,
    /// The row's minimum divided by the reference's.
    pub(super) ratio_min: f64,
    /// The median of the ratios of samples that were taken one after the other.
    pub(super) ratio_median: f64,
}

impl Statistics {
    /// Sums up samples; `None` if there are none.
    pub(super) fn of(samples: &[f64], batch: u64) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let min = *sorted.first()?;
        let median = middle(&sorted)?;
        let last = (sorted.len() * 99).div_ceil(100).saturating_sub(1);
        let p99 = sorted.get(last).copied().unwrap_or(median);
        let mut distances: Vec<_> = sorted.iter().map(|sample| (sample - median).abs()).collect();
        distances.sort_by(f64::total_cmp);
        let mad = middle(&distances)?;
        Some(Self { n: samples.len(), batch, min, median, p99, mad })
    }
}

impl Reference {
    /// Compares samples with those of a reference, which were taken in turns.
    pub(super) fn of(name: &str, own: &[f64], other: &[f64]) -> Option<Self> {
        let least = |samples: &[f64]| samples.iter().copied().min_by(f64::total_cmp);
        let (own_min, min) = (least(own)?, least(other)?);
        let ratios: Vec<_> = own.iter().zip(other).map(|(own, other)| own / other).collect();
        Some(Self {
            name: name.to_owned(),
            n: other.len(),
            min,
            median: median(other)?,
            ratio_min: own_min / min,
            ratio_median: median(&ratios)?,
        })
    }
}

/// The median of unsorted numbers.
pub(super) fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    middle(&sorted)
}

fn middle(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    match (sorted.len() % 2, half.checked_sub(1).and_then(|below| sorted.get(below))) {
        (0, Some(lower)) => Some((lower + upper) / 2.0),
        _ => Some(upper),
    }
}

/// Measures a row, and its floor in turns with it.
pub(super) fn take(
    plan: &Plan,
    interrupt: &Interrupt,
    items: u64,
    subject: &mut Subject,
    floor: Option<&mut Floor>,
) -> Work<(Statistics, Option<Reference>)> {
    let rounds = calibrate(plan, interrupt, subject)?;
    let mut floor = match floor {
        Some(floor) => Some((calibrate(plan, interrupt, &mut floor.subject)?, floor)),
        None => None,
    };
    let (mut own, mut other) = (Vec::new(), Vec::new());
    let start = Instant::now();
    while own.len() < plan.least || (start.elapsed() < plan.time && own.len() < MOST) {
        interrupt.check()?;
        own.push(each(subject(rounds)?, rounds, items));
        if let Some((rounds, floor)) = &mut floor {
            other.push(each((floor.subject)(*rounds)?, *rounds, floor.items));
        }
    }
    let none = || Stop::Failed("no sample was taken".to_owned());
    let statistics = Statistics::of(&own, rounds).ok_or_else(none)?;
    Ok((statistics, floor.and_then(|(_, floor)| Reference::of(floor.name, &own, &other))))
}

/// Nanoseconds for each item.
pub(super) fn each(time: Duration, rounds: u64, items: u64) -> f64 {
    time.as_nanos() as f64 / (rounds.max(1) as f64 * items.max(1) as f64)
}

/// The number of rounds that last as long as a batch. The first round, which is not measured, warms up.
pub(super) fn calibrate(plan: &Plan, interrupt: &Interrupt, subject: &mut Subject) -> Work<u64> {
    const MOST_ROUNDS: u64 = 1 << 24;
    subject(1)?;
    let mut rounds = 1;
    loop {
        interrupt.check()?;
        let time = subject(rounds)?;
        if time >= plan.batch || rounds >= MOST_ROUNDS {
            return Ok(rounds);
        }
        let missing = plan.batch.as_nanos() * 5 / 4 / time.as_nanos().max(1);
        rounds *= u64::try_from(missing).unwrap_or(16).clamp(2, 16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_summed_up_by_rank() {
        let samples: Vec<_> = (1..=200).rev().map(f64::from).collect();
        let all = Statistics::of(&samples, 3).unwrap();
        assert_eq!(all, Statistics { n: 200, batch: 3, min: 1.0, median: 100.5, p99: 198.0, mad: 50.0 });
        assert_eq!(Statistics::of(&[], 1), None);
    }

    #[test]
    fn a_ratio_is_one_of_neighbours() {
        // The machine became twice as slow in the middle of the run.
        let reference = Reference::of("floor", &[2.0, 2.0, 4.0, 4.0], &[1.0, 1.0, 2.0, 2.0]).unwrap();
        assert_eq!((reference.ratio_min, reference.ratio_median), (2.0, 2.0));
    }
}
