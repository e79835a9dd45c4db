// SPDX-License-Identifier: MIT OR Apache-2.0
//! Literals: arrays on the host, and the text of them that IREE's tools read and write: `4xf32=1 2 3 4`, `2x2xf32=[1
//! 2][3 4]`.

use std::{fmt, str::FromStr};

use crate::words::{
    element_type::{ElementType, format_element},
    error::{Error, Result, ResultExt},
    shape::Shape,
};

/// An array on the host: a shape, an element type, and the bytes of the elements in row-major order, little-endian.
///
/// It reads and prints the text of IREE's tools:
///
/// ```
/// use windlass_hal::Literal;
/// let matrix: Literal = "2x2xf32=[1 2][3 4]".parse()?;
/// assert_eq!(matrix.bytes(), [1.0_f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat());
/// assert_eq!(matrix.to_string(), "2x2xf32=[1 2][3 4]");
/// assert_eq!("3xi32=7".parse::<Literal>()?.to_string(), "3xi32=7 7 7");
/// # Ok::<(), windlass_hal::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    shape: Shape,
    element_type: ElementType,
    bytes: Vec<u8>,
}

impl Literal {
    /// An array of these bytes. `INVALID_ARGUMENT` unless there are as many as shape and type need.
    pub fn new(shape: Shape, element_type: ElementType, bytes: Vec<u8>) -> Result<Self> {
        let needed = shape.byte_length(element_type)?;
        if needed != bytes.len() as u64 {
            return Err(Error::invalid_argument(format!(
                "{} takes {needed} bytes, and {} are given",
                shape.with(element_type),
                bytes.len()
            )));
        }
        Ok(Self { shape, element_type, bytes })
    }

    /// An array whose elements all have the bytes of `element`. `INVALID_ARGUMENT` where `element` has another size
    /// than the type, `RESOURCE_EXHAUSTED` where memory is short.
    pub fn splat(shape: Shape, element_type: ElementType, element: &[u8]) -> Result<Self> {
        if element.len() != element_type.size() {
            return Err(Error::invalid_argument(format!(
                "{element_type} has {} bytes, not {}",
                element_type.size(),
                element.len()
            )));
        }
        let mut bytes = reserve(&shape, element_type)?;
        for _ in 0..shape.element_count()? {
            bytes.extend_from_slice(element);
        }
        Self::new(shape, element_type, bytes)
    }

    /// An array whose element `i` is written by `element(i, bytes)`.
    pub fn generate(
        shape: Shape,
        element_type: ElementType,
        mut element: impl FnMut(u64, &mut Vec<u8>) -> Result<()>,
    ) -> Result<Self> {
        let mut bytes = reserve(&shape, element_type)?;
        for index in 0..shape.element_count()? {
            element(index, &mut bytes)?;
        }
        Self::new(shape, element_type, bytes)
    }

    /// Reads the elements of an array, as they stand after the `=` of its text. No element means zeros, one element is
    /// repeated, and otherwise all must be there. Spaces or commas separate them. Brackets are optional, and must match
    /// the shape.
    pub fn parse_elements(shape: Shape, element_type: ElementType, text: &str) -> Result<Self> {
        let mut elements = Vec::new();
        let mut reader = Reader::new(text);
        while let Some(token) = reader.next_element(&shape)? {
            let value =
                element_type.parse(token).context(|| format!("reading element {}", reader.count - 1))?;
            element_type.write(value, &mut elements)?;
        }
        reader.finish(&shape)?;
        match reader.count {
            0 => Self::splat(shape, element_type, &[0; 8][..element_type.size()]),
            1 => Self::splat(shape, element_type, &elements),
            count if count == shape.element_count()? => Self::new(shape, element_type, elements),
            count => Err(Error::invalid_argument(format!(
                "{} has {} elements, and {count} are given; give all of them, or one for every element",
                shape.with(element_type),
                shape.element_count()?
            ))),
        }
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The type of the elements.
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// The bytes of the elements, in row-major order, little-endian.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of each element, in row-major order.
    pub fn elements(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.element_type.size())
    }

    /// The text of the array with at most `most` elements. `...` stands for the rest.
    pub fn to_text(&self, most: u64) -> String {
        let mut text = format!("{}=", self.shape.with(self.element_type));
        let mut left = most;
        let mut elements = self.elements();
        if !self.bytes.is_empty() {
            print(self.shape.dimensions(), self.element_type, &mut elements, &mut left, &mut text);
        }
        text
    }
}

