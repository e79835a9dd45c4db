// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random blocks, interpreted and translated: registers, memories, position and outcome are the same.

use super::semantics::{GLOBAL, LDS, finite, random, rows};
use super::*;
use crate::exec::families;
use crate::exec::machine::wave::WaveStatus;
use crate::exec::values::wide::has_wide_vectors;
use crate::memory::AllocationKind;

/// The end of a program.
const END: u32 = 0xbf81_0000;

/// The outcome of a block.
#[derive(PartialEq)]
struct Outcome {
    v: Box<[Row; 512]>,
    s: [u32; 128],
    /// SCC, and whether the wave has read.
    flags: [bool; 2],
    mode: u32,
    instructions: u64,
    /// The turn's end or the trouble, the findings, and the step at which the wave is.
    story: String,
    lds: Vec<u8>,
    global: Vec<u8>,
}

/// Memory in which a block runs.
struct Place {
    memory: Arc<Memory>,
    base: u64,
    lds: Lds,
}

impl Place {
    fn new(lds_limit: bool) -> Self {
        let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
        let base = memory.allocate(GLOBAL as u64, 256, AllocationKind::Device, "test").unwrap();
        let mut lds = Lds::new();
        lds.reset(LDS);
        if lds_limit {
            lds.set_limit(LDS as u64 - 100);
        }
        Self { memory, base, lds }
    }

    /// Runs code on a copy of a wave.
    fn run(&mut self, code: &[u32], start: &Wave, bytes: &[u8], abreast: bool, cold: Option<u32>) -> Outcome {
        let program = Arc::new(Program::new(&isa::GFX942, 0x1000, code.to_vec()));
        self.run_program(&program, start, bytes, abreast, cold)
    }

    fn run_program(
        &mut self,
        program: &Arc<Program>,
        start: &Wave,
        bytes: &[u8],
        abreast: bool,
        cold: Option<u32>,
    ) -> Outcome {
        self.memory.write(self.base, bytes).unwrap();
        for (at, word) in (0..LDS as u64).step_by(4).zip(bytes.as_chunks::<4>().0) {
            self.lds.store::<4>(at, *word);
        }
        let (stop, mut windows) = (AtomicBool::new(false), Windows::default());
        let mut wave = start.clone_for_test();
        wave.status = WaveStatus::Ready;
        let mut counter = Counter { position: program.find(0x1000), visited: None };
        let mut turns = Vec::new();
        while wave.status == WaveStatus::Ready && turns.len() < 40 {
            let core = Core::new(&mut wave, &mut self.lds, &self.memory, &mut windows);
            let counter = &mut counter;
            let mut runner = Runner { core, counter, program, abreast, cold, stop: &stop };
            turns.push(runner.run(100).map_err(|trouble| format!("{trouble:?}")));
        }
        let index = counter.position.map(|position| position.index);
        let mut global = vec![0; GLOBAL];
        self.memory.read(self.base, &mut global).unwrap();
        Outcome {
            story: format!("{turns:?}, {:?}, at step {index:?}", wave.findings),
            v: wave.v,
            s: wave.s,
            flags: [wave.scc, wave.has_read],
            mode: wave.mode.bits,
            instructions: wave.instructions,
            lds: (0..LDS as u64).step_by(4).flat_map(|at| self.lds.load::<4>(at)).collect(),
            global,
        }
    }
}

/// The instructions that blocks are made of: all arithmetic, the loads and stores of global memory and of LDS, and scalar loads.
fn instructions() -> Vec<(Vec<u32>, &'static str)> {
    let lists = [
        include_str!("cases/vector.txt"),
        include_str!("cases/scalar.txt"),
        include_str!("cases/memory.txt"),
    ];
    let fits = |(words, text): &(Vec<u32>, &str)| {
        let access = [
            "global_load_dword",
            "global_store_dword",
            "ds_read_b",
            "ds_write_b",
            "ds_read2",
            "ds_write2",
            "s_load_dword",
        ];
        let arithmetic = text.starts_with("v_") || text.starts_with("s_") && !text.contains("load");
        let inst = isa::GFX942.decode(words).unwrap();
        // The time differs between two runs.
        let timed = text.contains("time") || text.contains("getreg");
        (arithmetic && !timed || access.iter().any(|start| text.starts_with(start)))
            && families::handler(&inst).is_ok()
    };
    lists.into_iter().flat_map(rows).filter(fits).collect()
}

