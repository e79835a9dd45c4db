// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bits of 2/pi, computed from Machin's series in integers of many digits.

use std::sync::OnceLock;

/// Limbs of a fraction, the highest first: the first one is the whole part.
const LIMBS: usize = 48;
type Big = [u32; LIMBS];

fn divided(big: &Big, by: u32) -> Big {
    let mut rest = 0u64;
    big.map(|limb| {
        let value = rest << 32 | u64::from(limb);
        rest = value % u64::from(by);
        (value / u64::from(by)) as u32
    })
}

fn combined(a: &Big, b: &Big, add: bool) -> Big {
    let mut out = [0; LIMBS];
    let mut carry = 0i64;
    for index in (0..LIMBS).rev() {
        let other = i64::from(b[index]);
        let sum = i64::from(a[index]) + if add { other } else { -other } + carry;
        out[index] = sum as u32;
        carry = sum >> 32;
    }
    out
}

/// The angle whose tangent is one over `x`, times `scale`.
fn arctangent(x: u32, scale: u32) -> Big {
    let mut power = [0; LIMBS];
    power[0] = scale;
    power = divided(&power, x);
    let mut sum = power;
    for step in 1..1200 {
        power = divided(&power, x * x);
        sum = combined(&sum, &divided(&power, 2 * step + 1), step % 2 == 0);
    }
    sum
}

/// `count` bits of 2/pi from a place behind the point on. The manual has 1201.
pub(super) fn two_over_pi(from: usize, count: usize) -> u64 {
    static BITS: OnceLock<Vec<bool>> = OnceLock::new();
    let bits = BITS.get_or_init(|| {
        let pi = combined(&arctangent(5, 16), &arctangent(239, 4), false);
        // Long division of 2 by pi, bit by bit.
        let mut rest = [0; LIMBS];
        rest[0] = 2;
        (0..1201)
            .map(|_| {
                rest = combined(&rest, &rest, true);
                let fits = rest >= pi;
                if fits {
                    rest = combined(&rest, &pi, false);
                }
                fits
            })
            .collect()
    });
    (from..from + count).fold(0, |value, at| value << 1 | u64::from(bits.get(at).copied().unwrap_or(false)))
}
