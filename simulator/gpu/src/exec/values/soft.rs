// SPDX-License-Identifier: MIT OR Apache-2.0
//! Float arithmetic in integers, for rounding modes other than the host processor's.
//!
//! It is the project's own: `rustc_apfloat` lacks a fused operation that is scaled before its only rounding, which the
//! last step of a division needs, and would save only a third of this file.

/// A binary float format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Soft {
    exponent: u32,
    mantissa: u32,
}

pub(crate) const HALF: Soft = Soft { exponent: 5, mantissa: 10 };
pub(crate) const SINGLE: Soft = Soft { exponent: 8, mantissa: 23 };
pub(crate) const DOUBLE: Soft = Soft { exponent: 11, mantissa: 52 };

/// Rounding modes, by MODE's numbers.
pub(crate) const NEAREST: u32 = 0;
pub(crate) const UP: u32 = 1;
pub(crate) const DOWN: u32 = 2;

/// A number: `mantissa * 2^exponent`. The lowest bit of the mantissa may be sticky: it stands for any rest
/// below it.
#[derive(Clone, Copy)]
struct Number {
    negative: bool,
    mantissa: u128,
    exponent: i32,
}

impl Number {
    /// The same with the highest bit of the mantissa at bit 125, where two numbers can be added.
    fn aligned(self) -> Self {
        const TOP: u32 = 125;
        if self.mantissa == 0 {
            return self;
        }
        let shift = TOP as i32 - (127 - self.mantissa.leading_zeros() as i32);
        Self { mantissa: self.mantissa << shift, exponent: self.exponent - shift, ..self }
    }

    fn plus(self, other: Self) -> Self {
        let (a, b) = (self.aligned(), other.aligned());
        if a.mantissa == 0 {
            return b;
        }
        if b.mantissa == 0 {
            return a;
        }
        let (high, low) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
        let low_bits = jammed(low.mantissa, (high.exponent - low.exponent) as u32);
        if high.negative == low.negative {
            return Self { mantissa: high.mantissa + low_bits, ..high };
        }
        match high.mantissa.checked_sub(low_bits) {
            Some(mantissa) => Self { mantissa, ..high },
            None => Self { mantissa: low_bits - high.mantissa, negative: low.negative, ..high },
        }
    }
}

/// Shifts right. The lowest bit of the result is sticky: it is set if a one was shifted out.
fn jammed(bits: u128, by: u32) -> u128 {
    match by {
        0 => bits,
        1..=127 => bits >> by | u128::from(bits << (128 - by) != 0),
        _ => u128::from(bits != 0),
    }
}

impl Soft {
    fn sign(self) -> u64 {
        1 << (self.exponent + self.mantissa)
    }

