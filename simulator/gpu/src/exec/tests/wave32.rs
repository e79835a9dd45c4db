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

/// A new wave of 32 lanes that are all active.
fn wave_of_32() -> Wave {
    let mut wave = Wave::new();
    wave.set_size(32);
    wave.set_mode(0x3f0);
    wave.set_exec(wave.lanes());
    wave
}

/// Runs code on a wave of 32 lanes, by the interpreter or as blocks. `s[8:9]` holds the address of 4 KiB, and LDS has as much.
pub(super) fn run_code(code: &[u32], cold: Option<u32>, setup: &impl Fn(&mut Wave)) -> Wave {
    let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
    let base = memory.allocate(4096, 256, AllocationKind::Device, "test").unwrap();
    let mut lds = Lds::new();
    lds.reset(4096);
    let mut wave = wave_of_32();
    wave.s = [BESIDE; 128];
    wave.set_exec(wave.lanes());
    (wave.s[8], wave.s[9]) = (base as u32, (base >> 32) as u32);
    setup(&mut wave);
    let code: Vec<u32> = code.iter().copied().chain([END]).collect();
    run_on(&mut wave, &isa::GFX1100, &code, &memory, &mut lds, cold);
    wave
}

/// Runs one instruction, given as text and as words, in both ways.
#[track_caller]
pub(super) fn both(text: &str, code: &[u32], setup: impl Fn(&mut Wave)) -> [Wave; 2] {
    assert_eq!(isa::GFX1100.decode(code).unwrap().to_string(), text);
    [None, Some(0)].map(|cold| run_code(code, cold, &setup))
}

/// Lanes in `v0` and twice their number in `v1`, but for every third lane, where the two are equal.
pub(super) fn numbers(wave: &mut Wave) {
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
        wave.set_exec(LaneMask::of_bits(0xffff));
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
    let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
    let base = memory.allocate(128, 256, AllocationKind::Device, "test").unwrap();
    let mut wave = wave_of_32();
    (wave.s[8], wave.s[9]) = (base as u32, (base >> 32) as u32);
    wave.v[0] = words(|lane| 4 * lane as u32);
    wave.v[2] = words(|lane| lane as u32);
    run_on(&mut wave, &isa::GFX1100, &code, &memory, &mut Lds::new(), Some(0));
    let mut bytes = [0; 128];
    memory.read(base, &mut bytes).unwrap();
    let stored = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    assert!(stored.eq(0..32));
}

#[test]
fn saved_masks_are_one_register() {
    let setup = |wave: &mut Wave| {
        wave.s[VCC] = 0x00ff_00ff;
        wave.s[6] = 0x0f0f_0f0f;
        wave.set_exec(LaneMask::of_bits(0xffff_0000));
    };
    for wave in both("s_and_saveexec_b32 s4, vcc_lo", &[0xbe84_206a], setup) {
        assert_eq!((wave.s[4], wave.exec().bits(), wave.scc), (0xffff_0000, 0x00ff_0000, true));
        assert_eq!((wave.s[5], wave.s[EXEC_HI]), (BESIDE, BESIDE));
    }
    for wave in both("s_and_not1_wrexec_b32 s4, s6", &[0xbe84_3606], setup) {
        assert_eq!((wave.s[4], wave.exec().bits()), (0x0f0f_0f0f & 0x0000_ffff, 0x0f0f_0f0f & 0x0000_ffff));
    }
    let narrow = |wave: &mut Wave| {
        numbers(wave);
        wave.s[VCC] = 9;
    };
    for wave in both("v_cmpx_eq_u32_e32 v0, v1", &[0x7d94_0300], narrow) {
        assert_eq!((wave.exec().bits(), wave.s[VCC]), (THIRDS.into(), 9), "only EXEC is written");
    }
}

#[test]
fn null_is_zero_and_keeps_nothing() {
    for wave in both("s_add_u32 s5, null, 3", &[0x8005_837c], |_| {}) {
        assert_eq!(wave.s[5], 3);
    }
    let setup = |wave: &mut Wave| (wave.v[0], wave.v[1]) = ([u32::MAX; LANES], [2; LANES]);
    for wave in both("v_add_co_u32 v2, null, v0, v1", &[0xd700_7c02, 0x0002_0300], setup) {
        assert_eq!(wave.v[2][..32], [1; 32]);
        assert_eq!(wave.s[124..126], [BESIDE; 2]);
    }
}

#[test]
fn a_result_of_16_bits_keeps_the_other_half() {
    let setup = |wave: &mut Wave| {
        (wave.v[0], wave.v[1]) = ([0x7777_3c00; LANES], [0x7777_4000; LANES]);
        wave.v[2] = [0x1234_5678; LANES];
    };
    for wave in both("v_add_f16_e32 v2, v0, v1", &[0x6404_0300], setup) {
        assert_eq!(wave.v[2][..32], [0x1234_4200; 32]);
    }
}

