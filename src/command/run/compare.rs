// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares results with expected contents.

use std::str::FromStr;

use crate::{ElementType, Literal, Number};

use super::npy::same_numbers;
use crate::command::failure::{Failure, Outcome};

/// The tolerance of a result: `relative * |expected| + absolute`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tolerance {
    relative: f64,
    absolute: f64,
}

impl Tolerance {
    /// The default: integers must be equal, floats get what `torch.testing.assert_close` allows.
    fn default_for(element_type: ElementType) -> Self {
        let (relative, absolute) = match element_type {
            ElementType::Bfloat16 => (1.6e-2, 1e-5),
            ElementType::Float16 => (1e-3, 1e-5),
            ElementType::Float32 => (1.3e-6, 1e-5),
            ElementType::Float64 => (1e-7, 1e-7),
            _ => (0.0, 0.0),
        };
        Self { relative, absolute }
    }

    fn allows(self, got: Number, expected: Number) -> bool {
        if let (Number::Integer(got), Number::Integer(expected)) = (got, expected) {
            let difference = got.abs_diff(expected);
            return difference == 0
                || difference as f64 <= self.relative * expected.unsigned_abs() as f64 + self.absolute;
        }
        let (got, expected) = (got.to_f64(), expected.to_f64());
        if got.is_nan() || expected.is_nan() {
            return got.is_nan() && expected.is_nan();
        }
        // The comparison also settles infinities, whose difference is NaN.
        got == expected
            || (got.is_finite()
                && expected.is_finite()
                && (got - expected).abs() <= self.relative * expected.abs() + self.absolute)
    }
}

impl FromStr for Tolerance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
        text.split_once(',')
            .and_then(|(relative, absolute)| {
                Some(Self { relative: number(relative)?, absolute: number(absolute)? })
            })
            .ok_or_else(|| {
                "write REL,ABS with two numbers that are not negative, such as 1e-5,1e-8".to_owned()
            })
    }
}

/// The number of differences that are shown.
const SHOWN: usize = 10;

/// Compares the contents of argument `index` with the expected contents, element by element in row-major order.
/// Returns a message if all are equal. NaN equals NaN.
pub(crate) fn compare(
    index: usize,
    got: &Literal,
    expected: &Literal,
    tolerance: Option<Tolerance>,
) -> Outcome<String> {
    check_types(index, got, expected)?;
    let kind = expected.element_type();
    let tolerance = tolerance.unwrap_or(Tolerance::default_for(kind));
    let Tolerance { relative, absolute } = tolerance;
    let exact = relative == 0.0 && absolute == 0.0;
    let mut different = 0;
    let mut lines = String::new();
    for (place, (got_bytes, expected_bytes)) in got.elements().zip(expected.elements()).enumerate() {
        // Fast path: most elements are bitwise equal.
        if got_bytes == expected_bytes {
            continue;
        }
        let (Some(got_number), Some(expected_number)) = (kind.read(got_bytes), kind.read(expected_bytes))
        else {
            continue;
        };
        if tolerance.allows(got_number, expected_number) {
            continue;
        }
        different += 1;
        if different <= SHOWN {
            let place = position(place as u64, got.shape().dimensions());
            lines.push_str(&format!(
                "\n  {place} is {}, expected {}",
                show(kind, got_number),
                show(kind, expected_number)
            ));
        }
    }
    let count = got.elements().len();
    if different == 0 {
        let within =
            if exact { String::new() } else { format!(", within {relative:e} * |expected| + {absolute:e}") };
        return Ok(format!("argument {index}: all {count} elements are as expected{within}"));
    }
    let allowed =
        if exact { String::new() } else { format!(" by more than {relative:e} * |expected| + {absolute:e}") };
    let first = if different > SHOWN { format!("; the first {SHOWN}:") } else { ":".to_owned() };
    Err(Failure::failed(format!(
        "argument {index}: {different} of {count} elements differ{allowed}{first}{lines}"
    )))
}

fn check_types(index: usize, got: &Literal, expected: &Literal) -> Outcome {
    let same_shape = got.shape() == expected.shape();
    if same_shape && same_numbers(got.element_type(), expected.element_type()) {
        return Ok(());
    }
    Err(Failure::input(format!(
        "--expect {index}: argument {index} is {}, and {} is expected of it; shape and type must be the same",
        got.shape().with(got.element_type()),
        expected.shape().with(expected.element_type())
    )))
}

/// The index of an element in each dimension.
fn position(mut place: u64, dimensions: &[u64]) -> String {
    let mut parts = Vec::new();
    for dimension in dimensions.iter().rev() {
        let dimension = (*dimension).max(1);
        parts.push((place % dimension).to_string());
        place /= dimension;
    }
    parts.reverse();
    format!("[{}]", parts.join(","))
}

/// Enough digits to distinguish the value from its neighbours.
fn show(kind: ElementType, number: Number) -> String {
    match number {
        Number::Integer(value) => value.to_string(),
        Number::Float(value) if kind == ElementType::Float64 => format!("{value:?}"),
        Number::Float(value) => format!("{:?}", value as f32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(got: &str, expected: &str, tolerance: Option<&str>) -> Outcome<String> {
        let tolerance = tolerance.map(|text| text.parse().unwrap());
        compare(2, &got.parse().unwrap(), &expected.parse().unwrap(), tolerance)
    }

    #[test]
    fn what_is_close_enough_passes() {
        check("2xi32=1 2", "2xi32=1 2", None).unwrap();
        check("2xi32=1 2", "2xui32=1 2", None).unwrap();
        check("2xf32=1 1000", "2xf32=1.000001 1000.001", None).unwrap();
        check("3xf32=nan inf -0.0", "3xf32=nan inf 0", None).unwrap();
        check("1xf32=1", "1xf32=1.5", Some("0,0.5")).unwrap();
        check("1xi8=100", "1xi8=101", Some("0,1")).unwrap();
    }

    #[test]
    fn what_is_not_fails_and_is_shown() {
        for (got, expected) in [
            ("1xi32=1", "1xi32=2"),
            ("1xi64=9007199254740993", "1xi64=9007199254740992"),
            ("1xf32=1", "1xf32=1.0001"),
            ("1xf32=nan", "1xf32=1"),
            ("1xf32=1", "1xf32=nan"),
            ("1xf32=inf", "1xf32=-inf"),
            ("1xf32=inf", "1xf32=1"),
            ("1xf64=1", "1xf64=1.000001"),
        ] {
            let message = format!("{:?}", check(got, expected, None).expect_err(got));
            assert!(message.contains("1 of 1 elements differ"), "{message}");
            assert!(message.contains("Failed"), "{message}");
        }
        let message = format!("{:?}", check("2x8xi32=0", "2x8xi32=1", None).unwrap_err());
        assert!(message.contains("16 of 16") && message.contains("the first 10"), "{message}");
        assert!(message.contains("[1,1] is 0, expected 1") && !message.contains("[1,2]"), "{message}");
        let message = format!("{:?}", check("4xf32=0", "2x2xf32=0", None).unwrap_err());
        assert!(message.contains("4xf32, and 2x2xf32") && message.contains("Input"), "{message}");
        assert!(check("1xf32=0", "1xi32=0", None).is_err());
    }

    #[test]
    fn tolerances_are_two_numbers() {
        assert_eq!("1e-5,0".parse(), Ok(Tolerance { relative: 1e-5, absolute: 0.0 }));
        for bad in ["", "1", "1,", "a,b", "-1,0", "nan,0", "1,2,3", "inf,0"] {
            assert!(bad.parse::<Tolerance>().is_err(), "{bad}");
        }
    }
}
