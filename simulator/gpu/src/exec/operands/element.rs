// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the sources of vector instructions lane by lane, and writes their results.
//!
//! A [`LaneValue`] is one lane of an operand. Registers without modifiers, the usual case, are read in place.
//! All other sources (broadcast scalars, negation, DPP, SDWA, op_sel, flushed denormals) are first written to
//! a spare row. Results are computed for all lanes and written to the active ones.

use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::wave::{Groups, Wave};
use crate::exec::operands::source::{scalar32, scalar64};
use crate::exec::operands::{modifiers, nan, result};
use crate::exec::values::half::{f16_to_f32, f32_to_f16};
use crate::exec::values::lane_kind::LaneKind;
use crate::exec::values::row::{GROUPS, Group, LANES, Row, RowBuilder};
use std::cell::Cell;
use std::mem::MaybeUninit;

/// Memory for an operand that is not read in place.
pub(crate) struct Spare([MaybeUninit<Row>; 2]);

impl Spare {
    /// Uninitialised memory.
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; 2])
    }
}

/// Reads a 32-bit (or smaller) vector source.
#[inline(always)]
pub(crate) fn fetch32<'a>(
    wave: &'a Wave,
    step: &Step,
    index: usize,
    kind: LaneKind,
    spare: &'a mut Spare,
) -> &'a Row {
    if step.modified || wave.unusual {
        return spare.0[0].write(modifiers::modified32(wave, step, index, kind));
    }
    match step.src[index] {
        Source::Vector(number) => wave.row(number),
        source => spare.0[0].write([scalar32(wave, source); LANES]),
    }
}

/// Reads a 64-bit vector source as low and high rows.
#[inline(always)]
pub(crate) fn fetch64<'a>(
    wave: &'a Wave,
    step: &Step,
    index: usize,
    kind: LaneKind,
    spare: &'a mut Spare,
) -> (&'a Row, &'a Row) {
    match step.src[index] {
        Source::Vector(number) if !step.modified && !wave.unusual => (wave.row(number), wave.row(number + 1)),
        _ => written64(wave, step, index, kind, spare),
    }
}

/// Writes a source that is not read in place.
#[inline(never)]
fn written64<'a>(
    wave: &Wave,
    step: &Step,
    index: usize,
    kind: LaneKind,
    spare: &'a mut Spare,
) -> (&'a Row, &'a Row) {
    let [low, high] = &mut spare.0;
    if step.modified || wave.unusual {
        let (lows, highs) = modifiers::modified64(wave, step, index, kind);
        return (low.write(lows), high.write(highs));
    }
    let value = scalar64(wave, step.src[index]);
    (low.write([value as u32; LANES]), high.write([(value >> 32) as u32; LANES]))
}

/// The only active lane, if a step can be executed for it alone.
#[inline(always)]
pub(crate) fn only_lane(wave: &Wave, step: &Step) -> Option<usize> {
    let exec = wave.exec();
    (exec.count() == 1 && step.plain && !wave.unusual).then(|| exec.first())
}

/// Whether a step is the usual case: no modifiers, no unusual mode, and all lanes are active.
#[inline(always)]
pub(crate) fn is_usual(wave: &Wave, step: &Step) -> bool {
    wave.exec() == wave.lanes() && step.bare && !wave.unusual
}

/// Fills the row for a source of such a step, if it is a scalar.
#[inline(always)]
pub(crate) fn splat(wave: &mut Wave, step: &Step, index: usize) {
    let source = step.src[index];
    if !matches!(source, Source::Vector(_)) {
        let word = scalar32(wave, source);
        wave.splat(index, word);
    }
}

/// The groups of a source of such a step.
#[inline(always)]
pub(crate) fn source_groups<'a>(groups: Groups<'a>, step: &Step, index: usize) -> &'a [Cell<Group>] {
    match step.src[index] {
        Source::Vector(number) => groups.register(number),
        _ => groups.splat(index),
    }
}

/// Whether any word is a NaN of the kind that has this infinity.
#[inline(always)]
pub(crate) fn has_nan(words: &[Group; GROUPS], infinity: u32) -> bool {
    let mut found = 0;
    for bits in words.as_flattened() {
        found |= u32::from(bits & (infinity | (infinity - 1)) > infinity);
    }
    found != 0
}