#[test]
fn what_rdna_3_computes() {
    let float = f32::to_bits;
    // The old bits of the destination, the sources and the result.
    let cases: [(&str, &[u32], [u32; 4], u32); 12] = [
        ("v_xor3_b32 v2, v0, v1, v3", &[0xd640_0002, 0x040e_0300], [0, 5, 9, 3], 15),
        ("v_maxmin_i32 v2, v0, v1, v3", &[0xd664_0002, 0x040e_0300], [0, -5i32 as u32, 3, 2], 2),
        ("v_minmax_u32 v2, v0, v1, v3", &[0xd663_0002, 0x040e_0300], [0, 7, 9, 8], 8),
        (
            "v_maxmin_f32 v2, v0, v1, v3",
            &[0xd65e_0002, 0x040e_0300],
            [0, float(1.0), float(4.0), float(3.0)],
            float(3.0),
        ),
        (
            "v_minmax_f16 v2, v0, v1, v3",
            &[0xd661_0002, 0x040e_0300],
            [0x1234_0000, 0x3c00, 0x4000, 0x3e00],
            0x1234_3e00,
        ),
        ("v_and_b16 v2, v0, v1", &[0xd762_0002, 0x0002_0300], [0x1234_0000, 0xff0f, 0x0ff1, 0], 0x1234_0f01),
        ("v_not_b16_e32 v2, v0", &[0x7e04_d300], [0x1234_0000, 0x7777_00ff, 0, 0], 0x1234_ff00),
        ("v_cvt_i32_i16_e32 v2, v0", &[0x7e04_d500], [0, 0x7777_8000, 0, 0], 0xffff_8000),
        ("v_cvt_u32_u16_e32 v2, v0", &[0x7e04_d700], [0, 0x7777_8000, 0, 0], 0x8000),
        // 1.5 times 2 and a half.
        ("v_fmac_f16_e32 v2, v0, v1", &[0x6c04_0300], [0x1234_3800, 0x3e00, 0x4000, 0], 0x1234_4300),
        (
            "v_fma_dx9_zero_f32 v2, v0, v1, v3",
            &[0xd609_0002, 0x040e_0300],
            [0, 0, float(f32::INFINITY), float(3.0)],
            float(3.0),
        ),
        (
            "v_fmac_dx9_zero_f32_e32 v2, v0, v1",
            &[0x0c04_0300],
            [float(7.0), float(f32::INFINITY), 0, 0],
            float(7.0),
        ),
    ];
    for (text, code, [old, first, second, third], expected) in cases {
        let setup = |wave: &mut Wave| {
            for (register, bits) in [(0, first), (1, second), (2, old), (3, third)] {
                wave.v[register] = [bits; LANES];
            }
        };
        for wave in both(text, code, setup) {
            assert_eq!(wave.v[2][31], expected, "{text}: {:#x}", wave.v[2][31]);
        }
    }
}

#[test]
fn atomics_of_rdna_3() {
    let lds = |atomic: [u32; 2]| [[0xd834_0000, 0x0000_0500], atomic, [0xd8d8_0000, 0x0600_0000]];
    let global = |atomic: [u32; 2]| [[0xdc6a_0000, 0x0008_0500], atomic, [0xdc52_0000, 0x0608_0000]];
    let float = f32::to_bits;
    // `v5` is stored, the atomic has `v1` or `v[1:2]` or `v1` and `v3`, and `v6` is loaded.
    let cases = [
        ("ds_cmpstore_rtn_b32 v2, v0, v1, v3", lds([0xd8c0_0000, 0x0203_0100]), [5, 9, 5], 9),
        ("ds_cmpstore_rtn_b32 v2, v0, v1, v3", lds([0xd8c0_0000, 0x0203_0100]), [5, 9, 6], 5),
        (
            "global_atomic_min_f32 v2, v0, v1, s[8:9] glc",
            global([0xdd46_4000, 0x0208_0100]),
            [float(-1.0), float(-2.0), 0],
            float(-2.0),
        ),
        ("global_atomic_csub_u32 v2, v0, v1, s[8:9] glc", global([0xdcde_4000, 0x0208_0100]), [7, 5, 0], 2),
        ("global_atomic_csub_u32 v2, v0, v1, s[8:9] glc", global([0xdcde_4000, 0x0208_0100]), [5, 7, 0], 0),
    ];
    for (text, code, [before, operand, third], after) in cases {
        assert_eq!(isa::GFX1100.decode(&code[1]).unwrap().to_string(), text);
        let setup = |wave: &mut Wave| {
            wave.v[0] = words(|lane| 4 * lane as u32);
            for (register, bits) in [(1, operand), (3, third), (5, before)] {
                wave.v[register] = [bits; LANES];
            }
        };
        let wave = run_code(code.as_flattened(), None, &setup);
        assert_eq!((wave.v[2][31], wave.v[6][31]), (before, after), "{text}");
    }
}

