// SPDX-License-Identifier: MIT OR Apache-2.0
//! Floats of any format as exact numbers, and their rounding. Slow and plain: sums are formed in fixed point
//! with space for every bit that a product of doubles can have.

/// A binary float format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    /// Bits of exponent.
    pub(super) exponent: u32,
    /// Bits of mantissa that are stored.
    pub(super) mantissa: u32,
}

pub(super) const F16: Format = Format { exponent: 5, mantissa: 10 };
pub(super) const F32: Format = Format { exponent: 8, mantissa: 23 };
pub(super) const F64: Format = Format { exponent: 11, mantissa: 52 };

/// The rounding of a result that does not fit, by the hardware's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    Nearest,
    Up,
    Down,
    Zero,
}

impl Round {
    /// From two bits of MODE.
    pub(super) fn from_mode(bits: u32) -> Self {
        [Self::Nearest, Self::Up, Self::Down, Self::Zero][(bits & 3) as usize]
    }
}

impl Format {
    pub(super) fn bits(self) -> u32 {
        1 + self.exponent + self.mantissa
    }

    pub(super) fn sign(self) -> u64 {
        1 << (self.exponent + self.mantissa)
    }

    /// All bits but the sign.
    pub(super) fn magnitude(self, bits: u64) -> u64 {
        bits & (self.sign() - 1)
    }

    pub(super) fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.mantissa
    }

    pub(super) fn quiet(self) -> u64 {
        1 << (self.mantissa - 1)
    }

    pub(super) fn nan(self) -> u64 {
        self.infinity() | self.quiet()
    }

    pub(super) fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    pub(super) fn is_nan(self, bits: u64) -> bool {
        self.magnitude(bits) > self.infinity()
    }

    pub(super) fn is_signalling(self, bits: u64) -> bool {
        self.is_nan(bits) && bits & self.quiet() == 0
    }

    pub(super) fn is_infinite(self, bits: u64) -> bool {
        self.magnitude(bits) == self.infinity()
    }

    pub(super) fn is_zero(self, bits: u64) -> bool {
        self.magnitude(bits) == 0
    }

    pub(super) fn is_negative(self, bits: u64) -> bool {
        bits & self.sign() != 0
    }

    pub(super) fn is_denormal(self, bits: u64) -> bool {
        !self.is_zero(bits) && self.magnitude(bits) >> self.mantissa == 0
    }

    /// The exponent field.
    pub(super) fn field(self, bits: u64) -> i32 {
        (self.magnitude(bits) >> self.mantissa) as i32
    }

    /// A finite number's value.
    pub(super) fn number(self, bits: u64) -> Number {
        let (field, fraction) = (self.field(bits), bits & ((1 << self.mantissa) - 1));
        let (mantissa, field) =
            if field == 0 { (fraction, 1) } else { (fraction | 1 << self.mantissa, field) };
        Number {
            negative: self.is_negative(bits),
            mantissa: mantissa.into(),
            exponent: field - self.bias() - self.mantissa as i32,
        }
    }

    /// The bits of one of the format's numbers with another sign.
    pub(super) fn with_sign(self, bits: u64, negative: bool) -> u64 {
        self.magnitude(bits) | if negative { self.sign() } else { 0 }
    }
}

/// `mantissa * 2^exponent`, with a sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    pub(super) negative: bool,
    pub(super) mantissa: u128,
    pub(super) exponent: i32,
}

impl Number {
    pub(super) fn integer(value: i128) -> Self {
        Self { negative: value < 0, mantissa: value.unsigned_abs(), exponent: 0 }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            mantissa: self.mantissa * other.mantissa,
            exponent: self.exponent + other.exponent,
        }
    }

    pub(super) fn scaled(self, by: i32) -> Self {
        Self { exponent: self.exponent + by, ..self }
    }

    /// Rounds to an integer, as far as `i128` goes.
    pub(super) fn to_integer(self, round: Round) -> i128 {
        let magnitude = if self.exponent >= 0 {
            let room = self.mantissa.leading_zeros() as i32 - 1;
            if self.mantissa != 0 && self.exponent > room {
                u128::MAX >> 1
            } else {
                self.mantissa << self.exponent.min(127)
            }
        } else {
            let shift = (-self.exponent).min(127) as u32;
            let (whole, rest) = (self.mantissa >> shift, self.mantissa & ((1 << shift) - 1));
            let half = 1u128 << (shift - 1);
            let up = match round {
                Round::Nearest => rest > half || rest == half && whole & 1 == 1,
                Round::Up => rest != 0 && !self.negative,
                Round::Down => rest != 0 && self.negative,
                Round::Zero => false,
            };
            whole + u128::from(up)
        };
        if self.negative { -(magnitude as i128) } else { magnitude as i128 }
    }
}

const LIMBS: usize = 78;
/// The place of the bit worth 1.
const ONE: i32 = 2432;

