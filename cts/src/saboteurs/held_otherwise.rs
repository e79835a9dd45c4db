// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cases that no saboteur fails, and what holds their contracts instead.

/// A case with its reason in each line, after a line of headings.
const UNBROKEN: &str = include_str!("../../unbroken_cases.csv");

/// A case whose contract cannot be broken by wrapping a driver.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Held {
    /// The case.
    pub case: &'static str,
    /// Why no wrapper breaks what it states.
    pub why: &'static str,
}

impl Held {
    /// What [`why`](Self::why) says where the case never gets to a driver: it passes over [`refusing`](super::refusing).
    pub const NO_DRIVER: &str = "no driver is asked";
}

/// Every case that no saboteur is asked to fail, with the reason.
pub fn held_otherwise() -> Vec<Held> {
    let held = |line: &'static str| line.split_once(',').map(|(case, why)| Held { case, why });
    UNBROKEN.lines().skip(1).filter_map(held).collect()
}
