// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a case is, and how it ends.

use std::fmt;

use windlass_hal::{Error, Feature};

use crate::context::Context;

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

/// How thorough a run is. A level includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// A few quick cases of each suite: whether the device works at all.
    Smoke,
    /// Every contract.
    #[default]
    Full,
    /// What repeats a contract long or often, to meet rare interleavings.
    Stress,
}

impl Level {
    /// The word of the command line and of reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Full => "full",
            Self::Stress => "stress",
        }
    }
}

/// How a case ends: it kept its contract, or [`Stop`] says why not.
pub type Outcome<T = ()> = Result<T, Stop>;

/// Why a case ends early.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Stop {
    /// The contract is broken.
    Fail(String),
    /// The contract cannot be tried here.
    Skip(String),
}

impl Stop {
    /// The contract is broken; says what was seen and what was expected.
    pub fn fail(message: impl Into<String>) -> Self {
        Self::Fail(message.into())
    }

    /// The contract cannot be tried here; says why.
    pub fn skip(reason: impl Into<String>) -> Self {
        Self::Skip(reason.into())
    }
}

/// An error that a case did not expect.
impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Fail(format!("unexpected {error:?}{}", hint(&error)))
    }
}

/// What a driver's author may do about an error that a case did not expect.
pub(crate) fn hint(error: &Error) -> &'static str {
    if error.code() == windlass_hal::Code::Unimplemented {
        "; if the driver means to do without it, it must declare the lack in DeviceInfo::lacks"
    } else {
        ""
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fail(message) => write!(f, "failed: {message}"),
            Self::Skip(reason) => write!(f, "skipped: {reason}"),
        }
    }
}