/// A sum of numbers, exact.
#[derive(Clone)]
pub(super) struct Sum {
    /// Two's complement.
    limbs: [u64; LIMBS],
}

impl Sum {
    pub(super) fn zero() -> Self {
        Self { limbs: [0; LIMBS] }
    }

    pub(super) fn add(mut self, number: Number) -> Self {
        let place = number.exponent + ONE;
        assert!(place >= 0, "a number below the last place");
        let (limb, shift) = (place as usize / 64, place as usize % 64);
        // The mantissa over three limbs.
        let low = number.mantissa << shift;
        let high = if shift == 0 { 0 } else { (number.mantissa >> (128 - shift)) as u64 };
        let parts = [low as u64, (low >> 64) as u64, high];
        let mut carry = 0i128;
        for index in limb..LIMBS {
            let part = i128::from(parts.get(index - limb).copied().unwrap_or(0));
            let sum = i128::from(self.limbs[index]) + if number.negative { -part } else { part } + carry;
            self.limbs[index] = sum as u64;
            carry = sum >> 64;
            if carry == 0 && index - limb > 2 {
                break;
            }
        }
        self
    }

    /// Its sign and magnitude, and the place of the highest bit; `None` if it is zero.
    fn parts(&self) -> Option<(bool, [u64; LIMBS], i32)> {
        let negative = self.limbs[LIMBS - 1] >> 63 != 0;
        let mut limbs = self.limbs;
        if negative {
            let mut carry = true;
            for limb in &mut limbs {
                let (value, over) = (!*limb).overflowing_add(carry.into());
                *limb = value;
                carry = over;
            }
        }
        let top = (0..LIMBS).rev().find(|&index| limbs[index] != 0)?;
        Some((negative, limbs, top as i32 * 64 + 63 - limbs[top].leading_zeros() as i32))
    }

    /// The nearest float; `None` for an exact zero, whose sign depends on its origin.
    pub(super) fn rounded(&self, format: Format, round: Round) -> Option<u64> {
        let (negative, limbs, top) = self.parts()?;
        let least = 1 - format.bias();
        let exponent = (top - ONE).max(least);
        let last = exponent - format.mantissa as i32 + ONE;
        let bit = |place: i32| place >= 0 && limbs[place as usize / 64] >> (place % 64) & 1 != 0;
        let mantissa =
            (0..=format.mantissa as i32).fold(0u64, |sum, at| sum | u64::from(bit(last + at)) << at);
        let half = bit(last - 1);
        let rest = {
            let below = (last - 1).max(0) as usize;
            limbs[..below / 64].iter().any(|&limb| limb != 0)
                || limbs[below / 64] & ((1 << (below % 64)) - 1) != 0
        };
        let up = match round {
            Round::Nearest => half && (rest || mantissa & 1 == 1),
            Round::Up => (half || rest) && !negative,
            Round::Down => (half || rest) && negative,
            Round::Zero => false,
        };
        let mantissa = mantissa + u64::from(up);
        // The implicit bit adds one to the exponent field; so does a carry out of the mantissa.
        let magnitude = (((exponent - least) as u64) << format.mantissa) + mantissa;
        let overflow = magnitude >= format.infinity();
        let largest = format.infinity() - 1;
        let magnitude = match round {
            _ if !overflow => magnitude,
            Round::Zero => largest,
            Round::Up if negative => largest,
            Round::Down if !negative => largest,
            _ => format.infinity(),
        };
        Some(format.with_sign(magnitude, negative))
    }
}

/// `a * b + c`, rounded once. All NaNs give the same NaN.
pub(super) fn fused(format: Format, round: Round, a: u64, b: u64, c: u64) -> u64 {
    fused_to(format, format, format, round, a, b, c)
}

/// The same with factors, addend and result in different formats.
pub(super) fn fused_to(
    factors: Format,
    addend: Format,
    result: Format,
    round: Round,
    a: u64,
    b: u64,
    c: u64,
) -> u64 {
    if factors.is_nan(a) || factors.is_nan(b) || addend.is_nan(c) {
        return result.nan();
    }
    let negative = factors.is_negative(a) != factors.is_negative(b);
    if factors.is_infinite(a) || factors.is_infinite(b) {
        let undefined = factors.is_zero(a)
            || factors.is_zero(b)
            || addend.is_infinite(c) && addend.is_negative(c) != negative;
        return if undefined { result.nan() } else { result.with_sign(result.infinity(), negative) };
    }
    if addend.is_infinite(c) {
        return result.with_sign(result.infinity(), addend.is_negative(c));
    }
    let sum = Sum::zero().add(factors.number(a).times(factors.number(b))).add(addend.number(c));
    sum.rounded(result, round).unwrap_or_else(|| {
        let product_is_zero = factors.is_zero(a) || factors.is_zero(b);
        let both = product_is_zero && addend.is_zero(c) && negative == addend.is_negative(c);
        let minus = if both { negative } else { round == Round::Down };
        result.with_sign(0, minus)
    })
}

