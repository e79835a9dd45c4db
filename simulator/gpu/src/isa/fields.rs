// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fields that the decoders of all formats share: bit fields, operand codes, the literal.

use super::error::DecodeError;
use super::inst::{Encoding, Inst, Mem, Mods};
use super::operand::{Element, Operand, OperandType, Special};
use super::set::{Family, InstructionSet};
use super::tables::{CARRY_IN, Row, SIGNED};

/// An operand code that the instruction does not take.
pub(super) struct Invalid;

/// Bits `low..low + width` of `word`.
pub(super) const fn field(word: u32, low: u32, width: u32) -> u32 {
    (word >> low) & ((1 << width) - 1)
}

/// Bit `at` of `word`.
pub(super) const fn bit(word: u32, at: u32) -> bool {
    (word >> at) & 1 != 0
}

/// The low `width` bits of `value` with their sign.
pub(super) const fn signed(value: u32, width: u32) -> i32 {
    ((value << (32 - width)) as i32) >> (32 - width)
}

/// Operand code of SDWA in `src0` of VOP1, VOP2 and VOPC.
pub(super) const SDWA: u32 = 249;
/// Operand code of DPP in `src0`.
pub(super) const DPP: u32 = 250;
/// Operand code of DPP8 in `src0`.
pub(super) const DPP8: u32 = 233;
/// Operand code of DPP8 that also reads inactive lanes.
pub(super) const DPP8_FI: u32 = 234;
/// Operand code of a literal.
pub(super) const LITERAL: u32 = 255;
/// This bit is set in the codes of vector registers.
pub(super) const VGPR: u32 = 256;