#[test]
fn both_halves_of_a_dual_instruction_read_before_either_writes() {
    let setup = |wave: &mut Wave| {
        for (register, value) in [(0, 3.0), (1, 5.0), (2, 7.0), (3, 11.0), (5, 13.0)] {
            wave.v[register] = [f32::to_bits(value); LANES];
        }
    };
    let cases = [
        // Each reads the other's result.
        ("v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0", [0xca10_0101, 0x0000_0100], [(0, 5.0), (1, 3.0)]),
        (
            "v_dual_add_f32 v2, v0, v1 :: v_dual_mul_f32 v3, v1, v2",
            [0xc906_0300, 0x0202_0501],
            [(2, 8.0), (3, 35.0)],
        ),
        (
            "v_dual_fmac_f32 v2, v0, v1 :: v_dual_mul_f32 v3, v5, v2",
            [0xc806_0300, 0x0202_0505],
            [(2, 22.0), (3, 91.0)],
        ),
        (
            "v_dual_add_f32 v2, v0, v3 :: v_dual_mul_f32 v3, v1, v2",
            [0xc906_0700, 0x0202_0501],
            [(2, 14.0), (3, 35.0)],
        ),
    ];
    for (text, code, results) in cases {
        for wave in both(text, &code, setup) {
            for (register, value) in results {
                assert_eq!(f32::from_bits(wave.v[register][31]), value, "v{register} of {text}");
            }
        }
    }
}

#[test]
fn m0_shifts_the_numbers_of_registers() {
    let setup = |m0: u32| {
        move |wave: &mut Wave| {
            (0..20).for_each(|register| wave.v[register] = [100 + register as u32; LANES]);
            wave.s[124] = m0;
        }
    };
    let moved = |text: &str, word: u32, m0: u32, to: usize| {
        let [interpreted, translated] = both(text, &[word], setup(m0)).map(|wave| wave.v[to][31]);
        assert_eq!(interpreted, translated, "{text}");
        interpreted
    };
    assert_eq!(moved("v_movrels_b32_e32 v2, v3", 0x7e04_8703, 5, 2), 108);
    assert_eq!(moved("v_movreld_b32_e32 v2, v3", 0x7e04_8503, 5, 7), 103);
    assert_eq!(moved("v_movrelsd_b32_e32 v2, v3", 0x7e04_8903, 5, 7), 108);
    assert_eq!(moved("v_movrelsd_2_b32_e32 v2, v3", 0x7e04_9103, 4 << 16 | 5, 6), 108);
    assert_eq!(moved("v_movrels_b32_e32 v2, v3", 0x7e04_8703, 253, 2), 100, "past v255 it is v0");
}

#[test]
fn a_row_is_crossed_and_inactive_lanes_are_fetched() {
    let code = [0x7e04_02fa, 0xff01_6500];
    let text = "v_mov_b32_dpp v2, v0 row_xmask:5 row_mask:0xf bank_mask:0xf";
    for wave in both(text, &code, numbers) {
        for lane in 0..32 {
            assert_eq!(wave.v[2][lane], lane as u32 ^ 5);
        }
    }
    let odd = |wave: &mut Wave| {
        numbers(wave);
        wave.v[2] = [99; LANES];
        wave.set_exec(LaneMask::of_bits(0xaaaa_aaaa));
    };
    let text = "v_mov_b32_dpp v2, v0 row_shr:1 row_mask:0xf bank_mask:0xf fi:1";
    for wave in both(text, &[0x7e04_02fa, 0xff05_1100], odd) {
        for lane in 0..32 {
            assert_eq!(wave.v[2][lane], if lane % 2 == 1 { lane as u32 - 1 } else { 99 }, "lane {lane}");
        }
    }
}

/// Arithmetic of gfx1100 that is executed.
fn arithmetic() -> Vec<(Vec<u32>, &'static str)> {
    let vector = [
        Encoding::Vop1,
        Encoding::Vop2,
        Encoding::Vopc,
        Encoding::Vop3,
        Encoding::Sop1,
        Encoding::Sop2,
        Encoding::Vopd,
    ];
    let fits = |(words, text): &(Vec<u32>, &str)| {
        let inst = isa::GFX1100.decode(words).unwrap();
        let outside = ["exec", "pc_b64", "getreg", "sendmsg", "time"];
        vector.contains(&inst.encoding)
            && !outside.iter().any(|word| text.contains(word))
            && inst.halves().map_or(vec![inst], Vec::from).iter().all(|half| families::handler(half).is_ok())
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
            wave.set_exec(LaneMask::of_bits(if round % 4 == 0 { next() & 0xffff_ffff } else { 0xffff_ffff }));
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
