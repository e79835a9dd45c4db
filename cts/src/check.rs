// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks of cases. Each failure states the actual and the expected value.

use windlass_hal::{Code, Error};

use crate::outcome::{Outcome, Stop, hint};

/// Ends the case as failed unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::outcome::Stop::fail(format!(
                "{} [{}:{}]", format_args!($($message)+), file!(), line!()
            )));
        }
    };
}

/// Ends the case as failed unless two values are equal.
macro_rules! ensure_eq {
    ($actual:expr, $expected:expr, $($message:tt)+) => {
        match (&$actual, &$expected) {
            (actual, expected) => $crate::check::ensure!(
                actual == expected,
                "{}: got {actual:?}, expected {expected:?}", format_args!($($message)+)
            ),
        }
    };
}

pub(crate) use {ensure, ensure_eq};

/// Returns the error of a call that must be refused with `code`.
#[track_caller]
pub(crate) fn refused<T>(result: Result<T, Error>, code: Code, what: &str) -> Outcome<Error> {
    let here = std::panic::Location::caller();
    match result {
        Ok(_) => Err(Stop::fail(format!("{what} was accepted; it must be refused with {code} [{here}]"))),
        Err(error) if error.code() == code => Ok(error),
        Err(error) => {
            let hint = hint(&error);
            Err(Stop::fail(format!("{what} must be refused with {code}, not with {error:?}{hint} [{here}]")))
        }
    }
}

/// Fails unless the message of a refused call contains `part`.
#[track_caller]
pub(crate) fn names(error: &Error, part: &str) -> Outcome {
    let here = std::panic::Location::caller();
    if error.to_string().contains(part) {
        return Ok(());
    }
    Err(Stop::fail(format!("the message must name `{part}`: {error} [{here}]")))
}

/// Fails unless two byte strings are equal, and shows the first difference.
#[track_caller]
pub(crate) fn same_bytes(actual: &[u8], expected: &[u8], what: &str) -> Outcome {
    let here = std::panic::Location::caller();
    if actual == expected {
        return Ok(());
    }
    let difference = match actual.iter().zip(expected).position(|(a, b)| a != b) {
        None => format!("{} bytes instead of {}", actual.len(), expected.len()),
        Some(at) => format!(
            "byte {at} of {} is {:#04x} instead of {:#04x}; {} bytes differ",
            expected.len(),
            actual[at],
            expected[at],
            actual.iter().zip(expected).filter(|(a, b)| a != b).count()
        ),
    };
    Err(Stop::fail(format!("{what}: {difference} [{here}]")))
}

/// Fails unless two lists are equal, and shows the first difference.
#[track_caller]
pub(crate) fn same_items<T: PartialEq + std::fmt::Debug>(
    actual: &[T],
    expected: &[T],
    what: &str,
) -> Outcome {
    let here = std::panic::Location::caller();
    if actual == expected {
        return Ok(());
    }
    let difference = match actual.iter().zip(expected).position(|(a, b)| a != b) {
        None => format!("{} items instead of {}", actual.len(), expected.len()),
        Some(at) => format!("item {at} is {:?} instead of {:?}", actual[at], expected[at]),
    };
    Err(Stop::fail(format!("{what}: {difference} [{here}]")))
}
