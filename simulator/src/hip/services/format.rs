// SPDX-License-Identifier: MIT OR Apache-2.0
//! `printf` over arguments that a kernel has sent: each is one 64-bit word, a string is its bytes in words.

use super::numbers::{self, Form};

/// The widest field and the most digits that are written. A kernel may ask for 2^31.
const WIDEST: usize = 1 << 20;
/// About the most bytes that one `printf` writes: what it has when it begins its last conversion. A short format can ask for many wide fields.
const LONGEST: usize = 16 << 20;

/// The arguments that are left.
pub(super) struct Arguments<'a> {
    words: &'a [u64],
}

impl<'a> Arguments<'a> {
    pub(super) fn new(words: &'a [u64]) -> Self {
        Self { words }
    }

    /// The next argument; zero if none is left.
    pub(super) fn word(&mut self) -> u64 {
        let Some((first, rest)) = self.words.split_first() else { return 0 };
        self.words = rest;
        *first
    }

    /// The next string: bytes up to a zero, in whole words.
    pub(super) fn string(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        while let Some((first, rest)) = self.words.split_first() {
            self.words = rest;
            let part = first.to_le_bytes();
            match part.iter().position(|byte| *byte == 0) {
                Some(end) => {
                    bytes.extend(&part[..end]);
                    break;
                }
                None => bytes.extend(part),
            }
        }
        bytes
    }

    /// The next argument as a C `int`.
    fn int(&mut self) -> i32 {
        self.word() as i32
    }
}

/// The size of an integer that a conversion names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Char,
    Short,
    Int,
    Long,
}

/// A conversion without its letter.
#[derive(Clone, Copy)]
struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    length: Length,
}

/// Formats as C's `printf` does, with its rules for each conversion. The text ends early at [`LONGEST`].
pub(super) fn format(format: &[u8], arguments: &mut Arguments<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(format.len());
    let mut rest = format;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        if out.len() > LONGEST {
            tracing::warn!(target: "windlass::sim", "what a kernel prints is cut off after {LONGEST} bytes");
            return out;
        }
        out.extend(&rest[..at]);
        let directive = &rest[at..];
        let mut scanner = Scanner { rest: &directive[1..] };
        let conversion = scanner.conversion(arguments);
        match scanner.next() {
            Some(b'%') => out.push(b'%'),
            Some(letter) => {
                if !convert(&mut out, letter, conversion, arguments) {
                    // C leaves this undefined. The text shows what is wrong.
                    out.extend(&directive[..directive.len() - scanner.rest.len()]);
                }
            }
            None => out.extend(directive),
        }
        rest = scanner.rest;
    }
    out.extend(rest);
    out
}

struct Scanner<'a> {
    rest: &'a [u8],
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn take(&mut self, wanted: u8) -> bool {
        let there = self.rest.first() == Some(&wanted);
        if there {
            self.rest = &self.rest[1..];
        }
        there
    }

    fn number(&mut self) -> usize {
        let mut number: usize = 0;
        while let Some(digit) = self.rest.first().filter(|byte| byte.is_ascii_digit()) {
            number = number.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
            self.rest = &self.rest[1..];
        }
        number
    }

    fn conversion(&mut self, arguments: &mut Arguments<'_>) -> Conversion {
        let mut found = Conversion {
            left: false,
            plus: false,
            space: false,
            alternate: false,
            zero: false,
            width: 0,
            precision: None,
            length: Length::Int,
        };
        loop {
            match self.rest.first() {
                Some(b'-') => found.left = true,
                Some(b'+') => found.plus = true,
                Some(b' ') => found.space = true,
                Some(b'#') => found.alternate = true,
                Some(b'0') => found.zero = true,
                Some(b'\'') => {}
                _ => break,
            }
            self.rest = &self.rest[1..];
        }
        if self.take(b'*') {
            let width = arguments.int();
            found.left |= width < 0;
            found.width = width.unsigned_abs() as usize;
        } else {
            found.width = self.number();
        }
        if self.take(b'.') {
            found.precision = match self.take(b'*') {
                // A negative precision is none.
                true => usize::try_from(arguments.int()).ok(),
                false => Some(self.number()),
            };
        }
        found.width = found.width.min(WIDEST);
        found.precision = found.precision.map(|precision| precision.min(WIDEST));
        while let Some(letter) = self.rest.first() {
            found.length = match (letter, found.length) {
                (b'h', Length::Short) => Length::Char,
                (b'h', _) => Length::Short,
                (b'l' | b'j' | b'z' | b't' | b'q' | b'L', _) => Length::Long,
                _ => break,
            };
            self.rest = &self.rest[1..];
        }
        found
    }
}

