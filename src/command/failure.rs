// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a command: the only place where errors become exit codes.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use crate::{Code, Error};

use super::escape;

/// The result of a subcommand.
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
    /// Nothing ran.
    Nothing = 4,
    /// A HIP call did not return in time.
    Hung = 5,
}

/// The exit codes of all subcommands, for the help and the documentation.
pub(crate) const EXIT_CODES: [(u8, &str); 6] = [
    (Exit::Done as u8, "done"),
    (Exit::Failed as u8, "the run or a check failed"),
    (Exit::Input as u8, "the command line or the input is wrong"),
    (
        Exit::Absent as u8,
        "a required device is absent, or cts finds it in use, simulated or of another architecture",
    ),
    (
        Exit::Nothing as u8,
        "nothing ran: cts skipped every case, or none fits the filters; the device of run runs no kernels; the program of exec \
         --check used no HIP",
    ),
    (Exit::Hung as u8, "a HIP call did not return in time: devices and report name it"),
];

/// The exit codes as a sentence.
pub(crate) fn exit_codes() -> String {
    let codes = EXIT_CODES.map(|(code, meaning)| format!("{code} {meaning}"));
    format!("Exit codes: {}.", codes.join("; "))
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command failed, with its exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
}

/// The stage at which a HAL error occurred. The same code is the user's mistake in one stage and a failed run in
/// another.
#[derive(Clone, Copy)]
pub(crate) enum Stage {
    /// Finding and opening a device.
    Open,
    /// Loading code and submitting work, where the HAL validates the user's input.
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

    /// Nothing ran.
    pub(crate) fn nothing(message: impl Into<String>) -> Self {
        Self::new(Exit::Nothing, message)
    }

    /// A HIP call did not return in time.
    pub(crate) fn hung(message: impl Into<String>) -> Self {
        Self::new(Exit::Hung, message)
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

    /// A device that cannot be opened. A URI of a scheme that no driver has is a wrong command line, not an absent device.
    pub(crate) fn open(uri: &str, error: &Error) -> Self {
        let scheme = uri.split_once("://").map_or(uri, |(scheme, _)| scheme);
        match crate::registry().driver(scheme) {
            Ok(_) => Self::hal(Stage::Open, error),
            Err(_) => Self::input(error.to_string()),
        }
    }

    /// The failure for standard output that cannot be written. A closed pipe is no failure: its reader has seen
    /// enough.
    pub(crate) fn output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::new(Exit::Done, ""),
            _ => Self::new(Exit::Failed, format!("cannot write to standard output: {error}")),
        }
    }

    /// The text of the error.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Whether the reason is a device that is not there.
    pub(crate) fn is_absent(&self) -> bool {
        self.exit == Exit::Absent
    }

    /// Whether the reason is a HIP call that did not return.
    pub(crate) fn is_hung(&self) -> bool {
        self.exit == Exit::Hung
    }

    /// Joins two failures of one kind.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.message = format!("{}\n{}", self.message, other.message);
        self
    }

    /// Puts the failed action in front of the message.
    pub(crate) fn during(mut self, what: impl AsRef<str>) -> Self {
        self.message = format!("{}: {}", what.as_ref(), self.message);
        self
    }
}

/// Writes the error to standard error and gives the exit code.
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

/// Writes a line to standard error, with control characters escaped. A closed standard error is ignored.
pub(crate) fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", escape::text(line));
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_documentation_has_the_same_exit_codes() {
        let rows = super::EXIT_CODES.map(|(code, meaning)| format!("| {code} | {meaning} |\n"));
        let table = format!("| exit code | meaning |\n|---|---|\n{}\n", rows.concat());
        assert!(include_str!("../../docs/command.md").contains(&table), "docs/command.md must hold\n{table}");
    }
}