/// Another choice of registers for an instruction of one word.
fn with_other_registers(words: &[u32], next: &mut impl FnMut() -> u64) -> Vec<u32> {
    let mut words = words.to_vec();
    let mut register = || 40 + next() as u32 % 8;
    let (format, sources) = (words[0] >> 25, words[0] & 0x1ff);
    // VOP2 and VOP1; the last words of sources announce further words.
    if words.len() == 1 && words[0] >> 31 == 0 && format != 0x3e && !matches!(sources, 249 | 250 | 255) {
        words[0] = words[0] & !(0xff << 17) | register() << 17;
        if format != 0x3f {
            words[0] = words[0] & !(0xff << 9) | register() << 9;
        }
        if sources >= 256 {
            words[0] = words[0] & !0x1ff | (256 + register());
        }
    }
    words
}

/// A wave whose registers hold floats without NaN or any bits, and whose `v[4:5]` holds addresses.
fn wave(round: u64, base: u64, next: &mut impl FnMut() -> u64) -> Wave {
    const MODES: [u32; 8] = [0x3f0, 0x3f0, 0x3f0, 0x3f0, 0x3f0, 0x1f0, 0x2d5, 0x3ff];
    const EXECS: [u64; 8] = [!0, !0, !0, !0, !0, !0, 0x0fff_ffff_ffff_fff0, 1 << 9];
    let mut wave = Wave::new();
    for register in 0..80 {
        wave.v[register].fill_with(|| match round % 3 {
            0 => next() as u32,
            1 => finite(next),
            // Small integers, and denormals as floats.
            _ => next() as u32 & 0x807f,
        });
    }
    wave.s.fill_with(|| if round.is_multiple_of(2) { next() as u32 } else { next() as u32 & 0x3f });
    let (distance, start) = match next() % 8 {
        0 | 1 => (4, 64 + next() % 512 * 4),
        2 => (0, next() % 1024 * 4),
        3 => (16, 128),
        4 => (8, next() % 64 * 4),
        // Past the end.
        5 => (4, GLOBAL as u64 - 128),
        6 => (4, LDS as u64 - 128),
        _ => (12, next() % 256),
    };
    let near = if round.is_multiple_of(2) { base } else { 0 };
    for lane in 0..LANES as u64 {
        let address = near + start + distance * lane;
        (wave.v[4][lane as usize], wave.v[5][lane as usize]) = (address as u32, (address >> 32) as u32);
    }
    (wave.s[8], wave.s[9]) = (base as u32, (base >> 32) as u32);
    wave.set_mode(MODES[next() as usize % MODES.len()]);
    wave.set_exec(LaneMask::of_bits(EXECS[next() as usize % EXECS.len()]));
    wave
}

#[test]
fn translated_blocks_do_precisely_what_the_interpreter_does() {
    let mut next = random(0x7e57_ab1e);
    let (known, mut stopped, mut whole) = (instructions(), 0, 0);
    assert!(known.len() > 3000, "{} instructions", known.len());
    let is_access = |text: &str| ["global_", "ds_", "s_load_"].iter().any(|start| text.starts_with(start));
    let accesses: Vec<_> = known.iter().filter(|(_, text)| is_access(text)).cloned().collect();
    let mut places = [false, true].map(Place::new);
    for round in 0..4000 {
        let picked: Vec<_> = (0..8)
            .map(|_| {
                // Loads and stores are few among all instructions.
                let list = if next().is_multiple_of(3) { &accesses } else { &known };
                let (words, text) = &list[next() as usize % list.len()];
                (with_other_registers(words, &mut next), *text)
            })
            .filter(|(words, _)| isa::GFX942.decode(words).is_ok_and(|inst| families::handler(&inst).is_ok()))
            .collect();
        let mut code: Vec<u32> = picked.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        code.push(END);
        let place = &mut places[round % 2];
        let start = wave(round as u64, place.base, &mut next);
        let bytes: Vec<u8> = (0..GLOBAL / 4).flat_map(|_| finite(&mut next).to_le_bytes()).collect();
        let abreast = next().is_multiple_of(2);
        let expected = place.run(&code, &start, &bytes, abreast, None);
        let got = place.run(&code, &start, &bytes, abreast, Some(0));
        if expected.story.contains("Err") {
            stopped += 1;
        } else {
            whole += 1;
        }
        if got == expected {
            continue;
        }
        let text: Vec<&str> = picked.iter().map(|(_, text)| *text).collect();
        let register = (0..512).find(|&number| got.v[number] != expected.v[number]);
        let scalar = (0..128).find(|&number| got.s[number] != expected.s[number]);
        panic!(
            "round {round}, {text:#?}, {code:08x?}: vector register {register:?}, scalar register {scalar:?}, flags {:?} and {:?}, \
             {} and {} instructions, {} and {}",
            got.flags, expected.flags, got.instructions, expected.instructions, got.story, expected.story
        );
    }
    assert!(stopped > 100 && whole > 1000, "{stopped} stopped, {whole} ended");
}

