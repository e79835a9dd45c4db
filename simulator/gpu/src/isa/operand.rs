// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operands: registers, constants and special sources, and their types.

/// A source or destination of an instruction.
///
/// A register operand names its first register; [`OperandType::dwords`] is their number. One array of 128 holds all
/// scalar registers: see the constants of [`Operand`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
pub enum Operand {
    /// The instruction has no such operand.
    #[default]
    None,
    /// Scalar register, 0 to 127: s0..s101, then [`Operand::FLAT_SCRATCH`] (in GFX11 s102..s105), [`Operand::VCC`],
    /// trap temporaries, [`Operand::M0`], [`Operand::NULL`], [`Operand::EXEC`]. The numbers are those of GFX9 in every
    /// set.
    Sgpr(u8),
    /// Vector register v0..v255.
    Vgpr(u8),
    /// Accumulation register a0..a255.
    Agpr(u8),
    /// Inline constant, by its code: 128..=208 integers 0..=64 and -1..=-16, 240..=248 floats. The value depends on the
    /// operand's type: see [`inline_f16`], [`inline_u32`] and [`inline_u64`].
    Inline(u8),
    /// The 32-bit constant that follows the instruction. A 64-bit integer operand zero-extends or sign-extends it as
    /// the instruction says; a 64-bit float operand takes it as the high half; a 16-bit one takes the low half.
    Literal(u32),
    /// A source that is neither register nor constant.
    Special(Special),
}

impl Operand {
    /// FLAT_SCRATCH, low half.
    pub const FLAT_SCRATCH: Operand = Operand::Sgpr(102);
    /// VCC, low half.
    pub const VCC: Operand = Operand::Sgpr(106);
    /// M0.
    pub const M0: Operand = Operand::Sgpr(124);
    /// The register of GFX11 that reads as zero and ignores writes, in any width.
    pub const NULL: Operand = Operand::Sgpr(125);
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
    /// 235: the first address of the LDS aperture. The upper 32 bits are in the high half of the 64-bit
    /// value.
    SharedBase,
    /// 236: the last address of the LDS aperture.
    SharedLimit,
    /// 237: the first address of the private aperture.
    PrivateBase,
    /// 238: the last address of the private aperture.
    PrivateLimit,
    /// 239: the wave that leaves an ordered section.
    PopsExitingWaveId,
    /// 251: 1 if VCC is zero.
    Vccz,
    /// 252: 1 if EXEC is zero.
    Execz,
    /// 253: SCC.
    Scc,
    /// 254: an LDS value addressed by M0.
    LdsDirect,
}

/// The kind of one element of an operand. It decides how constants expand and whether source modifiers apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
#[repr(u8)]
pub enum Element {
    /// No operand.
    #[default]
    None,
    /// 16-bit float.
    F16,
    /// 16-bit brain float: the high half of a 32-bit float. Float constants are the high half of f32.
    Bf16,
    /// 16 bits, integer. Float constants are f16.
    I16,
    /// Two 16-bit integers in one register. Constants are those of 32 bits.
    Packed16,
    /// Two 16-bit floats in one register. A float constant is in the low half; integer constants are those of 32 bits.
    PackedF16,
    /// Two brain floats in one register, with constants as for [`PackedF16`](Self::PackedF16).
    PackedBf16,
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
        matches!(self.element, Element::F16 | Element::Bf16 | Element::F32 | Element::F64)
    }

    /// Whether it is one element of 16 bits.
    pub(super) fn is_half(self) -> bool {
        matches!(self.element, Element::F16 | Element::Bf16 | Element::I16) && self.dwords == 1
    }
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