/// Writes one conversion. `false` for a letter that is none.
fn convert(out: &mut Vec<u8>, letter: u8, how: Conversion, arguments: &mut Arguments<'_>) -> bool {
    match letter {
        b'd' | b'i' => {
            let value = match how.length {
                Length::Char => i64::from(arguments.word() as i8),
                Length::Short => i64::from(arguments.word() as i16),
                Length::Int => i64::from(arguments.word() as i32),
                Length::Long => arguments.word() as i64,
            };
            how.integer(out, how.sign(value < 0), "", value.unsigned_abs().to_string());
        }
        b'u' | b'o' | b'x' | b'X' | b'b' | b'B' => {
            let value = match how.length {
                Length::Char => u64::from(arguments.word() as u8),
                Length::Short => u64::from(arguments.word() as u16),
                Length::Int => u64::from(arguments.word() as u32),
                Length::Long => arguments.word(),
            };
            how.unsigned(out, letter, value);
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            how.float(out, letter, f64::from_bits(arguments.word()));
        }
        b'c' => {
            let byte = arguments.word() as u8;
            how.pad(out, &[byte]);
        }
        b's' => {
            let string = arguments.string();
            let end = how.precision.unwrap_or(usize::MAX).min(string.len());
            how.pad(out, &string[..end]);
        }
        b'p' => match arguments.word() {
            0 => how.pad(out, b"(nil)"),
            address => how.integer(out, how.sign(false), "0x", format!("{address:x}")),
        },
        // A store through a pointer of the format's choice. AMD's HIP consumes the argument too.
        b'n' => drop(arguments.word()),
        _ => return false,
    }
    true
}

