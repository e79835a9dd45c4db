// SPDX-License-Identifier: MIT OR Apache-2.0
//! The errors of a run as a whole.

use std::{fmt, io};

use crate::expectations::ExpectationsError;

/// The reason why a run was not made or not reported.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The output or a report could not be written. The files of reports are whole, unless one of them failed. Without
    /// such files, the first error of the output ends the run.
    Output(io::Error),
    /// A report's file could not be opened. Nothing was run.
    Report(io::Error),
    /// The file of expectations cannot be used.
    Expectations(ExpectationsError),
    /// The file of [`Options::resume`](crate::Options::resume) cannot be used.
    Resume(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(error) => write!(f, "the results could not be written: {error}"),
            Self::Report(error) => write!(f, "a report cannot be written to {error}"),
            Self::Expectations(error) => write!(f, "{error}"),
            Self::Resume(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for RunError {}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<ExpectationsError> for RunError {
    fn from(error: ExpectationsError) -> Self {
        Self::Expectations(error)
    }
}
