// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waves of 32 lanes, interpreted and translated: a lane mask is one scalar register, and no lane above the 31st takes part.

use super::semantics::{random, rows};
use super::*;
use crate::exec::families;
use crate::isa::Encoding;
use crate::memory::AllocationKind;

/// The end of a program.
const END: u32 = 0xbfb0_0000;
const VCC: usize = 106;
const VCC_HI: usize = 107;
const EXEC_HI: usize = 127;
/// Bits of a scalar register beside a mask, which the instruction must leave alone.
const BESIDE: u32 = 0x5a5a_a5a5;

/// Runs code on a wave of 32 lanes, by the interpreter or as blocks.
fn run_code(code: &[u32], cold: Option<u32>, setup: &impl Fn(&mut Wave)) -> Wave {
    let words = code.iter().copied().chain([END]).collect::<Vec<_>>();
    let program = Arc::new(Program::new(&isa::GFX1100, 0x1000, words));
    let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
    let (mut lds, mut windows, stop) = (Lds::new(), Windows::default(), AtomicBool::new(false));
    let mut wave = Wave::new();
    wave.set_size(32);
    wave.s = [BESIDE; 128];
    wave.set_mode(0x3f0);
    wave.set_exec(wave.lanes());
    setup(&mut wave);
    let position = program.find(0x1000).unwrap();
    assert!(position.region.problems.is_empty(), "{}", position.region.problems[0]);
    let mut runner = Runner {
        core: Core::new(&mut wave, &mut lds, &memory, &mut windows),
        counter: &mut Counter { position: Some(position), visited: None },
        program: &program,
        abreast: false,
        cold,
        stop: &stop,
    };
    runner.run(1000).unwrap();
    wave
}

/// Runs one instruction, given as text and as words, in both ways.
#[track_caller]
fn both(text: &str, code: &[u32], setup: impl Fn(&mut Wave)) -> [Wave; 2] {
    assert_eq!(isa::GFX1100.decode(code).unwrap().to_string(), text);
    [None, Some(0)].map(|cold| run_code(code, cold, &setup))
}

/// Lanes in `v0` and twice their number in `v1`, but for every third lane, where the two are equal.
fn numbers(wave: &mut Wave) {
    wave.v[0] = words(|lane| lane as u32);
    wave.v[1] = words(|lane| if lane % 3 == 0 { lane as u32 } else { 2 * lane as u32 });
}

/// Every third of the first 32 lanes.
const THIRDS: u32 = 0x4924_9249;

#[test]
fn a_compare_writes_one_register() {
    for wave in both("v_cmp_eq_u32_e32 vcc_lo, v0, v1", &[0x7c94_0300], numbers) {
        assert_eq!((wave.s[VCC], wave.s[VCC_HI]), (THIRDS, BESIDE));
    }
    // Inactive lanes give zero.
    let narrow = |wave: &mut Wave| {
        numbers(wave);
        wave.set_exec(0xffff);
    };
    for wave in both("v_cmp_eq_u32_e32 vcc_lo, v0, v1", &[0x7c94_0300], narrow) {
        assert_eq!((wave.s[VCC], wave.s[VCC_HI]), (THIRDS & 0xffff, BESIDE));
        assert_eq!(wave.s[EXEC_HI], BESIDE, "the high half of EXEC is not used");
    }
}

#[test]
fn carries_are_one_register_in_and_out() {
    let setup = |wave: &mut Wave| {
        wave.v[0] = [u32::MAX; LANES];
        wave.v[1] = words(|lane| u32::from(lane % 2 == 0));
        (wave.s[6], wave.s[7]) = (0xffff_0000, !0);
    };
    for wave in both("v_add_co_ci_u32_e64 v2, s4, v0, v1, s6", &[0xd520_0402, 0x001a_0300], setup) {
        // The sum wraps if a one comes from the register or from the carry.
        assert_eq!((wave.s[4], wave.s[5]), (0xffff_5555, BESIDE));
        for lane in 0..32 {
            let (even, carry) = (u32::from(lane % 2 == 0), u32::from(lane >= 16));
            assert_eq!(wave.v[2][lane], u32::MAX.wrapping_add(even + carry), "lane {lane}");
        }
    }
}

#[test]
fn a_choice_reads_one_register() {
    let setup = |wave: &mut Wave| {
        numbers(wave);
        (wave.s[VCC], wave.s[VCC_HI]) = (0x0000_ffff, !0);
    };
    for wave in both("v_cndmask_b32_e32 v3, v0, v1, vcc_lo", &[0x0206_0300], setup) {
        for lane in 0..32 {
            assert_eq!(wave.v[3][lane], wave.v[usize::from(lane < 16)][lane], "lane {lane}");
        }
    }
}

#[test]
fn a_branch_looks_at_one_register() {
    // `s_cbranch_vccz 1` passes over `v_mov_b32_e32 v2, 1`.
    let code = [0xbfa3_0001, 0x7e04_0281];
    let zero = |wave: &mut Wave| {
        wave.v[2] = [7; LANES];
        (wave.s[VCC], wave.s[VCC_HI]) = (0, !0);
    };
    let set = |wave: &mut Wave| {
        wave.v[2] = [7; LANES];
        (wave.s[VCC], wave.s[VCC_HI]) = (1 << 31, 0);
    };
    for cold in [None, Some(0)] {
        assert_eq!(run_code(&code, cold, &zero).v[2][..32], [7; 32]);
        assert_eq!(run_code(&code, cold, &set).v[2][..32], [1; 32]);
    }
}

