// SPDX-License-Identifier: MIT OR Apache-2.0
//! Formats of buffers, from LLVM's names of them: `BUF_DATA_FORMAT_10_11_11` lists its components from the highest bits
//! down.

use super::integers::signed;
use super::real::{self, F16, F32, Format, Number, Round};

const DATA: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];
const NUMBER: [&str; 8] = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"];

/// The format of a buffer's elements.
pub(super) struct Element {
    /// Bits of each component, X first.
    pub(super) widths: Vec<u32>,
    number: &'static str,
}

impl Element {
    /// From LLVM's modifier, which omits zero, and 8 bits UNORM.
    pub(super) fn written(text: &str) -> Option<Self> {
        let (mut data, mut number) = ("8", "UNORM");
        for part in text.trim_matches(['[', ']']).split(',').filter(|part| !part.is_empty()) {
            match (part.strip_prefix("BUF_DATA_FORMAT_"), part.strip_prefix("BUF_NUM_FORMAT_")) {
                (Some(name), _) => data = name,
                (_, Some(name)) => number = NUMBER.into_iter().find(|known| *known == name)?,
                _ => return None,
            }
        }
        Self::named(data, number)
    }

    /// From the last word of a resource.
    pub(super) fn described(word: u32) -> Option<Self> {
        Self::named(DATA[(word >> 15 & 15) as usize], NUMBER[(word >> 12 & 7) as usize])
    }

    fn named(data: &str, number: &str) -> Option<Self> {
        let number = NUMBER.into_iter().find(|known| *known == number)?;
        let mut widths = data.split('_').map(|width| width.parse().ok()).collect::<Option<Vec<u32>>>()?;
        widths.reverse();
        let packed = widths.iter().any(|width| [2, 10, 11].contains(width));
        let means_something = match number {
            "FLOAT" => widths[0] > 8 && !widths.contains(&2),
            "UINT" | "SINT" => true,
            "RESERVED_6" => false,
            _ => widths[0] < 32 || packed,
        };
        means_something.then_some(Self { widths, number })
    }

    /// Bytes of an element.
    pub(super) fn bytes(&self) -> usize {
        self.widths.iter().sum::<u32>() as usize / 8
    }

    fn is_integer(&self) -> bool {
        matches!(self.number, "UINT" | "SINT")
    }

    /// The value of a select of 1.
    pub(super) fn one(&self, half: bool) -> u64 {
        match (self.is_integer(), half) {
            (true, _) => 1,
            (_, true) => 0x3c00,
            _ => 0x3f80_0000,
        }
    }

    /// The value in a register, or half of one, for the component with these bits.
    pub(super) fn load(&self, bits: u64, width: u32, half: bool) -> Option<u64> {
        let integer = signed(bits, width);
        let largest = |width: u32| ((1u64 << width) - 1) as f64;
        let single = match self.number {
            "UINT" | "SINT" if half && width == 32 => return None,
            "UINT" => return Some(bits),
            "SINT" => return Some(integer as u64 & if half { 0xffff } else { 0xffff_ffff }),
            "FLOAT" if half => {
                let from = match width {
                    32 => F32,
                    16 => return Some(bits),
                    _ => Format { exponent: 5, mantissa: width - 5 },
                };
                return Some(real::convert(from, F16, Round::Zero, bits));
            }
            "FLOAT" if width == 32 => bits,
            "FLOAT" if width == 16 => real::convert(F16, F32, Round::Nearest, bits),
            "FLOAT" => real::convert(Format { exponent: 5, mantissa: width - 5 }, F32, Round::Nearest, bits),
            "UNORM" => real::from_f64(F32, bits as f64 / largest(width)),
            "SNORM" => real::from_f64(F32, (integer as f64 / largest(width - 1)).max(-1.0)),
            "USCALED" => real::from_f64(F32, bits as f64),
            _ => real::from_f64(F32, integer as f64),
        };
        Some(if half { real::convert(F32, F16, Round::Nearest, single) } else { single })
    }

    /// The bits of a component for the value in a register, or half of one.
    pub(super) fn store(&self, value: u64, width: u32, half: bool) -> Option<u64> {
        let all = (1u64 << width) - 1;
        let top = (1i64 << (width - 1)) - 1;
        let single = if half { real::convert(F16, F32, Round::Nearest, value) } else { value };
        // Fixed point: the exact product, rounded to nearest even.
        let fixed = |least: f64, times: u64| {
            let value = real::to_f64(F32, single);
            if value.is_nan() {
                return 0;
            }
            let Number { negative, mantissa, exponent } = real::F64.number(value.clamp(least, 1.0).to_bits());
            let product = Number { negative, mantissa: mantissa * u128::from(times), exponent };
            product.to_integer(Round::Nearest) as u64 & all
        };
        match self.number {
            "USCALED" | "SSCALED" => None,
            "UINT" | "SINT" if half && width == 32 => None,
            "UINT" => Some(value.min(all)),
            "SINT" => Some(
                signed(value, if half { 16 } else { 32 }).clamp((-top - 1).into(), top.into()) as u64 & all,
            ),
            "FLOAT" if width == 32 => Some(single),
            "FLOAT" if width == 16 => {
                let rounded = if half { value } else { real::convert(F32, F16, Round::Nearest, single) };
                let again = real::convert(F16, F32, Round::Nearest, rounded);
                (half || again == single || F32.is_nan(single)).then_some(rounded)
            }
            "FLOAT" => None,
            "UNORM" => Some(fixed(0.0, all)),
            _ => Some(fixed(-1.0, top as u64)),
        }
    }
}
