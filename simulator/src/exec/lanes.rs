// SPDX-License-Identifier: MIT OR Apache-2.0
//! How vector instructions read their sources lane by lane and write their results.
//!
//! An [`Element`] is what one lane of an operand is. The usual case, registers without modifiers, is read in place; all
//! else (broadcast scalars, negation, DPP, SDWA, op_sel, flushed denormals) is first written to a spare row. Results are
//! computed for all lanes and written to those that are active.

use super::half::{f16_to_f32, f32_to_f16};
use super::state::{LANES, Row, Wave};
use super::step::{Source, Step};
use super::{crossing, result};
use crate::isa::Special;
use std::mem::MaybeUninit;

/// Room for an operand that is not read in place.
pub(crate) struct Spare([MaybeUninit<Row>; 2]);

impl Spare {
    /// Empty room.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; 2])
    }
}

/// What modifiers mean to an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Bits: no negation.
    B32,
    /// The low or high half of a register.
    B16,
    /// Single precision.
    F32,
    /// Half precision in half of a register.
    F16,
    /// Bits in a register pair.
    B64,
    /// Double precision.
    F64,
}

/// Computes a row from a function of the lane.
#[inline(always)]
pub(crate) fn row(f: impl Fn(usize) -> u32) -> Row {
    let mut row = MaybeUninit::<Row>::uninit();
    let words: *mut u32 = row.as_mut_ptr().cast();
    for lane in 0..LANES {
        // SAFETY: `lane` is below the row's length.
        unsafe { words.add(lane).write(f(lane)) };
    }
    // SAFETY: every lane was written.
    unsafe { row.assume_init() }
}

/// Computes two rows at once, from low and high halves.
#[inline(always)]
pub(crate) fn row_pair(f: impl Fn(usize) -> u64) -> (Row, Row) {
    let mut low = MaybeUninit::<Row>::uninit();
    let mut high = MaybeUninit::<Row>::uninit();
    let (lows, highs): (*mut u32, *mut u32) = (low.as_mut_ptr().cast(), high.as_mut_ptr().cast());
    for lane in 0..LANES {
        let value = f(lane);
        // SAFETY: `lane` is below the rows' length.
        unsafe {
            lows.add(lane).write(value as u32);
            highs.add(lane).write((value >> 32) as u32);
        }
    }
    // SAFETY: every lane of both was written.
    unsafe { (low.assume_init(), high.assume_init()) }
}

/// Computes a lane mask from a condition on the lane.
#[inline(always)]
pub(crate) fn mask(f: impl Fn(usize) -> bool) -> u64 {
    let mut flags = [0u8; LANES];
    for (lane, flag) in flags.iter_mut().enumerate() {
        *flag = f(lane).into();
    }
    let mut mask = 0;
    for (index, eight) in flags.as_chunks::<8>().0.iter().enumerate() {
        // The multiplication gathers the low bits of eight bytes in the top byte.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * index);
    }
    mask
}

/// Reads a 32-bit (or smaller) vector source.
#[inline(always)]
pub(crate) fn fetch32<'a>(
    wave: &'a Wave,
    step: &Step,
    index: usize,
    kind: Kind,
    spare: &'a mut Spare,
) -> &'a Row {
    if step.modified || wave.unusual {
        return spare.0[0].write(crossing::modified32(wave, step, index, kind));
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
    kind: Kind,
    spare: &'a mut Spare,
) -> (&'a Row, &'a Row) {
    let [low, high] = &mut spare.0;
    if step.modified || wave.unusual {
        let (lows, highs) = crossing::modified64(wave, step, index, kind);
        return (low.write(lows), high.write(highs));
    }
    match step.src[index] {
        Source::Vector(number) => (wave.row(number), wave.row(number + 1)),
        source => {
            let value = scalar64(wave, source);
            (low.write([value as u32; LANES]), high.write([(value >> 32) as u32; LANES]))
        }
    }
}

/// The 32-bit value of a source that is the same in all lanes; of a vector register, lane 0.
#[inline(always)]
pub(crate) fn scalar32(wave: &Wave, source: Source) -> u32 {
    match source {
        Source::Scalar(number) => wave.s[usize::from(number) & 127],
        Source::Constant(value) => value as u32,
        Source::Special(special) => special_value(wave, special, false) as u32,
        Source::Vector(number) => wave.row(number)[0],
        Source::None => 0,
    }
}

/// The 64-bit value of a source that is the same in all lanes; of vector registers, lane 0.
#[inline(always)]
pub(crate) fn scalar64(wave: &Wave, source: Source) -> u64 {
    match source {
        Source::Scalar(number) => wave.pair(number.into()),
        Source::Constant(value) => value,
        Source::Special(special) => special_value(wave, special, true),
        Source::Vector(number) => u64::from(wave.row(number)[0]) | u64::from(wave.row(number + 1)[0]) << 32,
        Source::None => 0,
    }
}

