// SPDX-License-Identifier: MIT OR Apache-2.0
//! A decoded instruction: everything an interpreter needs, with nothing left to parse.

use super::opcode::Op;
use super::operand::{Operand, OperandType};
use super::set::{Family, InstructionSet};

/// The instruction formats.
///
/// `Vop2Sdwa`-like formats do not exist: a VOP1, VOP2 or VOPC instruction with an SDWA or DPP dword keeps its format
/// and has [`Mods::sdwa`] or [`Mods::dpp`] set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Encoding {
    /// Scalar, two sources.
    Sop2,
    /// Scalar, a 16-bit constant.
    Sopk,
    /// Scalar, one source.
    Sop1,
    /// Scalar compare into SCC.
    Sopc,
    /// Program control.
    Sopp,
    /// Scalar memory.
    Smem,
    /// Vector, two sources, 32-bit form.
    Vop2,
    /// Vector, one source, 32-bit form.
    Vop1,
    /// Vector compare into VCC, 32-bit form.
    Vopc,
    /// Vector, 64-bit form (VOP3A, and VOP3B where there is a scalar destination), compares too.
    Vop3,
    /// Packed and mixed-precision vector.
    Vop3p,
    /// Matrix instructions and the moves of accumulation registers.
    Mai,
    /// LDS.
    Ds,
    /// Memory by 64-bit address, segment found at run time.
    Flat,
    /// Global memory.
    Global,
    /// Private memory.
    Scratch,
    /// Buffers, untyped.
    Mubuf,
    /// Buffers with a format in the instruction.
    Mtbuf,
    /// Two vector instructions in one.
    Vopd,
}

/// One decoded instruction.
///
/// # Operand order
///
/// * ALU: `src` in the order of the text. `v_fmamk` is `[src0, Literal, vsrc1]`, `v_fmaak` `[src0, vsrc1,
///   Literal]`. Carry-in (`v_addc_co_u32`, `v_cndmask_b32`) is `src[2]`; in the 32-bit form it is VCC.
///   Carry-out is `sdst`; in the 32-bit form it is VCC. Compares have their mask in `dst`, in the 32-bit form
///   VCC; `v_cmpx` writes EXEC as well, and in GFX11, where `dst` is None, only EXEC. Accumulating instructions
///   (`v_fmac`, `v_dot2c`, `v_swap`, `s_addk_i32`, `s_cmovk_i32`, ...) read `dst`.
/// * SOPK compares: `src[0]` is the register, `imm` the constant. `s_setreg_b32`: `src[0]`, with the hardware
///   register in `imm` (id in bits 5:0, offset 10:6, size - 1 15:11). `s_setreg_imm32_b32`: `src[0]` is the
///   literal.
/// * SMEM: `src[0]` base, `src[1]` data (stores, atomics), `src[2]` offset register or None.
/// * DS: `src[0]` address, `src[1]` and `src[2]` data.
/// * FLAT, GLOBAL, SCRATCH: `src[0]` vector address or None, `src[1]` data, `src[2]` scalar address or None.
///   In GLOBAL with a scalar address `src[0]` is one 32-bit register (unsigned offset).
/// * MUBUF, MTBUF: `src[0]` vector address (index first, then offset; None if neither), `src[1]` data,
///   `src[2]` resource (4 registers), `src[3]` scalar offset.
/// * Loads and atomics that return have `dst`; other atomics have `dst` None.
/// * VOPD: see [`Inst::halves`].
/// * `v_mfma_scale_*`: `src[3]` holds the scales of A, `sdst`, which is no destination there, those of B. Their bits of `op_sel` and
///   `op_sel_hi` select a byte.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Inst {
    /// The instruction set, which also has the spelling.
    pub set: &'static InstructionSet,
    /// The meaning, independent of the encoding.
    pub op: Op,
    /// VOPD: the meaning of the second half.
    pub second: Option<Op>,
    /// The instruction format.
    pub encoding: Encoding,
    /// Length in bytes: 4, 8, 12 or 16.
    pub size: u8,
    /// Destination.
    pub dst: Operand,
    /// Scalar destination beside `dst`: carry-out, the flag of `v_div_scale`.
    pub sdst: Operand,
    /// Sources; see the operand order above.
    pub src: [Operand; 4],
    /// Type of `dst`.
    pub dst_type: OperandType,
    /// Types of `src`.
    pub src_type: [OperandType; 4],
    /// Modifiers of vector instructions.
    pub mods: Mods,
    /// Fields of memory instructions.
    pub mem: Mem,
    /// SOPK and SOPP constant, sign-extended from 16 bits; in branches a distance in dwords from the next instruction.
    /// `s_set_gpr_idx_on`: the mode bits. `s_sendmsg_rtn_b32` and `_b64`: the message. VOPD: the literal. `v_bitop3`: the truth table.
    pub imm: i32,
}

