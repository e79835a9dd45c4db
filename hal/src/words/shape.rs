// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shapes: the dimensions of a dense array, and their text.

use std::{fmt, str::FromStr};

use crate::words::{
    element_type::ElementType,
    error::{Error, Result},
};

/// The dimensions of a dense row-major array. A scalar has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape(Vec<u64>);

impl Shape {
    /// A shape with these dimensions, the outermost first.
    pub fn new(dimensions: impl Into<Vec<u64>>) -> Self {
        Self(dimensions.into())
    }

    /// The dimensions, the outermost first.
    pub fn dimensions(&self) -> &[u64] {
        &self.0
    }

    /// The number of elements of an array of this shape. `OUT_OF_RANGE` above 2^63.
    pub fn element_count(&self) -> Result<u64> {
        let count = self.0.iter().try_fold(1_u64, |count, dimension| count.checked_mul(*dimension));
        // A dimension of zero makes the array empty, however large the others are.
        match count {
            Some(count) if count <= 1 << 63 => Ok(count),
            _ if self.0.contains(&0) => Ok(0),
            _ => Err(Error::out_of_range(format!("an array of {self} has more than 2^63 elements"))),
        }
    }

    /// The number of bytes of an array of this shape. `OUT_OF_RANGE` above 2^63.
    pub fn byte_length(&self, element_type: ElementType) -> Result<u64> {
        let bytes = self.element_count()?.checked_mul(element_type.size() as u64);
        bytes.filter(|bytes| *bytes <= 1 << 63).ok_or_else(|| {
            Error::out_of_range(format!("an array of {} has more than 2^63 bytes", self.with(element_type)))
        })
    }

    /// Splits a text such as `2x3xf32` into a shape and an element type, as IREE does. `INVALID_ARGUMENT` for other
    /// texts.
    pub fn parse_with_element_type(text: &str) -> Result<(Self, ElementType)> {
        match text.rsplit_once('x') {
            Some(("", _)) => Err(Error::invalid_argument(format!(
                "`{text}` has no dimension before its first x; write it like 2x3xf32, or f32 for a scalar"
            ))),
            Some((shape, element_type)) => Ok((shape.parse()?, element_type.parse()?)),
            None => Ok((Self::default(), text.parse()?)),
        }
    }

    /// The text of this shape with an element type, such as `2x3xf32`.
    pub fn with(&self, element_type: ElementType) -> impl fmt::Display {
        if self.0.is_empty() { element_type.to_string() } else { format!("{self}x{element_type}") }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dimensions: Vec<_> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&dimensions.join("x"))
    }
}

impl FromStr for Shape {
    type Err = Error;

    /// Reads dimensions with `x` between them. The empty text is the shape of a scalar.
    fn from_str(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let dimension = |part: &str| match part.parse() {
            Ok(dimension) if part.bytes().all(|byte| byte.is_ascii_digit()) => Ok(dimension),
            _ => Err(Error::invalid_argument(format!(
                "`{text}` is no shape: `{part}` is no dimension; write whole numbers with x between them, such as 2x3"
            ))),
        };
        text.split('x').map(dimension).collect::<Result<_>>().map(Self)
    }
}
