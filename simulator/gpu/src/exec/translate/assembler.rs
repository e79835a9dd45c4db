// SPDX-License-Identifier: MIT OR Apache-2.0
//! An assembler of the instructions of x86-64 that translated blocks consist of.

use super::vex::{self, Vex};

/// A general register, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reg(pub(super) u8);

pub(super) const RAX: Reg = Reg(0);
pub(super) const RCX: Reg = Reg(1);
pub(super) const RDX: Reg = Reg(2);
pub(super) const RBX: Reg = Reg(3);
pub(super) const RSI: Reg = Reg(6);
pub(super) const RDI: Reg = Reg(7);
pub(super) const R12: Reg = Reg(12);
pub(super) const R13: Reg = Reg(13);
pub(super) const R14: Reg = Reg(14);
pub(super) const R15: Reg = Reg(15);

/// A vector register of 256 bits, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ymm(pub(super) u8);

/// The place of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A register of either kind.
    Register(u8),
    /// Memory at a register plus a distance.
    Memory(Reg, i32),
}

impl From<Ymm> for Place {
    fn from(register: Ymm) -> Self {
        Self::Register(register.0)
    }
}

impl From<Reg> for Place {
    fn from(register: Reg) -> Self {
        Self::Register(register.0)
    }
}

/// A shift of the words of a vector by the same distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shift {
    /// To the left.
    Left = 6,
    /// To the right, with zeros.
    Right = 2,
    /// To the right, with copies of the sign.
    SignedRight = 4,
}

/// Conditions of jumps and flags, by their code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Overflow = 0,
    Below = 2,
    AboveOrEqual = 3,
    Equal = 4,
    NotEqual = 5,
    BelowOrEqual = 6,
    Above = 7,
    Less = 12,
    GreaterOrEqual = 13,
    LessOrEqual = 14,
    Greater = 15,
}

/// An operation of two general registers, by the opcode with a register first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alu {
    Add = 0x03,
    Or = 0x0b,
    AddCarry = 0x13,
    SubBorrow = 0x1b,
    And = 0x23,
    Sub = 0x2b,
    Xor = 0x33,
    Compare = 0x3b,
}

/// The width of an operation of general registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bits {
    B32,
    B64,
}

/// A jump whose target is not known yet.
#[derive(Debug)]
#[must_use = "a jump needs a target"]
pub(super) struct Jump(usize);

/// A place in the code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label(usize);

/// Machine code that is being written.
#[derive(Default)]
pub(super) struct Assembler {
    bytes: Vec<u8>,
}

