// SPDX-License-Identifier: MIT OR Apache-2.0
//! Products of matrices: the place of each element, and sums in ascending order of the inner dimension, each
//! step fused.

use super::convert::from_eighth;
use super::integers::signed;
use super::real::{self, F16, F32, F64, Format, Round};
use super::rules::OperandKind;
use super::text::{Line, Operand, What};
use super::values::Register;
use super::{LANES, Machine};

const BF16: Format = Format { exponent: 8, mantissa: 7 };

/// The factors of an instruction.
struct Shape<'t> {
    /// Rows and columns of a block, the inner dimension, and blocks.
    size: usize,
    inner: usize,
    blocks: usize,
    /// Types of the result and of the inputs.
    result: &'t str,
    inputs: [&'t str; 2],
    /// Whether denormals of inputs and of sums become zero on gfx90a.
    flushes: bool,
}

impl<'t> Shape<'t> {
    /// From the older `f32_32x32x4bf16_1k`. The name lacks the number of blocks; the lanes' elements give it.
    fn parse_older(name: &'t str) -> Option<Self> {
        let (name, many) = name.strip_suffix("_1k").map_or((name, false), |name| (name, true));
        let (result, rest) = name.split_once('_')?;
        let mut sizes = rest.split('x');
        let size = sizes.next()?.parse().ok()?;
        let last = sizes.nth(1)?;
        let (inner, ty) = last.split_at(last.find(|c: char| !c.is_ascii_digit())?);
        let inner: usize = inner.parse().ok()?;
        let elements = match ty {
            "bf16" if !many => 2,
            "f16" | "bf16" | "i8" => 4,
            _ => 1,
        };
        let (blocks, flushes) = (elements * LANES / (size * inner), ty.ends_with("f16"));
        Some(Self { size, inner, blocks, result, inputs: [ty, ty], flushes })
    }

    /// From `f32_32x32x4_2b_f16` or `f32_16x16x32_fp8_bf8`.
    fn parse(name: &'t str) -> Option<Self> {
        let shape = name.split('_').nth(1)?;
        if shape.contains(|c: char| c.is_ascii_alphabetic() && c != 'x') {
            return Self::parse_older(name);
        }
        let mut parts = name.split('_');
        let result = parts.next()?;
        let mut sizes = parts.next()?.split('x').map(|part| part.parse::<usize>().ok());
        let (size, inner) = (sizes.next()??, sizes.nth(1)??);
        let mut next = parts.next()?;
        let mut blocks = 1;
        if let Some(count) = next.strip_suffix('b').and_then(|count| count.parse().ok()) {
            blocks = count;
            next = parts.next()?;
        }
        let second = parts.next().unwrap_or(next);
        Some(Self { size, inner, blocks, result, inputs: [next, second], flushes: false })
    }

    /// Elements of A, or of B, in one lane.
    fn per_lane(&self) -> usize {
        self.size * self.inner * self.blocks / LANES
    }

    /// The lane and the element in it of row (or column) `row` and inner index `k` of a block.
    fn input(&self, block: usize, row: usize, k: usize) -> (usize, usize) {
        let each = self.per_lane();
        if self.blocks > 1 && self.inputs[0] != "f64" {
            return (block * self.size + row, k);
        }
        // With doubles in four blocks, groups of lanes hold the inner index, and the lanes of a group the
        // block.
        let column = if self.inputs[0] == "f64" { block * self.size + row } else { row };
        let wide = LANES / (self.inner / each);
        (k / each * wide + column, k % each)
    }

    /// The register (or pair) and the lane of an element of the result.
    fn output(&self, block: usize, row: usize, column: usize) -> (usize, usize) {
        match (self.size, self.result) {
            (16, "f64") => (row / 4, row % 4 * 16 + column),
            (_, "f64") => (0, row * 16 + block * 4 + column),
            (4, _) => (row, block * 4 + column),
            (16, _) => (4 * block + row % 4, row / 4 * 16 + column),
            _ => (16 * block + row / 8 * 4 + row % 4, row / 4 % 2 * 32 + column),
        }
    }
}

