// SPDX-License-Identifier: MIT OR Apache-2.0
//! An instruction made ready to run: a handler, resolved operands and what it was made from.

use super::atomic::Rmw;
use super::core::Core;
use super::result::preserves_high_half;
use super::shape::{Part, Shape};
use super::state::FIRST_AGPR;
use crate::engine::AccessKind;
use crate::isa::{
    Element, Encoding, Inst, Op, Operand, OperandType, Special, inline_f16, inline_u32, inline_u64,
};

/// What a handler asks the interpreter to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Go on with the instruction behind this one.
    Next,
    /// Go on at the wave's position, which the handler has set.
    Jump,
    /// Let other waves run, then go on with the instruction behind this one.
    Yield,
    /// Let other waves run, then try this instruction again.
    Again,
    /// Wait at a barrier.
    Barrier,
    /// The wave is done.
    End,
    /// Stop; the reason is in [`Core::trouble`].
    Stop,
}

/// Executes one instruction for a whole wave.
///
/// # Safety
/// A handler compiled for more than the baseline processor may only be called on a processor that has the features;
/// [`Versions::pick`] sees to that.
pub(crate) type Handler = unsafe fn(&mut Core<'_>, &Step) -> Flow;

/// The same handler compiled for the baseline processor and for AVX2 with FMA.
#[derive(Clone, Copy)]
pub(crate) struct Versions {
    portable: Handler,
    wide: Handler,
}

impl Versions {
    /// A handler that gains nothing from wide vectors.
    pub(crate) const fn scalar(handler: Handler) -> Self {
        Self { portable: handler, wide: handler }
    }

    /// One compilation for every processor, of a function that anybody may call.
    pub(crate) fn scalar_of(handler: fn(&mut Core<'_>, &Step) -> Flow) -> Self {
        Self::scalar(handler)
    }

    /// Two compilations of one handler; `wide` may use what [`has_wide_vectors`] looks for.
    pub(crate) const fn new(portable: Handler, wide: Handler) -> Self {
        Self { portable, wide }
    }

    /// The one for the baseline processor.
    #[cfg(test)]
    pub(crate) fn portable(self) -> Handler {
        self.portable
    }

    /// The one for this processor.
    pub(crate) fn pick(self) -> Handler {
        if has_wide_vectors() { self.wide } else { self.portable }
    }
}

/// Whether this processor runs what [`handler!`] compiles for wide vectors.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_wide_vectors() -> bool {
    use std::sync::OnceLock;
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    })
}

/// Whether this processor runs what [`handler!`] compiles for wide vectors.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn has_wide_vectors() -> bool {
    false
}

/// Makes the [`Versions`] of a handler from its body, a function of the core and the step.
macro_rules! handler {
    (|$core:ident, $step:ident| $body:expr) => {{
        #[inline(always)]
        fn body(
            $core: &mut $crate::exec::core::Core<'_>,
            $step: &$crate::exec::step::Step,
        ) -> $crate::exec::step::Flow {
            $body
        }
        fn portable(
            core: &mut $crate::exec::core::Core<'_>,
            step: &$crate::exec::step::Step,
        ) -> $crate::exec::step::Flow {
            body(core, step)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
        unsafe fn wide(
            core: &mut $crate::exec::core::Core<'_>,
            step: &$crate::exec::step::Step,
        ) -> $crate::exec::step::Flow {
            body(core, step)
        }
        #[cfg(not(target_arch = "x86_64"))]
        use portable as wide;
        $crate::exec::step::Versions::new(portable, wide)
    }};
}
pub(crate) use handler;

/// Where a source comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// Nowhere.
    None,
    /// A vector register, by its number in [`Wave::v`](super::state::Wave::v).
    Vector(u16),
    /// A scalar register, by its hardware number.
    Scalar(u8),
    /// A constant, extended to 64 bits as the operand's type asks.
    Constant(u64),
    /// Something that depends on the wave.
    Special(Special),
}

/// What an instruction does to memory that waves share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Nothing, or an atomic.
    None,
    /// It reads.
    Reads,
    /// It writes.
    Writes,
}

impl Sharing {
    fn of(inst: &Inst) -> Self {
        match (inst.encoding, Shape::of(inst.op)) {
            (_, Shape::LoadFormat(_)) => Self::Reads,
            (_, Shape::StoreFormat(_)) => Self::Writes,
            (Encoding::Flat | Encoding::Global | Encoding::Mubuf | Encoding::Ds, Shape::Load(_)) => {
                Self::Reads
            }
            (Encoding::Flat | Encoding::Global | Encoding::Mubuf | Encoding::Ds, Shape::Store(_)) => {
                Self::Writes
            }
            _ => Self::None,
        }
    }
}

