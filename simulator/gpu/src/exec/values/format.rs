// SPDX-License-Identifier: MIT OR Apache-2.0
//! Formats of buffers: the layout and the number format of an element's components.

use crate::exec::values::half::{f16_to_f32, f32_to_f16, f32_to_f16_toward_zero};

/// First bit and bits of a component.
type BitField = (u8, u8);

/// The bytes of an element, and the places of its components X, Y, Z and W. The names of packed formats begin
/// with the highest component.
const LAYOUTS: [Option<(u8, &[BitField])>; 16] = [
    None,
    Some((1, &[(0, 8)])),
    Some((2, &[(0, 16)])),
    Some((2, &[(0, 8), (8, 8)])),
    Some((4, &[(0, 32)])),
    Some((4, &[(0, 16), (16, 16)])),
    Some((4, &[(0, 11), (11, 11), (22, 10)])),
    Some((4, &[(0, 10), (10, 11), (21, 11)])),
    Some((4, &[(0, 2), (2, 10), (12, 10), (22, 10)])),
    Some((4, &[(0, 10), (10, 10), (20, 10), (30, 2)])),
    Some((4, &[(0, 8), (8, 8), (16, 8), (24, 8)])),
    Some((8, &[(0, 32), (32, 32)])),
    Some((8, &[(0, 16), (16, 16), (32, 16), (48, 16)])),
    Some((12, &[(0, 32), (32, 32), (64, 32)])),
    Some((16, &[(0, 32), (32, 32), (64, 32), (96, 32)])),
    None,
];

/// The number format of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberFormat {
    /// From 0 to 1.
    Unorm,
    /// From -1 to 1.
    Snorm,
    /// An unsigned integer that is loaded as a float.
    Uscaled,
    /// A signed integer that is loaded as a float.
    Sscaled,
    /// An unsigned integer.
    Uint,
    /// A signed integer.
    Sint,
    /// A float.
    Float,
}

/// The format of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bytes of an element.
    pub(crate) bytes: u8,
    /// The places of its components.
    pub(crate) components: &'static [BitField],
    number: NumberFormat,
}