/// One lane of an operand.
pub(crate) trait LaneValue: Copy {
    /// The rows that an operand is read from.
    type Rows<'a>: Copy;
    /// The rows of a result, while they are written.
    type Result;

    /// Reads source `index` of an instruction.
    fn fetch<'a>(wave: &'a Wave, step: &Step, index: usize, spare: &'a mut Spare) -> Self::Rows<'a>;

    /// Reads the vector destination, for instructions that accumulate.
    fn fetch_destination<'a>(wave: &'a Wave, step: &Step, spare: &'a mut Spare) -> Self::Rows<'a>;

    /// One lane of an operand.
    fn lane(rows: Self::Rows<'_>, lane: usize) -> Self;

    /// Reads one lane of source `index` of a step that [`only_lane`] admits.
    fn fetch_lane(wave: &Wave, step: &Step, index: usize, lane: usize) -> Self;

    /// Reads one lane of the vector destination of such a step.
    fn fetch_destination_lane(wave: &Wave, step: &Step, lane: usize) -> Self;

    /// Writes one lane of the result of such a step. Writes nothing and returns `false` for a NaN that must be replaced.
    fn store_lane(wave: &mut Wave, step: &Step, lane: usize, value: Self) -> bool;

    /// An unwritten result.
    fn result() -> Self::Result;

    /// Writes a lane of a result.
    fn put(result: &mut Self::Result, lane: usize, value: Self);

    /// Replaces computed NaNs by the hardware's. The NaN that the host's processor gives depends on the
    /// compilation.
    ///
    /// # Safety
    /// Every lane of the result has been written.
    #[inline(always)]
    unsafe fn replace_nans(_: &Wave, _: &Step, _: &mut Self::Result) {}

    /// Writes a result to the active lanes of the destination.
    ///
    /// # Safety
    /// Every lane of the result has been written.
    unsafe fn store(wave: &mut Wave, step: &Step, result: &Self::Result);
}

/// One lane of an operand of one register.
pub(crate) trait Word: Copy {
    /// The bits of infinity, if the NaNs of results must be replaced.
    const INFINITY: Option<u32>;

    /// The value of a word of a register.
    fn from_word(word: u32) -> Self;

