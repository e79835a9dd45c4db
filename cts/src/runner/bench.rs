// SPDX-License-Identifier: MIT OR Apache-2.0
//! The place where cases run.

use windlass_hal::DeviceInfo;

use crate::{
    case::Case,
    summary::{Problem, Verdict},
};

/// A place where cases run: this process or children.
pub(super) trait Bench {
    /// Opens the device under test.
    fn open(&mut self) -> Result<DeviceInfo, Problem>;

    /// Runs a case once. The verdict is pass, fail or skip, without regard to expectations.
    fn attempt(&mut self, case: Case, seed: u64) -> Verdict;

    /// The reason why no more cases can run here, after too many have hung.
    fn exhausted(&self) -> Option<String> {
        None
    }
}