impl Format {
    /// The format of the codes in a resource or an instruction.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn from_codes(data: u32, number: u32) -> Result<Self, &'static str> {
        let Some((bytes, components)) = LAYOUTS[(data & 15) as usize] else {
            return Err("an invalid data format");
        };
        let number = match number & 7 {
            0 => NumberFormat::Unorm,
            1 => NumberFormat::Snorm,
            2 => NumberFormat::Uscaled,
            3 => NumberFormat::Sscaled,
            4 => NumberFormat::Uint,
            5 => NumberFormat::Sint,
            7 => NumberFormat::Float,
            _ => return Err("a reserved number format"),
        };
        let has = |bits: u8| components.iter().any(|(_, size)| *size == bits);
        let float = number == NumberFormat::Float;
        let integer = matches!(number, NumberFormat::Uint | NumberFormat::Sint);
        if has(32) && !float && !integer {
            return Err("a format of 32 bits that is neither float nor integer");
        }
        if float && (has(8) || has(2)) {
            return Err("a format of small floats");
        }
        Ok(Self { bytes, components, number })
    }

    /// Checks that an instruction may store in it, from halves or from whole registers.
    ///
    /// # Errors
    /// The reason why not.
    pub(crate) fn stores(&self, halves: bool) -> Result<(), &'static str> {
        let has = |bits: u8| self.components.iter().any(|(_, size)| *size == bits);
        match self.number {
            NumberFormat::Uscaled | NumberFormat::Sscaled => Err("a store in a scaled format"),
            NumberFormat::Float if has(11) => Err("a store of floats of 10 and 11 bits"),
            NumberFormat::Uint | NumberFormat::Sint if halves && has(32) => {
                Err("a store of halves as 32-bit integers")
            }
            _ => Ok(()),
        }
    }

    /// Checks that an instruction may load from it, into halves or into whole registers.
    ///
    /// # Errors
    /// The reason why not.
    pub(crate) fn loads(&self, halves: bool) -> Result<(), &'static str> {
        let wide = self.components.iter().any(|(_, size)| *size == 32);
        match self.number {
            NumberFormat::Uint | NumberFormat::Sint if halves && wide => {
                Err("a load of 32-bit integers as halves")
            }
            _ => Ok(()),
        }
    }

    /// The number one in this format, in a register or in half of one.
    pub(crate) fn one(&self, half: bool) -> u32 {
        match (self.number, half) {
            (NumberFormat::Uint | NumberFormat::Sint, _) => 1,
            (_, true) => 0x3c00,
            (_, false) => 0x3f80_0000,
        }
    }

    /// The value of a component with `bits` bits, in a register or in half of one.
    pub(crate) fn load(&self, raw: u32, bits: u8, half: bool) -> u32 {
        let signed = (raw << (32 - bits)) as i32 >> (32 - bits);
        let single = match self.number {
            NumberFormat::Uint => return raw,
            NumberFormat::Sint => return if half { signed as u32 & 0xffff } else { signed as u32 },
            NumberFormat::Float if bits == 16 && half => return raw,
            NumberFormat::Float if bits == 32 => {
                let single = f32::from_bits(raw);
                return if half { f32_to_f16_toward_zero(single) } else { raw };
            }
            NumberFormat::Float if bits == 16 => f16_to_f32(raw),
            // A half without a sign and with fewer bits of mantissa.
            NumberFormat::Float => f16_to_f32(raw << (15 - bits)),
            NumberFormat::Unorm => (f64::from(raw) / f64::from(greatest(bits))) as f32,
            NumberFormat::Snorm => (f64::from(signed) / f64::from(greatest(bits - 1))).max(-1.0) as f32,
            NumberFormat::Uscaled => raw as f32,
            NumberFormat::Sscaled => signed as f32,
        };
        if half { f32_to_f16(single) } else { single.to_bits() }
    }

    /// The bits of a component for a value from a register, or from half of one. `None` if they depend on an
    /// unknown rounding: a single that is not equal to a half.
    pub(crate) fn store(&self, value: u32, bits: u8, half: bool) -> Option<u32> {
        let single = if half { f16_to_f32(value & 0xffff) } else { f32::from_bits(value) };
        Some(match self.number {
            NumberFormat::Uint => if half { value & 0xffff } else { value }.min(greatest(bits)),
            NumberFormat::Sint => {
                let value = if half { i32::from(value as i16) } else { value as i32 };
                let limit = greatest(bits - 1) as i32;
                value.clamp(-limit - 1, limit) as u32 & greatest(bits)
            }
            NumberFormat::Float if bits == 32 => single.to_bits(),
            NumberFormat::Float if half => value & 0xffff,
            NumberFormat::Float => {
                let rounded = f32_to_f16(single);
                if f16_to_f32(rounded) != single && !single.is_nan() {
                    return None;
                }
                rounded
            }
            NumberFormat::Snorm => {
                let limit = f64::from(greatest(bits - 1));
                let scaled = f64::from(single).clamp(-1.0, 1.0) * limit;
                // A conversion of NaN gives zero.
                scaled.round_ties_even() as i32 as u32 & greatest(bits)
            }
            _ => (f64::from(single).clamp(0.0, 1.0) * f64::from(greatest(bits))).round_ties_even() as u32,
        })
    }
}

/// The greatest unsigned integer of `bits` bits.
fn greatest(bits: u8) -> u32 {
    !0 >> (32 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_whole() {
        for (bytes, components) in LAYOUTS.iter().flatten() {
            let mut end = 0;
            for (first, bits) in components.iter() {
                assert_eq!(*first, end);
                end += bits;
            }
            assert_eq!(end, 8 * bytes);
        }
    }

    #[test]
    fn numbers_are_converted_at_their_edges() {
        let unorm = Format::from_codes(1, 0).unwrap();
        assert_eq!(unorm.load(255, 8, false), 1f32.to_bits());
        assert_eq!(unorm.store(2f32.to_bits(), 8, false), Some(255));
        assert_eq!(unorm.store(f32::NAN.to_bits(), 8, false), Some(0));
        let snorm = Format::from_codes(1, 1).unwrap();
        assert_eq!(snorm.load(0x80, 8, false), (-1f32).to_bits(), "two codes stand for -1");
        assert_eq!(snorm.store((-7f32).to_bits(), 8, false), Some(0x81));
        let half = Format::from_codes(2, 7).unwrap();
        assert_eq!(half.store(1.5f32.to_bits(), 16, false), Some(0x3e00));
        assert_eq!(half.store(0.1f32.to_bits(), 16, false), None);
        let packed = Format::from_codes(6, 7).unwrap();
        assert_eq!(packed.load(0x3c0, 11, false), 1f32.to_bits());
        assert_eq!(packed.load(0x1e0, 10, false), 1f32.to_bits());
    }

    #[test]
    fn formats_without_a_meaning_are_none() {
        assert!(Format::from_codes(0, 7).is_err());
        assert!(Format::from_codes(15, 7).is_err());
        assert!(Format::from_codes(4, 0).is_err());
        assert!(Format::from_codes(4, 6).is_err());
        assert!(Format::from_codes(10, 7).is_err());
        assert!(Format::from_codes(1, 2).unwrap().stores(false).is_err());
        assert!(Format::from_codes(11, 4).unwrap().loads(true).is_err());
    }
}
