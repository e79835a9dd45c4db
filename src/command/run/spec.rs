// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of `--arg` and `--expect`: spelled as IREE's tools spell arguments, with a few forms of Windlass's own.

use std::path::Path;

use crate::{ElementType, Literal, Shape};

use super::{generate, npy};
use crate::command::{
    failure::{Failure, Outcome},
    input,
};

/// The forms, for messages and help.
pub(crate) const FORMS: &str = "\
buffers: 1024xf32=0 (every element), 4xi32=1,2,3,4 or 2x2xf32=[1 2][3 4] (each), 1024xf32 (zeros),
         1024xf32=@FILE (raw bytes, or .npy of that type and shape), @FILE.npy,
         1024xf32=iota (0, 1, 2, ...), 1024xf32=random:SEED
by value: i32=5, f32=0.5, bytes=HEX (a struct, in the kernel's layout)
         null (a null pointer)
types: i1, i8, i16, i32, i64 (si and ui with a sign stated), f16, bf16, f32, f64";

/// One argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Spec {
    /// A null pointer.
    Null,
    /// A value: a number or a struct.
    Value(Vec<u8>),
    /// A buffer and its contents.
    Buffer(Literal),
}

impl Spec {
    /// Parses an argument, and reads the files that it names.
    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        parse(text).map_err(|why| Failure::input(format!("`{text}`: {why}\nan argument is one of\n{FORMS}")))
    }

    /// Parses the contents that a buffer is compared with.
    pub(crate) fn parse_expected(text: &str) -> Outcome<Literal> {
        match Self::parse(text)? {
            Self::Buffer(literal) => Ok(literal),
            _ => Err(Failure::input(format!(
                "`{text}`: only a buffer can be compared; give its shape and type, such as 1xi32=5"
            ))),
        }
    }
}

fn parse(text: &str) -> Result<Spec, String> {
    if text == "null" {
        return Ok(Spec::Null);
    }
    if let Some(path) = text.strip_prefix('@') {
        return npy::decode(&read(path, input::LONGEST)?)
            .and_then(|array| array.literal())
            .map(Spec::Buffer)
            .map_err(|why| format!("{path}: {why}"));
    }
    let (kind, value) = match text.split_once('=') {
        Some((kind, value)) => (kind, Some(value)),
        None => (text, None),
    };
    if kind == "bytes" {
        return hexadecimal(value.unwrap_or_default()).map(Spec::Value);
    }
    if value.is_none() && kind.parse::<f64>().is_ok() {
        return Err(format!(
            "a value needs its type: write i32={kind} or f32={kind}, as the kernel takes it"
        ));
    }
    let (shape, element_type) =
        Shape::parse_with_element_type(kind).map_err(|error| error.message().to_owned())?;
    if shape.dimensions().is_empty() {
        return scalar(element_type, value.unwrap_or_default()).map(Spec::Value);
    }
    contents(shape, element_type, value.unwrap_or_default()).map(Spec::Buffer)
}

fn scalar(element_type: ElementType, value: &str) -> Result<Vec<u8>, String> {
    if value.is_empty() {
        return Err(format!(
            "the value is missing; write {element_type}=5 for a value, 1x{element_type}=5 for a buffer"
        ));
    }
    let mut bytes = Vec::new();
    let number = element_type.parse(value).map_err(|error| error.message().to_owned())?;
    element_type.write(number, &mut bytes).map_err(|error| error.message().to_owned())?;
    Ok(bytes)
}