#[test]
fn lanes_are_counted_to_32() {
    for wave in both("v_readlane_b32 s3, v0, 33", &[0xd760_0003, 0x0001_4300], numbers) {
        assert_eq!(wave.s[3], 1);
    }
    // The address of lane `lane + 33`, which is `lane + 1`.
    let setup = |wave: &mut Wave| {
        wave.v[0] = words(|lane| 4 * (lane as u32 + 33));
        wave.v[1] = words(|lane| 100 + lane as u32);
    };
    for wave in both("ds_bpermute_b32 v2, v0, v1", &[0xdacc_0000, 0x0200_0100], setup) {
        for lane in 0..32 {
            assert_eq!(wave.v[2][lane], 100 + (lane as u32 + 1) % 32, "lane {lane}");
        }
    }
    for wave in both("ds_permute_b32 v2, v0, v1", &[0xdac8_0000, 0x0200_0100], setup) {
        for lane in 0..32 {
            assert_eq!(wave.v[2][lane], 100 + (lane as u32 + 31) % 32, "lane {lane}");
        }
    }
    // Together the two count the lower lanes of 32.
    let code = [0xd71f_0002, 0x0001_00c1, 0xd720_0002, 0x0002_04c1];
    for cold in [None, Some(0)] {
        let wave = run_code(&code, cold, &numbers);
        assert_eq!(wave.v[2][..32], wave.v[0][..32]);
    }
}

#[test]
fn memory_of_lanes_above_the_31st_is_not_touched() {
    // `global_store_b32 v0, v2, s[8:9]`: 32 dwords end at the end of an allocation.
    let code = [0xdc6a_0000, 0x0008_0200, END];
    assert_eq!(isa::GFX1100.decode(&code).unwrap().to_string(), "global_store_b32 v0, v2, s[8:9]");
    let program = Arc::new(Program::new(&isa::GFX1100, 0x1000, code.to_vec()));
    let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
    let base = memory.allocate(128, 256, AllocationKind::Device, "test").unwrap();
    let (mut lds, mut windows, stop) = (Lds::new(), Windows::default(), AtomicBool::new(false));
    let mut wave = Wave::new();
    wave.set_size(32);
    wave.set_mode(0x3f0);
    wave.set_exec(wave.lanes());
    (wave.s[8], wave.s[9]) = (base as u32, (base >> 32) as u32);
    wave.v[0] = words(|lane| 4 * lane as u32);
    wave.v[2] = words(|lane| lane as u32);
    let position = program.find(0x1000);
    let mut runner = Runner {
        core: Core::new(&mut wave, &mut lds, &memory, &mut windows),
        counter: &mut Counter { position, visited: None },
        program: &program,
        abreast: false,
        cold: Some(0),
        stop: &stop,
    };
    runner.run(1000).unwrap();
    let mut bytes = [0; 128];
    memory.read(base, &mut bytes).unwrap();
    let stored = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    assert!(stored.eq(0..32));
}

/// Arithmetic of gfx1100 that is executed, without data-parallel primitives.
fn arithmetic() -> Vec<(Vec<u32>, &'static str)> {
    let vector =
        [Encoding::Vop1, Encoding::Vop2, Encoding::Vopc, Encoding::Vop3, Encoding::Sop1, Encoding::Sop2];
    let fits = |(words, text): &(Vec<u32>, &str)| {
        let inst = isa::GFX1100.decode(words).unwrap();
        let outside = ["null", "exec", "pc_b64", "getreg", "sendmsg", "time", "dual"];
        vector.contains(&inst.encoding)
            && inst.mods.dpp.is_none()
            && !outside.iter().any(|word| text.contains(word))
            && families::handler(&inst).is_ok()
    };
    rows(include_str!("../../../tests/data/gfx1100.txt")).filter(fits).collect()
}

#[test]
fn translated_blocks_do_precisely_what_the_interpreter_does() {
    let (known, mut next) = (arithmetic(), random(0x0032_1a9e));
    assert!(known.len() > 1000, "{} instructions", known.len());
    for round in 0..2000 {
        let picked: Vec<_> = (0..8).map(|_| &known[next() as usize % known.len()]).collect();
        let code: Vec<u32> = picked.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        let seed = next();
        let setup = |wave: &mut Wave| {
            let mut next = random(seed);
            wave.v[..].iter_mut().for_each(|row| row.fill_with(|| super::semantics::finite(&mut next)));
            wave.s.fill_with(|| next() as u32);
            wave.set_exec(if round % 4 == 0 { next() & 0xffff_ffff } else { 0xffff_ffff });
        };
        let [expected, got] = [None, Some(0)].map(|cold| run_code(&code, cold, &setup));
        let text: Vec<&str> = picked.iter().map(|(_, text)| *text).collect();
        let register = (0..512).find(|&number| got.v[number][..32] != expected.v[number][..32]);
        assert_eq!(register, None, "vector register of {text:#?}");
        let scalar = (0..128).find(|&number| got.s[number] != expected.s[number]);
        assert_eq!(scalar, None, "scalar register of {text:#?}");
        assert_eq!(got.scc, expected.scc, "{text:#?}");
    }
}
