// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of operands: registers, constants, special sources.

use std::fmt::{self, Display, Formatter};

use super::Op;
use super::inst::{Encoding, Inst};
use super::operand::{Element, Operand, OperandType, Special, inline_f16, inline_u32, inline_u64};
use super::set::Family;
use super::tables;

/// `operand` of an instruction with its type, to be displayed.
pub(super) fn operand(inst: &Inst, operand: Operand, ty: OperandType) -> impl Display {
    let mut ty = ty;
    ty.element = match (ty.element, inst.encoding) {
        // LLVM shows each constant as a half.
        (Element::F32, _) if tables::is_mix(inst.op) => Element::F16,
        // It shows literals with all their bits.
        (Element::F16, Encoding::Sop1) => Element::B32,
        // It shows halves as integers.
        (Element::F16, Encoding::Sopc) => Element::I16,
        (element, _) => element,
    };
    Text { operand, ty, family: inst.set.family }
}

/// SourceText `at` with negation, absolute value and sign extension.
pub(super) fn source(inst: &Inst, at: usize) -> impl Display {
    SourceText { inst: *inst, at }
}

struct Text {
    operand: Operand,
    ty: OperandType,
    family: Family,
}

impl Display for Text {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.operand {
            Operand::None => f.write_str("off"),
            Operand::Sgpr(first) => scalar(f, first, self.ty.dwords, self.family),
            Operand::Vgpr(first) => registers(f, "v", first, self.ty.dwords),
            Operand::Agpr(first) => registers(f, "a", first, self.ty.dwords),
            Operand::Inline(code) => inline(f, code, self.ty.element),
            Operand::Literal(value) => literal(f, value, self.ty.element),
            Operand::Special(special) => f.write_str(match special {
                Special::SharedBase => "src_shared_base",
                Special::SharedLimit => "src_shared_limit",
                Special::PrivateBase => "src_private_base",
                Special::PrivateLimit => "src_private_limit",
                Special::PopsExitingWaveId => "src_pops_exiting_wave_id",
                Special::Vccz => "src_vccz",
                Special::Execz => "src_execz",
                Special::Scc => "src_scc",
                Special::LdsDirect => "src_lds_direct",
            }),
        }
    }
}

fn registers(f: &mut Formatter<'_>, file: &str, first: u8, dwords: u8) -> fmt::Result {
    match dwords {
        0 | 1 => write!(f, "{file}{first}"),
        _ => write!(f, "{file}[{first}:{}]", u32::from(first) + u32::from(dwords) - 1),
    }
}

fn scalar(f: &mut Formatter<'_>, first: u8, dwords: u8, family: Family) -> fmt::Result {
    let named = |f: &mut Formatter<'_>, name: &str| match (dwords, first & 1) {
        (2, _) => f.write_str(name),
        (_, 0) => write!(f, "{name}_lo"),
        _ => write!(f, "{name}_hi"),
    };
    match first {
        102 | 103 if family == Family::Gfx9 => named(f, "flat_scratch"),
        104 | 105 if family == Family::Gfx9 => named(f, "xnack_mask"),
        106 | 107 => named(f, "vcc"),
        126 | 127 => named(f, "exec"),
        108..=123 => registers(f, "ttmp", first - 108, dwords),
        124 => f.write_str("m0"),
        125 => f.write_str("null"),
        _ => registers(f, "s", first, dwords),
    }
}

/// The float constants that an operand can have without a literal, by code.
fn float_name(code: u8, element: Element) -> &'static str {
    match code {
        240 => "0.5",
        241 => "-0.5",
        242 => "1.0",
        243 => "-1.0",
        244 => "2.0",
        245 => "-2.0",
        246 => "4.0",
        247 => "-4.0",
        _ if matches!(element, Element::F64 | Element::B64) => "0.15915494309189532",
        _ => "0.15915494",
    }
}

fn inline(f: &mut Formatter<'_>, code: u8, element: Element) -> fmt::Result {
    match code {
        128..=192 => write!(f, "{}", i32::from(code) - 128),
        193..=208 => write!(f, "{}", 192 - i32::from(code)),
        _ if element == Element::I16 => write!(f, "{:#x}", inline_f16(code)),
        _ => f.write_str(float_name(code, element)),
    }
}