pub(super) fn add(format: Format, round: Round, a: u64, b: u64) -> u64 {
    let one = (format.bias() as u64) << format.mantissa;
    fused(format, round, a, one, b)
}

pub(super) fn multiply(format: Format, round: Round, a: u64, b: u64) -> u64 {
    // The addend is a zero of the product's sign, so that it changes nothing.
    let zero = format.with_sign(0, format.is_negative(a) != format.is_negative(b));
    fused(format, round, a, b, zero)
}

/// From one format to another.
pub(super) fn convert(from: Format, to: Format, round: Round, bits: u64) -> u64 {
    let negative = from.is_negative(bits);
    if from.is_nan(bits) {
        let moved = if from.mantissa > to.mantissa {
            bits >> (from.mantissa - to.mantissa)
        } else {
            bits << (to.mantissa - from.mantissa)
        };
        return to.with_sign(to.nan() | moved & (to.quiet() - 1), negative);
    }
    if from.is_infinite(bits) {
        return to.with_sign(to.infinity(), negative);
    }
    from_number(to, round, from.number(bits))
}

/// A number rounded to a float.
pub(super) fn from_number(to: Format, round: Round, number: Number) -> u64 {
    if number.mantissa == 0 || number.exponent < -ONE {
        // Far below the least denormal: any bit gives the same rounding, so use one that can be placed.
        if number.mantissa == 0 {
            return to.with_sign(0, number.negative);
        }
        let crumb = Number { mantissa: 1, exponent: -ONE, ..number };
        return Sum::zero().add(crumb).rounded(to, round).unwrap_or(0);
    }
    if number.exponent > 2100 {
        let huge = Number { mantissa: 1, exponent: 2100, ..number };
        return Sum::zero().add(huge).rounded(to, round).unwrap_or(0);
    }
    Sum::zero().add(number).rounded(to, round).unwrap_or(0)
}

/// The order of two floats, none with a NaN.
pub(super) fn order(format: Format, a: u64, b: u64) -> Option<std::cmp::Ordering> {
    if format.is_nan(a) || format.is_nan(b) {
        return None;
    }
    let key = |bits: u64| {
        let magnitude = format.magnitude(bits) as i128;
        if format.is_negative(bits) { -magnitude } else { magnitude }
    };
    Some(key(a).cmp(&key(b)))
}

/// Exact conversion to `f64`, for functions that have a tolerance.
pub(super) fn to_f64(format: Format, bits: u64) -> f64 {
    f64::from_bits(convert(format, F64, Round::Nearest, bits))
}

/// From `f64`, to nearest.
pub(super) fn from_f64(format: Format, value: f64) -> u64 {
    convert(F64, format, Round::Nearest, value.to_bits())
}

#[test]
fn the_reference_agrees_with_the_host() {
    let mut state = 88_172_645_463_325_252u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..20_000 {
        let (a, b) = (next(), next());
        // Exponents near each other, so that sums cancel.
        let c = next() & 0x800f_ffff_ffff_ffff | (a & 0x7ff0_0000_0000_0000);
        for (x, y) in [(a, b), (a, c)] {
            let same = |got: u64, host: f64| got == host.to_bits() || F64.is_nan(got) && host.is_nan();
            let (p, q) = (f64::from_bits(x), f64::from_bits(y));
            assert!(same(add(F64, Round::Nearest, x, y), p + q), "{p:e} + {q:e}");
            assert!(same(multiply(F64, Round::Nearest, x, y), p * q), "{p:e} * {q:e}");
            assert!(
                same(fused(F64, Round::Nearest, x, y, a), p.mul_add(q, f64::from_bits(a))),
                "{p:e} * {q:e}"
            );
            let (p, q) = (f32::from_bits(x as u32), f32::from_bits(y as u32));
            let got = fused(F32, Round::Nearest, x & 0xffff_ffff, y & 0xffff_ffff, b & 0xffff_ffff) as u32;
            let host = p.mul_add(q, f32::from_bits(b as u32));
            assert!(got == host.to_bits() || F32.is_nan(got.into()) && host.is_nan(), "{p:e} * {q:e}");
            let narrow = convert(F64, F32, Round::Nearest, x) as u32;
            let host = f64::from_bits(x) as f32;
            assert!(narrow == host.to_bits() || host.is_nan() && F32.is_nan(narrow.into()));
        }
    }
    assert_eq!(convert(F32, F16, Round::Zero, 65535.0f32.to_bits().into()), 0x7bff);
    assert_eq!(convert(F32, F16, Round::Up, 65520.0f32.to_bits().into()), 0x7c00);
    assert_eq!(convert(F32, F16, Round::Down, (-1e-30f32).to_bits().into()), 0x8001);
}
