// SPDX-License-Identifier: MIT OR Apache-2.0
//! A case: one contract of the HAL and the program that proves it.

use windlass_hal::Feature;

use crate::context::Context;
use crate::outcome::{Level, Outcome};

/// One contract and the program that proves it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Case {
    /// `suite.case`.
    pub name: &'static str,
    /// The contract, in one sentence.
    pub contract: &'static str,
    /// The least level of a run that includes it.
    pub level: Level,
    /// The features that the case needs. It is skipped if the device declares a lack of one of them.
    pub requires: &'static [Feature],
    /// The program.
    pub run: fn(&Context) -> Outcome,
}

impl Case {
    /// A case to run beside [`cases`](crate::cases). Its level is [`Level::Full`].
    pub const fn new(
        name: &'static str,
        contract: &'static str,
        requires: &'static [Feature],
        run: fn(&Context) -> Outcome,
    ) -> Self {
        Self { name, contract, level: Level::Full, requires, run }
    }

    /// The same case at another level.
    #[must_use]
    pub const fn level(self, level: Level) -> Self {
        Self { level, ..self }
    }
}
