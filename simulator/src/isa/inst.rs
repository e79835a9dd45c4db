// SPDX-License-Identifier: MIT OR Apache-2.0
//! One decoded instruction: what an interpreter needs, with nothing left to parse.

use super::opcode::Op;
use super::set::InstructionSet;

/// The instruction formats of the GFX9 family.
///
/// `Vop2Sdwa`-like formats do not exist: a VOP1, VOP2 or VOPC instruction with an SDWA or DPP dword keeps its format and
/// has [`Mods::sdwa`] or [`Mods::dpp`] set.
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
}

/// A source or destination.
///
/// A register operand names its first register; [`OperandType::dwords`] says how many there are. Scalar registers have
/// their hardware number, so one array of 128 holds them all: see the constants of [`Operand`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Operand {
    /// The instruction has no such operand.
    #[default]
    None,
    /// Scalar register, 0 to 127: s0..s101, then [`Operand::FLAT_SCRATCH`], [`Operand::VCC`], trap temporaries,
    /// [`Operand::M0`], [`Operand::EXEC`]. There is no 125.
    Sgpr(u8),
    /// Vector register v0..v255.
    Vgpr(u8),
    /// Accumulation register a0..a255.
    Agpr(u8),
    /// Inline constant, by its code: 128..=208 integers 0..=64 and -1..=-16, 240..=248 floats. The value depends on the
    /// operand's type: see [`inline_f16`], [`inline_u32`] and [`inline_u64`].
    Inline(u8),
    /// The 32-bit constant that follows the instruction. A 64-bit integer operand zero-extends or sign-extends it as the
    /// instruction says; a 64-bit float operand takes it as the high half; a 16-bit one takes the low half.
    Literal(u32),
    /// A source with a meaning of its own.
    Special(Special),
}

impl Operand {
    /// FLAT_SCRATCH, low half.
    pub const FLAT_SCRATCH: Operand = Operand::Sgpr(102);
    /// XNACK_MASK, low half.
    pub const XNACK_MASK: Operand = Operand::Sgpr(104);
    /// VCC, low half.
    pub const VCC: Operand = Operand::Sgpr(106);
    /// M0.
    pub const M0: Operand = Operand::Sgpr(124);
    /// EXEC, low half.
    pub const EXEC: Operand = Operand::Sgpr(126);

    /// Whether there is no operand.
    pub fn is_none(self) -> bool {
        self == Operand::None
    }
}

/// Sources that are neither register nor constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Special {
    /// 235: the high dword of the LDS aperture's first address is the high half of this 64-bit value.
    SharedBase,
    /// 236: the last address of the LDS aperture.
    SharedLimit,
    /// 237: the first address of the private aperture.
    PrivateBase,
    /// 238: the last address of the private aperture.
    PrivateLimit,
    /// 239: the wave that leaves an ordered section.
    PopsExitingWaveId,
    /// 251: 1 where VCC is zero.
    Vccz,
    /// 252: 1 where EXEC is zero.
    Execz,
    /// 253: SCC.
    Scc,
    /// 254: an LDS value addressed by M0.
    LdsDirect,
}

/// What one element of an operand is, as far as constants and source modifiers care.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
#[repr(u8)]
pub enum Element {
    /// No operand.
    #[default]
    None,
    /// 16-bit float.
    F16,
    /// 16 bits, integer. Float constants are f16.
    I16,
    /// Two 16-bit values in one register. A constant is in the low half, float constants are f16.
    Packed16,
    /// 32-bit float.
    F32,
    /// 32 bits, or less in a 32-bit register.
    B32,
    /// 64-bit float, in a register pair.
    F64,
    /// 64 bits, in a register pair.
    B64,
}

/// The type of one operand: how many registers, and how constants expand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub struct OperandType {
    /// Kind of each element.
    pub element: Element,
    /// Number of 32-bit registers.
    pub dwords: u8,
}

impl OperandType {
    /// Whether negation and absolute value apply: the elements are floats.
    pub fn is_float(self) -> bool {
        matches!(self.element, Element::F16 | Element::F32 | Element::F64)
    }
}

/// One decoded instruction.
///
/// # Operand order
///
/// * ALU: `src` in the order of the text. `v_fmamk` is `[src0, Literal, vsrc1]`, `v_fmaak` `[src0, vsrc1, Literal]`.
///   Carry-in (`v_addc_co_u32`, `v_cndmask_b32`) is `src[2]`, VCC made explicit in the 32-bit form. Carry-out is
///   `sdst`, VCC made explicit. Compares have their mask in `dst` (VCC made explicit in the 32-bit form); `v_cmpx` writes
///   EXEC as well. Accumulating instructions (`v_fmac`, `v_dot2c`, `v_swap`, `s_addk_i32`, `s_cmovk_i32`, ...) read `dst`.
/// * SOPK compares: `src[0]` is the register, `imm` the constant. `s_setreg_b32`: `src[0]`, with the hardware register in
///   `imm` (id in bits 5:0, offset 10:6, size - 1 15:11). `s_setreg_imm32_b32`: `src[0]` is the literal.
/// * SMEM: `src[0]` base, `src[1]` data (stores, atomics), `src[2]` offset register or None.
/// * DS: `src[0]` address, `src[1]` and `src[2]` data.
/// * FLAT, GLOBAL, SCRATCH: `src[0]` vector address or None, `src[1]` data, `src[2]` scalar address or None. In GLOBAL with
///   a scalar address `src[0]` is one 32-bit register (unsigned offset).
/// * MUBUF, MTBUF: `src[0]` vector address (index first, then offset; None if neither), `src[1]` data, `src[2]`
///   resource (4 registers), `src[3]` scalar offset.
/// * Loads and atomics that return have `dst`; other atomics have `dst` None.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Inst {
    /// The set that it belongs to, which knows how it is written.
    pub set: &'static InstructionSet,
    /// What to do, whatever the encoding.
    pub op: Op,
    /// The format it came in.
    pub encoding: Encoding,
    /// Length in bytes: 4, 8 or 12.
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
    /// `s_set_gpr_idx_on`: the mode bits.
    pub imm: i32,
}