#[test]
fn a_block_stops_at_what_is_no_instruction() {
    // `v_mov_b32_e32 v40, v1`, then a word that is no instruction.
    let code = [0x7e50_0301, 0xbfff_0000];
    assert!(isa::GFX942.decode(&code[1..]).is_err());
    let mut place = Place::new(false);
    let start = wave(1, place.base, &mut random(7));
    let bytes = vec![0; GLOBAL];
    let [expected, got] = [None, Some(0)].map(|cold| place.run(&code, &start, &bytes, false, cold));
    assert!(expected.story.contains("Unsupported"), "{}", expected.story);
    assert!(got == expected, "{}, not {}", got.story, expected.story);
}

#[test]
fn a_block_ends_where_the_mode_becomes_unusual() {
    // `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0` flushes denormals, `v_mul_f32_e32 v40, v1, v2` has one.
    let code = [0xba00_0901, 0, 0x0a50_0501, END];
    let mut place = Place::new(false);
    let mut start = wave(1, place.base, &mut random(7));
    start.set_mode(0x3f0);
    start.set_exec(LaneMask::of_bits(!0));
    (start.v[1], start.v[2]) = ([1; LANES], [1.0f32.to_bits(); LANES]);
    let bytes = vec![0; GLOBAL];
    for cold in [None, Some(0)] {
        assert_eq!(place.run(&code, &start, &bytes, false, cold).v[40], [0; LANES], "{cold:?}");
    }
}

#[test]
fn a_block_ends_where_a_scalar_load_writes_exec() {
    // `s_load_dwordx2 exec, s[8:9], 0x0`, `v_mov_b32_e32 v40, v1`. No assembler writes the load, and a file may hold it.
    let code = [0xc006_1f84, 0, 0x7e50_0301, END];
    let mut place = Place::new(false);
    let mut start = wave(1, place.base, &mut random(7));
    start.set_mode(0x3f0);
    start.set_exec(LaneMask::of_bits(!0));
    let bytes = [vec![1, 0, 0, 0], vec![0; GLOBAL - 4]].concat();
    for cold in [None, Some(0)] {
        let row = place.run(&code, &start, &bytes, false, cold).v[40];
        assert_eq!((row[0], row[1]), (start.v[1][0], start.v[40][1]), "{cold:?}");
    }
}

#[test]
fn a_block_begins_again_where_all_lanes_are_active() {
    // `s_mov_b64 exec, 1`, `v_mov_b32_e32 v40, v1`, `s_mov_b64 exec, -1`, `v_mov_b32_e32 v41, v1`.
    let code = vec![0xbefe_0181, 0x7e50_0301, 0xbefe_01c1, 0x7e52_0301, END];
    let program = Arc::new(Program::new(&isa::GFX942, 0x1000, code));
    let mut place = Place::new(false);
    let mut start = wave(1, place.base, &mut random(7));
    start.set_mode(0x3f0);
    start.set_exec(LaneMask::of_bits(!0));
    let got = place.run_program(&program, &start, &vec![0; GLOBAL], false, Some(0));
    assert_eq!(got.v[41], start.v[1]);
    assert_eq!((got.v[40][0], got.v[40][1]), (start.v[1][0], start.v[40][1]));
    let blocks = &program.find(0x1000).unwrap().region.blocks;
    let begun: Vec<usize> = (0..5).filter(|&index| blocks.begins_at(index)).collect();
    assert_eq!(begun, if has_wide_vectors() { vec![0, 3] } else { vec![] });
}

#[test]
fn a_load_at_two_places_of_which_one_is_out_of_bounds_has_its_addresses_until_the_end() {
    // `ds_read2_b32 v[4:5], v4 offset1:255`.
    let code = [0xd86e_ff00, 0x0400_0004, END];
    let mut place = Place::new(false);
    let mut start = wave(1, place.base, &mut random(7));
    start.set_mode(0x3f0);
    start.set_exec(LaneMask::of_bits(!0));
    start.v[4] = words(|lane| LDS as u32 - 512 + 4 * lane as u32);
    let bytes: Vec<u8> = (0..GLOBAL).map(|at| (at / 4) as u8).collect();
    let [expected, got] = [None, Some(0)].map(|cold| place.run(&code, &start, &bytes, false, cold));
    assert_eq!(expected.v[5], [0; LANES], "past the end there are zeros");
    assert!(got == expected, "{:x?}, not {:x?}", got.v[4], expected.v[4]);
}
