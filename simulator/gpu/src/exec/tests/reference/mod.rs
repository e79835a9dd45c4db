// SPDX-License-Identifier: MIT OR Apache-2.0
//! A second, slow GPU to compare the first one with: it reads LLVM's text of an instruction, not its words,
//! and computes lane by lane from the manual's description. It shares no code with the interpreter.

mod angle;
mod buffers;
mod convert;
mod floats;
mod formats;
mod gfx950;
mod integers;
mod lanes;
mod matrix;
mod memory;
mod packed;
mod real;
mod rules;
mod scalar;
mod scalar_float;
mod scalar_memory;
mod text;
mod values;
mod vector;

use crate::exec::machine::wave::Wave;
use crate::exec::values::row::{LANES, Row};
pub(super) use matrix::input_type;
pub(super) use memory::Memories;
use real::Format;
pub(super) use rules::OperandKind;
use std::collections::HashMap;
use text::Line;
pub(super) use values::{Register, fill};

/// Numbers of special scalar registers.
const VCC: usize = 106;
const M0: usize = 124;
const EXEC: usize = 126;

/// Instructions that are described together.
enum Family {
    Scalar,
    Packed,
    Vector,
    Memory,
    Matrix,
}

fn family(name: &str) -> Family {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if starts(&["s_load_", "s_store_", "s_buffer_", "s_atomic_", "s_atc_", "s_dcache_discard"]) {
        Family::Memory
    } else if starts(&["s_", "buffer_inv", "buffer_wbl2", "buffer_wbinvl1"]) {
        Family::Scalar
    } else if starts(&["v_mfma_", "v_smfmac_"]) {
        Family::Matrix
    } else if starts(&["ds_", "flat_", "global_", "scratch_", "buffer_", "tbuffer_"]) {
        Family::Memory
    } else if starts(&["v_pk_", "v_fma_mix", "v_mad_mix", "v_dot2_", "v_dot4_", "v_dot8_"])
        && name != "v_pk_fmac_f16"
    {
        Family::Packed
    } else {
        Family::Vector
    }
}

/// The state of instructions.
pub(super) struct Machine {
    /// The part's name.
    part: &'static str,
    pub(super) s: [u32; 128],
    /// v0 to v255, then a0 to a255.
    pub(super) v: Box<[Row; 512]>,
    pub(super) scc: bool,
    pub(super) mode: u32,
    /// The memories of memory instructions.
    pub(super) memory: Memories,
    /// Results that are not exactly one value, by register and lane.
    freedom: HashMap<(usize, usize), Freedom>,
}

/// The other values that a result may have.
#[derive(Clone, Copy, Debug)]
struct Freedom {
    format: Format,
    /// The error in units of the last place.
    ulp: u32,
    /// The first bit of the float in the register; a wider float continues in the next.
    shift: u32,
}

impl Machine {
    /// A copy of a wave on a part.
    pub(super) fn copy_of(wave: &Wave, part: &'static str) -> Self {
        Self {
            part,
            s: wave.s,
            v: wave.v.clone(),
            scc: wave.scc,
            mode: wave.mode.bits,
            memory: Memories::default(),
            freedom: HashMap::new(),
        }
    }

    /// Executes an instruction.
    pub(super) fn execute(&mut self, text: &str) -> Result<(), String> {
        let line = Line::parse(text);
        if self.part == "gfx950"
            && let Some(()) = gfx950::execute(self, &line).or_else(|| gfx950::product(self, &line))
        {
            return Ok(());
        }
        let done = match family(line.name) {
            Family::Scalar => scalar::execute(self, &line),
            Family::Packed => packed::execute(self, &line),
            Family::Vector => vector::execute(self, &line),
            Family::Memory => memory::execute(self, &line),
            Family::Matrix => matrix::execute(self, &line),
        };
        done.ok_or_else(|| format!("the reference does not know {}", line.name))
    }

