// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a row has no numbers.

use crate::{Code, Error};

/// The result of a part of a row.
pub(super) type Work<T = ()> = Result<T, Stop>;

/// Why a row has no numbers.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// The device or the machine lacks a thing that the row needs.
    Lacks(String),
    /// A call failed, or a result is wrong.
    Failed(String),
    /// The user interrupted the run.
    Interrupted,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error.code() {
            Code::Unimplemented => Self::Lacks(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}
