// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frame of a block: its registers, its calls and its ends. Families write their instructions with it.
//!
//! A block is entered, and goes on behind every call, only if all lanes are active and nothing is unusual (the mode, and
//! registers by index). So its instructions ask for neither.

use super::assembler::{
    Alu, Assembler, Bits, Condition, Jump, Label, Place, R12, R13, R14, R15, RAX, RBX, RCX, RDI, RSI, Reg,
    Shift, Ymm,
};
use super::call::{self, Callee, LIMIT, STAY};
use crate::exec::machine::core::Flow;
use crate::exec::machine::step::{Sharing, Source, Step};
use crate::exec::machine::wave::{VECTORS, Wave};
use crate::exec::values::row::{GROUPS, Group, LANES, Row};
use crate::isa::Operand;
use std::mem::{offset_of, size_of};

/// The core, for calls.
const CORE: Reg = RBX;
/// The steps of the region.
const STEPS: Reg = R12;
/// The vector registers.
const VECTOR: Reg = R13;
/// The wave.
const WAVE: Reg = R14;
/// One if the waves of the workgroup run abreast.
const ABREAST: Reg = R15;

/// The number of EXEC.
const EXEC: u8 = 126;

/// The parts of a wave that a called function may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Everything.
    Any,
    /// Registers and memory, but neither EXEC, nor the mode, nor whether registers are indexed.
    Data,
}

/// A translation that is being written.
pub(super) struct Emitter {
    pub(super) asm: Assembler,
    /// Lanes of a wave, 32 or 64.
    wave_size: u32,
    index: usize,
    /// Jumps to the end of the block, with the answer.
    exits: Vec<(Jump, u64)>,
    /// Jumps behind a call whose handler did not answer `Next`, with the step.
    answers: Vec<(Jump, usize)>,
    /// Jumps to a call of the handler of a step, and the place to continue at.
    rare: Vec<(Jump, Label, usize)>,
}

impl Emitter {
    /// A block for waves of a size, which begins at a step.
    pub(super) fn new(first: usize, wave_size: u32) -> Self {
        let asm = Assembler::default();
        let mut emitter =
            Self { asm, wave_size, index: first, exits: Vec::new(), answers: Vec::new(), rare: Vec::new() };
        emitter.enter();
        emitter
    }

    /// Goes on to the step at an index. Its access to memory that waves share comes first.
    pub(super) fn begin(&mut self, index: usize, sharing: Sharing) {
        self.index = index;
        let has_read = distance(offset_of!(Wave, has_read));
        match sharing {
            Sharing::None => {}
            Sharing::Reads => self.asm.store_byte(WAVE, has_read, 1),
            Sharing::Writes => {
                // The interpreter lets the other waves catch up, and executes the step.
                self.asm.test_byte(WAVE, has_read, ABREAST);
                self.exit_if(Condition::NotEqual, self.index, STAY);
            }
        }
    }

    /// Ends the block before a step, because it is long enough, and finishes the code.
    pub(super) fn finish_at(mut self, index: usize) -> Vec<u8> {
        self.exit(index, LIMIT);
        self.finish()
    }

    /// Takes the step's branch.
    pub(super) fn branch(&mut self) {
        self.exit(self.index, Flow::Branch as u32);
    }

    /// Takes the step's branch if a condition holds.
    pub(super) fn branch_if(&mut self, condition: Condition) {
        self.exit_if(condition, self.index, Flow::Branch as u32);
    }

    /// The width of a lane mask.
    pub(super) fn mask(&self) -> Bits {
        if self.wave_size == 32 { Bits::B32 } else { Bits::B64 }
    }

    /// Groups of a vector register that hold the wave's lanes.
    pub(super) fn groups(&self) -> usize {
        self.wave_size as usize * GROUPS / LANES
    }

    /// Compares a lane mask in scalar registers with zero.
    pub(super) fn compare_mask(&mut self, number: u8) {
        self.asm.compare_constant(self.mask(), WAVE, Self::scalar(number), 0);
    }

    /// Saves the registers that belong to the caller, and keeps the arguments.
    fn enter(&mut self) {
        let asm = &mut self.asm;
        for register in [RBX, R12, R13, R14, R15] {
            asm.push(register);
        }
        for (register, argument) in
            [(CORE, RDI), (WAVE, RSI), (VECTOR, Reg(2)), (STEPS, RCX), (ABREAST, Reg(8))]
        {
            asm.load(Bits::B64, register, argument);
        }
    }

    /// Writes the calls and the ends that the block jumps to.
    pub(super) fn finish(mut self) -> Vec<u8> {
        for (jump, back, index) in std::mem::take(&mut self.rare) {
            let here = self.asm.here();
            self.asm.bind(jump, here);
            self.index = index;
            self.call(call::handler, Effect::Any);
            let jump = self.asm.jump();
            self.asm.bind(jump, back);
        }
        let mut ends = Vec::new();
        for (jump, index) in std::mem::take(&mut self.answers) {
            let here = self.asm.here();
            self.asm.bind(jump, here);
            self.asm.shift_by(Bits::B64, Shift::Left, RAX, 32);
            self.asm.constant(RCX, index as u64);
            self.asm.alu(Bits::B64, Alu::Or, RAX, RCX);
            ends.push(self.asm.jump());
        }
        for (jump, answer) in std::mem::take(&mut self.exits) {
            let here = self.asm.here();
            self.asm.bind(jump, here);
            self.asm.constant(RAX, answer);
            ends.push(self.asm.jump());
        }
        let here = self.asm.here();
        for jump in ends {
            self.asm.bind(jump, here);
        }
        self.asm.zero_upper();
        for register in [R15, R14, R13, R12, RBX] {
            self.asm.pop(register);
        }
        self.asm.ret();
        self.asm.finish()
    }

