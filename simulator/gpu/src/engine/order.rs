// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order in which the workgroups of a dispatch start.

/// An order of workgroups: ascending, or a permutation drawn from a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    total: u64,
    factor: u64,
    first: u64,
}

impl Order {
    /// The order of `total` workgroups.
    pub(super) fn new(total: u64, seed: Option<u64>) -> Self {
        let Some(seed) = seed else { return Self { total, factor: 1, first: 0 } };
        let mut state = seed;
        let mut draw = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ mixed >> 31) % total.max(1)
        };
        let first = draw();
        // A factor without a common divisor visits every workgroup once.
        let mut factor = draw().max(1);
        while gcd(factor, total) != 1 {
            factor = factor % total + 1;
        }
        Self { total, factor, first }
    }

    /// The workgroup at this place in the order.
    pub(super) fn place(&self, number: u64) -> u64 {
        let place = u128::from(number) * u128::from(self.factor) + u128::from(self.first);
        (place % u128::from(self.total.max(1))) as u64
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_visits_every_workgroup_once() {
        for total in [1, 2, 7, 12, 360] {
            let mut orders = std::collections::HashSet::new();
            for seed in [None, Some(0), Some(1), Some(2), Some(u64::MAX)] {
                let order = Order::new(total, seed);
                let visited: Vec<u64> = (0..total).map(|number| order.place(number)).collect();
                let mut sorted = visited.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..total).collect::<Vec<_>>(), "{total} {seed:?}");
                orders.insert(visited);
            }
            assert!(total < 360 || orders.len() > 3, "seeds give the same order of {total}");
        }
    }
}
