// SPDX-License-Identifier: MIT OR Apache-2.0
//! The predefined words of the language. Each word pops its operands, the last first, and pushes its result.

/// The effect of a word.
#[derive(Clone, Copy)]
pub(crate) enum Word {
    Unary(fn(u64) -> u64),
    Binary(fn(u64, u64) -> u64),
    Ternary(fn(u64, u64, u64) -> u64),
    /// Pushes a position of the work-item, by its index in [`crate::dispatch::Item::places`].
    Place(usize),
    /// Loads this many bytes from an address.
    Load(usize),
    /// Stores this many bytes of a value to an address.
    Store(usize),
    /// Loads this many bytes from an offset in the argument block.
    Read(usize),
    /// Replaces four bytes at an address by a function of them and a value, and pushes their old value.
    Update(fn(u64, u64) -> u64),
    Duplicate,
    Drop,
    /// Pushes the address of local memory.
    Local,
    /// Ends the work-item if the value is zero.
    Require,
    /// Waits until each work-item of the workgroup is here or has ended.
    Barrier,
    Trap,
}

fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn from_f32(value: f32) -> u64 {
    u64::from(value.to_bits())
}

fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// Converts an f16 to an f32, which represents every f16 exactly, also the denormal ones.
fn widened(bits: u64) -> u64 {
    let (exponent, fraction) = ((bits >> 10 & 31) as i32, (bits & 1023) as f32);
    let size = match exponent {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction > 0.0 => f32::NAN,
        31 => f32::INFINITY,
        _ => (1024.0 + fraction) * 2_f32.powi(exponent - 25),
    };
    from_f32(if bits >> 15 & 1 == 1 { -size } else { size })
}

/// The names, in the groups of the table in `program.rs`.
const WORDS: &[(&str, Word)] = &[
    ("dup", Word::Duplicate),
    ("drop", Word::Drop),
    ("+", Word::Binary(u64::wrapping_add)),
    ("-", Word::Binary(u64::wrapping_sub)),
    ("*", Word::Binary(u64::wrapping_mul)),
    ("half", Word::Unary(|a| a / 2)),
    ("and", Word::Binary(|a, b| a & b)),
    ("<", Word::Binary(|a, b| u64::from((a as i64) < (b as i64)))),
    ("4[]", Word::Binary(|base, index| base.wrapping_add(index.wrapping_mul(4)))),
    ("8[]", Word::Binary(|base, index| base.wrapping_add(index.wrapping_mul(8)))),
    ("f+", Word::Binary(|a, b| from_f32(f(a) + f(b)))),
    ("f*", Word::Binary(|a, b| from_f32(f(a) * f(b)))),
    ("fmax", Word::Binary(|a, b| from_f32(f(a).max(f(b))))),
    ("fma", Word::Ternary(|a, b, c| from_f32(f(a).mul_add(f(b), f(c))))),
    ("fneg", Word::Unary(|a| from_f32(-f(a)))),
    ("fabs", Word::Unary(|a| from_f32(f(a).abs()))),
    ("dma", Word::Ternary(|a, b, c| d(a).mul_add(d(b), d(c)).to_bits())),
    ("i>f", Word::Unary(|a| from_f32(a as i64 as f32))),
    ("f>i", Word::Unary(|a| f(a) as i64 as u64)),
    ("d>i", Word::Unary(|a| d(a) as i64 as u64)),
    ("h>f", Word::Unary(widened)),
    ("item.x", Word::Place(0)),
    ("item.y", Word::Place(1)),
    ("item.z", Word::Place(2)),
    ("group.x", Word::Place(3)),
    ("group.y", Word::Place(4)),
    ("group.z", Word::Place(5)),
    ("size.x", Word::Place(6)),
    ("size.y", Word::Place(7)),
    ("size.z", Word::Place(8)),
    ("count.x", Word::Place(9)),
    ("count.y", Word::Place(10)),
    ("count.z", Word::Place(11)),
    ("id", Word::Place(12)),
    ("@1", Word::Load(1)),
    ("@2", Word::Load(2)),
    ("@4", Word::Load(4)),
    ("@8", Word::Load(8)),
    ("!1", Word::Store(1)),
    ("!2", Word::Store(2)),
    ("!4", Word::Store(4)),
    ("!8", Word::Store(8)),
    ("$1", Word::Read(1)),
    ("$2", Word::Read(2)),
    ("$4", Word::Read(4)),
    ("$8", Word::Read(8)),
    ("+!", Word::Update(u64::wrapping_add)),
    ("f+!", Word::Update(|a, b| from_f32(f(a) + f(b)))),
    ("fmax!", Word::Update(|a, b| from_f32(f(a).max(f(b))))),
    ("local", Word::Local),
    ("?", Word::Require),
    ("barrier", Word::Barrier),
    ("trap", Word::Trap),
];

/// Finds a word by name.
pub(crate) fn find(name: &str) -> Option<(&'static str, Word)> {
    WORDS.iter().find(|(known, _)| *known == name).copied()
}
