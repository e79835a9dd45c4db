// SPDX-License-Identifier: MIT OR Apache-2.0
//! How a command ends: the one place where errors become exit codes.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use windlass::{Code, Error};

use super::escape;

/// What a subcommand gives.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// The exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All done.
    Done = 0,
    /// The run or a check failed.
    Failed = 1,
    /// The command line or the input is wrong.
    Input = 2,
    /// A required device is absent.
    Absent = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command did not do what it was asked to, and the exit code that says so.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
}

/// What was being done when a HAL error came up: the same code means the caller's mistake in one place, and a failed
/// run in another.
#[derive(Clone, Copy)]
pub(crate) enum Stage {
    /// Finding and opening a device.
    Open,
    /// Loading code, and submitting work: validation of what the user gave.
    Submit,
    /// Waiting for work.
    Run,
}

impl Failure {
    fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    /// The run or a check failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// The command line or the input is wrong.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(Exit::Input, message)
    }

    /// A required device is absent.
    pub(crate) fn absent(message: impl Into<String>) -> Self {
        Self::new(Exit::Absent, message)
    }

    /// An error of the HAL.
    pub(crate) fn hal(stage: Stage, error: &Error) -> Self {
        let mistake =
            matches!(error.code(), Code::InvalidArgument | Code::OutOfRange | Code::FailedPrecondition);
        let exit = match (stage, error.code()) {
            (Stage::Open, _) if mistake => Exit::Input,
            (Stage::Open, _) => Exit::Absent,
            (Stage::Submit, Code::NotFound | Code::Unimplemented) => Exit::Input,
            (Stage::Submit, _) if mistake => Exit::Input,
            _ => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }

    /// Standard output could not be written. Whoever closed it has seen enough: that is no failure.
    pub(crate) fn output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::new(Exit::Done, ""),
            _ => Self::new(Exit::Failed, format!("cannot write to standard output: {error}")),
        }
    }

    /// Two failures of one kind, one after the other.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.message = format!("{}\n{}", self.message, other.message);
        self
    }

    /// The same with what was being done in front.
    pub(crate) fn during(mut self, what: impl AsRef<str>) -> Self {
        self.message = format!("{}: {}", what.as_ref(), self.message);
        self
    }
}

/// Says on standard error what went wrong, and gives the exit code.
pub(crate) fn report(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) => Exit::Done.into(),
        Err(failure) => {
            if !failure.message.is_empty() {
                note(&format!("error: {}", failure.message));
            }
            failure.exit.into()
        }
    }
}

/// A line on standard error, without what a terminal would obey. That it may be closed is nobody's concern.
pub(crate) fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", escape::text(line));
}