/// Modifiers of vector instructions. Bit `i` of a mask belongs to `src[i]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mods {
    /// Negate the source; in VOP3P the low half (`neg_lo`).
    pub neg: u8,
    /// Absolute value, before negation.
    pub abs: u8,
    /// VOP3P: negate the high half. `v_fma_mix*`: absolute value, also put in `abs`, and this is zero.
    pub neg_hi: u8,
    /// Half selection; bit 3 is the destination half. VOP3P: half used for the low result; MFMA: unused.
    pub op_sel: u8,
    /// VOP3P: half used for the high result.
    pub op_sel_hi: u8,
    /// Clamp the result: floats to 0..1, integers saturate.
    pub clamp: bool,
    /// Output scale: 0 none, 1 times 2, 2 times 4, 3 divided by 2.
    pub omod: u8,
    /// MFMA: broadcast size of A (log2 of blocks).
    pub cbsz: u8,
    /// MFMA: block of A that is broadcast.
    pub abid: u8,
    /// MFMA: lane pattern of B; in gfx942's f64 MFMA the negation of A, B and C (bits 0, 1, 2).
    pub blgp: u8,
    /// Data-parallel primitive on `src[0]`.
    pub dpp: Option<Dpp>,
    /// Sub-dword addressing.
    pub sdwa: Option<Sdwa>,
}

/// Data-parallel primitive: `src[0]` comes from another lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Dpp {
    /// dpp_ctrl, 9 bits: 0x000..=0x0ff quad_perm, 0x101.. row_shl, 0x111.. row_shr, 0x121.. row_ror, 0x130 wave_shl,
    /// 0x134 wave_rol, 0x138 wave_shr, 0x13c wave_ror, 0x140 row_mirror, 0x141 row_half_mirror, 0x142 row_bcast:15,
    /// 0x143 row_bcast:31, 0x150..=0x15f row_newbcast.
    pub ctrl: u16,
    /// Rows of 16 lanes that are written.
    pub row_mask: u8,
    /// Banks of 4 lanes in each row that are written.
    pub bank_mask: u8,
    /// Lanes without a valid source read 0 instead of keeping the destination.
    pub bound_ctrl: bool,
}

/// Sub-dword addressing: parts of the registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sdwa {
    /// Part of the destination that is written; `Dword` in compares.
    pub dst_sel: SdwaSel,
    /// What happens to the rest of the destination.
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
    /// Scope bit 0; in atomics it asks for the old value. SMEM, and all of gfx90a: glc.
    pub sc0: bool,
    /// Scope bit 1; scc of gfx90a.
    pub sc1: bool,
    /// Non-temporal; slc of gfx90a.
    pub nt: bool,
    /// MUBUF, GLOBAL and SCRATCH: data goes to LDS.
    pub lds: bool,
    /// Buffer: `src[0]` has an offset.
    pub offen: bool,
    /// Buffer: `src[0]` has an index.
    pub idxen: bool,
    /// DS: global data share.
    pub gds: bool,
    /// MTBUF: data format in bits 3:0, number format in bits 6:4.
    pub format: u8,
}

/// The bits of inline constant `code` as a 16-bit operand: f16 for the float codes.
pub fn inline_f16(code: u8) -> u16 {
    match code {
        240 => 0x3800,
        241 => 0xb800,
        242 => 0x3c00,
        243 => 0xbc00,
        244 => 0x4000,
        245 => 0xc000,
        246 => 0x4400,
        247 => 0xc400,
        248 => 0x3118,
        _ => inline_int(code) as u16,
    }
}

/// The bits of inline constant `code` as a 32-bit operand: f32 for the float codes.
pub fn inline_u32(code: u8) -> u32 {
    match code {
        240 => 0x3f00_0000,
        241 => 0xbf00_0000,
        242 => 0x3f80_0000,
        243 => 0xbf80_0000,
        244 => 0x4000_0000,
        245 => 0xc000_0000,
        246 => 0x4080_0000,
        247 => 0xc080_0000,
        248 => 0x3e22_f983,
        _ => inline_int(code) as u32,
    }
}

/// The bits of inline constant `code` as a 64-bit operand: f64 for the float codes, sign-extended integers otherwise.
pub fn inline_u64(code: u8) -> u64 {
    match code {
        240 => 0x3fe0_0000_0000_0000,
        241 => 0xbfe0_0000_0000_0000,
        242 => 0x3ff0_0000_0000_0000,
        243 => 0xbff0_0000_0000_0000,
        244 => 0x4000_0000_0000_0000,
        245 => 0xc000_0000_0000_0000,
        246 => 0x4010_0000_0000_0000,
        247 => 0xc010_0000_0000_0000,
        248 => 0x3fc4_5f30_6dc9_c882,
        _ => i64::from(inline_int(code)) as u64,
    }
}

/// The integer of inline code `code`, 0 for codes that are not integers.
fn inline_int(code: u8) -> i32 {
    match code {
        128..=192 => i32::from(code) - 128,
        193..=208 => 192 - i32::from(code),
        _ => 0,
    }
}

impl Inst {
    /// Where a branch goes, from `pc`, the address of this instruction. None if this is no direct branch.
    pub fn branch_target(&self, pc: u64) -> Option<u64> {
        self.op.is_direct_branch().then(|| pc.wrapping_add(4).wrapping_add((i64::from(self.imm) * 4) as u64))
    }
}