impl Assembler {
    /// The code.
    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// The place of the next instruction.
    pub(super) fn here(&self) -> Label {
        Label(self.bytes.len())
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The operands behind an opcode.
    fn operands(&mut self, register: u8, place: Place) {
        let register = (register & 7) << 3;
        match place {
            Place::Register(other) => self.put(&[0xc0 | register | other & 7]),
            Place::Memory(Reg(base), distance) => {
                self.put(&[0x80 | register | base & 7]);
                // This number means that a byte for an index follows.
                if base & 7 == 4 {
                    self.put(&[0x24]);
                }
                self.put(&distance.to_le_bytes());
            }
        }
    }

    /// An instruction of general registers. `rex` has the bits that it needs in any case.
    fn general(&mut self, rex: u8, bits: Bits, opcode: &[u8], register: u8, place: Place) {
        let (Place::Register(other) | Place::Memory(Reg(other), _)) = place;
        let rex = rex | u8::from(bits == Bits::B64) << 3 | register >> 3 << 2 | other >> 3;
        if rex != 0 {
            self.put(&[0x40 | rex]);
        }
        self.put(opcode);
        self.operands(register, place);
    }

    /// `mov register, place`.
    pub(super) fn load(&mut self, bits: Bits, register: Reg, place: impl Into<Place>) {
        self.general(0, bits, &[0x8b], register.0, place.into());
    }

    /// `mov place, register`.
    pub(super) fn store(&mut self, bits: Bits, place: impl Into<Place>, register: Reg) {
        self.general(0, bits, &[0x89], register.0, place.into());
    }

    /// `movzx register, byte place`.
    pub(super) fn load_byte(&mut self, register: Reg, place: impl Into<Place>) {
        self.general(0, Bits::B32, &[0x0f, 0xb6], register.0, place.into());
    }

    /// `mov byte place, value`.
    pub(super) fn store_byte(&mut self, base: Reg, distance: i32, value: u8) {
        self.general(0, Bits::B32, &[0xc6], 0, Place::Memory(base, distance));
        self.put(&[value]);
    }

    /// `lea register, [base + distance]`.
    pub(super) fn address(&mut self, register: Reg, base: Reg, distance: i32) {
        self.general(0, Bits::B64, &[0x8d], register.0, Place::Memory(base, distance));
    }

    /// `mov register, value`.
    pub(super) fn constant(&mut self, register: Reg, value: u64) {
        let high = register.0 >> 3;
        match u32::try_from(value) {
            Ok(value) => {
                if high != 0 {
                    self.put(&[0x41]);
                }
                self.put(&[0xb8 | register.0 & 7]);
                self.put(&value.to_le_bytes());
            }
            Err(_) => {
                self.put(&[0x48 | high, 0xb8 | register.0 & 7]);
                self.put(&value.to_le_bytes());
            }
        }
    }

    /// An operation of a register and a place, into the register.
    pub(super) fn alu(&mut self, bits: Bits, alu: Alu, register: Reg, place: impl Into<Place>) {
        self.general(0, bits, &[alu as u8], register.0, place.into());
    }

    /// `imul register, place`.
    pub(super) fn multiply(&mut self, register: Reg, place: impl Into<Place>) {
        self.general(0, Bits::B32, &[0x0f, 0xaf], register.0, place.into());
    }

    /// `not register`.
    pub(super) fn not(&mut self, bits: Bits, register: Reg) {
        self.general(0, bits, &[0xf7], 2, register.into());
    }

    /// `neg register`.
    pub(super) fn negate(&mut self, bits: Bits, register: Reg) {
        self.general(0, bits, &[0xf7], 3, register.into());
    }

    /// `shl`, `shr` or `sar`, of a register by `cl`.
    pub(super) fn shift(&mut self, bits: Bits, shift: Shift, register: Reg) {
        self.general(0, bits, &[0xd3], Self::shift_code(shift), register.into());
    }

    /// `shl`, `shr` or `sar`, of a register by a constant.
    pub(super) fn shift_by(&mut self, bits: Bits, shift: Shift, register: Reg, by: u8) {
        self.general(0, bits, &[0xc1], Self::shift_code(shift), register.into());
        self.put(&[by]);
    }

    fn shift_code(shift: Shift) -> u8 {
        match shift {
            Shift::Left => 4,
            Shift::Right => 5,
            Shift::SignedRight => 7,
        }
    }

    /// `cmp qword place, value`, the value extended with its sign.
    pub(super) fn compare_constant(&mut self, bits: Bits, base: Reg, distance: i32, value: i8) {
        self.general(0, bits, &[0x83], 7, Place::Memory(base, distance));
        self.put(&[value as u8]);
    }

    /// `cmp byte place, value`.
    pub(super) fn compare_byte(&mut self, base: Reg, distance: i32, value: u8) {
        self.general(0, Bits::B32, &[0x80], 7, Place::Memory(base, distance));
        self.put(&[value]);
    }

    /// `test byte place, register`.
    pub(super) fn test_byte(&mut self, base: Reg, distance: i32, register: Reg) {
        // The prefix selects the low bytes of all registers.
        self.general(0x40, Bits::B32, &[0x84], register.0, Place::Memory(base, distance));
    }

    /// `test register, register`.
    pub(super) fn test(&mut self, bits: Bits, register: Reg) {
        self.general(0, bits, &[0x85], register.0, register.into());
    }

    /// `setcc byte place`.
    pub(super) fn set(&mut self, condition: Condition, base: Reg, distance: i32) {
        self.general(0, Bits::B32, &[0x0f, 0x90 | condition as u8], 0, Place::Memory(base, distance));
    }

    /// `cmovcc register, place`.
    pub(super) fn move_if(
        &mut self,
        bits: Bits,
        condition: Condition,
        register: Reg,
        place: impl Into<Place>,
    ) {
        self.general(0, bits, &[0x0f, 0x40 | condition as u8], register.0, place.into());
    }

    /// `push register`.
    pub(super) fn push(&mut self, register: Reg) {
        if register.0 >= 8 {
            self.put(&[0x41]);
        }
        self.put(&[0x50 | register.0 & 7]);
    }

    /// `pop register`.
    pub(super) fn pop(&mut self, register: Reg) {
        if register.0 >= 8 {
            self.put(&[0x41]);
        }
        self.put(&[0x58 | register.0 & 7]);
    }

    /// `call register`.
    pub(super) fn call(&mut self, register: Reg) {
        self.general(0, Bits::B32, &[0xff], 2, register.into());
    }

    /// `ret`.
    pub(super) fn ret(&mut self) {
        self.put(&[0xc3]);
    }

    /// A jump if a condition holds.
    pub(super) fn jump_if(&mut self, condition: Condition) -> Jump {
        self.put(&[0x0f, 0x80 | condition as u8, 0, 0, 0, 0]);
        Jump(self.bytes.len())
    }

    /// A jump.
    pub(super) fn jump(&mut self) -> Jump {
        self.put(&[0xe9, 0, 0, 0, 0]);
        Jump(self.bytes.len())
    }

    /// Makes a jump go to a place.
    pub(super) fn bind(&mut self, Jump(end): Jump, Label(target): Label) {
        let distance = (target as i64 - end as i64) as i32;
        self.bytes[end - 4..end].copy_from_slice(&distance.to_le_bytes());
    }

    /// An instruction of vectors: `op register, second, place`. `long` selects 256 bits, `wide` words of 64.
    fn vector(&mut self, op: Vex, register: u8, second: u8, place: Place, long: bool, wide: bool) {
        let Vex(prefix, map, opcode) = op;
        let (Place::Register(other) | Place::Memory(Reg(other), _)) = place;
        // The registers' high bits and the second register are stored inverted.
        let high = (!register >> 3 & 1) << 7 | 1 << 6 | (!other >> 3 & 1) << 5;
        let rest = u8::from(wide) << 7 | (!second & 15) << 3 | u8::from(long) << 2 | prefix;
        self.put(&[0xc4, high | map, rest, opcode]);
        self.operands(register, place);
    }

    /// `op result, first, second`.
    pub(super) fn op(&mut self, op: Vex, result: Ymm, first: Ymm, second: impl Into<Place>) {
        self.vector(op, result.0, first.0, second.into(), true, false);
    }

    /// `vcmpps result, first, second, predicate`.
    pub(super) fn compare_floats(
        &mut self,
        result: Ymm,
        first: Ymm,
        second: impl Into<Place>,
        predicate: u8,
    ) {
        self.op(vex::CMPPS, result, first, second);
        self.put(&[predicate]);
    }

    /// `vmovdqu result, place`.
    pub(super) fn load_vector(&mut self, result: Ymm, place: impl Into<Place>) {
        self.op(vex::LOAD, result, Ymm(0), place);
    }

    /// `vmovdqu place, register`.
    pub(super) fn store_vector(&mut self, place: Place, register: Ymm) {
        self.op(vex::STORE, register, Ymm(0), place);
    }

    /// `vpbroadcastd result, dword place`.
    pub(super) fn broadcast(&mut self, result: Ymm, place: impl Into<Place>) {
        self.op(vex::BROADCASTD, result, Ymm(0), place);
    }

    /// `vpbroadcastb result, byte place`.
    pub(super) fn broadcast_byte(&mut self, result: Ymm, base: Reg, distance: i32) {
        self.op(vex::BROADCASTB, result, Ymm(0), Place::Memory(base, distance));
    }

    /// `vmovq result, register`.
    pub(super) fn move_to_vector(&mut self, result: Ymm, register: Reg) {
        self.vector(vex::MOVE, result.0, 0, register.into(), false, true);
    }

    /// `vpmovzxbd result, register`: widens eight bytes.
    pub(super) fn widen_bytes(&mut self, result: Ymm, register: Ymm) {
        self.op(vex::PMOVZXBD, result, Ymm(0), register);
    }

    /// `vmovmskps result, register`: the signs of eight words.
    pub(super) fn signs(&mut self, result: Reg, register: Ymm) {
        self.op(vex::MOVMSKPS, Ymm(result.0), Ymm(0), register);
    }

    /// `vpslld`, `vpsrld` or `vpsrad`, by a constant.
    pub(super) fn shift_words(&mut self, shift: Shift, result: Ymm, register: Ymm, by: u8) {
        self.op(vex::SHIFT, Ymm(shift as u8), result, register);
        self.put(&[by]);
    }

    /// `vpshufd result, register, 0xf5`: each odd word, also in the place of the word before it.
    pub(super) fn odd_words(&mut self, result: Ymm, register: Ymm) {
        self.op(vex::PSHUFD, result, Ymm(0), register);
        self.put(&[0xf5]);
    }

    /// `vpblendd result, even, odd, 0xaa`: the even words of one register, and the odd ones of another.
    pub(super) fn merge_words(&mut self, result: Ymm, even: Ymm, odd: Ymm) {
        self.op(vex::PBLENDD, result, even, odd);
        self.put(&[0xaa]);
    }

    /// `vpblendvb result, clear, set, mask`.
    pub(super) fn blend(&mut self, result: Ymm, clear: Ymm, set: impl Into<Place>, mask: Ymm) {
        self.op(vex::PBLENDVB, result, clear, set);
        self.put(&[mask.0 << 4]);
    }

    /// `vptest register, register`: equal if all bits are zero.
    pub(super) fn test_vector(&mut self, register: Ymm) {
        self.op(vex::PTEST, register, Ymm(0), register);
    }

    /// `vzeroupper`.
    pub(super) fn zero_upper(&mut self) {
        self.put(&[0xc5, 0xf8, 0x77]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes an instruction; its text, and the bytes that LLVM 19's assembler gives it.
    type Case = (fn(&mut Assembler), &'static str, &'static str);

    #[test]
    fn instructions_have_the_bytes_that_an_assembler_gives_them() {
        let cases: &[Case] = &[
            (
                |asm| asm.load(Bits::B32, R12, Place::Memory(R14, 1028)),
                "mov r12d, dword ptr [r14 + 1028]",
                "45 8b a6 04 04 00 00",
            ),
            (
                |asm| asm.store(Bits::B64, Place::Memory(R12, 1028), RCX),
                "mov qword ptr [r12 + 1028], rcx",
                "49 89 8c 24 04 04 00 00",
            ),
            (
                |asm| asm.load_byte(RDX, Place::Memory(R14, 1028)),
                "movzx edx, byte ptr [r14 + 1028]",
                "41 0f b6 96 04 04 00 00",
            ),
            (|asm| asm.store_byte(R14, 1028, 1), "mov byte ptr [r14 + 1028], 1", "41 c6 86 04 04 00 00 01"),
            (|asm| asm.address(RSI, R12, -1028), "lea rsi, [r12 - 1028]", "49 8d b4 24 fc fb ff ff"),
            (|asm| asm.constant(RAX, 1 << 31), "mov eax, 2147483648", "b8 00 00 00 80"),
            (|asm| asm.constant(RCX, 1 << 32), "movabs rcx, 4294967296", "48 b9 00 00 00 00 01 00 00 00"),
            (|asm| asm.constant(R13, 7), "mov r13d, 7", "41 bd 07 00 00 00"),
            (
                |asm| asm.alu(Bits::B32, Alu::AddCarry, RAX, Place::Memory(R14, 1028)),
                "adc eax, dword ptr [r14 + 1028]",
                "41 13 86 04 04 00 00",
            ),
            (
                |asm| asm.alu(Bits::B32, Alu::SubBorrow, RAX, Place::Memory(R14, 1028)),
                "sbb eax, dword ptr [r14 + 1028]",
                "41 1b 86 04 04 00 00",
            ),
            (
                |asm| asm.alu(Bits::B64, Alu::Compare, RDX, Place::Memory(R14, 1028)),
                "cmp rdx, qword ptr [r14 + 1028]",
                "49 3b 96 04 04 00 00",
            ),
            (|asm| asm.multiply(RAX, RCX), "imul eax, ecx", "0f af c1"),
            (|asm| asm.not(Bits::B64, RCX), "not rcx", "48 f7 d1"),
            (|asm| asm.negate(Bits::B32, RDX), "neg edx", "f7 da"),
            (|asm| asm.shift(Bits::B64, Shift::Left, RAX), "shl rax, cl", "48 d3 e0"),
            (|asm| asm.shift(Bits::B32, Shift::Right, RAX), "shr eax, cl", "d3 e8"),
            (|asm| asm.shift(Bits::B32, Shift::SignedRight, RAX), "sar eax, cl", "d3 f8"),
            (|asm| asm.shift_by(Bits::B64, Shift::Left, RCX, 56), "shl rcx, 56", "48 c1 e1 38"),
            (
                |asm| asm.compare_constant(Bits::B64, R14, 1028, -1),
                "cmp qword ptr [r14 + 1028], -1",
                "49 83 be 04 04 00 00 ff",
            ),
            (|asm| asm.compare_byte(R14, 1028, 0), "cmp byte ptr [r14 + 1028], 0", "41 80 be 04 04 00 00 00"),
            (|asm| asm.test_byte(R14, 1028, R15), "test byte ptr [r14 + 1028], r15b", "45 84 be 04 04 00 00"),
            (|asm| asm.test(Bits::B32, RAX), "test eax, eax", "85 c0"),
            (
                |asm| asm.set(Condition::BelowOrEqual, R14, 1028),
                "setbe byte ptr [r14 + 1028]",
                "41 0f 96 86 04 04 00 00",
            ),
            (|asm| asm.move_if(Bits::B64, Condition::Equal, RAX, RCX), "cmove rax, rcx", "48 0f 44 c1"),
            (|asm| asm.push(R15), "push r15", "41 57"),
            (|asm| asm.pop(RBX), "pop rbx", "5b"),
            (|asm| asm.call(RAX), "call rax", "ff d0"),
            (|asm| asm.ret(), "ret", "c3"),
            (
                |asm| asm.op(vex::ADDPS, Ymm(7), Ymm(8), Place::Memory(R13, 1056)),
                "vaddps ymm7, ymm8, ymmword ptr [r13 + 1056]",
                "c4 c1 3c 58 bd 20 04 00 00",
            ),
            (
                |asm| asm.op(vex::FMADD231PS, Ymm(3), Ymm(15), Ymm(10)),
                "vfmadd231ps ymm3, ymm15, ymm10",
                "c4 c2 05 b8 da",
            ),
            (
                |asm| asm.op(vex::PMAXUD, Ymm(14), Ymm(15), Ymm(2)),
                "vpmaxud ymm14, ymm15, ymm2",
                "c4 62 05 3f f2",
            ),
            (
                |asm| asm.compare_floats(Ymm(14), Ymm(0), Ymm(9), 17),
                "vcmpps ymm14, ymm0, ymm9, 17",
                "c4 41 7c c2 f1 11",
            ),
            (
                |asm| asm.load_vector(Ymm(9), Place::Memory(R13, 1056)),
                "vmovdqu ymm9, ymmword ptr [r13 + 1056]",
                "c4 41 7e 6f 8d 20 04 00 00",
            ),
            (
                |asm| asm.store_vector(Place::Memory(R13, 1056), Ymm(9)),
                "vmovdqu ymmword ptr [r13 + 1056], ymm9",
                "c4 41 7e 7f 8d 20 04 00 00",
            ),
            (
                |asm| asm.broadcast(Ymm(8), Place::Memory(R14, 1028)),
                "vpbroadcastd ymm8, dword ptr [r14 + 1028]",
                "c4 42 7d 58 86 04 04 00 00",
            ),
            (
                |asm| asm.broadcast_byte(Ymm(14), R14, 1029),
                "vpbroadcastb ymm14, byte ptr [r14 + 1029]",
                "c4 42 7d 78 b6 05 04 00 00",
            ),
            (|asm| asm.move_to_vector(Ymm(15), RAX), "vmovq xmm15, rax", "c4 61 f9 6e f8"),
            (|asm| asm.widen_bytes(Ymm(15), Ymm(15)), "vpmovzxbd ymm15, xmm15", "c4 42 7d 31 ff"),
            (|asm| asm.signs(RCX, Ymm(14)), "vmovmskps ecx, ymm14", "c4 c1 7c 50 ce"),
            (
                |asm| asm.shift_words(Shift::Left, Ymm(1), Ymm(9), 2),
                "vpslld ymm1, ymm9, 2",
                "c4 c1 75 72 f1 02",
            ),
            (
                |asm| asm.shift_words(Shift::Right, Ymm(1), Ymm(9), 30),
                "vpsrld ymm1, ymm9, 30",
                "c4 c1 75 72 d1 1e",
            ),
            (
                |asm| asm.blend(Ymm(0), Ymm(8), Place::Memory(R13, 1056), Ymm(14)),
                "vpblendvb ymm0, ymm8, ymmword ptr [r13 + 1056], ymm14",
                "c4 c3 3d 4c 85 20 04 00 00 e0",
            ),
            (|asm| asm.odd_words(Ymm(3), Ymm(12)), "vpshufd ymm3, ymm12, 245", "c4 c1 7d 70 dc f5"),
            (
                |asm| asm.merge_words(Ymm(3), Ymm(13), Ymm(4)),
                "vpblendd ymm3, ymm13, ymm4, 170",
                "c4 e3 15 02 dc aa",
            ),
            (
                |asm| asm.op(vex::PMULUDQ, Ymm(4), Ymm(14), Ymm(13)),
                "vpmuludq ymm4, ymm14, ymm13",
                "c4 c1 0d f4 e5",
            ),
            (|asm| asm.test_vector(Ymm(14)), "vptest ymm14, ymm14", "c4 42 7d 17 f6"),
            (|asm| asm.zero_upper(), "vzeroupper", "c5 f8 77"),
        ];
        for (write, text, bytes) in cases {
            let mut asm = Assembler::default();
            write(&mut asm);
            let found: Vec<String> = asm.finish().iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found.join(" "), *bytes, "{text}");
        }
    }

    #[test]
    fn jumps_go_forth_and_back() {
        let mut asm = Assembler::default();
        let back = asm.here();
        let forth = asm.jump_if(Condition::NotEqual);
        let jump = asm.jump();
        asm.bind(jump, back);
        let end = asm.here();
        asm.bind(forth, end);
        assert_eq!(asm.finish(), [0x0f, 0x85, 5, 0, 0, 0, 0xe9, 0xf5, 0xff, 0xff, 0xff]);
    }
}
