// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists the cases that no saboteur fails, with the tests that hold their contracts instead.

/// A case with its reason on each line, after a line of headings.
const UNBROKEN: &str = include_str!("../../unbroken_cases.csv");

/// A case whose contract cannot be broken by wrapping a driver.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Held {
    /// The case.
    pub case: &'static str,
    /// The reason why no wrapper breaks the contract.
    pub why: &'static str,
}

impl Held {
    /// The value of [`why`](Self::why) for a case that calls no driver: it passes over [`refusing`](super::refusing).
    pub const NO_DRIVER: &str = "no driver is called";
}

/// Every case that no saboteur must fail, with the reason.
pub fn held_otherwise() -> Vec<Held> {
    let held = |line: &'static str| line.split_once(',').map(|(case, why)| Held { case, why });
    UNBROKEN.lines().skip(1).filter_map(held).collect()
}