    /// The word of a register for this value.
    fn to_word(self) -> u32;
}

macro_rules! element32 {
    (@infinity) => { None };
    (@infinity $infinity:literal) => { Some($infinity) };
    ($type:ty, $kind:expr, |$bits:ident| $from:expr, |$value:ident| $to:expr $(, computed $infinity:literal)?) => {
        impl Word for $type {
            const INFINITY: Option<u32> = element32!(@infinity $($infinity)?);

            #[inline(always)]
            fn from_word(word: u32) -> Self {
                let $bits = word;
                $from
            }

            #[inline(always)]
            fn to_word(self) -> u32 {
                let $value = self;
                $to
            }
        }

        impl LaneValue for $type {
            type Rows<'a> = &'a Row;
            type Result = RowBuilder;

            #[inline(always)]
            fn fetch<'a>(wave: &'a Wave, step: &Step, index: usize, spare: &'a mut Spare) -> &'a Row {
                fetch32(wave, step, index, $kind, spare)
            }

            #[inline(always)]
            fn fetch_destination<'a>(wave: &'a Wave, step: &Step, spare: &'a mut Spare) -> &'a Row {
                if wave.unusual || modifiers::is_high(step, $kind) {
                    return spare.0[0].write(modifiers::old32(wave, step, $kind));
                }
                wave.row(step.dst)
            }

            $(
                #[inline(always)]
                unsafe fn replace_nans(wave: &Wave, step: &Step, result: &mut RowBuilder) {
                    // SAFETY: the caller guarantees that every lane is written.
                    let row = unsafe { result.done_mut() };
                    let mut found = 0;
                    for bits in &*row {
                        found |= u32::from(bits & ($infinity | $infinity - 1) > $infinity);
                    }
                    if found != 0 {
                        *row = nan::replaced32(wave, step, *row, $kind);
                    }
                }
            )?

            #[inline(always)]
            fn fetch_lane(wave: &Wave, step: &Step, index: usize, lane: usize) -> Self {
                let $bits = modifiers::lane32(wave, step, index, $kind, lane);
                $from
            }

            #[inline(always)]
            fn fetch_destination_lane(wave: &Wave, step: &Step, lane: usize) -> Self {
                let $bits = wave.row(step.dst)[lane];
                $from
            }

            #[inline(always)]
            fn store_lane(wave: &mut Wave, step: &Step, lane: usize, value: Self) -> bool {
                let $value = value;
                let bits: u32 = $to;
                $(
                    if bits & ($infinity | $infinity - 1) > $infinity {
                        return false;
                    }
                )?
                wave.row_mut(step.dst)[lane] = bits;
                true
            }

            #[inline(always)]
            fn lane(rows: &Row, lane: usize) -> Self {
                let $bits = rows[lane];
                $from
            }

            #[inline(always)]
            fn result() -> RowBuilder {
                RowBuilder::new()
            }

            #[inline(always)]
            fn put(result: &mut RowBuilder, lane: usize, value: Self) {
                let $value = value;
                result.put(lane, $to);
            }

            #[inline(always)]
            unsafe fn store(wave: &mut Wave, step: &Step, result: &RowBuilder) {
                // SAFETY: the caller guarantees that every lane is written.
                let row = unsafe { result.done() };
                store32(wave, step, row, $kind);
            }
        }
    };
}

/// Writes a 32-bit (or smaller) result to the active lanes of the destination.
#[inline(always)]
pub(crate) fn store32(wave: &mut Wave, step: &Step, row: &Row, kind: LaneKind) {
    if step.altered || wave.unusual {
        return result::store32(wave, step, *row, kind);
    }
    let exec = wave.exec();
    wave.write_row(step.dst, row, exec);
}

/// Writes a 64-bit result to the active lanes of the destination.
#[inline(always)]
pub(crate) fn store64(wave: &mut Wave, step: &Step, low: &Row, high: &Row, kind: LaneKind) {
    if step.altered || wave.unusual {
        return result::store64(wave, step, *low, *high, kind);
    }
    let exec = wave.exec();
    wave.write_row(step.dst, low, exec);
    wave.write_row(step.dst + 1, high, exec);
}

element32!(u32, LaneKind::B32, |bits| bits, |value| value);
element32!(i32, LaneKind::B32, |bits| bits as i32, |value| value as u32);
element32!(f32, LaneKind::F32, |bits| f32::from_bits(bits), |value| value.to_bits(), computed 0x7f80_0000);
element32!(u16, LaneKind::B16, |bits| bits as u16, |value| value.into());
element32!(i16, LaneKind::B16, |bits| bits as i16, |value| u32::from(value as u16));

/// A half-precision lane, widened; a result is rounded to nearest even.
#[derive(Clone, Copy, Debug)]
pub(crate) struct F16(pub(crate) f32);

element32!(F16, LaneKind::F16, |bits| F16(f16_to_f32(bits)), |value| f32_to_f16(value.0), computed 0x7c00);

/// The bits of a half-precision lane, for operations on bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct B16(pub(crate) u16);

element32!(B16, LaneKind::F16, |bits| B16(bits as u16), |value| value.0.into());

/// The bits of a half that was computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Half(pub(crate) u16);

element32!(Half, LaneKind::F16, |bits| Half(bits as u16), |value| value.0.into(), computed 0x7c00);

/// The bits of a half, of a single or of a double that is inspected or moved, without arithmetic. It has a
/// sign; denormals are not flushed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw<T>(pub(crate) T);

element32!(Raw<u16>, LaneKind::RawF16, |bits| Raw(bits as u16), |value| value.0.into());
element32!(Raw<u32>, LaneKind::RawF32, |bits| Raw(bits), |value| value.0);

/// A float that is one of the sources, or made from one as the manual says. Its NaN is not replaced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen<T>(pub(crate) T);

/// A chosen single.
pub(crate) type Single = Chosen<f32>;
/// A chosen double.
pub(crate) type Double = Chosen<f64>;

element32!(Chosen<f32>, LaneKind::F32, |bits| Chosen(f32::from_bits(bits)), |value| value.0.to_bits());

macro_rules! element64 {
    ($type:ty, $kind:expr, |$bits:ident| $from:expr, |$value:ident| $to:expr $(, $computed:ident)?) => {
        impl LaneValue for $type {
            type Rows<'a> = (&'a Row, &'a Row);
            type Result = (RowBuilder, RowBuilder);

            #[inline(always)]
            fn fetch<'a>(
                wave: &'a Wave,
                step: &Step,
                index: usize,
                spare: &'a mut Spare,
            ) -> (&'a Row, &'a Row) {
                fetch64(wave, step, index, $kind, spare)
            }

            #[inline(always)]
            fn fetch_destination<'a>(
                wave: &'a Wave,
                step: &Step,
                spare: &'a mut Spare,
            ) -> (&'a Row, &'a Row) {
                if wave.unusual {
                    let [low, high] = &mut spare.0;
                    let (lows, highs) = modifiers::old64(wave, step, $kind);
                    return (low.write(lows), high.write(highs));
                }
                (wave.row(step.dst), wave.row(step.dst + 1))
            }

            $(
                #[inline(always)]
                unsafe fn replace_nans(wave: &Wave, step: &Step, result: &mut Self::Result) {
                    // SAFETY: the caller guarantees that every lane is written.
                    let (low, high) = unsafe { (result.0.done_mut(), result.1.done_mut()) };
                    let mut found = 0;
                    for lane in 0..LANES {
                        let magnitude = high[lane] & 0x7fff_ffff | u32::from(low[lane] != 0);
                        found |= u32::from(magnitude > 0x7ff0_0000);
                    }
                    if found != 0 {
                        (*low, *high) = nan::replaced64(wave, step, *low, *high, LaneKind::$computed);
                    }
                }
            )?

            #[inline(always)]
            fn fetch_lane(wave: &Wave, step: &Step, index: usize, lane: usize) -> Self {
                let $bits = modifiers::lane64(wave, step, index, $kind, lane);
                $from
            }

            #[inline(always)]
            fn fetch_destination_lane(wave: &Wave, step: &Step, lane: usize) -> Self {
                let (low, high) = (wave.row(step.dst), wave.row(step.dst + 1));
                let $bits = u64::from(low[lane]) | u64::from(high[lane]) << 32;
                $from
            }

            #[inline(always)]
            fn store_lane(wave: &mut Wave, step: &Step, lane: usize, value: Self) -> bool {
                let $value = value;
                let bits: u64 = $to;
                $(
                    if LaneKind::$computed == LaneKind::F64 && bits & !(1 << 63) > 0x7ff0_0000_0000_0000 {
                        return false;
                    }
                )?
                wave.row_mut(step.dst)[lane] = bits as u32;
                wave.row_mut(step.dst + 1)[lane] = (bits >> 32) as u32;
                true
            }

            #[inline(always)]
            fn lane(rows: (&Row, &Row), lane: usize) -> Self {
                let $bits = u64::from(rows.0[lane]) | u64::from(rows.1[lane]) << 32;
                $from
            }

            #[inline(always)]
            fn result() -> Self::Result {
                (RowBuilder::new(), RowBuilder::new())
            }

            #[inline(always)]
            fn put(result: &mut Self::Result, lane: usize, value: Self) {
                let $value = value;
                let bits: u64 = $to;
                result.0.put(lane, bits as u32);
                result.1.put(lane, (bits >> 32) as u32);
            }

            #[inline(always)]
            unsafe fn store(wave: &mut Wave, step: &Step, result: &Self::Result) {
                // SAFETY: the caller guarantees that every lane is written.
                let (low, high) = unsafe { (result.0.done(), result.1.done()) };
                store64(wave, step, low, high, $kind);
            }
        }
    };
}

element64!(u64, LaneKind::B64, |bits| bits, |value| value);
element64!(i64, LaneKind::B64, |bits| bits as i64, |value| value as u64);
element64!(Raw<u64>, LaneKind::RawF64, |bits| Raw(bits), |value| value.0);
element64!(Chosen<f64>, LaneKind::F64, |bits| Chosen(f64::from_bits(bits)), |value| value.0.to_bits());
element64!(f64, LaneKind::F64, |bits| f64::from_bits(bits), |value| value.to_bits(), F64);
