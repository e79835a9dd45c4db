// SPDX-License-Identifier: MIT OR Apache-2.0
//! Element types with IREE's numeric encodings, and the text and the bytes of one element.

use std::{fmt, str::FromStr};

use half::{bf16, f16};

use crate::words::error::{Error, Result};

/// The type of an array element.
///
/// The numeric value has IREE's numerical type in the top byte and the width in bits in the low byte, so it can be
/// passed to IREE unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum ElementType {
    /// A truth value in a byte, 0 or 1.
    Bool8 = 0x1300_0008,
    /// 8 bits, signed or unsigned as the reader chooses.
    Int8 = 0x1000_0008,
    /// 16 bits, signed or unsigned as the reader chooses.
    Int16 = 0x1000_0010,
    /// 32 bits, signed or unsigned as the reader chooses.
    Int32 = 0x1000_0020,
    /// 64 bits, signed or unsigned as the reader chooses.
    Int64 = 0x1000_0040,
    /// 8 bits, signed.
    Sint8 = 0x1100_0008,
    /// 16 bits, signed.
    Sint16 = 0x1100_0010,
    /// 32 bits, signed.
    Sint32 = 0x1100_0020,
    /// 64 bits, signed.
    Sint64 = 0x1100_0040,
    /// 8 bits, unsigned.
    Uint8 = 0x1200_0008,
    /// 16 bits, unsigned.
    Uint16 = 0x1200_0010,
    /// 32 bits, unsigned.
    Uint32 = 0x1200_0020,
    /// 64 bits, unsigned.
    Uint64 = 0x1200_0040,
    /// IEEE 754 binary16.
    Float16 = 0x2100_0010,
    /// IEEE 754 binary32.
    Float32 = 0x2100_0020,
    /// IEEE 754 binary64.
    Float64 = 0x2100_0040,
    /// The upper half of a binary32.
    Bfloat16 = 0x2200_0010,
}

/// The value of an element, wide enough for all types.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A value of an integer type or a truth value.
    Integer(i128),
    /// A value of a floating-point type.
    Float(f64),
}

impl Number {
    /// The value as a float. Integers beyond 2^53 are rounded.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl ElementType {
    /// All element types.
    pub const ALL: &[Self] = &[
        Self::Bool8,
        Self::Int8,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::Sint8,
        Self::Sint16,
        Self::Sint32,
        Self::Sint64,
        Self::Uint8,
        Self::Uint16,
        Self::Uint32,
        Self::Uint64,
        Self::Float16,
        Self::Float32,
        Self::Float64,
        Self::Bfloat16,
    ];