/// An instruction being decoded.
pub(super) struct Fields<'a> {
    words: &'a [u32],
    used: usize,
    /// The first word.
    pub(super) first: u32,
    /// The second word of 64-bit formats, 0 in 32-bit formats.
    pub(super) second: u32,
    /// The third word of 96-bit formats, else 0.
    pub(super) third: u32,
    /// The literal, read once.
    literal: Option<u32>,
    /// The row of the instruction.
    pub(super) row: &'static Row,
    /// The result so far.
    pub(super) inst: Inst,
    /// Set if a literal or an SDWA or DPP word is missing.
    truncated: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn new(
        set: &'static InstructionSet,
        words: &'a [u32],
        base_words: usize,
        encoding: Encoding,
        row: &'static Row,
    ) -> Result<Self, DecodeError> {
        let (Some(&first), true) = (words.first(), words.len() >= base_words) else {
            return Err(DecodeError::Truncated { have: words.len(), need: base_words });
        };
        let word = |at: usize| if at < base_words { words.get(at).copied().unwrap_or(0) } else { 0 };
        let third_source = if row.has(CARRY_IN) { set.mask() } else { row.src[2] };
        let inst = Inst {
            set,
            op: row.op,
            second: None,
            encoding,
            size: 0,
            dst: Operand::None,
            sdst: Operand::None,
            src: [Operand::None; 4],
            dst_type: OperandType::default(),
            src_type: [row.src[0], row.src[1], third_source, OperandType::default()],
            mods: Mods::default(),
            mem: Mem::default(),
            imm: 0,
        };
        Ok(Fields {
            words,
            used: base_words,
            first,
            second: word(1),
            third: word(2),
            literal: None,
            row,
            inst,
            truncated: false,
        })
    }

    /// The finished instruction, or the error.
    pub(super) fn finish(mut self, done: Result<(), Invalid>) -> Result<Inst, DecodeError> {
        if self.truncated {
            return Err(DecodeError::Truncated { have: self.words.len(), need: self.used + 1 });
        }
        if done.is_err() {
            let words = [self.first, self.words.get(1).copied().unwrap_or(0)];
            let (set, encoding) = (self.inst.set, Some(self.inst.encoding));
            return Err(DecodeError::Unknown { set, words, encoding });
        }
        self.inst.size = (self.used * 4) as u8;
        for i in 0..4 {
            if self.inst.src[i].is_none() {
                self.inst.src_type[i] = OperandType::default();
            }
        }
        Ok(self.inst)
    }

    /// The next word after the base of the instruction.
    pub(super) fn extra_word(&mut self) -> Result<u32, Invalid> {
        match self.words.get(self.used) {
            Some(&word) => {
                self.used += 1;
                Ok(word)
            }
            None => {
                self.truncated = true;
                Err(Invalid)
            }
        }
    }

    /// The family of the instruction set.
    pub(super) fn family(&self) -> Family {
        self.inst.set.family
    }

    /// Scalar register `code` as the first of `dwords`.
    pub(super) fn scalar(&self, code: u32, dwords: u8) -> Result<Operand, Invalid> {
        match self.family() {
            Family::Gfx9 => scalar_gfx9(code, dwords),
            Family::Gfx10 => scalar_rdna(code, dwords, 125, 124),
            Family::Gfx11 | Family::Gfx12 => scalar_rdna(code, dwords, 124, 125),
        }
    }

    /// The literal, the same for every operand that names it. An instruction with DPP has none.
    pub(super) fn literal(&mut self) -> Result<Operand, Invalid> {
        if self.inst.mods.dpp.is_some() || self.inst.mods.dpp8.is_some() {
            return Err(Invalid);
        }
        let word = match self.literal {
            Some(word) => word,
            None => self.extra_word()?,
        };
        self.literal = Some(word);
        Ok(Operand::Literal(word))
    }

    /// The literal, if an operand has read it.
    pub(super) fn literal_if_read(&self) -> Option<u32> {
        self.literal
    }

    /// Source operand of type `ty` by its 8-bit or 9-bit code.
    pub(super) fn source(&mut self, code: u32, ty: OperandType) -> Result<Operand, Invalid> {
        match code {
            0..=127 => self.scalar(code, ty.dwords),
            128..=208 | 240..=248 => Ok(Operand::Inline(code as u8)),
            LITERAL
                if self.family() == Family::Gfx9
                    && matches!(self.inst.encoding, Encoding::Vop3 | Encoding::Vop3p | Encoding::Mai) =>
            {
                Err(Invalid)
            }
            LITERAL => self.literal(),
            235 => Ok(Operand::Special(Special::SharedBase)),
            236 => Ok(Operand::Special(Special::SharedLimit)),
            237 => Ok(Operand::Special(Special::PrivateBase)),
            238 => Ok(Operand::Special(Special::PrivateLimit)),
            239 => Ok(Operand::Special(Special::PopsExitingWaveId)),
            251 => Ok(Operand::Special(Special::Vccz)),
            252 => Ok(Operand::Special(Special::Execz)),
            253 => Ok(Operand::Special(Special::Scc)),
            254 if ty.dwords == 1 && self.is_vector() => Ok(Operand::Special(Special::LdsDirect)),
            VGPR.. => vgpr(code - VGPR, ty.dwords),
            _ => Err(Invalid),
        }
    }

    /// Whether this is a vector instruction. Only vector instructions read LDS directly.
    fn is_vector(&self) -> bool {
        matches!(
            self.inst.encoding,
            Encoding::Vop1
                | Encoding::Vop2
                | Encoding::Vopc
                | Encoding::Vop3
                | Encoding::Vop3p
                | Encoding::Vopd
        )
    }

    /// Sets source `at` from its code, if the row has it.
    pub(super) fn set_source(&mut self, at: usize, code: u32) -> Result<(), Invalid> {
        let ty = self.inst.src_type[at];
        if ty.element != Element::None {
            let code = if code >= VGPR { self.half(at, code, ty) } else { code };
            self.inst.src[at] = self.source(code, ty)?;
        }
        Ok(())
    }

    /// The code of the vector register of operand `at` (3 is the destination). In 32-bit forms of GFX11, bit 7 selects
    /// the half of a register with a 16-bit value.
    fn half(&mut self, at: usize, code: u32, ty: OperandType) -> u32 {
        const HIGH: u32 = 128;
        if !self.inst.has_bits_for_halves() || !ty.is_half() || code & HIGH == 0 {
            return code;
        }
        self.inst.mods.op_sel |= 1 << at;
        code & !HIGH
    }

    /// Whether negation and absolute value apply to source `at` outside VOP3P.
    pub(super) fn is_signed(&self, at: usize) -> bool {
        let ty = self.row.src[at];
        let is_packed = matches!(ty.element, Element::PackedF16 | Element::PackedBf16);
        ty.is_float() || is_packed || self.row.has(SIGNED) && ty.element == Element::I16
    }

    /// Sets the destination to a vector register, if the row has one.
    pub(super) fn set_vector_dst(&mut self, code: u32) -> Result<(), Invalid> {
        let ty = self.row.dst;
        let code = self.half(3, code, ty);
        self.set_dst(vgpr(code, ty.dwords))
    }

    /// Sets the destination to a lane mask, if the row has one.
    pub(super) fn set_mask_dst(&mut self, dst: Result<Operand, Invalid>) -> Result<(), Invalid> {
        self.set_dst(dst)?;
        if !self.inst.dst.is_none() {
            self.inst.dst_type = self.inst.set.mask();
        }
        Ok(())
    }

    /// Sets the destination and its type, if the row has one.
    pub(super) fn set_dst(&mut self, dst: Result<Operand, Invalid>) -> Result<(), Invalid> {
        if self.row.dst.element != Element::None {
            self.inst.dst = dst?;
            self.inst.dst_type = self.row.dst;
        }
        Ok(())
    }
}