/// First address of the aperture through which FLAT instructions see LDS; 4 GiB long.
pub(crate) const SHARED_APERTURE: u64 = 1 << 48;
/// First address of the aperture through which FLAT instructions see private memory; 4 GiB long.
pub(crate) const PRIVATE_APERTURE: u64 = 2 << 48;

#[cold]
fn special_value(wave: &Wave, special: Special, wide: bool) -> u64 {
    // Read as 32 bits, an aperture register gives the half that matters: the high one.
    let aperture = |address: u64| if wide { address } else { address >> 32 };
    match special {
        Special::SharedBase => aperture(SHARED_APERTURE),
        Special::SharedLimit => aperture(SHARED_APERTURE | 0xffff_ffff),
        Special::PrivateBase => aperture(PRIVATE_APERTURE),
        Special::PrivateLimit => aperture(PRIVATE_APERTURE | 0xffff_ffff),
        Special::Vccz => (wave.vcc() == 0).into(),
        Special::Execz => (wave.exec() == 0).into(),
        Special::Scc => wave.scc.into(),
        Special::PopsExitingWaveId | Special::LdsDirect => 0,
    }
}

/// What one lane of an operand is.
pub(crate) trait Element: Copy {
    /// The rows that an operand is read from.
    type Rows<'a>: Copy;
    /// The rows of a result.
    type Result;

    /// Reads source `index` of an instruction.
    fn fetch<'a>(wave: &'a Wave, step: &Step, index: usize, spare: &'a mut Spare) -> Self::Rows<'a>;

    /// Reads the vector destination, for instructions that accumulate.
    fn fetch_destination<'a>(wave: &'a Wave, step: &Step) -> Self::Rows<'a>;

    /// One lane of an operand.
    fn lane(rows: Self::Rows<'_>, lane: usize) -> Self;

    /// Computes a result for all lanes.
    fn compute(f: impl Fn(usize) -> Self) -> Self::Result;

    /// Writes a result to the active lanes of the destination.
    fn store(wave: &mut Wave, step: &Step, result: &Self::Result);
}

macro_rules! element32 {
    ($type:ty, $kind:expr, |$bits:ident| $from:expr, |$value:ident| $to:expr) => {
        impl Element for $type {
            type Rows<'a> = &'a Row;
            type Result = Row;

            #[inline(always)]
            fn fetch<'a>(wave: &'a Wave, step: &Step, index: usize, spare: &'a mut Spare) -> &'a Row {
                fetch32(wave, step, index, $kind, spare)
            }

            #[inline(always)]
            fn fetch_destination<'a>(wave: &'a Wave, step: &Step) -> &'a Row {
                wave.row(step.dst)
            }

            #[inline(always)]
            fn lane(rows: &Row, lane: usize) -> Self {
                let $bits = rows[lane];
                $from
            }

            #[inline(always)]
            fn compute(f: impl Fn(usize) -> Self) -> Row {
                row(|lane| {
                    let $value = f(lane);
                    $to
                })
            }

            #[inline(always)]
            fn store(wave: &mut Wave, step: &Step, result: &Row) {
                if step.altered || wave.unusual {
                    return result::store32(wave, step, result, $kind);
                }
                let exec = wave.exec();
                wave.write_row(step.dst, result, exec);
            }
        }
    };
}

element32!(u32, Kind::B32, |bits| bits, |value| value);
element32!(i32, Kind::B32, |bits| bits as i32, |value| value as u32);
element32!(f32, Kind::F32, |bits| f32::from_bits(bits), |value| value.to_bits());
element32!(u16, Kind::B16, |bits| bits as u16, |value| value.into());
element32!(i16, Kind::B16, |bits| bits as i16, |value| u32::from(value as u16));

/// A half-precision lane, widened; a result is rounded to nearest even.
#[derive(Clone, Copy, Debug)]
pub(crate) struct F16(pub(crate) f32);

element32!(F16, Kind::F16, |bits| F16(f16_to_f32(bits)), |value| f32_to_f16(value.0));

/// The bits of a half-precision lane, where arithmetic is not on its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct B16(pub(crate) u16);

element32!(B16, Kind::F16, |bits| B16(bits as u16), |value| value.0.into());

macro_rules! element64 {
    ($type:ty, $kind:expr, |$bits:ident| $from:expr, |$value:ident| $to:expr) => {
        impl Element for $type {
            type Rows<'a> = (&'a Row, &'a Row);
            type Result = (Row, Row);

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
            fn fetch_destination<'a>(wave: &'a Wave, step: &Step) -> (&'a Row, &'a Row) {
                (wave.row(step.dst), wave.row(step.dst + 1))
            }

            #[inline(always)]
            fn lane(rows: (&Row, &Row), lane: usize) -> Self {
                let $bits = u64::from(rows.0[lane]) | u64::from(rows.1[lane]) << 32;
                $from
            }

            #[inline(always)]
            fn compute(f: impl Fn(usize) -> Self) -> (Row, Row) {
                row_pair(|lane| {
                    let $value = f(lane);
                    $to
                })
            }

            #[inline(always)]
            fn store(wave: &mut Wave, step: &Step, result: &(Row, Row)) {
                if step.altered || wave.unusual {
                    return result::store64(wave, step, result, $kind);
                }
                let exec = wave.exec();
                wave.write_row(step.dst, &result.0, exec);
                wave.write_row(step.dst + 1, &result.1, exec);
            }
        }
    };
}