    /// The name that IREE's tools use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool8 => "i1",
            Self::Int8 => "i8",
            Self::Int16 => "i16",
            Self::Int32 => "i32",
            Self::Int64 => "i64",
            Self::Sint8 => "si8",
            Self::Sint16 => "si16",
            Self::Sint32 => "si32",
            Self::Sint64 => "si64",
            Self::Uint8 => "ui8",
            Self::Uint16 => "ui16",
            Self::Uint32 => "ui32",
            Self::Uint64 => "ui64",
            Self::Float16 => "f16",
            Self::Float32 => "f32",
            Self::Float64 => "f64",
            Self::Bfloat16 => "bf16",
        }
    }

    /// The size of an element in bytes.
    pub const fn size(self) -> usize {
        (self as u32 & 0xff) as usize / 8
    }

    /// Whether this is a floating-point type.
    pub const fn is_float(self) -> bool {
        self as u32 >> 28 == 2
    }

    /// The least and the greatest value of an integer type; `None` for a floating-point type. An integer type without a
    /// stated sign takes the values of both readings.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        let bits = self.size() as u32 * 8;
        let (signed, unsigned) = (-(1_i128 << (bits - 1)), (1_i128 << bits) - 1);
        match self as u32 >> 24 {
            0x10 => Some((signed, unsigned)),
            0x11 => Some((signed, -signed - 1)),
            0x12 => Some((0, unsigned)),
            0x13 => Some((0, 1)),
            _ => None,
        }
    }

    /// Appends the little-endian bytes of a value.
    ///
    /// Floats are rounded to the nearest value, ties to even. A float type also takes an integer. `OUT_OF_RANGE` for an
    /// integer that the type cannot hold, and for a finite float that would become infinite. `INVALID_ARGUMENT` for a
    /// float given to an integer type.
    pub fn write(self, number: Number, bytes: &mut Vec<u8>) -> Result<()> {
        match (self.integer_range(), number) {
            (Some((least, greatest)), Number::Integer(value)) => {
                if value < least || value > greatest {
                    return Err(Error::out_of_range(format!(
                        "{value} does not fit into {self}, which holds {least} to {greatest}"
                    )));
                }
                bytes.extend_from_slice(&value.to_le_bytes()[..self.size()]);
            }
            (Some(_), Number::Float(value)) => {
                return Err(Error::invalid_argument(format!("{value} is not a value of {self}")));
            }
            (None, number) => {
                let value = number.to_f64();
                let (rounded, encoded) = match self {
                    Self::Float16 => (f16::from_f64(value).to_f64(), f16::from_f64(value).to_bits().into()),
                    Self::Bfloat16 => {
                        (bf16::from_f64(value).to_f64(), bf16::from_f64(value).to_bits().into())
                    }
                    Self::Float32 => (f64::from(value as f32), (value as f32).to_bits().into()),
                    _ => (value, value.to_bits()),
                };
                if rounded.is_infinite() && value.is_finite() {
                    return Err(Error::out_of_range(format!("{value} is too large for {self}")));
                }
                bytes.extend_from_slice(&encoded.to_le_bytes()[..self.size()]);
            }
        }
        Ok(())
    }

    /// The value of the bytes of an element; `None` unless there are exactly [`size`](Self::size) bytes.
    pub fn read(self, bytes: &[u8]) -> Option<Number> {
        if bytes.len() != self.size() {
            return None;
        }
        let mut word = [0; 8];
        word.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        Some(match self {
            Self::Float16 => Number::Float(f16::from_bits(bits as u16).to_f64()),
            Self::Bfloat16 => Number::Float(bf16::from_bits(bits as u16).to_f64()),
            Self::Float32 => Number::Float(f32::from_bits(bits as u32).into()),
            Self::Float64 => Number::Float(f64::from_bits(bits)),
            Self::Uint8 | Self::Uint16 | Self::Uint32 | Self::Uint64 | Self::Bool8 => {
                Number::Integer(bits.into())
            }
            _ => {
                let unused = 64 - self.size() as u32 * 8;
                Number::Integer(i128::from((bits << unused) as i64 >> unused))
            }
        })
    }

    /// Reads the text of an element: a decimal number, `0x` and hexadecimal digits for an integer, `inf` and `nan` for
    /// a float, `true` and `false` for `i1`.
    pub fn parse(self, text: &str) -> Result<Number> {
        let wrong = || {
            let kind = match self {
                Self::Bool8 => "0, 1, true or false",
                kind if kind.is_float() => "a number such as 1.5, -2e-3, inf or nan",
                _ => "a whole number such as 12, -3 or 0xff",
            };
            Error::invalid_argument(format!("`{text}` is no {self}: write {kind}"))
        };
        let number = match self {
            Self::Bool8 => match text {
                "0" | "00" | "false" => Number::Integer(0),
                "1" | "01" | "true" => Number::Integer(1),
                _ => return Err(wrong()),
            },
            // Parses as f32 directly, because rounding through f64 would round a few values twice.
            Self::Float32 => {
                let value: f32 = text.parse().map_err(|_| wrong())?;
                let digits = text.bytes().any(|byte| byte.is_ascii_digit());
                if value.is_infinite() && digits {
                    return Err(Error::out_of_range(format!("{text} is too large for {self}")));
                }
                Number::Float(value.into())
            }
            kind if kind.is_float() => Number::Float(text.parse().map_err(|_| wrong())?),
            _ => {
                let (sign, digits) = match text.strip_prefix('-') {
                    Some(digits) => (-1, digits),
                    None => (1, text),
                };
                let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
                    Some(digits) => u64::from_str_radix(digits, 16),
                    None => digits.parse(),
                };
                Number::Integer(sign * i128::from(value.map_err(|_| wrong())?))
            }
        };
        self.write(number, &mut Vec::with_capacity(8))?;
        Ok(number)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ElementType {
    type Err = Error;

    /// Reads IREE's names, and also `u8`, `u16`, `u32`, `u64` and `bool`.
    fn from_str(text: &str) -> Result<Self> {
        let name = match text {
            "u8" => "ui8",
            "u16" => "ui16",
            "u32" => "ui32",
            "u64" => "ui64",
            "bool" => "i1",
            name => name,
        };
        Self::ALL.iter().find(|kind| kind.name() == name).copied().ok_or_else(|| {
            Error::invalid_argument(format!(
                "`{text}` is no element type; there are i1, i8, i16, i32, i64 (si and ui with a sign stated), f16, \
                 bf16, f32 and f64"
            ))
        })
    }
}