    /// Ends the block before the step at an index, or at the one that gives this answer.
    fn exit(&mut self, index: usize, answer: u32) {
        let jump = self.asm.jump();
        self.exits.push((jump, call::packed(index, answer)));
    }

    fn exit_if(&mut self, condition: Condition, index: usize, answer: u32) {
        let jump = self.asm.jump_if(condition);
        self.exits.push((jump, call::packed(index, answer)));
    }

    /// Calls a function with the core and the step, and goes on only if the block may.
    pub(super) fn call(&mut self, callee: Callee, effect: Effect) {
        self.asm.zero_upper();
        self.asm.load(Bits::B64, RDI, CORE);
        self.asm.address(RSI, STEPS, (self.index * size_of::<Step>()) as i32);
        self.asm.constant(RAX, callee as usize as u64);
        self.asm.call(RAX);
        self.asm.test(Bits::B32, RAX);
        let jump = self.asm.jump_if(Condition::NotEqual);
        self.answers.push((jump, self.index));
        if effect == Effect::Data {
            return;
        }
        self.asm.compare_byte(WAVE, distance(offset_of!(Wave, unusual)), 0);
        self.exit_if(Condition::NotEqual, self.index + 1, STAY);
        self.check_exec();
    }

    /// Goes on only if all lanes are active.
    pub(super) fn check_exec(&mut self) {
        self.asm.compare_constant(self.mask(), WAVE, Self::scalar(EXEC), -1);
        self.exit_if(Condition::NotEqual, self.index + 1, STAY);
    }

    /// Leaves the step to its handler if a condition holds, which is rare.
    pub(super) fn rarely(&mut self, condition: Condition) -> RareCase {
        RareCase(self.asm.jump_if(condition))
    }

    /// Ends the usual case of a step.
    pub(super) fn usually(&mut self, RareCase(jump): RareCase) {
        let here = self.asm.here();
        self.rare.push((jump, here, self.index));
    }

    /// The distance of the scalar condition code.
    pub(super) fn scc() -> i32 {
        distance(offset_of!(Wave, scc))
    }

    /// The distance of a scalar register.
    pub(super) fn scalar(number: u8) -> i32 {
        distance(offset_of!(Wave, s) + 4 * usize::from(number & 127))
    }

    /// A scalar register.
    pub(super) fn scalar_place(number: u8) -> Place {
        Place::Memory(WAVE, Self::scalar(number))
    }

    /// A group of a vector register.
    pub(super) fn group(number: u16, group: usize) -> Place {
        let number = usize::from(number) & (VECTORS - 1);
        Place::Memory(VECTOR, (number * size_of::<Row>() + group % GROUPS * size_of::<Group>()) as i32)
    }

    /// The wave's scalar condition code becomes a condition.
    pub(super) fn set_scc(&mut self, condition: Condition) {
        self.asm.set(condition, WAVE, Self::scc());
    }

    /// `cmp scc, 0`.
    pub(super) fn compare_scc(&mut self) {
        self.asm.compare_byte(WAVE, Self::scc(), 0);
    }

    /// Loads the scalar condition code into a register.
    pub(super) fn load_scc(&mut self, register: Reg) {
        self.asm.load_byte(register, Place::Memory(WAVE, Self::scc()));
    }

    /// Fills a vector with the mask byte of a group, from the scalar registers of a lane mask.
    pub(super) fn broadcast_mask(&mut self, result: Ymm, number: u8, group: usize) {
        self.asm.broadcast_byte(result, WAVE, Self::scalar(number) + group as i32);
    }

    /// Loads a scalar source that [`is_scalar`] admits.
    pub(super) fn load_scalar(&mut self, bits: Bits, register: Reg, source: Source) {
        match source {
            Source::Scalar(number) => self.asm.load(bits, register, Self::scalar_place(number)),
            Source::Constant(value) if bits == Bits::B64 => self.asm.constant(register, value),
            Source::Constant(value) => self.asm.constant(register, u64::from(value as u32)),
            _ => {}
        }
    }

    /// Writes a scalar register or a pair, and looks at EXEC if it was one of them.
    pub(super) fn store_scalar(&mut self, bits: Bits, number: u8, register: Reg) {
        self.asm.store(bits, Self::scalar_place(number), register);
    }
}

/// The rest of a step's usual case.
#[must_use = "the usual case needs an end"]
pub(super) struct RareCase(Jump);

/// The number of a scalar destination of this width, if it is one that the translator writes.
pub(super) fn scalar_destination(operand: Operand, bits: Bits) -> Option<u8> {
    match operand {
        Operand::Sgpr(number) if number < 127 || bits == Bits::B32 && number == 127 => Some(number),
        _ => None,
    }
}

/// Whether a write to a register or a pair may change EXEC.
pub(super) fn touches_exec(number: u8) -> bool {
    number >= EXEC - 1
}

/// Whether a source is a scalar that the translator reads.
pub(super) fn is_scalar(source: Source) -> bool {
    match source {
        Source::Scalar(number) => number < 127,
        Source::Constant(_) => true,
        _ => false,
    }
}

/// The distance of a field of the wave.
fn distance(offset: usize) -> i32 {
    offset as i32
}
