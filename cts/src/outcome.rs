// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a case ends, and how thorough a run is.

use std::fmt;

use windlass_hal::Error;

/// How thorough a run is. A level includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// A few quick cases of each suite: whether the device works at all.
    Smoke,
    /// Every contract.
    #[default]
    Full,
    /// Also cases that repeat a contract long or often, to meet rare interleavings.
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

/// Advice for a driver's author about an error that a case did not expect.
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
