// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generated contents: counting, and random numbers that are the same on every machine.

use crate::{ElementType, Literal, Number, Result, Shape};

/// Element `i` is `i`. Integers keep the low bits.
pub(crate) fn iota(shape: Shape, element_type: ElementType) -> Result<Literal> {
    let bits = element_type.size() * 8;
    Literal::generate(shape, element_type, |index, bytes| {
        let number = match element_type {
            ElementType::Bool8 => Number::Integer((index & 1).into()),
            kind if kind.is_float() => Number::Float(index as f64),
            _ => {
                bytes.extend_from_slice(&index.to_le_bytes()[..bits / 8]);
                return Ok(());
            }
        };
        element_type.write(number, bytes)
    })
}

/// Random numbers from a seed: SplitMix64, one draw for each element in row-major order.
///
/// A float is the upper bits of its draw, as many as its type can hold, divided by 2 to that number: uniform in [0,
/// 1). An integer is the upper 32 bits of its draw times 100, divided by 2^32: 0 to 99. An `i1` is the top bit.
pub(crate) fn random(shape: Shape, element_type: ElementType, seed: u64) -> Result<Literal> {
    let mut state = SplitMix64(seed);
    let fraction_bits = match element_type {
        ElementType::Bfloat16 => 8,
        ElementType::Float16 => 11,
        ElementType::Float32 => 24,
        _ => 53,
    };
    Literal::generate(shape, element_type, |_, bytes| {
        let draw = state.next();
        let number = match element_type {
            ElementType::Bool8 => Number::Integer((draw >> 63).into()),
            kind if kind.is_float() => {
                Number::Float((draw >> (64 - fraction_bits)) as f64 / (1_u64 << fraction_bits) as f64)
            }
            _ => Number::Integer((((draw >> 32) * 100) >> 32).into()),
        };
        element_type.write(number, bytes)
    })
}

/// Steele, Lea and Flood's generator, as in Java's `SplittableRandom`.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_its_published_values() {
        let mut state = SplitMix64(1_234_567);
        let first: Vec<_> = (0..3).map(|_| state.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn values_lie_where_they_should_and_repeat() {
        for kind in ElementType::ALL {
            let shape = Shape::new([2000]);
            let literal = random(shape.clone(), *kind, 7).unwrap();
            assert_eq!(literal, random(shape.clone(), *kind, 7).unwrap());
            assert_ne!(literal, random(shape, *kind, 8).unwrap());
            for element in literal.elements() {
                match kind.read(element).unwrap() {
                    Number::Float(value) => assert!((0.0..1.0).contains(&value), "{kind}: {value}"),
                    Number::Integer(value) => assert!((0..100).contains(&value), "{kind}: {value}"),
                }
            }
        }
    }

    #[test]
    fn counting_wraps_in_small_integers() {
        let literal = iota(Shape::new([258]), ElementType::Uint8).unwrap();
        assert_eq!(literal.bytes()[254..], [254, 255, 0, 1]);
    }
}