    /// The registers that an instruction reads, and the kinds of value that they should have.
    pub(super) fn operands(text: &str) -> Vec<(Register, OperandKind)> {
        let line = Line::parse(text);
        if let Some(operands) = gfx950::operands(&line) {
            return operands;
        }
        match family(line.name) {
            Family::Scalar => scalar::operands(&line),
            Family::Packed => packed::operands(&line),
            Family::Vector => vector::operands(&line),
            Family::Memory => memory::operands(&line),
            Family::Matrix => matrix::operands(&line),
        }
    }

    /// Puts back the half of a vector register that an instruction of another family leaves alone.
    pub(super) fn keep_high_half(&mut self, register: usize, before: &Wave) {
        for (word, old) in self.v[register].iter_mut().zip(before.v[register]) {
            *word = old & 0xffff_0000 | *word & 0xffff;
        }
    }

    fn pair(&self, first: usize) -> u64 {
        u64::from(self.s[first]) | u64::from(self.s[first + 1]) << 32
    }

    fn set_pair(&mut self, first: usize, value: u64) {
        self.s[first] = value as u32;
        self.s[first + 1] = (value >> 32) as u32;
    }

    fn exec(&self) -> u64 {
        self.pair(EXEC)
    }

    /// The difference between a wave and this state, if there is one.
    pub(super) fn difference(&self, wave: &Wave) -> Option<String> {
        for (number, (got, expected)) in wave.s.iter().zip(&self.s).enumerate() {
            if got != expected {
                return Some(format!("scalar register {number} is {got:#x}, not {expected:#x}"));
            }
        }
        if wave.scc != self.scc {
            return Some(format!("SCC is {}", wave.scc));
        }
        if wave.mode.bits != self.mode {
            return Some(format!("MODE is {:#x}, not {:#x}", wave.mode.bits, self.mode));
        }
        for number in (0..512).filter(|&number| wave.v[number] != self.v[number]) {
            for lane in 0..LANES {
                let (got, expected) = (wave.v[number][lane], self.v[number][lane]);
                if got != expected && !self.may_be(wave, number, lane) {
                    return Some(format!("v{number}, lane {lane}: {got:#010x}, not {expected:#010x}"));
                }
            }
        }
        None
    }

    /// The inputs of the lane in which a difference was found.
    pub(super) fn describe(text: &str, before: &Wave, difference: &str) -> String {
        let lane =
            difference.split("lane ").nth(1).and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
        let Some(lane) = lane else { return String::new() };
        let mut out = String::new();
        for (register, kind) in Self::operands(text) {
            out += &match register {
                Register::Vector(v) => {
                    format!("; v{v} = {:#010x} {:#010x} ({kind:?})", before.v[v][lane], before.v[v + 1][lane])
                }
                Register::Scalar(s) => format!("; s{s} = {:#010x} {:#010x}", before.s[s], before.s[s + 1]),
            };
        }
        out
    }

    /// Whether a register that differs holds another valid value.
    fn may_be(&self, wave: &Wave, number: usize, lane: usize) -> bool {
        let entry = |number: usize| Some((number, *self.freedom.get(&(number, lane))?));
        // The high half of a double is in the next register.
        let found = entry(number)
            .or_else(|| entry(number.checked_sub(1)?).filter(|(_, freedom)| freedom.format.bits() == 64));
        let Some((first, Freedom { format, ulp, shift })) = found else { return false };
        let value = |rows: &[Row; 512]| {
            let high = if format.bits() == 64 { u64::from(rows[first + 1][lane]) << 32 } else { 0 };
            u64::from(rows[first][lane]) | high
        };
        let (got, expected) = (value(&wave.v), value(&self.v));
        let mask = (u64::MAX >> (64 - format.bits())) << shift;
        if got & !mask != expected & !mask {
            return false;
        }
        let (got, expected) = ((got & mask) >> shift, (expected & mask) >> shift);
        if format.is_nan(got) || format.is_nan(expected) {
            return format.is_nan(got) && format.is_nan(expected);
        }
        let key = |bits: u64| {
            let magnitude = format.magnitude(bits) as i64;
            if format.is_negative(bits) { -magnitude } else { magnitude }
        };
        key(got).abs_diff(key(expected)) <= ulp.into()
    }
}
