// SPDX-License-Identifier: MIT OR Apache-2.0
//! An instruction ready to run: its handler, its resolved operands and the instruction itself.

use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::shape::{Shape, Width};
use crate::exec::machine::trouble::AccessKind;
use crate::exec::machine::wave::FIRST_AGPR;
use crate::exec::values::rmw::Rmw;
use crate::isa::{
    Element, Encoding, Inst, Op, Operand, OperandType, Special, inline_f16, inline_u32, inline_u64,
};

/// Executes one instruction for a whole wave.
///
/// # Safety
/// A handler that was compiled for more than the baseline processor may only be called on a processor that has these
/// features. `Compilations::pick` chooses accordingly.
pub(crate) type Handler = unsafe fn(&mut Core<'_>, &Step) -> Flow;

/// The place of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// There is no such source.
    None,
    /// A vector register, by its number in [`Wave::v`](super::wave::Wave::v).
    Vector(u16),
    /// A scalar register, by its hardware number.
    Scalar(u8),
    /// A constant, extended to 64 bits as the operand's type asks.
    Constant(u64),
    /// A value that depends on the wave.
    Special(Special),
}

/// The access of an instruction to memory that waves share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// None, or an atomic.
    None,
    /// A read.
    Reads,
    /// A write.
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
    /// Its handler.
    pub(crate) run: Handler,
    /// The vector destination, by its number in [`Wave::v`](super::wave::Wave::v); 0 if there is none.
    pub(crate) dst: u16,
    /// Sources.
    pub(crate) src: [Source; 4],
    /// Whether a source has a modifier.
    pub(crate) modified: bool,
    /// Whether the result takes the slow path to its destination.
    pub(crate) altered: bool,
    /// Whether one lane can be executed without the others: signs are the only modifiers.
    pub(crate) plain: bool,
    /// Whether it has no modifier at all.
    pub(crate) bare: bool,
    /// Whether a 16-bit result leaves the other half of its register alone.
    pub(crate) keeps_half: bool,
    /// Whether a compare writes EXEC as well.
    pub(crate) narrows: bool,
    /// The data that a memory instruction moves.
    pub(crate) shape: Shape,
    /// Its access to memory that waves share.
    pub(crate) sharing: Sharing,
    /// Whether compilers use it for less than whole dwords; see [`may_stick_out`](Self::may_stick_out).
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
    pub(crate) fn new(run: Handler, mut inst: Inst, offset: u32) -> Self {
        // Writes to NULL have no effect.
        for destination in [&mut inst.dst, &mut inst.sdst] {
            if *destination == Operand::NULL {
                *destination = Operand::None;
            }
        }
        let mods = &inst.mods;
        let crossed = mods.dpp.is_some() || mods.dpp8.is_some() || mods.sdwa.is_some();
        let is_half = matches!(inst.dst_type.element, Element::F16 | Element::I16 | Element::Bf16);
        let keeps_half = preserves_high_half(inst.op) || is_half && inst.set.writes_halves();
        let altered = mods.clamp || mods.omod != 0 || mods.op_sel & 8 != 0 || crossed || keeps_half;
        let modified = mods.neg | mods.abs | mods.op_sel & 7 != 0 || crossed;
        let shape = Shape::of(inst.op);
        let shape = if inst.set.keeps_halves { shape.keeping() } else { shape };
        Self {
            run,
            dst: vector_number(inst.dst).unwrap_or(0),
            src: std::array::from_fn(|index| source(inst.src[index], inst.src_type[index])),
            modified,
            altered,
            plain: !altered && mods.op_sel == 0,
            bare: !altered && !modified,
            keeps_half,
            narrows: inst.op.comparison().is_some_and(|comparison| comparison.narrows),
            shape,
            sharing: Sharing::of(&inst),
            widened: is_widened(inst.op),
            target: u32::MAX,
            offset,
            inst,
        }
    }
}

impl Step {
    /// Whether an access may extend past an allocation with a part of its first or last dword.
    ///
    /// A GPU has neither atomics nor scalar loads of bytes and halves. Compilers access the dwords around
    /// them instead. If the size of an array is not a multiple of four, its last dword extends past its end.
    pub(crate) fn may_stick_out(&self, address: u64, size: u64, kind: AccessKind) -> bool {
        let dwords = address.is_multiple_of(4) && size.is_multiple_of(4);
        self.widened && dwords && kind != AccessKind::Write
    }

    /// Whether a loop can build an atomic of a byte or a half from it.
    pub(crate) fn is_compare_and_swap(&self) -> bool {
        let Shape::Atomic { rmw, wide: false } = self.shape else { return false };
        matches!(rmw, Rmw::CompareSwap | Rmw::CompareSwapF | Rmw::CompareStore | Rmw::CompareStoreF)
    }

    /// Whether it is a load of whole dwords.
    pub(crate) fn loads_dwords(&self) -> bool {
        matches!(self.shape, Shape::Load(Width::Dwords(_)))
    }
}

/// Whether compilers use an instruction for less than whole dwords in any code.
fn is_widened(op: Op) -> bool {
    let atomic = matches!(Shape::of(op), Shape::Atomic { wide: false, .. });
    atomic || matches!(op, Op::s_load_dword | Op::s_buffer_load_dword)
}

/// Whether a 16-bit instruction keeps the other half of its destination; older instructions clear it.
fn preserves_high_half(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        v_mad_f16
            | v_mad_u16
            | v_mad_i16
            | v_fma_f16
            | v_div_fixup_f16
            | v_min3_f16
            | v_max3_f16
            | v_med3_f16
            | v_min3_i16
            | v_max3_i16
            | v_med3_i16
            | v_min3_u16
            | v_max3_u16
            | v_med3_u16
            | v_add_i16
            | v_sub_i16
            | v_cvt_pk_fp8_f32
            | v_cvt_pk_bf8_f32
            | v_cvt_pk_fp8_f32_ocp
            | v_cvt_pk_bf8_f32_ocp
            | v_cvt_pk_fp8_f32_bounded
            | v_cvt_pk_bf8_f32_bounded
            | v_bitop3_b16
            | v_ashr_pk_i8_i32
            | v_ashr_pk_u8_i32
    )
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
pub(crate) const INTEGERS: u8 = 208;

fn source(operand: Operand, ty: OperandType) -> Source {
    match operand {
        Operand::None => Source::None,
        Operand::NULL => Source::Constant(0),
        Operand::Sgpr(number) => Source::Scalar(number),
        Operand::Vgpr(number) => Source::Vector(number.into()),
        Operand::Agpr(number) => Source::Vector(FIRST_AGPR + u16::from(number)),
        Operand::Special(special) => Source::Special(special),
        Operand::Inline(code) => Source::Constant(match ty.element {
            Element::F16 => inline_f16(code).into(),
            // A bfloat is the high half of a single.
            Element::Bf16 | Element::PackedBf16 if code > INTEGERS => (inline_u32(code) >> 16).into(),
            Element::PackedF16 if code > INTEGERS => inline_f16(code).into(),
            Element::F64 | Element::B64 => inline_u64(code),
            _ => inline_u32(code).into(),
        }),
        Operand::Literal(value) => Source::Constant(match ty.element {
            Element::F64 => u64::from(value) << 32,
            _ => value.into(),
        }),
    }
}