impl Conversion {
    fn sign(self, negative: bool) -> &'static str {
        match () {
            () if negative => "-",
            () if self.plus => "+",
            () if self.space => " ",
            () => "",
        }
    }

    fn unsigned(self, out: &mut Vec<u8>, letter: u8, value: u64) {
        let mut digits = match letter {
            b'o' => format!("{value:o}"),
            b'x' => format!("{value:x}"),
            b'X' => format!("{value:X}"),
            b'b' | b'B' => format!("{value:b}"),
            _ => value.to_string(),
        };
        let prefix = match letter {
            b'x' if self.alternate && value != 0 => "0x",
            b'X' if self.alternate && value != 0 => "0X",
            b'b' if self.alternate && value != 0 => "0b",
            b'B' if self.alternate && value != 0 => "0B",
            _ => "",
        };
        if letter == b'o' && self.alternate {
            let is_long = self.precision.is_some_and(|precision| precision > digits.len());
            if value == 0 && self.precision == Some(0) {
                // The zero that the precision takes away.
                return self.field(out, "", "0", false);
            }
            if value != 0 && !is_long {
                digits.insert(0, '0');
            }
        }
        self.integer(out, "", prefix, digits);
    }

    fn integer(self, out: &mut Vec<u8>, sign: &str, prefix: &str, mut digits: String) {
        if let Some(precision) = self.precision {
            if precision == 0 && digits == "0" {
                digits.clear();
            }
            digits.insert_str(0, &"0".repeat(precision.saturating_sub(digits.len())));
        }
        self.field(out, &format!("{sign}{prefix}"), &digits, self.zero && self.precision.is_none());
    }

    fn float(self, out: &mut Vec<u8>, letter: u8, value: f64) {
        let sign = self.sign(value.is_sign_negative());
        let form = match letter.to_ascii_lowercase() {
            b'f' => Form::Fixed,
            b'e' => Form::Exponent,
            b'g' => Form::Shortest,
            _ => Form::Hexadecimal,
        };
        let mut text = match value.is_finite() {
            true => numbers::digits(value.abs(), form, self.precision, self.alternate),
            false if value.is_nan() => "nan".to_owned(),
            false => "inf".to_owned(),
        };
        if letter.is_ascii_uppercase() {
            text.make_ascii_uppercase();
        }
        // Zeros stand behind the prefix of a hexadecimal number.
        let prefix = if form == Form::Hexadecimal && value.is_finite() { 2 } else { 0 };
        let (prefix, digits) = text.split_at(prefix);
        self.field(out, &format!("{sign}{prefix}"), digits, self.zero && value.is_finite());
    }

    /// A number in its field: spaces, sign and prefix, zeros, digits.
    fn field(self, out: &mut Vec<u8>, head: &str, digits: &str, zeros: bool) {
        let missing = self.width.saturating_sub(head.len() + digits.len());
        let (before, between, after) = match (self.left, zeros) {
            (true, _) => (0, 0, missing),
            (false, true) => (0, missing, 0),
            (false, false) => (missing, 0, 0),
        };
        out.extend(std::iter::repeat_n(b' ', before));
        out.extend(head.as_bytes());
        out.extend(std::iter::repeat_n(b'0', between));
        out.extend(digits.as_bytes());
        out.extend(std::iter::repeat_n(b' ', after));
    }

    fn pad(self, out: &mut Vec<u8>, bytes: &[u8]) {
        let missing = self.width.saturating_sub(bytes.len());
        let (before, after) = if self.left { (0, missing) } else { (missing, 0) };
        out.extend(std::iter::repeat_n(b' ', before));
        out.extend(bytes);
        out.extend(std::iter::repeat_n(b' ', after));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str, words: &[u64]) -> String {
        String::from_utf8(format(text.as_bytes(), &mut Arguments::new(words))).unwrap()
    }

    /// The same by the C library.
    #[cfg(target_os = "linux")]
    fn expected_float(text: &str, value: f64) -> String {
        let mut buffer = [0_u8; 4096];
        let text = std::ffi::CString::new(text).unwrap();
        // SAFETY: the formats of the test convert one double, and the buffer has its size.
        let len = unsafe { libc::snprintf(buffer.as_mut_ptr().cast(), buffer.len(), text.as_ptr(), value) };
        String::from_utf8(buffer[..len as usize].to_vec()).unwrap()
    }

    #[cfg(target_os = "linux")]
    fn expected_int(text: &str, value: i32) -> String {
        let mut buffer = [0_u8; 4096];
        let text = std::ffi::CString::new(text).unwrap();
        // SAFETY: the formats of the test convert one int, and the buffer has its size.
        let len = unsafe { libc::snprintf(buffer.as_mut_ptr().cast(), buffer.len(), text.as_ptr(), value) };
        String::from_utf8(buffer[..len as usize].to_vec()).unwrap()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn numbers_look_as_the_c_library_writes_them() {
        let values = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.5,
            2.5,
            1e-5,
            123_456_789.0,
            1e21,
            9.999_999_5,
            0.1,
            3.0e-310,
            5e-324,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            100_000.0,
            1_000_000.0,
            1.0 / 3.0,
            255.9375,
            1.999_999_999_9,
        ];
        for flags in ["", "-", "+", " ", "#", "0", "+0", "-#", "#0"] {
            for width in ["", "3", "25"] {
                for precision in ["", ".", ".0", ".1", ".3", ".17", ".60"] {
                    for letter in ["f", "F", "e", "E", "g", "G", "a", "A"] {
                        let text = format!("<%{flags}{width}{precision}{letter}>");
                        for value in values {
                            let own = printed(&text, &[value.to_bits()]);
                            assert_eq!(own, expected_float(&text, value), "{text} of {value:?}");
                        }
                    }
                    for letter in ["d", "i", "u", "o", "x", "X", "hhd", "hu", "hhx", "hd"] {
                        let text = format!("<%{flags}{width}{precision}{letter}>");
                        for value in [0, 1, -1, 42, 8, i32::MIN, i32::MAX, 70_000, 200] {
                            let own = printed(&text, &[i64::from(value) as u64]);
                            assert_eq!(own, expected_int(&text, value), "{text} of {value}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn strings_characters_pointers_and_stars() {
        let text = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            bytes.resize(bytes.len() / 8 * 8 + 8, 0);
            bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect::<Vec<u64>>()
        };
        let mut words = text("eight by");
        words.extend([(-6_i64) as u64, 3]);
        words.extend(text("shorter"));
        words.extend([0x7f00_1234, 0, u64::MAX, 65]);
        assert_eq!(
            printed("%s|%*.*s|%p %10p %lu %c%3c%% %", &words),
            "eight by|sho   |0x7f001234      (nil) 18446744073709551615 A  \0% %",
        );
    }

    #[test]
    fn absurd_formats_end() {
        assert_eq!(printed("%d %s|", &[]), "0 |");
        assert_eq!(printed("%y %", &[1]), "%y %");
        assert_eq!(printed("%2147483647d", &[1]).len(), WIDEST);
        assert_eq!(printed("%*d", &[i64::from(i32::MIN) as u64, 1]).len(), WIDEST);
        assert!(printed(&"%1048576d".repeat(1000), &[]).len() <= LONGEST + WIDEST);
        assert_eq!(printed("%.99999999999999999999f", &[0]).len(), WIDEST + 2);
    }
}