/// Bits of an element's type.
fn width(ty: &str) -> u32 {
    match ty {
        "f64" => 64,
        "f32" | "xf32" => 32,
        "f16" | "bf16" => 16,
        _ => 8,
    }
}

pub(super) fn operands(line: &Line<'_>) -> Vec<(Register, OperandKind)> {
    let registers = line.operands.iter().filter_map(Register::from_operand);
    registers.map(|register| (register, OperandKind::B32)).collect()
}

/// The type of the elements of a matrix instruction's inputs.
pub(crate) fn input_type(name: &str) -> &str {
    let shape = name.strip_prefix("v_mfma_").and_then(Shape::parse);
    shape.map_or_else(|| name.rsplit_once('_').map_or("", |(_, ty)| ty), |shape| shape.inputs[1])
}

/// An element of a dense A or B, as single, double or integer.
fn dense(machine: &Machine, register: usize, place: (usize, usize), ty: &str, flushes: bool) -> u64 {
    let bits = element(machine, register, place, ty);
    // As singles, the denormals of a half are normal, and less than the least normal half.
    let least = if ty == "f16" { 0x3880_0000 } else { 0x0080_0000 };
    if flushes && bits & !F32.sign() < least { bits & F32.sign() } else { bits }
}

/// An element of A or B, as single, double or integer.
fn element(machine: &Machine, register: usize, (lane, index): (usize, usize), ty: &str) -> u64 {
    let bits = width(ty);
    if bits == 64 {
        return u64::from(machine.v[register][lane]) | u64::from(machine.v[register + 1][lane]) << 32;
    }
    let per = (32 / bits) as usize;
    let word = u64::from(machine.v[register + index / per][lane]);
    let raw = word >> (bits as usize * (index % per)) & (u64::MAX >> (64 - bits));
    match ty {
        "f16" => real::convert(F16, F32, Round::Nearest, raw),
        "bf16" => real::convert(BF16, F32, Round::Nearest, raw),
        "fp8" | "bf8" if machine.part == "gfx950" => match super::gfx950::value(ty, raw) as f32 {
            nan if nan.is_nan() => F32.nan(),
            value => value.to_bits().into(),
        },
        "fp8" => from_eighth(raw, 3),
        "bf8" => from_eighth(raw, 2),
        // Only ten bits of mantissa count.
        "xf32" => {
            const XF32: Format = Format { exponent: 8, mantissa: 10 };
            real::convert(F32, XF32, Round::Nearest, raw) << 13
        }
        _ => raw,
    }
}