/// Reserves memory for an array. Fails where there is too little, instead of aborting the process.
fn reserve(shape: &Shape, element_type: ElementType) -> Result<Vec<u8>> {
    let length = shape.byte_length(element_type)?;
    let mut bytes = Vec::new();
    usize::try_from(length).ok().and_then(|length| bytes.try_reserve_exact(length).ok()).ok_or_else(
        || {
            Error::resource_exhausted(format!(
                "no memory for the {length} bytes of {}",
                shape.with(element_type)
            ))
        },
    )?;
    Ok(bytes)
}

/// Prints the inner dimensions in brackets, and the innermost one as elements with spaces between them.
fn print<'a>(
    dimensions: &[u64],
    element_type: ElementType,
    elements: &mut impl Iterator<Item = &'a [u8]>,
    left: &mut u64,
    text: &mut String,
) {
    let (count, inner) = match dimensions {
        [] => (1, &[][..]),
        [count, inner @ ..] => (*count, inner),
    };
    if !inner.is_empty() {
        for _ in 0..count {
            text.push('[');
            print(inner, element_type, elements, left, text);
            text.push(']');
        }
        return;
    }
    for index in 0..count {
        if *left == 0 {
            text.push_str("...");
            // Skips the elements that are not printed, so that the next row prints its own.
            for _ in index..count {
                elements.next();
            }
            return;
        }
        let Some(element) = elements.next() else { return };
        if index > 0 {
            text.push(' ');
        }
        format_element(element_type, element, text);
        *left -= 1;
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(u64::MAX))
    }
}

impl FromStr for Literal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (kind, elements) = text.split_once('=').unwrap_or((text, ""));
        let (shape, element_type) = Shape::parse_with_element_type(kind)?;
        Self::parse_elements(shape, element_type, elements)
    }
}

/// Cuts the text of elements into tokens, and checks brackets against the shape.
struct Reader<'a> {
    rest: &'a str,
    /// The number of elements read.
    count: u64,
    /// The depth of open brackets, and the brackets opened and closed since the last element.
    depth: usize,
    opened: usize,
    closed: usize,
    bracketed: bool,
    /// The depth of the first element. It tells whether there is a bracket around the whole.
    level: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        let bracketed = text.contains(['[', ']']);
        Self { rest: text, count: 0, depth: 0, opened: 0, closed: 0, bracketed, level: 0 }
    }

    fn next_element(&mut self, shape: &Shape) -> Result<Option<&'a str>> {
        loop {
            let rest = self.rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
            if let Some(rest) = rest.strip_prefix('[') {
                (self.rest, self.depth, self.opened) = (rest, self.depth + 1, self.opened + 1);
            } else if let Some(rest) = rest.strip_prefix(']') {
                if self.depth == 0 {
                    return Err(unlike(shape));
                }
                (self.rest, self.depth, self.closed) = (rest, self.depth - 1, self.closed + 1);
            } else if rest.is_empty() {
                self.rest = rest;
                return Ok(None);
            } else {
                let end = rest
                    .find(|c: char| c.is_ascii_whitespace() || matches!(c, ',' | '[' | ']'))
                    .unwrap_or(rest.len());
                let (token, rest) = rest.split_at(end);
                self.rest = rest;
                self.check(shape)?;
                self.count += 1;
                (self.opened, self.closed) = (0, 0);
                return Ok(Some(token));
            }
        }
    }

    /// Checks the brackets before element `count`: as many must have closed and opened as inner dimensions end and
    /// begin here.
    fn check(&mut self, shape: &Shape) -> Result<()> {
        if !self.bracketed {
            return Ok(());
        }
        let inner = shape.dimensions().get(1..).unwrap_or_default();
        if self.count == 0 {
            self.level = self.depth;
            let plain = inner.len();
            return if self.depth == plain || self.depth == plain + 1 { Ok(()) } else { Err(unlike(shape)) };
        }
        let mut stride = 1_u64;
        let mut ends = 0;
        for dimension in inner.iter().rev() {
            stride = stride.saturating_mul(*dimension);
            if stride == 0 || !self.count.is_multiple_of(stride) {
                break;
            }
            ends += 1;
        }
        let right = self.depth == self.level && self.opened == ends && self.closed == ends;
        if right { Ok(()) } else { Err(unlike(shape)) }
    }

    fn finish(&self, shape: &Shape) -> Result<()> {
        let closed = self.depth == 0 && self.closed == if self.count == 0 { self.opened } else { self.level };
        if !self.bracketed || closed { Ok(()) } else { Err(unlike(shape)) }
    }
}