/// A literal that equals an inline constant is shown as that constant.
fn literal(f: &mut Formatter<'_>, value: u32, element: Element) -> fmt::Result {
    const FLOATS: std::ops::RangeInclusive<u8> = 240..=248;
    match element {
        Element::F16 => {
            let low = value as u16;
            match (low as i16, FLOATS.into_iter().find(|&code| inline_f16(code) == low)) {
                (small @ -16..=64, _) => write!(f, "{small}"),
                (_, Some(code)) => f.write_str(float_name(code, element)),
                _ => write!(f, "{low:#x}"),
            }
        }
        Element::Bf16 | Element::PackedBf16 => {
            match (value as i32, FLOATS.into_iter().find(|&code| inline_u32(code) >> 16 == value)) {
                (small @ -16..=64, _) => write!(f, "{small}"),
                (_, Some(code)) => f.write_str(float_name(code, element)),
                _ => write!(f, "{value:#x}"),
            }
        }
        Element::PackedF16 => {
            match (value as i32, FLOATS.into_iter().find(|&code| u32::from(inline_f16(code)) == value)) {
                (small @ -16..=64, _) => write!(f, "{small}"),
                (_, Some(code)) => f.write_str(float_name(code, element)),
                _ => write!(f, "{value:#x}"),
            }
        }
        Element::B64 => match value {
            0..=64 => write!(f, "{value}"),
            _ => write!(f, "{value:#x}"),
        },
        Element::F64 => {
            // The literal is the high half.
            let bits = u64::from(value) << 32;
            match FLOATS.into_iter().find(|&code| inline_u64(code) == bits) {
                Some(code) => f.write_str(float_name(code, element)),
                None if value == 0 => f.write_str("0"),
                None => write!(f, "{value:#x}"),
            }
        }
        _ => {
            let code = FLOATS.into_iter().find(|&code| inline_u32(code) == value);
            match (value as i32, code) {
                (small @ -16..=64, _) => write!(f, "{small}"),
                (_, Some(code)) => f.write_str(float_name(code, element)),
                // Of a 16-bit integer, only the low half is shown, and the rest is compared with the constants too.
                _ if element == Element::I16 => write!(f, "{:#x}", value as u16),
                _ => write!(f, "{value:#x}"),
            }
        }
    }
}

/// The source that is the constant of an instruction that always has one.
fn constant_place(op: Op) -> Option<usize> {
    match op {
        Op::v_fmamk_f32 | Op::v_madmk_f32 | Op::v_madmk_f16 | Op::v_fmamk_f16 | Op::s_fmamk_f32 => Some(1),
        Op::v_fmaak_f32 | Op::v_madak_f32 | Op::v_madak_f16 | Op::v_fmaak_f16 | Op::s_fmaak_f32 => Some(2),
        _ => None,
    }
}

struct SourceText {
    inst: Inst,
    at: usize,
}

impl Display for SourceText {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some((&op, &ty)) = self.inst.src.get(self.at).zip(self.inst.src_type.get(self.at)) else {
            return Ok(());
        };
        if let Operand::Literal(value) = op
            && constant_place(self.inst.op) == Some(self.at)
        {
            // It is always shown in hexadecimal.
            return write!(f, "{value:#x}");
        }
        let text = operand(&self.inst, op, ty);
        let mask = 1u8 << self.at;
        let half = half(&self.inst, self.at);
        let mods = &self.inst.mods;
        // In packed formats the signs belong to halves and are shown behind the operands, except in mixed precision.
        let signs = !packed_signs(&self.inst);
        let (negative, absolute) = (signs && mods.neg & mask != 0, signs && mods.abs & mask != 0);
        let constant = matches!(op, Operand::Inline(_) | Operand::Literal(_));
        match (negative, absolute) {
            (true, true) => write!(f, "-|{text}{half}|"),
            (false, true) => write!(f, "|{text}{half}|"),
            (true, false) if constant => write!(f, "neg({text})"),
            (true, false) => write!(f, "-{text}{half}"),
            (false, false) if mods.sdwa.is_some_and(|sdwa| sdwa.sext & mask != 0) => {
                write!(f, "sext({text})")
            }
            (false, false) => write!(f, "{text}{half}"),
        }
    }
}

/// The half of a register that operand `at` is (3 is the destination), where it is shown. LLVM 19 shows it in few
/// instructions, and cannot read the others with a high half; newer releases show it in all.
pub(super) fn half(inst: &Inst, at: usize) -> &'static str {
    let ty = if at < 3 { inst.src_type[at] } else { inst.dst_type };
    let is_new = ty.is_half() && inst.has_bits_for_halves() && inst.mods.op_sel != 0;
    match inst.mods.op_sel >> at & 1 {
        _ if at < 3 && !matches!(inst.src[at], Operand::Vgpr(_)) => "",
        _ if !tables::has_halves(inst.op) && !is_new => "",
        0 => ".l",
        _ => ".h",
    }
}

/// Whether the signs of this instruction's sources are shown as `neg_lo` and `neg_hi`.
pub(super) fn packed_signs(inst: &Inst) -> bool {
    inst.encoding == Encoding::Vop3p && !tables::is_mix(inst.op)
}

/// An integer: decimal if an inline constant has the value, else hexadecimal.
pub(super) struct Int(pub(super) i64);

impl Display for Int {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            -16..=64 => write!(f, "{}", self.0),
            _ => write!(f, "{:#x}", self.0),
        }
    }
}

/// A hexadecimal integer with a sign.
pub(super) struct SignedHex(pub(super) i32);

impl Display for SignedHex {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{:#x}", self.0.unsigned_abs())
    }
}
