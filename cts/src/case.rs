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
    /// What the case cannot do without. It is skipped where the device declares one of these a lack.
    pub requires: &'static [Feature],
    /// The program.
    pub run: fn(&Context) -> Outcome,
}

impl Case {
    /// A case of one's own, to be run beside [`cases`](crate::cases). Its level is [`Level::Full`].
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