/// Executes a matrix instruction, if it is one.
pub(super) fn execute(machine: &mut Machine, line: &Line<'_>) -> Option<()> {
    if let Some(name) = line.name.strip_prefix("v_smfmac_") {
        return sparse(machine, line, &Shape::parse(name)?);
    }
    let mut shape = Shape::parse(line.name.strip_prefix("v_mfma_")?)?;
    shape.flushes &= machine.part == "gfx90a";
    let flushed = |bits: u64| if shape.flushes && F32.is_denormal(bits) { bits & F32.sign() } else { bits };
    let first = |index: usize| match line.operands[index].what {
        What::Vector(number) => Some(number),
        _ => None,
    };
    let (dst, a, b) = (first(0)?, first(1)?, first(2)?);
    let doubles = shape.result == "f64";
    let step = if doubles { 2 } else { 1 };
    let negated = |index: usize| doubles && line.list("neg", index).unwrap_or(0) != 0;
    let sign = |bits: u64, index: usize| if negated(index) { bits ^ F64.sign() } else { bits };
    let (cbsz, abid, blgp) =
        (line.number("cbsz"), line.number("abid") as usize, line.number("blgp") as usize);
    let mut results = Vec::new();
    for block in 0..shape.blocks {
        // Blocks of A are shared by groups of blocks of B.
        let group = 1usize << cbsz;
        let shared = block / group * group + abid % group;
        for row in 0..shape.size {
            for column in 0..shape.size {
                let (register, lane) = shape.output(block, row, column);
                let mut sum = match line.operands[3].what {
                    What::Vector(number) if doubles => {
                        let at = number + 2 * register;
                        u64::from(machine.v[at][lane]) | u64::from(machine.v[at + 1][lane]) << 32
                    }
                    What::Vector(number) => machine.v[number + register][lane].into(),
                    What::Constant(text) => Operand::constant(text, if doubles { F64 } else { F32 }),
                    other => panic!("{other:?} in {line:?}"),
                };
                sum = flushed(sign(sum, 2));
                for k in 0..shape.inner {
                    let (lane, index) = shape.input(block, column, k);
                    // B's lanes are exchanged first.
                    let lane = match blgp {
                        0 => lane,
                        _ if doubles => lane,
                        1 => lane % 32,
                        2 => lane % 32 + 32,
                        3 => (lane + 16) % 64,
                        which => (which - 4) * 16 + lane % 16,
                    };
                    let x = sign(
                        dense(machine, a, shape.input(shared, row, k), shape.inputs[0], shape.flushes),
                        0,
                    );
                    let y = sign(dense(machine, b, (lane, index), shape.inputs[1], shape.flushes), 1);
                    sum = match shape.result {
                        "i32" => (signed(x, 8) * signed(y, 8) + signed(sum, 32)) as u64 & 0xffff_ffff,
                        "f64" => real::fused(F64, Round::Nearest, x, y, sum),
                        _ => real::fused(F32, Round::Nearest, x, y, sum),
                    };
                }
                results.push((dst + step * register, lane, flushed(sum)));
            }
        }
    }
    for (register, lane, value) in results {
        machine.v[register][lane] = value as u32;
        if doubles {
            machine.v[register + 1][lane] = (value >> 32) as u32;
        }
    }
    Some(())
}

/// A product with a sparse A: two of four consecutive elements of a row are stored, and an index register has
/// their places among the four. The inner dimension is that of B.
fn sparse(machine: &mut Machine, line: &Line<'_>, shape: &Shape<'_>) -> Option<()> {
    let first = |index: usize| match line.operands[index].what {
        What::Vector(number) => Some(number),
        _ => None,
    };
    let (dst, a, b, indices) = (first(0)?, first(1)?, first(2)?, first(3)?);
    let dense = shape.per_lane();
    // A set has this many indices of two bits; a register holds as many sets as fit.
    let bits = dense as u32;
    let set = if line.number("cbsz") == 0 { line.number("abid") as u32 % (32 / bits) } else { 0 };
    let mut results = Vec::new();
    for row in 0..shape.size {
        for column in 0..shape.size {
            let (register, lane) = shape.output(0, row, column);
            let mut sum = u64::from(machine.v[dst + register][lane]);
            for stored in 0..shape.inner / 2 {
                // Lanes in groups hold consecutive parts of the inner dimension, A's half as many elements.
                let (group, at) = (stored / (dense / 2), stored % (dense / 2));
                let from = group * shape.size + row;
                let index = machine.v[indices][from] >> (bits * set + 2 * at as u32) & 3;
                let k = stored / 2 * 4 + index as usize;
                let x = element(machine, a, (from, at), shape.inputs[0]);
                let y = element(machine, b, shape.input(0, column, k), shape.inputs[1]);
                sum = match shape.result {
                    "i32" => (signed(x, 8) * signed(y, 8) + signed(sum, 32)) as u64 & 0xffff_ffff,
                    _ => real::fused(F32, Round::Nearest, x, y, sum),
                };
            }
            results.push((dst + register, lane, sum));
        }
    }
    for (register, lane, value) in results {
        machine.v[register][lane] = value as u32;
    }
    Some(())
}
