// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random instructions: none panics, and both compilations of a handler give the same result.

use super::words;
use crate::exec::families;
use crate::exec::machine::core::Core;
use crate::exec::machine::lds::Lds;
use crate::exec::machine::program::{Counter, Program};
use crate::exec::machine::step::Step;
use crate::exec::machine::wave::{Wave, WaveStatus};
use crate::exec::run::Runner;
use crate::exec::values::row::LANES;
use crate::isa;
use crate::lane_mask::LaneMask;
use crate::memory::{AllocationKind, Memory, MemoryOptions, Windows};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A source of random 32-bit numbers.
fn random(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }
}

#[test]
fn both_compilations_of_a_handler_agree() {
    let mut random = random(0x0123_4567_89ab_cdef);
    let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
    let mut compared = HashSet::new();
    for round in 0..20_000 {
        let format = [0xd100_0000u32, 0xd380_0000, 0x7e00_0000, 0x0000_0000][round % 4];
        let keep = if round % 4 == 3 { 0x7fff_ffff } else { 0x007f_ffff };
        let code = [random() as u32 & keep | format, random() as u32, random() as u32];
        let Ok(inst) = isa::GFX942.decode(&code) else { continue };
        let Ok(compilations) = families::compilations(&inst) else { continue };
        if !inst.op.mnemonic().starts_with("v_") {
            continue;
        }
        compared.insert(inst.op);
        // Numbers that are finite as halves, singles and doubles: the bits of a NaN may differ.
        let bits = random() as u32;
        let fill = |wave: &mut Wave| {
            for (number, register) in wave.v.iter_mut().enumerate() {
                let bits = bits.rotate_left(number as u32);
                *register = words(|lane| {
                    let exponents = 0x3800_3800 + ((lane as u32 & 3) << 26);
                    bits.rotate_left(3 * lane as u32) & 0x83ff_83ff | exponents
                });
            }
            wave.s =
                std::array::from_fn(|number| bits.rotate_left(number as u32) & 0x83ff_83ff | 0x3c00_3800);
            wave.set_exec(LaneMask::of_bits(if round % 3 == 0 { 0x0fff_ffff_ffff_fff0 } else { !0 }));
            wave.set_mode(0x1f0);
            wave.set_indexing(None);
        };
        let [wide, portable] = [compilations.pick(), compilations.portable()].map(|handler| {
            let mut wave = Wave::new();
            fill(&mut wave);
            let step = Step::new(handler, inst, 0);
            let (mut lds, mut windows) = (Lds::new(), Windows::default());
            let mut core = Core::new(&mut wave, &mut lds, &memory, &mut windows);
            // SAFETY: `pick` chose for this processor, and every processor runs the portable version.
            unsafe { handler(&mut core, &step) };
            wave
        });
        assert!(wide.v == portable.v && wide.s == portable.s, "{}", inst.disassemble(0));
    }
    assert!(compared.len() > 250, "{} different instructions", compared.len());
}

#[test]
fn no_instruction_panics() {
    // Random words of every format, on registers full of random bits; invalid accesses are faults.
    let mut random = random(0x9e37_79b9_7f4a_7c15);
    let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
    let target = memory.allocate(4096, 256, AllocationKind::Device, "test").unwrap();
    let stop = AtomicBool::new(false);
    let mut windows = Windows::default();
    let mut lds = Lds::new();
    lds.reset(4096);
    let mut wave = Wave::new();
    let mut executed = HashSet::new();
    for round in 0..60_000u64 {
        let mut code = [random() as u32, random() as u32, random() as u32, 0xbf81_0000];
        // Formats in proportion to their instructions rather than to their share of all words.
        let formats =
            [0xd000_0000u32, 0xd800_0000, 0xdc00_0000, 0xe000_0000, 0xd380_0000, 0xc000_0000, 0xbe80_0000];
        if let Some(format) = formats.get((round % 9) as usize) {
            code[0] = code[0] & 0x03ff_ffff | format;
        }
        let Ok(inst) = isa::GFX942.decode(&code) else { continue };
        code[usize::from(inst.size) / 4] = 0xbf81_0000;
        let program = Arc::new(Program::new(&isa::GFX942, 0x1000, code.to_vec()));
        let Some(position) = program.find(0x1000) else { continue };
        if !position.region.problems.is_empty() {
            continue;
        }
        executed.insert(inst.op);
        for register in wave.v.iter_mut() {
            let bits = random() as u32;
            *register =
                std::array::from_fn(|lane| bits.rotate_left(lane as u32).wrapping_mul(lane as u32 * 2 + 1));
        }
        for scalar in &mut wave.s {
            *scalar = random() as u32;
        }
        if round % 2 == 0 {
            // Valid addresses, in pairs of scalar and of vector registers.
            for number in (0..126).step_by(2) {
                wave.s[number] = target as u32 + (number as u32 & 0x3c);
                wave.s[number + 1] = (target >> 32) as u32;
            }
            for number in (0..256).step_by(2) {
                wave.v[number] = [target as u32 + 64; LANES];
                wave.v[number + 1] = [(target >> 32) as u32; LANES];
            }
        }
        wave.set_indexing(None);
        wave.set_mode(if round % 5 == 0 { random() as u32 & 0x3f0 } else { 0x1f0 });
        wave.scratch_size = 256;
        wave.status = WaveStatus::Ready;
        let mut runner = Runner {
            core: Core::new(&mut wave, &mut lds, &memory, &mut windows),
            counter: &mut Counter { position: Some(position), visited: None },
            program: &program,
            abreast: false,
            cold: Some(0),
            stop: &stop,
        };
        let _ = runner.run(100);
    }
    assert!(executed.len() > 800, "{} different instructions", executed.len());
}