element64!(u64, Kind::B64, |bits| bits, |value| value);
element64!(i64, Kind::B64, |bits| bits as i64, |value| value as u64);
element64!(f64, Kind::F64, |bits| f64::from_bits(bits), |value| value.to_bits());

/// Declares the handlers of vector instructions: each a function from the lanes of its sources to the lane of its
/// result. A source named in brackets is the destination's old value.
macro_rules! vector {
    ($($(#[$meta:meta])* $op:ident $(| $more:ident)* ($($args:tt)*) -> $result:ident $body:expr;)*) => {
        /// The handler of an instruction of this family.
        pub(crate) fn versions(op: $crate::isa::Op) -> Option<$crate::exec::step::Versions> {
            use $crate::isa::Op;
            match op {
                $(Op::$op $(| Op::$more)* => Some($crate::exec::lanes::vector_handler!([$($args)*] $result $body)),)*
                _ => None,
            }
        }
    };
}
pub(crate) use vector;

macro_rules! vector_handler {
    ([$a:ident: $ta:ident] $result:ident $body:expr) => {
        $crate::exec::step::handler!(|core, step| {
            use $crate::exec::lanes::Element;
            let mut spare = $crate::exec::lanes::Spare::new();
            let $a = <$ta as Element>::fetch(core.wave, step, 0, &mut spare);
            let result = <$result as Element>::compute(|lane| {
                let $a = <$ta as Element>::lane($a, lane);
                $body
            });
            <$result as Element>::store(core.wave, step, &result);
            $crate::exec::step::Flow::Next
        })
    };
    ([$a:ident: $ta:ident, $b:ident: $tb:ident] $result:ident $body:expr) => {
        $crate::exec::step::handler!(|core, step| {
            use $crate::exec::lanes::{Element, Spare};
            let (mut spare_a, mut spare_b) = (Spare::new(), Spare::new());
            let $a = <$ta as Element>::fetch(core.wave, step, 0, &mut spare_a);
            let $b = <$tb as Element>::fetch(core.wave, step, 1, &mut spare_b);
            let result = <$result as Element>::compute(|lane| {
                let $a = <$ta as Element>::lane($a, lane);
                let $b = <$tb as Element>::lane($b, lane);
                $body
            });
            <$result as Element>::store(core.wave, step, &result);
            $crate::exec::step::Flow::Next
        })
    };
    ([$a:ident: $ta:ident, $b:ident: $tb:ident, $c:ident: $tc:ident] $result:ident $body:expr) => {
        $crate::exec::step::handler!(|core, step| {
            use $crate::exec::lanes::{Element, Spare};
            let (mut spare_a, mut spare_b, mut spare_c) = (Spare::new(), Spare::new(), Spare::new());
            let $a = <$ta as Element>::fetch(core.wave, step, 0, &mut spare_a);
            let $b = <$tb as Element>::fetch(core.wave, step, 1, &mut spare_b);
            let $c = <$tc as Element>::fetch(core.wave, step, 2, &mut spare_c);
            let result = <$result as Element>::compute(|lane| {
                let $a = <$ta as Element>::lane($a, lane);
                let $b = <$tb as Element>::lane($b, lane);
                let $c = <$tc as Element>::lane($c, lane);
                $body
            });
            <$result as Element>::store(core.wave, step, &result);
            $crate::exec::step::Flow::Next
        })
    };
    ([$a:ident: $ta:ident, $b:ident: $tb:ident, [$c:ident: $tc:ident]] $result:ident $body:expr) => {
        $crate::exec::step::handler!(|core, step| {
            use $crate::exec::lanes::{Element, Spare};
            let (mut spare_a, mut spare_b) = (Spare::new(), Spare::new());
            let $a = <$ta as Element>::fetch(core.wave, step, 0, &mut spare_a);
            let $b = <$tb as Element>::fetch(core.wave, step, 1, &mut spare_b);
            let $c = <$tc as Element>::fetch_destination(core.wave, step);
            let result = <$result as Element>::compute(|lane| {
                let $a = <$ta as Element>::lane($a, lane);
                let $b = <$tb as Element>::lane($b, lane);
                let $c = <$tc as Element>::lane($c, lane);
                $body
            });
            <$result as Element>::store(core.wave, step, &result);
            $crate::exec::step::Flow::Next
        })
    };
}
pub(crate) use vector_handler;
