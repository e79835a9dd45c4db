// SPDX-License-Identifier: MIT OR Apache-2.0
//! Floats of eight, six and four bits of the Open Compute Project, as doubles, which hold each of them times each scale exactly.

/// A format of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Four bits of exponent, three of mantissa. Two codes are NaNs; there are no infinities.
    Fp8,
    /// Five bits of exponent, two of mantissa, with infinities and NaNs: the high byte of a half.
    Bf8,
    /// Two bits of exponent, three of mantissa; only numbers.
    Fp6,
    /// Three bits of exponent, two of mantissa; only numbers.
    Bf6,
    /// Two bits of exponent, one of mantissa; only numbers.
    Fp4,
}

impl Format {
    /// The format that a field of a matrix product selects.
    pub(crate) fn of_field(field: u8) -> Option<Self> {
        [Self::Fp8, Self::Bf8, Self::Fp6, Self::Bf6, Self::Fp4].get(usize::from(field)).copied()
    }

    /// The bits of a float.
    pub(crate) fn bits(self) -> usize {
        match self {
            Self::Fp8 | Self::Bf8 => 8,
            Self::Fp6 | Self::Bf6 => 6,
            Self::Fp4 => 4,
        }
    }

    /// Bits of the mantissa, and the bias of the exponent.
    fn shape(self) -> (u32, i32) {
        match self {
            Self::Fp8 => (3, 7),
            Self::Bf8 => (2, 15),
            Self::Fp6 => (3, 1),
            Self::Bf6 => (2, 3),
            Self::Fp4 => (1, 1),
        }
    }

    /// The code of the greatest number, without the sign.
    fn greatest(self) -> u32 {
        match self {
            Self::Fp8 => 0x7e,
            Self::Bf8 => 0x7b,
            Self::Fp6 | Self::Bf6 => 0x1f,
            Self::Fp4 => 7,
        }
    }

    /// The value of a code.
    pub(crate) fn widened(self, code: u32) -> f64 {
        let (mantissa, bias) = self.shape();
        let sign = 1u32 << (self.bits() - 1);
        let magnitude = code & (sign - 1);
        let value = match (self, magnitude) {
            (Self::Fp8, 0x7f) | (Self::Bf8, 0x7d..) => f64::NAN,
            (Self::Bf8, 0x7c) => f64::INFINITY,
            _ => {
                let (exponent, fraction) = (magnitude >> mantissa, magnitude & ((1 << mantissa) - 1));
                let whole = if exponent == 0 { fraction } else { fraction | 1 << mantissa };
                f64::from(whole) * power(exponent.max(1) as i32 - bias - mantissa as i32)
            }
        };
        if code & sign != 0 { -value } else { value }
    }

    /// The code nearest to a value, the even one of two. Too great a value becomes the greatest number, in formats of eight bits
    /// unless `saturates` an infinity or a NaN.
    pub(crate) fn narrowed(self, value: f64, saturates: bool) -> u32 {
        let (mantissa, bias) = self.shape();
        let sign = u32::from(value.is_sign_negative()) << (self.bits() - 1);
        let (nan, beyond) = match self {
            Self::Fp8 => (0x7f, 0x7f),
            Self::Bf8 => (0x7e, 0x7c),
            _ => (self.greatest(), self.greatest()),
        };
        let beyond = if saturates { self.greatest() } else { beyond };
        let magnitude = value.abs();
        if value.is_nan() || value.is_infinite() {
            return sign | if value.is_nan() { nan } else { beyond };
        }
        // The exponent of the last place.
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - bias) - mantissa as i32;
        let whole = (magnitude * power(-exponent)).round_ties_even();
        let code = whole + f64::from(exponent + mantissa as i32 + bias - 1) * power(mantissa as i32);
        sign | if code > f64::from(self.greatest()) { beyond } else { code as u32 }
    }
}

/// A power of two that is a normal double.
pub(crate) fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent.clamp(-1022, 1023) + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::values::eighth::{bf8_ocp_to_f32, f32_to_bf8_ocp, f32_to_fp8_ocp, fp8_ocp_to_f32};

    #[test]
    fn eight_bits_are_those_of_conversions() {
        for code in 0..256 {
            let pairs = [(Format::Fp8, fp8_ocp_to_f32(code)), (Format::Bf8, bf8_ocp_to_f32(code))];
            for (format, expected) in pairs {
                let value = format.widened(code);
                assert!(
                    value == expected.into() || value.is_nan() && expected.is_nan(),
                    "{format:?} {code:#x}"
                );
            }
        }
        for bits in (0..0x7f80_0000u32).step_by(49_999) {
            for value in [f32::from_bits(bits), -f32::from_bits(bits)] {
                for saturates in [false, true] {
                    let codes = [f32_to_fp8_ocp(value, saturates), f32_to_bf8_ocp(value, saturates)];
                    let ours =
                        [Format::Fp8, Format::Bf8].map(|format| format.narrowed(value.into(), saturates));
                    assert_eq!(ours, codes, "{value:e}");
                }
            }
        }
    }

    #[test]
    fn fewer_bits() {
        let all = |format: Format| (0..1 << (format.bits() - 1)).map(move |code| format.widened(code));
        assert_eq!(all(Format::Fp4).collect::<Vec<_>>(), [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
        assert_eq!(Format::Fp6.widened(0x1f), 7.5);
        assert_eq!([1, 4, 0x1f, 0x3f].map(|code| Format::Bf6.widened(code)), [0.0625, 0.25, 28.0, -28.0]);
        assert_eq!(Format::Fp4.widened(15), -6.0);
        for format in [Format::Fp6, Format::Bf6, Format::Fp4] {
            for code in 0..1 << format.bits() {
                assert_eq!(format.narrowed(format.widened(code), false), code, "{format:?}");
            }
            for (code, pair) in (0..).zip(all(format).collect::<Vec<_>>().windows(2)) {
                let middle = (pair[0] + pair[1]) / 2.0;
                assert_eq!(format.narrowed(middle, false), code + (code & 1), "{format:?}: a tie");
                assert_eq!(format.narrowed(middle * (1.0 + 1e-9), false), code + 1, "{format:?}");
            }
        }
        assert_eq!([7.0, -1e9, f64::INFINITY].map(|value| Format::Fp4.narrowed(value, false)), [7, 15, 7]);
    }
}