fn unlike(shape: &Shape) -> Error {
    Error::invalid_argument(format!(
        "the brackets do not match the shape {shape}: leave them out, or set them around each inner dimension as in \
         2x2xf32=[1 2][3 4]"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(from: &str) -> String {
        from.parse::<Literal>().unwrap_or_else(|error| panic!("{from}: {error}")).to_string()
    }

    #[test]
    fn reads_what_iree_reads_and_prints_what_it_prints() {
        for (from, to) in [
            ("4xf32=1 2 3 4", "4xf32=1 2 3 4"),
            ("4xf32=1,2, 3  4", "4xf32=1 2 3 4"),
            ("4xf32=[1 2 3 4]", "4xf32=1 2 3 4"),
            ("2x2xf32=1 2 3 4", "2x2xf32=[1 2][3 4]"),
            ("2x2xf32=[[1 2][3 4]]", "2x2xf32=[1 2][3 4]"),
            ("2x2xf32=[[1,2],[3,4]]", "2x2xf32=[1 2][3 4]"),
            ("2x1x2xi8=[[1 2]][[3 4]]", "2x1x2xi8=[[1 2]][[3 4]]"),
            ("2x1x2xi8=[[[1 2]][[3 4]]]", "2x1x2xi8=[[1 2]][[3 4]]"),
            ("2x2xi32", "2x2xi32=[0 0][0 0]"),
            ("2x2xi32=", "2x2xi32=[0 0][0 0]"),
            ("2x2xi32=9", "2x2xi32=[9 9][9 9]"),
            ("f32=3.5", "f32=3.5"),
            ("0x3xf32=", "0x3xf32="),
            ("4xi1=1 0 true 01", "4xi1=01 00 01 01"),
        ] {
            assert_eq!(text(from), to);
            assert_eq!(text(to), to);
        }
    }

    #[test]
    fn long_arrays_are_cut_as_iree_cuts_them() {
        let literal: Literal = "2x2x2xf32=1 2 3 4 5 6 7 8".parse().unwrap();
        assert_eq!(literal.to_text(0), "2x2x2xf32=[[...][...]][[...][...]]");
        assert_eq!(literal.to_text(3), "2x2x2xf32=[[1 2][3...]][[...][...]]");
        assert_eq!(literal.to_text(4), "2x2x2xf32=[[1 2][3 4]][[...][...]]");
        assert_eq!(literal.to_text(8), literal.to_string());
    }

    #[test]
    fn what_is_malformed_is_refused_and_named() {
        for (from, named) in [
            ("", "no element type"),
            ("4x", "no element type"),
            ("xf32=1", "no dimension"),
            ("4x-1xf32", "-1"),
            ("4x+1xf32", "+1"),
            ("4xf32=1 2 3", "4 elements, and 3 are given"),
            ("4xf32=1 2 3 4 5", "and 5 are given"),
            ("2xi32=1 x", "element 1"),
            ("2x2xf32=[1 2 3 4]", "brackets"),
            ("2x2xf32=[1 2][3 4", "brackets"),
            ("2x2xf32=[1 2]3 4]", "brackets"),
            ("2x2xf32=[1][2 3 4]", "brackets"),
            ("2x2xf32=[[[1 2][3 4]]]", "brackets"),
            ("2x2xf32=]1 2[", "brackets"),
            ("2xf32=[", "brackets"),
            ("9223372036854775807x3xf32=0", "2^63"),
            ("99999999999999999999xf32=0", "no dimension"),
            ("1000000000000000000xf32=0", "no memory"),
        ] {
            let error = from.parse::<Literal>().expect_err(from).to_string();
            assert!(error.contains(named), "{from}: {error}");
        }
        assert!(Literal::new(Shape::new([2]), ElementType::Int8, vec![0]).is_err());
    }
}
