// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels that test the argument block: structs by value, small scalars, a block of more than a kilobyte.

use crate::LibraryBuilder;
use windlass_hal::{Error, Result};

use super::items::{below, kernel};

pub(super) fn all(library: LibraryBuilder) -> LibraryBuilder {
    let apply_scale = kernel("apply_scale", |group| {
        let (from, to) = (group.arguments.buffer::<i64>(0)?, group.arguments.buffer::<i64>(3)?);
        let scale = group.arguments.bytes(2)?;
        let (factor, offset) = (f32::from_ne_bytes(part(scale, 0)?), i64::from_ne_bytes(part(scale, 8)?));
        for i in below(group, group.arguments.value(1)?) {
            // SAFETY: i < n, and both buffers hold n elements.
            unsafe { to.store(i, ((from.load(i) as f32 * factor) as i64).wrapping_add(offset)) };
        }
        Ok(())
    });
    let write_arguments = kernel("write_arguments", |group| {
        let (out, arguments) = (group.arguments.buffer::<u8>(0)?, group.arguments);
        let words = [
            u64::from(arguments.value::<u8>(1)?),
            u64::from(arguments.value::<i16>(2)? as u16),
            u64::from(arguments.value::<u32>(3)?),
            arguments.value::<u64>(4)?,
        ];
        let half = half_to_f32(u16::from_ne_bytes(part(arguments.bytes(5)?, 0)?));
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        bytes.extend([half as u8, arguments.value::<f64>(6)? as u8]);
        for (at, byte) in bytes.into_iter().enumerate() {
            // SAFETY: 34 bytes of a buffer of 40.
            unsafe { out.store(at, byte) };
        }
        Ok(())
    });
    let sum_words = kernel("sum_words", |group| {
        let (words, n) = (group.arguments.bytes(0)?, group.arguments.value::<u32>(1)?);
        let (words, out) = (words.as_chunks().0.iter().take(n as usize), group.arguments.buffer::<u32>(2)?);
        let sum = words.fold(0_u32, |sum, word| sum.wrapping_add(u32::from_ne_bytes(*word)));
        // SAFETY: the buffer holds one word.
        unsafe { out.store(0, sum) };
        Ok(())
    });
    let write_arguments = write_arguments.buffer("out").value::<u8>("a").value::<i16>("b").value::<u32>("c");
    library
        .kernel(apply_scale.buffer("in").value::<i32>("n").bytes("scale", 16, 8).buffer("out"))
        .kernel(write_arguments.value::<u64>("d").bytes("e", 2, 2).value::<f64>("f"))
        .kernel(sum_words.bytes("words", 1024, 4).value::<u32>("n").buffer("out"))
}

/// The bytes of one field of a struct.
fn part<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    let field = bytes.get(at..).and_then(|rest| rest.first_chunk());
    field.copied().ok_or_else(|| Error::internal("a field lies outside its struct"))
}

/// The value of an f16 that is zero or normal.
fn half_to_f32(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    let size = if exponent == 0 { 0.0 } else { (1.0 + fraction / 1024.0) * 2_f32.powi(exponent - 15) };
    if sign == 0 { size } else { -size }
}