/// The multiple at which a group of `dwords` scalar registers starts.
fn alignment(dwords: u8) -> u32 {
    match dwords {
        0 | 1 => 1,
        2 => 2,
        _ => 4,
    }
}

/// Scalar register `code` of GFX10 or GFX11, which have NULL and M0 the other way round. The low bits of an unaligned
/// general register are ignored.
fn scalar_rdna(code: u32, dwords: u8, null: u32, m0: u32) -> Result<Operand, Invalid> {
    let align = alignment(dwords);
    let (first, limit) = match code {
        0..=105 => (code & !(align - 1), 106),
        106 | 107 if code.is_multiple_of(align) => (code, 108),
        108..=123 => (code & !(align - 1), 124),
        _ if code == null => return Ok(Operand::NULL),
        _ if code == m0 && dwords <= 1 => return Ok(Operand::M0),
        126 | 127 if code.is_multiple_of(align) => (code, 128),
        _ => return Err(Invalid),
    };
    if first + u32::from(dwords) <= limit { Ok(Operand::Sgpr(first as u8)) } else { Err(Invalid) }
}

/// Scalar register `code` of GFX9. The low bits of an unaligned general register are ignored.
fn scalar_gfx9(code: u32, dwords: u8) -> Result<Operand, Invalid> {
    let align = alignment(dwords);
    let first = match code {
        0..=101 | 108..=123 => code & !(align - 1),
        _ if code.is_multiple_of(align) => code,
        _ => return Err(Invalid),
    };
    // The general registers, FLAT_SCRATCH, XNACK_MASK, VCC, the trap temporaries and EXEC are ranges of their own. A
    // resource in s[100:103] reaches into FLAT_SCRATCH.
    let limit = match first {
        0..=101 => 102 + 2 * u32::from(align == 4),
        102..=107 => (first & !1) + 2,
        108..=123 => 124,
        124 if dwords <= 1 => 125,
        126 | 127 => 128,
        _ => return Err(Invalid),
    };
    if first + u32::from(dwords) <= limit { Ok(Operand::Sgpr(first as u8)) } else { Err(Invalid) }
}

/// Vector register `code` as the first of `dwords`.
pub(super) fn vgpr(code: u32, dwords: u8) -> Result<Operand, Invalid> {
    vector(code, dwords).map(Operand::Vgpr)
}

/// Accumulation register `code` if `acc`, or else vector register, as the first of `dwords`.
pub(super) fn vgpr_or_agpr(code: u32, dwords: u8, acc: bool) -> Result<Operand, Invalid> {
    vector(code, dwords).map(if acc { Operand::Agpr } else { Operand::Vgpr })
}

fn vector(code: u32, dwords: u8) -> Result<u8, Invalid> {
    if code + u32::from(dwords) <= 256 { Ok(code as u8) } else { Err(Invalid) }
}