/// Modifiers of vector instructions. Bit `i` of a mask belongs to `src[i]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mods {
    /// Negate the source; in VOP3P the low half (`neg_lo`).
    pub neg: u8,
    /// Absolute value, before negation.
    pub abs: u8,
    /// VOP3P: negate the high half. `v_fma_mix*` and `v_mad_mix*` have absolute values in its place, which are in
    /// `abs`; this is zero then.
    pub neg_hi: u8,
    /// Half selection; bit 3 is the destination half; in GFX11 of every 16-bit operand of VOP3. VOP3P: half used for
    /// the low result; MFMA: unused.
    pub op_sel: u8,
    /// VOP3P: half used for the high result.
    pub op_sel_hi: u8,
    /// Clamp the result: floats to 0..1, integers saturate.
    pub clamp: bool,
    /// Output scale: 0 none, 1 times 2, 2 times 4, 3 divided by 2.
    pub omod: u8,
    /// MFMA: broadcast size of A (log2 of blocks); with several formats, that of A.
    pub cbsz: u8,
    /// MFMA: block of A that is broadcast.
    pub abid: u8,
    /// MFMA: lane pattern of B; with several formats, that of B; in gfx942's f64 MFMA the negation of A, B and C (bits 0, 1, 2).
    pub blgp: u8,
    /// Data-parallel primitive on `src[0]`.
    pub dpp: Option<Dpp>,
    /// Data-parallel primitive on `src[0]` within groups of eight lanes.
    pub dpp8: Option<Dpp8>,
    /// Sub-dword addressing.
    pub sdwa: Option<Sdwa>,
}

/// Data-parallel primitive: `src[0]` comes from another lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Dpp {
    /// dpp_ctrl, 9 bits: 0x000..=0x0ff quad_perm, 0x101.. row_shl, 0x111.. row_shr, 0x121.. row_ror, 0x130 wave_shl,
    /// 0x134 wave_rol, 0x138 wave_shr, 0x13c wave_ror, 0x140 row_mirror, 0x141 row_half_mirror, 0x142 row_bcast:15,
    /// 0x143 row_bcast:31, 0x150..=0x15f row_newbcast or row_share, 0x160..=0x16f row_xmask.
    pub ctrl: u16,
    /// Rows of 16 lanes that are written.
    pub row_mask: u8,
    /// Banks of 4 lanes in each row that are written.
    pub bank_mask: u8,
    /// Lanes without a valid source read 0 instead of keeping the destination.
    pub bound_ctrl: bool,
    /// Inactive lanes are valid sources too.
    pub fetch_inactive: bool,
}

/// Data-parallel primitive: `src[0]` comes from another of eight lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Dpp8 {
    /// The source of each lane, 3 bits each, the first lane's in the lowest.
    pub lanes: [u8; 3],
    /// Inactive lanes are valid sources too.
    pub fetch_inactive: bool,
}

impl Dpp8 {
    /// The lane that lane `at` of its eight reads.
    pub fn lane(self, at: usize) -> u8 {
        let [low, middle, high] = self.lanes;
        (u32::from_le_bytes([low, middle, high, 0]) >> (3 * at) & 7) as u8
    }
}

/// Sub-dword addressing: parts of the registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sdwa {
    /// Part of the destination that is written; `Dword` in compares.
    pub dst_sel: SdwaSel,
    /// The effect on the rest of the destination.
    pub dst_unused: SdwaUnused,
    /// Part of `src[0]` and of `src[1]`.
    pub src_sel: [SdwaSel; 2],
    /// Bit `i`: sign-extend `src[i]`.
    pub sext: u8,
}

/// A part of a 32-bit register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum SdwaSel {
    /// Bits 7:0.
    Byte0,
    /// Bits 15:8.
    Byte1,
    /// Bits 23:16.
    Byte2,
    /// Bits 31:24.
    Byte3,
    /// Bits 15:0.
    Word0,
    /// Bits 31:16.
    Word1,
    /// The whole register.
    Dword,
}

/// The part of an SDWA destination that is not written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum SdwaUnused {
    /// Filled with zero.
    Pad,
    /// Filled with the sign of the result.
    Sext,
    /// Kept.
    Preserve,
}

/// Fields of memory instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mem {
    /// Byte offset, sign-extended. DS with one address: the 16-bit offset; with two: offset0 in elements (times 64 in
    /// the `st64` forms). `ds_swizzle_b32`: the pattern.
    pub offset: i32,
    /// DS with two addresses: offset1 in elements.
    pub offset1: u8,
    /// Scope bit 0. In atomics it requests the old value. SMEM, all until gfx90a, and GFX11: glc.
    pub sc0: bool,
    /// Scope bit 1; scc of gfx90a, dlc of GFX11.
    pub sc1: bool,
    /// Non-temporal; slc until gfx90a and in GFX11.
    pub nt: bool,
    /// GFX12: the scope, 0 a compute unit, 3 the system.
    pub scope: u8,
    /// GFX12: the temporal hint. In atomics bit 0 requests the old value.
    pub hint: u8,
    /// MUBUF, GLOBAL and SCRATCH: data goes to LDS.
    pub lds: bool,
    /// Buffer: `src[0]` has an offset.
    pub offen: bool,
    /// Buffer: `src[0]` has an index.
    pub idxen: bool,
    /// DS: global data share.
    pub gds: bool,
    /// Buffer, until gfx908 and in GFX11: a further register tells which elements lie in sparse memory.
    pub tfe: bool,
    /// MTBUF: data format in bits 3:0, number format in bits 6:4. Since GFX11: one number for both.
    pub format: u8,
}

impl Inst {
    /// The target of a branch at the address `pc`; `None` if this is not a direct branch.
    pub fn branch_target(&self, pc: u64) -> Option<u64> {
        self.op.is_direct_branch().then(|| pc.wrapping_add(4).wrapping_add((i64::from(self.imm) * 4) as u64))
    }

    /// Whether the codes of its vector registers have a bit for the half of 16-bit operands.
    pub(super) fn has_bits_for_halves(&self) -> bool {
        let is_short = matches!(self.encoding, Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc);
        is_short && matches!(self.set.family, Family::Gfx11 | Family::Gfx12)
    }
}
