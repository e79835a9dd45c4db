// SPDX-License-Identifier: MIT OR Apache-2.0
//! A histogram of times whose memory does not grow with their number. Its quantiles are less than 1 % too great.

use std::collections::BTreeMap;

/// Buckets of equal width up to twice this number; above, as many buckets for each power of two.
const STEPS: u64 = 128;

/// Counts of nanoseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// The greatest value of a bucket, and the number of values in it.
    buckets: BTreeMap<u64, u64>,
    pub(super) count: u64,
    pub(super) total: u64,
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Histogram {
    pub(super) fn add(&mut self, value: u64) {
        let width = (value / STEPS).checked_ilog2().unwrap_or_default();
        *self.buckets.entry(value | ((1 << width) - 1)).or_default() += 1;
        self.least = if self.count == 0 { value } else { self.least.min(value) };
        self.most = self.most.max(value);
        self.count += 1;
        self.total = self.total.saturating_add(value);
    }

    /// The least value that so many thousandths of the values do not exceed.
    pub(super) fn quantile(&self, thousandths: u64) -> u64 {
        let rank = (self.count * thousandths).div_ceil(1000).max(1);
        let mut seen = 0;
        for (value, count) in &self.buckets {
            seen += count;
            if seen >= rank {
                return (*value).clamp(self.least, self.most);
            }
        }
        self.most
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_less_than_one_per_cent_too_great() {
        let mut histogram = Histogram::default();
        let values: Vec<u64> = (1..=10_000).map(|i| i * i * 7).collect();
        values.iter().for_each(|value| histogram.add(*value));
        for thousandths in [1, 10, 250, 500, 900, 990, 999, 1000] {
            let exact = values[(values.len() as u64 * thousandths).div_ceil(1000) as usize - 1];
            let told = histogram.quantile(thousandths);
            assert!(told >= exact && told as f64 <= exact as f64 * 1.01, "{thousandths}: {told} for {exact}");
        }
        assert!(histogram.buckets.len() < 3000, "{} buckets", histogram.buckets.len());
    }

    #[test]
    fn few_values_are_exact() {
        let mut histogram = Histogram::default();
        [5, 1, 3].into_iter().for_each(|value| histogram.add(value));
        assert_eq!((histogram.least, histogram.quantile(500), histogram.most), (1, 3, 5));
        assert_eq!(Histogram::default().quantile(500), 0);
    }
}