/// Writes an element as IREE does: floats with six significant digits (C's `%G`), `i1` as a byte in hexadecimal.
pub(crate) fn format_element(kind: ElementType, bytes: &[u8], to: &mut String) {
    match kind.read(bytes) {
        Some(Number::Integer(value)) if kind == ElementType::Bool8 => to.push_str(&format!("{value:02x}")),
        Some(Number::Integer(value)) => to.push_str(&value.to_string()),
        Some(Number::Float(value)) => to.push_str(&six_digits(value)),
        None => to.push('?'),
    }
}

fn six_digits(value: f64) -> String {
    const DIGITS: i32 = 6;
    if value.is_nan() {
        return "NAN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "INF".to_owned() } else { "-INF".to_owned() };
    }
    // The exponent after rounding decides between the two forms.
    let scientific = format!("{value:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..DIGITS).contains(&exponent) {
        trim(&format!("{value:.*}", (DIGITS - 1 - exponent) as usize))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}E{sign}{:02}", trim(mantissa), exponent.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: ElementType, text: &str) -> Result<String> {
        let mut bytes = Vec::new();
        kind.write(kind.parse(text)?, &mut bytes)?;
        let mut back = String::new();
        format_element(kind, &bytes, &mut back);
        Ok(back)
    }

    #[test]
    fn values_are_those_of_iree() {
        assert_eq!(ElementType::Float32 as u32, 553_648_160);
        assert_eq!(ElementType::Bool8 as u32, 318_767_112);
        assert_eq!(ElementType::Sint16 as u32, 285_212_688);
        for kind in ElementType::ALL {
            assert_eq!(kind.name().parse::<ElementType>().unwrap(), *kind);
        }
        assert_eq!("u8".parse::<ElementType>().unwrap(), ElementType::Uint8);
        assert!("f31".parse::<ElementType>().unwrap_err().to_string().contains("bf16"));
    }

    #[test]
    fn elements_read_and_print_as_in_iree() {
        for (kind, text, printed) in [
            ("f32", "0.1", "0.1"),
            ("f32", "123456789", "1.23457E+08"),
            ("f32", "1e-7", "1E-07"),
            ("f32", "nan", "NAN"),
            ("f32", "-inf", "-INF"),
            ("f32", "-0.0", "-0"),
            ("f32", "16777216", "1.67772E+07"),
            ("f32", "0.0001", "0.0001"),
            ("f32", "999999.5", "1E+06"),
            ("f32", "3.14159274", "3.14159"),
            ("f16", "0.1", "0.0999756"),
            ("f16", "65504", "65504"),
            ("f16", "1e-8", "0"),
            ("bf16", "0.1", "0.100098"),
            ("f64", "1e300", "1E+300"),
            ("i1", "true", "01"),
            ("i8", "255", "-1"),
            ("i8", "-0x80", "-128"),
            ("ui64", "18446744073709551615", "18446744073709551615"),
            ("i64", "-9223372036854775808", "-9223372036854775808"),
        ] {
            let kind: ElementType = kind.parse().unwrap();
            assert_eq!(written(kind, text).unwrap(), printed, "{kind} {text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for (kind, text) in [
            ("i8", "256"),
            ("i8", "-129"),
            ("ui8", "-1"),
            ("si8", "128"),
            ("i1", "2"),
            ("i32", "1.5"),
            ("i32", ""),
            ("i32", "--1"),
            ("i32", "0x"),
            ("i64", "18446744073709551616"),
            ("f16", "65520"),
            ("f32", "1e39"),
            ("f64", "one"),
            ("f32", ""),
        ] {
            let kind: ElementType = kind.parse().unwrap();
            assert!(written(kind, text).is_err(), "{kind} {text}");
        }
        assert!(ElementType::Int32.write(Number::Float(1.0), &mut Vec::new()).is_err());
        assert_eq!(ElementType::Int32.read(&[0; 3]), None);
    }
}