/// An instruction ready to run.
pub(crate) struct Step {
    /// What runs it.
    pub(crate) run: Handler,
    /// The vector destination, by its number in [`Wave::v`](super::state::Wave::v); 0 if there is none.
    pub(crate) dst: u16,
    /// Sources.
    pub(crate) src: [Source; 4],
    /// Whether a source has a modifier.
    pub(crate) modified: bool,
    /// Whether the result is changed on its way to the destination.
    pub(crate) altered: bool,
    /// Whether a compare writes EXEC as well.
    pub(crate) narrows: bool,
    /// What a memory instruction moves.
    pub(crate) shape: Shape,
    /// What it does to memory that waves share.
    pub(crate) sharing: Sharing,
    /// Whether it stands for accesses narrower than its dwords; see [`may_stick_out`](Self::may_stick_out).
    pub(crate) widened: bool,
    /// Index of the step that a direct branch goes to.
    pub(crate) target: u32,
    /// Byte offset in the code segment.
    pub(crate) offset: u32,
    /// The instruction itself.
    pub(crate) inst: Inst,
}

impl Step {
    /// Resolves the operands of an instruction at `offset` in the code segment.
    pub(crate) fn new(run: Handler, inst: Inst, offset: u32) -> Self {
        let mods = &inst.mods;
        let crossed = mods.dpp.is_some() || mods.sdwa.is_some();
        Self {
            run,
            dst: vector_number(inst.dst).unwrap_or(0),
            src: std::array::from_fn(|index| source(inst.src[index], inst.src_type[index], inst.op)),
            modified: mods.neg | mods.abs | mods.op_sel & 7 != 0 || crossed,
            altered: mods.clamp
                || mods.omod != 0
                || mods.op_sel & 8 != 0
                || crossed
                || preserves_high_half(inst.op),
            narrows: inst.op.mnemonic().starts_with("v_cmpx"),
            shape: Shape::of(inst.op),
            sharing: Sharing::of(&inst),
            widened: is_widened(inst.op),
            target: u32::MAX,
            offset,
            inst,
        }
    }
}

impl Step {
    /// Whether an access may stick out of an allocation with a part of its first or last dword.
    ///
    /// A GPU has no atomics on bytes and halves and no scalar loads of them. Compilers make dwords of both, which hold
    /// bytes behind the end of an array whose size is no multiple of four.
    pub(crate) fn may_stick_out(&self, address: u64, size: u64, kind: AccessKind) -> bool {
        let dwords = address.is_multiple_of(4) && size.is_multiple_of(4);
        self.widened && dwords && kind != AccessKind::Write
    }

    /// Whether it is how a loop makes an atomic of a byte or a half of its own.
    pub(crate) fn is_compare_and_swap(&self) -> bool {
        let Shape::Atomic { rmw, wide: false } = self.shape else { return false };
        matches!(rmw, Rmw::CompareSwap | Rmw::CompareStore | Rmw::CompareStoreF)
    }

    /// Whether it loads nothing but whole dwords.
    pub(crate) fn loads_dwords(&self) -> bool {
        let scalar = self.inst.encoding == Encoding::Smem && self.inst.op.mnemonic().contains("load_dword");
        scalar || matches!(self.shape, Shape::Load(Part::Dwords(_)))
    }
}

/// Whether compilers use an instruction for something narrower, wherever it stands.
fn is_widened(op: Op) -> bool {
    let atomic = matches!(Shape::of(op), Shape::Atomic { wide: false, .. });
    atomic || matches!(op, Op::s_load_dword | Op::s_buffer_load_dword)
}

/// The number of a vector or accumulation register in the file that holds both.
pub(crate) fn vector_number(operand: Operand) -> Option<u16> {
    match operand {
        Operand::Vgpr(number) => Some(number.into()),
        Operand::Agpr(number) => Some(FIRST_AGPR + u16::from(number)),
        _ => None,
    }
}

/// The last code of an integer constant.
pub(super) const INTEGERS: u8 = 208;

fn source(operand: Operand, ty: OperandType, op: Op) -> Source {
    match operand {
        Operand::None => Source::None,
        Operand::Sgpr(number) => Source::Scalar(number),
        Operand::Vgpr(number) => Source::Vector(number.into()),
        Operand::Agpr(number) => Source::Vector(FIRST_AGPR + u16::from(number)),
        Operand::Special(special) => Source::Special(special),
        Operand::Inline(code) => Source::Constant(match ty.element {
            Element::F16 => inline_f16(code).into(),
            // Integers are extended to both halves; a float is one half in float instructions, else a single.
            Element::Packed16 if code > INTEGERS && op.mnemonic().ends_with("f16") => inline_f16(code).into(),
            Element::F64 | Element::B64 => inline_u64(code),
            _ => inline_u32(code).into(),
        }),
        Operand::Literal(value) => Source::Constant(match ty.element {
            Element::F64 => u64::from(value) << 32,
            _ => value.into(),
        }),
    }
}