fn contents(shape: Shape, element_type: ElementType, value: &str) -> Result<Literal, String> {
    let literal = if let Some(path) = value.strip_prefix('@') {
        return from_file(shape, element_type, path);
    } else if value == "iota" {
        generate::iota(shape, element_type)
    } else if let Some(seed) = value.strip_prefix("random:") {
        let seed = seed.parse().map_err(|_| {
            format!("`{seed}` is no seed: write a whole number from 0 to 2^64 - 1, such as random:7")
        })?;
        generate::random(shape, element_type, seed)
    } else if value == "random" {
        return Err("a seed is missing, so that runs can be repeated: write random:7".to_owned());
    } else {
        Literal::parse_elements(shape, element_type, value)
    };
    literal.map_err(|error| {
        let contexts: Vec<_> = error.contexts().map(|context| format!(", while {context}")).collect();
        format!("{}{}", error.message(), contexts.concat())
    })
}

fn from_file(shape: Shape, element_type: ElementType, path: &str) -> Result<Literal, String> {
    // A raw file has the size of the shape; a `.npy` file has its header besides.
    let bytes =
        read(path, shape.byte_length(element_type).unwrap_or(u64::MAX).saturating_add(npy::LONGEST_HEADER))?;
    if npy::begins(&bytes) {
        return npy::decode(&bytes)
            .and_then(|array| array.literal_as(shape, element_type))
            .map_err(|why| format!("{path}: {why}"));
    }
    Literal::new(shape, element_type, bytes).map_err(|error| format!("{path}: {}", error.message()))
}

fn read(path: &str, most: u64) -> Result<Vec<u8>, String> {
    if path.is_empty() {
        return Err("a file name is missing behind the @".to_owned());
    }
    input::read_at_most(Path::new(path), most).map_err(|error| format!("cannot read {path}: {error}"))
}

fn hexadecimal(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text).as_bytes();
    let wrong = || {
        format!(
            "`{text}` is no hexadecimal bytes: write two digits for each byte, in memory order, such as bytes=0000803f"
        )
    };
    if digits.is_empty() || !digits.len().is_multiple_of(2) {
        return Err(wrong());
    }
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    digits
        .chunks_exact(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        })
        .collect::<Option<_>>()
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(text: &str) -> String {
        match Spec::parse(text) {
            Ok(Spec::Buffer(literal)) => literal.to_string(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn each_form_is_read() {
        assert_eq!(Spec::parse("null").unwrap(), Spec::Null);
        assert_eq!(Spec::parse("i32=-2").unwrap(), Spec::Value(vec![0xfe, 0xff, 0xff, 0xff]));
        assert_eq!(Spec::parse("f16=1").unwrap(), Spec::Value(vec![0, 0x3c]));
        assert_eq!(Spec::parse("bytes=0000803F").unwrap(), Spec::Value(vec![0, 0, 0x80, 0x3f]));
        assert_eq!(buffer("3xf32=0"), "3xf32=0 0 0");
        assert_eq!(buffer("3xf32"), "3xf32=0 0 0");
        assert_eq!(buffer("2x2xi8=1,2,3,4"), "2x2xi8=[1 2][3 4]");
        assert_eq!(buffer("4xf32=iota"), "4xf32=0 1 2 3");
    }

    #[test]
    fn a_mistake_is_named_with_what_is_allowed() {
        for (text, named) in [
            ("", "no element type"),
            ("4xf32=1,2", "4 elements, and 2 are given"),
            ("4xf99=0", "bf16"),
            ("781", "i32=781"),
            ("i32", "1xi32=5"),
            ("i32=x", "whole number"),
            ("i8=300", "does not fit"),
            ("bytes=0", "two digits"),
            ("bytes=zz", "two digits"),
            ("bytes=", "two digits"),
            ("4xf32=random", "random:7"),
            ("4xf32=random:x", "no seed"),
            ("4xf32=@", "file name"),
            ("4xf32=@/no/such/file", "/no/such/file"),
            ("@/no/such.npy", "/no/such.npy"),
            ("nul", "no element type"),
        ] {
            let message = format!("{:?}", Spec::parse(text).expect_err(text));
            assert!(message.contains(named), "{text}: {message}");
            assert!(message.contains("random:SEED"), "{text}: {message}");
        }
        assert!(Spec::parse_expected("i32=5").is_err());
    }
}
