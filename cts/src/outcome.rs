// SPDX-License-Identifier: MIT OR Apache-2.0
//! The outcome of a case, and the levels of a run.

use std::fmt;

use windlass_hal::Error;

/// The thoroughness of a run. A level includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// A few quick cases of each suite, to see whether the device works at all.
    Smoke,
    /// Every contract.
    #[default]
    Full,
    /// Also cases that repeat a contract long or often, to meet rare interleavings.
    Stress,
}

impl Level {
    /// The word on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Full => "full",
            Self::Stress => "stress",
        }
    }
}

/// The outcome of a case: it kept its contract, or [`Stop`] gives the reason why not.
pub type Outcome<T = ()> = Result<T, Stop>;

/// The reason why a case ends early.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Stop {
    /// The contract is broken.
    Fail(String),
    /// The contract cannot be tried here.
    Skip(String),
}

impl Stop {
    /// The contract is broken. The message states the actual and the expected behaviour.
    pub fn fail(message: impl Into<String>) -> Self {
        Self::Fail(message.into())
    }

    /// The contract cannot be tried here, for this reason.
    pub fn skip(reason: impl Into<String>) -> Self {
        Self::Skip(reason.into())
    }
}

/// Turns an error that a case did not expect into a failure.
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