    pub(crate) fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.mantissa
    }

    pub(crate) fn nan(self) -> u64 {
        self.infinity() | 1 << (self.mantissa - 1)
    }

    fn magnitude(self, bits: u64) -> u64 {
        bits & (self.sign() - 1)
    }

    pub(crate) fn is_nan(self, bits: u64) -> bool {
        self.magnitude(bits) > self.infinity()
    }

    fn is_negative(self, bits: u64) -> bool {
        bits & self.sign() != 0
    }

    pub(crate) fn negated(self, bits: u64) -> u64 {
        bits ^ self.sign()
    }

    /// An integer of the same order as the number; -0 is below +0.
    pub(crate) fn key(self, bits: u64) -> i64 {
        let magnitude = self.magnitude(bits) as i64;
        if self.is_negative(bits) { !magnitude } else { magnitude }
    }

    /// Whether two numbers are the same, zeros of either sign too.
    pub(crate) fn equal(self, a: u64, b: u64) -> bool {
        a == b || self.magnitude(a) == 0 && self.magnitude(b) == 0
    }

    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn number(self, bits: u64) -> Number {
        let field = self.magnitude(bits) >> self.mantissa;
        let fraction = bits & ((1 << self.mantissa) - 1);
        let implicit = u64::from(field != 0) << self.mantissa;
        Number {
            negative: self.is_negative(bits),
            mantissa: (fraction | implicit).into(),
            exponent: field.max(1) as i32 - self.bias() - self.mantissa as i32,
        }
    }

    fn signed(self, magnitude: u64, negative: bool) -> u64 {
        magnitude | if negative { self.sign() } else { 0 }
    }

    /// A number rounded to this format in a rounding mode.
    fn rounded(self, number: Number, round: u32) -> u64 {
        let negative = number.negative;
        if number.mantissa == 0 {
            return self.signed(0, negative);
        }
        let top = number.exponent + 127 - number.mantissa.leading_zeros() as i32;
        let least = 1 - self.bias();
        let exponent = top.max(least);
        // Two bits more than the mantissa, so that the rest is above, at or below a half.
        let drop = exponent - self.mantissa as i32 - 2 - number.exponent;
        let kept = if drop >= 0 {
            jammed(number.mantissa, drop as u32)
        } else {
            number.mantissa << drop.unsigned_abs()
        } as u64;
        let (mantissa, rest) = (kept >> 2, kept & 3);
        let up = match round {
            NEAREST => rest > 2 || rest == 2 && mantissa & 1 == 1,
            UP => rest != 0 && !negative,
            DOWN => rest != 0 && negative,
            _ => false,
        };
        // The implicit bit and a carry add to the exponent.
        let field = (exponent - least).min(1 << self.exponent) as u64;
        let magnitude = (field << self.mantissa) + mantissa + u64::from(up);
        if magnitude < self.infinity() {
            return self.signed(magnitude, negative);
        }
        let away = match round {
            NEAREST => true,
            UP => !negative,
            DOWN => negative,
            _ => false,
        };
        self.signed(if away { self.infinity() } else { self.infinity() - 1 }, negative)
    }

    /// A float times a power of two. Infinities and NaNs are unchanged.
    pub(crate) fn scaled(self, bits: u64, by: i32, round: u32) -> u64 {
        if self.magnitude(bits) >= self.infinity() {
            return bits;
        }
        let number = self.number(bits);
        self.rounded(Number { exponent: number.exponent + by.clamp(-10_000, 10_000), ..number }, round)
    }

    /// An integer rounded to this format.
    pub(crate) fn of_integer(self, value: i64, round: u32) -> u64 {
        let number = Number { negative: value < 0, mantissa: value.unsigned_abs().into(), exponent: 0 };
        self.rounded(number, round)
    }

    /// A float of this format, converted to another.
    pub(crate) fn convert(self, to: Soft, bits: u64, round: u32) -> u64 {
        let negative = self.is_negative(bits);
        if self.is_nan(bits) {
            return to.nan();
        }
        if self.magnitude(bits) == self.infinity() {
            return to.signed(to.infinity(), negative);
        }
        to.rounded(self.number(bits), round)
    }

    /// `(a * b + c) * 2^by`, rounded once. Every NaN becomes the usual one.
    pub(crate) fn fused(self, [a, b, c]: [u64; 3], by: i32, round: u32) -> u64 {
        if [a, b, c].into_iter().any(|bits| self.is_nan(bits)) {
            return self.nan();
        }
        let infinite = |bits: u64| self.magnitude(bits) == self.infinity();
        let zero = |bits: u64| self.magnitude(bits) == 0;
        let negative = self.is_negative(a) != self.is_negative(b);
        if infinite(a) || infinite(b) {
            let undefined = zero(a) || zero(b) || infinite(c) && self.is_negative(c) != negative;
            return if undefined { self.nan() } else { self.signed(self.infinity(), negative) };
        }
        if infinite(c) {
            return c;
        }
        let (x, y, z) = (self.number(a), self.number(b), self.number(c));
        let product =
            Number { negative, mantissa: x.mantissa * y.mantissa, exponent: x.exponent + y.exponent };
        let sum = product.plus(z);
        if sum.mantissa == 0 {
            let both = product.mantissa == 0 && zero(c) && negative == self.is_negative(c);
            return self.signed(0, if both { negative } else { round == DOWN });
        }
        self.rounded(Number { exponent: sum.exponent + by, ..sum }, round)
    }

    pub(crate) fn sum(self, a: u64, b: u64, round: u32) -> u64 {
        let one = (self.bias() as u64) << self.mantissa;
        self.fused([a, one, b], 0, round)
    }

    pub(crate) fn product(self, a: u64, b: u64, round: u32) -> u64 {
        let zero = self.signed(0, self.is_negative(a) != self.is_negative(b));
        self.fused([a, b, zero], 0, round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_nearest_it_is_the_processors() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..100_000 {
            let [a, b, c] = std::array::from_fn(|_| next());
            let near = c & 0x800f_ffff_ffff_ffff | a & 0x7ff0_0000_0000_0000;
            for c in [c, near] {
                let host = f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c));
                let got = f64::from_bits(DOUBLE.fused([a, b, c], 0, NEAREST));
                assert!(got.to_bits() == host.to_bits() || got.is_nan() && host.is_nan());
                let host = f64::from_bits(a) + f64::from_bits(c);
                let got = f64::from_bits(DOUBLE.sum(a, c, NEAREST));
                assert!(got.to_bits() == host.to_bits() || got.is_nan() && host.is_nan());
            }
            let host = f64::from_bits(a) as f32;
            let got = f32::from_bits(DOUBLE.convert(SINGLE, a, NEAREST) as u32);
            assert!(got.to_bits() == host.to_bits() || got.is_nan() && host.is_nan());
        }
        assert_eq!(SINGLE.of_integer(i64::MIN, NEAREST) as u32, (i64::MIN as f32).to_bits());
    }

    #[test]
    fn directions() {
        let one = 0x3f80_0000;
        let tiny = 1;
        assert_eq!(SINGLE.sum(one, tiny, UP), one + 1);
        assert_eq!(SINGLE.sum(one, tiny, DOWN), one);
        assert_eq!(SINGLE.sum(one, SINGLE.negated(tiny), DOWN), one - 1);
        assert_eq!(SINGLE.sum(one, SINGLE.negated(tiny), 3), one - 1);
        assert_eq!(SINGLE.sum(one, SINGLE.negated(one), DOWN), 0x8000_0000);
        let largest = SINGLE.infinity() - 1;
        assert_eq!(SINGLE.product(largest, largest, 3), largest);
        assert_eq!(SINGLE.product(largest, largest, UP), SINGLE.infinity());
        assert_eq!(SINGLE.scaled(one, -200, UP), 1);
        assert_eq!(SINGLE.scaled(one, -200, NEAREST), 0);
    }
}
