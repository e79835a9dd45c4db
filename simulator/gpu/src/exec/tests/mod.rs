// SPDX-License-Identifier: MIT OR Apache-2.0
//! Single instructions on a wave: modifiers, lanes and edges that kernels rarely have.
//!
//! Each is given as text and as words; the disassembler checks that they agree.

mod abreast;
mod buffers;
mod control;
mod d16;
mod indexing;
mod random;
mod rdna3;
mod rdna3_halves;
mod rdna3_memory;
mod rdna4;
mod rdna_reference;
mod rdna_refused;
mod reference;
mod scalar_float;
mod semantics;
mod translation;
mod wave32;
mod wave32_blocks;
mod wmma;
mod wmma_once;

use crate::exec::machine::core::Core;
use crate::exec::machine::lds::Lds;
use crate::exec::machine::program::{Counter, Program};
use crate::exec::machine::wave::Wave;
use crate::exec::run::Runner;
use crate::exec::values::half::{f16_to_f32, f32_to_f16};
use crate::exec::values::row::{LANES, Row};
use crate::isa;
use crate::lane_mask::LaneMask;
use crate::memory::{Memory, MemoryOptions, Windows};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs instructions, separated by "; " in `text`, on a wave that `setup` has prepared.
#[track_caller]
fn run(text: &str, words: &[u32], setup: impl FnOnce(&mut Wave)) -> Wave {
    run_with_lds(text, words, &mut Lds::new(), setup)
}

#[track_caller]
fn run_with_lds(text: &str, words: &[u32], lds: &mut Lds, setup: impl FnOnce(&mut Wave)) -> Wave {
    let mut left = words;
    let mut disassembled = Vec::new();
    while !left.is_empty() {
        let inst = isa::GFX942.decode(left).unwrap();
        disassembled.push(inst.disassemble(0).replace("_e32", "").replace("_e64", ""));
        left = &left[usize::from(inst.size) / 4..];
    }
    assert_eq!(disassembled.join("; "), text.replace("_e32", "").replace("_e64", ""));

    const END: u32 = 0xbf81_0000;
    let code: Vec<u32> = words.iter().copied().chain([END]).collect();
    let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
    let mut wave = Wave::new();
    wave.set_exec(LaneMask::of_bits(!0));
    wave.set_mode(0x1f0);
    setup(&mut wave);
    run_on(&mut wave, &isa::GFX942, &code, &memory, lds, Some(0));
    wave
}

/// Runs code to its end on a wave. `cold` is the number of arrivals before a translation, `None` for the interpreter alone.
#[track_caller]
fn run_on(
    wave: &mut Wave,
    set: &'static isa::InstructionSet,
    code: &[u32],
    memory: &Arc<Memory>,
    lds: &mut Lds,
    cold: Option<u32>,
) {
    let program = Arc::new(Program::new(set, 0x1000, code));
    let position = program.find(0x1000).unwrap();
    assert!(position.region.problems.is_empty(), "{}", position.region.problems[0]);
    let (mut windows, stop) = (Windows::default(), AtomicBool::new(false));
    let mut runner = Runner {
        core: Core::new(wave, lds, memory, &mut windows),
        counter: &mut Counter { position: Some(position), visited: None },
        program: &program,
        abreast: false,
        cold,
        stop: &stop,
    };
    runner.run(1000).unwrap();
}

fn floats(f: impl Fn(usize) -> f32) -> Row {
    std::array::from_fn(|lane| f(lane).to_bits())
}

fn words(f: impl Fn(usize) -> u32) -> Row {
    std::array::from_fn(f)
}

#[track_caller]
fn check(wave: &Wave, register: u16, expected: impl Fn(usize) -> u32) {
    for lane in 0..LANES {
        let (got, expected) = (wave.row(register)[lane], expected(lane));
        assert_eq!(got, expected, "lane {lane}: {got:#x}, not {expected:#x}");
    }
}

#[test]
fn signs_scale_and_clamp() {
    let setup = |wave: &mut Wave| {
        wave.v[0] = floats(|lane| lane as f32 - 32.0);
        wave.v[1] = floats(|lane| lane as f32 / 64.0);
    };
    let value = |lane: usize| (lane as f32 - 32.0, lane as f32 / 64.0);
    let wave = run("v_add_f32_e64 v2, |v0|, -v1", &[0xd101_0102, 0x4002_0300], setup);
    check(&wave, 2, |lane| (value(lane).0.abs() - value(lane).1).to_bits());
    let wave = run("v_mul_f32_e64 v2, -|v0|, v1 mul:4", &[0xd105_0102, 0x3002_0300], |wave| {
        setup(wave);
        // The output scale has an effect only if denormals are flushed.
        wave.set_mode(0x1c0);
    });
    check(&wave, 2, |lane| (-value(lane).0.abs() * value(lane).1 * 4.0).to_bits());
    let wave = run("v_fma_f32 v2, v0, v1, 1.0 clamp", &[0xd1cb_8002, 0x03ca_0300], setup);
    check(&wave, 2, |lane| value(lane).0.mul_add(value(lane).1, 1.0).clamp(0.0, 1.0).to_bits());
    let wave = run("v_cndmask_b32_e64 v2, -v0, |v0|, s[4:5]", &[0xd100_0202, 0x2012_0100], |wave| {
        setup(wave);
        wave.s[4] = 0xffff_0000;
    });
    check(&wave, 2, |lane| {
        let taken = (16..32).contains(&lane);
        if taken { value(lane).0.abs().to_bits() } else { (-value(lane).0).to_bits() }
    });
}

#[test]
fn inactive_lanes_keep_their_values() {
    let exec = 0x8000_0000_0000_fff0;
    let wave = run("v_mov_b32_e32 v1, v0; v_mov_b64_e32 v[2:3], 2.0", &[0x7e02_0300, 0x7e04_70f4], |wave| {
        wave.v[0] = words(|lane| lane as u32);
        wave.v[1] = [7; LANES];
        wave.v[2] = [8; LANES];
        wave.v[3] = [9; LANES];
        wave.set_exec(LaneMask::of_bits(exec));
    });
    let active = |lane: usize| exec >> lane & 1 != 0;
    check(&wave, 1, |lane| if active(lane) { lane as u32 } else { 7 });
    check(&wave, 2, |lane| if active(lane) { 0 } else { 8 });
    check(&wave, 3, |lane| if active(lane) { 0x4000_0000 } else { 9 });
}

#[test]
fn other_lanes_as_sources() {
    let setup = |wave: &mut Wave| {
        wave.v[0] = words(|lane| 100 + lane as u32);
        wave.v[1] = [7; LANES];
    };
    let wave =
        run("v_mov_b32_dpp v1, v0 row_shr:2 row_mask:0xf bank_mask:0xf", &[0x7e02_02fa, 0xff01_1200], setup);
    check(&wave, 1, |lane| if lane % 16 < 2 { 7 } else { 98 + lane as u32 });
    let wave = run(
        "v_mov_b32_dpp v1, v0 row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:1",
        &[0x7e02_02fa, 0xff09_1200],
        setup,
    );
    check(&wave, 1, |lane| if lane % 16 < 2 { 0 } else { 98 + lane as u32 });
    let wave = run(
        "v_add_u32_dpp v1, v0, v1 row_bcast:15 row_mask:0xa bank_mask:0xf",
        &[0x6802_02fa, 0xaf01_4200],
        setup,
    );
    check(&wave, 1, |lane| if lane / 16 % 2 == 1 { 107 + (lane as u32 / 16 * 16 - 1) } else { 7 });
    let wave = run(
        "v_mov_b32_dpp v1, v0 quad_perm:[3,3,0,1] row_mask:0xf bank_mask:0x5",
        &[0x7e02_02fa, 0xf500_4f00],
        setup,
    );
    check(&wave, 1, |lane| match lane / 4 % 2 {
        0 => 100 + (lane & !3) as u32 + [3, 3, 0, 1][lane % 4],
        _ => 7,
    });
    // An inactive lane is no source.
    let wave = run(
        "v_mov_b32_dpp v1, v0 row_ror:1 row_mask:0xf bank_mask:0xf",
        &[0x7e02_02fa, 0xff01_2100],
        |wave| {
            setup(wave);
            wave.set_exec(LaneMask::of_bits(!0 ^ 1));
        },
    );
    check(&wave, 1, |lane| match lane {
        0 | 1 => 7,
        lane if lane % 16 == 0 => 115 + lane as u32,
        lane => 99 + lane as u32,
    });
}

#[test]
fn parts_of_registers() {
    let setup = |wave: &mut Wave| {
        wave.v[0] = words(|lane| 0x8182_0304 + lane as u32 * 0x0101_0101);
        wave.v[1] = [0x1122_3344; LANES];
        wave.v[2] = [0xaabb_ccdd; LANES];
    };
    let wave = run(
        "v_add_u32_sdwa v2, v0, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_1",
        &[0x6804_02f9, 0x0501_1500],
        setup,
    );
    check(&wave, 2, |lane| (0x03 + lane as u32 + 0x1122) << 16 | 0xccdd);
    let wave = run(
        "v_mul_i32_i24_sdwa v2, sext(v0), v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:BYTE_0",
        &[0x0c04_02f9, 0x000b_0600],
        setup,
    );
    check(&wave, 2, |lane| ((0x81u8.wrapping_add(lane as u8) as i8) as i32 * 0x44) as u32);
    let wave = run(
        "v_cvt_f32_f16_sdwa v2, -v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1",
        &[0x7e04_16f9, 0x0015_0600],
        |wave| wave.v[0] = words(|lane| f32_to_f16(lane as f32) << 16),
    );
    check(&wave, 2, |lane| (-(lane as f32)).to_bits());
    let wave = run(
        "v_cmp_eq_u32_sdwa s[6:7], v0, v1 src0_sel:BYTE_0 src1_sel:BYTE_3",
        &[0x7d94_02f9, 0x0300_8600],
        |wave| {
            setup(wave);
            wave.set_exec(LaneMask::of_bits(0xff00));
        },
    );
    assert_eq!(wave.pair(6), 1 << 13);
}

#[test]
fn halves_of_registers() {
    let setup = |wave: &mut Wave| {
        wave.v[0] = words(|lane| f32_to_f16(lane as f32) << 16 | f32_to_f16(2.0));
        wave.v[1] = [f32_to_f16(3.0) << 16 | f32_to_f16(5.0); LANES];
        wave.v[2] = [0xaaaa_bbbb; LANES];
    };
    let wave = run("v_fma_f16 v2, v0, v1, 1.0 op_sel:[1,0,0,1]", &[0xd206_4802, 0x03ca_0300], setup);
    check(&wave, 2, |lane| f32_to_f16(lane as f32 * 5.0 + 1.0) << 16 | 0xbbbb);
    let wave = run("v_add_f16_e32 v2, v0, v1", &[0x3e04_0300], setup);
    check(&wave, 2, |_| f32_to_f16(7.0));
    let wave = run(
        "v_pk_fma_f16 v2, v0, v1, v1 op_sel:[0,1,0] op_sel_hi:[1,0,1] neg_lo:[0,0,1]",
        &[0xd38e_5002, 0x8c06_0300],
        setup,
    );
    check(&wave, 2, |lane| f32_to_f16(2.0 * 3.0 - 5.0) | f32_to_f16(lane as f32 * 5.0 + 3.0) << 16);
    let wave = run("v_pk_mul_f16 v2, v0, 4.0 op_sel_hi:[1,0] clamp", &[0xd390_c002, 0x0801_ed00], setup);
    check(&wave, 2, |lane| f32_to_f16(1.0) | f32_to_f16((lane as f32 * 4.0).min(1.0)) << 16);
    let wave = run("v_pk_add_u16 v2, v0, v2 clamp", &[0xd38a_c002, 0x1802_0500], |wave| {
        wave.v[0] = [0xfff0_0003; LANES];
        wave.v[2] = [0x0020_0004; LANES];
    });
    check(&wave, 2, |_| 0xffff_0007);
    let wave = run(
        "v_fma_mix_f32 v2, v0, v1, -2.0 op_sel:[1,0,0] op_sel_hi:[1,1,0]",
        &[0xd3a0_0802, 0x1bd6_0300],
        setup,
    );
    check(&wave, 2, |lane| (lane as f32 * 5.0 - 2.0).to_bits());
    let wave = run(
        "v_fma_mixhi_f16 v2, v0, v3, |v3| op_sel:[1,0,0] op_sel_hi:[1,0,0]",
        &[0xd3a2_0c02, 0x0c0e_0700],
        |wave| {
            setup(wave);
            wave.v[3] = [(-0.5f32).to_bits(); LANES];
        },
    );
    check(&wave, 2, |lane| f32_to_f16(lane as f32 * -0.5 + 0.5) << 16 | 0xbbbb);
}

#[test]
fn pairs_of_singles() {
    let setup = |wave: &mut Wave| {
        for register in 0..6 {
            wave.v[register] = floats(|lane| (register * 100 + lane) as f32);
        }
    };
    let value = |register: usize, lane: usize| (register * 100 + lane) as f32;
    let wave = run(
        "v_pk_fma_f32 v[6:7], v[0:1], v[2:3], v[4:5] op_sel:[1,0,0] op_sel_hi:[0,1,1] neg_hi:[0,1,0]",
        &[0xd3b0_4a06, 0x1412_0500],
        setup,
    );
    check(&wave, 6, |lane| value(1, lane).mul_add(value(2, lane), value(4, lane)).to_bits());
    check(&wave, 7, |lane| value(0, lane).mul_add(-value(3, lane), value(5, lane)).to_bits());
    let wave = run("v_pk_mov_b32 v[6:7], v[0:1], v[2:3] op_sel:[1,0]", &[0xd3b3_4806, 0x1802_0500], setup);
    check(&wave, 6, |lane| value(1, lane).to_bits());
    check(&wave, 7, |lane| value(2, lane).to_bits());
    let wave = run("v_pk_add_f32 v[6:7], v[0:1], s[4:5]", &[0xd3b2_4006, 0x1800_0900], |wave| {
        setup(wave);
        wave.s[4] = 0.5f32.to_bits();
        wave.s[5] = 0.25f32.to_bits();
    });
    check(&wave, 6, |lane| (value(0, lane) + 0.5).to_bits());
    check(&wave, 7, |lane| (value(1, lane) + 0.25).to_bits());
}

#[test]
fn carries_and_wide_products() {
    let wave = run(
        "v_add_co_u32_e32 v2, vcc, v0, v1; v_addc_co_u32_e32 v3, vcc, v0, v0, vcc",
        &[0x3204_0300, 0x3806_0100],
        |wave| {
            wave.v[0] = words(|lane| (u32::MAX - 10).wrapping_add(lane as u32 % 20));
            wave.v[1] = [5; LANES];
            wave.set_exec(LaneMask::of_bits(0xffff_ffff));
        },
    );
    for lane in 0..32 {
        let a = u64::from((u32::MAX - 10).wrapping_add(lane as u32 % 20));
        let low = a + 5;
        let high = 2 * a + (low >> 32);
        assert_eq!(wave.row(2)[lane], low as u32);
        assert_eq!(wave.row(3)[lane], high as u32);
        assert_eq!(wave.vcc().bits() >> lane & 1, high >> 32 & 1);
    }
    assert_eq!(wave.vcc().bits() >> 32, 0, "inactive lanes give no carry");
    let wave = run(
        "v_mad_u64_u32 v[4:5], s[6:7], v0, v1, v[2:3]; v_mad_i64_i32 v[8:9], s[8:9], v0, v1, v[2:3]",
        &[0xd1e8_0604, 0x040a_0300, 0xd1e9_0808, 0x040a_0300],
        |wave| {
            wave.v[0] = words(|lane| 0xffff_0000 + lane as u32);
            wave.v[1] = [0xffff_fff0; LANES];
            wave.v[2] = words(|lane| lane as u32);
            wave.v[3] = [0x8000_0000; LANES];
        },
    );
    for lane in 0..LANES {
        let (a, b, c) = (0xffff_0000u32 + lane as u32, 0xffff_fff0u32, 0x8000_0000_0000_0000 + lane as u64);
        let (sum, carry) = (u64::from(a) * u64::from(b)).overflowing_add(c);
        assert_eq!(u64::from(wave.row(4)[lane]) | u64::from(wave.row(5)[lane]) << 32, sum);
        assert_eq!(wave.pair(6) >> lane & 1, carry.into());
        let signed = (i64::from(a as i32) * i64::from(b as i32)).wrapping_add(c as i64);
        assert_eq!(u64::from(wave.row(8)[lane]) | u64::from(wave.row(9)[lane]) << 32, signed as u64);
    }
}

#[test]
fn masks_narrow_and_count() {
    let wave = run(
        "v_cmpx_lt_u32_e32 vcc, 20, v0; v_cmp_gt_u32_e64 s[4:5], 40, v0",
        &[0x7db2_0094, 0xd0cc_0004, 0x0002_00a8],
        |wave| {
            wave.v[0] = words(|lane| lane as u32);
            wave.set_exec(LaneMask::of_bits(0xffff_ffff_ffff_0000));
        },
    );
    assert_eq!(wave.exec().bits(), !0 << 21);
    assert_eq!(wave.vcc().bits(), !0 << 21);
    assert_eq!(wave.pair(4), (1 << 40) - (1 << 21));
    let wave = run(
        "v_mbcnt_lo_u32_b32 v1, s4, 0; v_mbcnt_hi_u32_b32 v1, s5, v1; v_readfirstlane_b32 s6, v0; v_readlane_b32 s7, v0, 63; v_writelane_b32 v0, 33, s7",
        &[
            0xd28c_0001,
            0x0001_0004,
            0xd28d_0001,
            0x0002_0205,
            0x7e0c_0500,
            0xd289_0007,
            0x0001_7f00,
            0xd28a_0000,
            0x0000_0ea1,
        ],
        |wave| {
            wave.v[0] = words(|lane| 1000 + lane as u32);
            wave.s[4] = 0xf0f0_f0f0;
            wave.s[5] = 0xff;
            wave.set_exec(LaneMask::of_bits(!0 << 9));
        },
    );
    let bits = 0xff_f0f0_f0f0u64;
    for lane in 9..LANES {
        assert_eq!(wave.row(1)[lane], (bits & ((1 << lane) - 1)).count_ones());
    }
    assert_eq!((wave.s[6], wave.s[7], wave.row(0)[1063 % 64]), (1009, 1063, 33));
    let wave = run("v_readfirstlane_b32 s6, v0", &[0x7e0c_0500], |wave| {
        wave.v[0] = words(|lane| 1000 + lane as u32);
        wave.set_exec(LaneMask::of_bits(0));
    });
    assert_eq!(wave.s[6], 1000, "without active lanes it is lane 0");
}

#[test]
fn denormals_are_flushed_when_the_mode_says_so() {
    let tiny = f32::from_bits(0x0040_0000);
    let setup = |wave: &mut Wave| {
        wave.v[0] = [tiny.to_bits(); LANES];
        wave.v[1] = [f32::MIN_POSITIVE.to_bits(); LANES];
    };
    let wave = run("v_add_f32_e32 v2, v0, v0; v_mul_f32_e32 v3, 0.5, v1", &[0x0204_0100, 0x0a06_02f0], setup);
    check(&wave, 2, |_| (tiny + tiny).to_bits());
    check(&wave, 3, |_| (f32::MIN_POSITIVE * 0.5).to_bits());
    let wave = run(
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0; v_add_f32_e32 v2, v0, v1; v_mul_f32_e32 v3, -0.5, v1; s_getreg_b32 s4, hwreg(HW_REG_MODE)",
        &[0xba00_0901, 0x0000_0000, 0x0204_0300, 0x0a06_02f1, 0xb884_f801],
        setup,
    );
    check(&wave, 2, |_| f32::MIN_POSITIVE.to_bits());
    check(&wave, 3, |_| 0x8000_0000);
    assert_eq!(wave.s[4], 0x1c0);
}

#[test]
fn registers_by_index() {
    let wave = run(
        "s_set_gpr_idx_on s4, gpr_idx(SRC0,DST); v_mov_b32_e32 v0, v10; s_set_gpr_idx_off; v_mov_b32_e32 v1, v10",
        &[0xbf11_0904, 0x7e00_030a, 0xbf9c_0000, 0x7e02_030a],
        |wave| {
            wave.s[4] = 3;
            wave.v[10] = [10; LANES];
            wave.v[13] = [13; LANES];
        },
    );
    check(&wave, 3, |_| 13);
    check(&wave, 1, |_| 10);
}

#[test]
fn scalar_exec_and_bits() {
    let wave = run(
        "s_and_saveexec_b64 s[4:5], s[6:7]; s_xor_b64 s[8:9], exec, s[4:5]; s_bcnt1_i32_b64 s10, exec; s_cselect_b32 s11, 1, 2",
        &[0xbe84_2006, 0x8888_047e, 0xbe8a_0d7e, 0x850b_8281],
        |wave| {
            wave.set_exec(LaneMask::of_bits(0xff00));
            wave.s[6] = 0x0ff0;
        },
    );
    assert_eq!((wave.pair(4), wave.exec().bits(), wave.pair(8)), (0xff00, 0x0f00, 0xf000));
    assert_eq!((wave.s[10], wave.s[11]), (4, 1));
    let wave = run(
        "s_addk_i32 s4, 0xffff; s_cmpk_lt_u32 s4, 0x8000; s_bitset1_b32 s5, 31; s_ashr_i64 s[6:7], s[6:7], 4; s_bfe_i32 s8, s5, 0x1001f; s_cmovk_i32 s9, 0x7fff",
        &[0xb704_ffff, 0xb604_8000, 0xbe85_1a9f, 0x9086_8406, 0x9308_ff05, 0x0001_001f, 0xb089_7fff],
        |wave| {
            wave.s[4] = 5;
            wave.s[7] = 0x8000_0000;
        },
    );
    assert_eq!(wave.s[4..10], [4, 0x8000_0000, 0, 0xf800_0000, !0, 0x7fff]);
}

#[test]
fn lds_by_two_and_atomics() {
    let mut lds = Lds::new();
    lds.reset(65536);
    let wave = run_with_lds(
        "ds_write2st64_b32 v0, v1, v2 offset0:1 offset1:2; ds_read2_b32 v[4:5], v0 offset0:64 offset1:128; ds_add_rtn_u32 v6, v7, v1; ds_read_b32 v8, v7; ds_cmpst_rtn_b32 v9, v7, v8, v2; ds_read_i8 v10, v7",
        &[
            0xd81e_0201,
            0x0002_0100,
            0xd86e_8040,
            0x0400_0000,
            0xd840_0000,
            0x0600_0107,
            0xd86c_0000,
            0x0800_0007,
            0xd860_0000,
            0x0902_0807,
            0xd872_0000,
            0x0a00_0007,
        ],
        &mut lds,
        |wave| {
            wave.v[0] = words(|lane| lane as u32 * 4);
            wave.v[1] = words(|lane| lane as u32 + 1);
            wave.v[2] = words(|lane| 0x80 + lane as u32);
            wave.v[7] = [4096; LANES];
        },
    );
    check(&wave, 4, |lane| lane as u32 + 1);
    check(&wave, 5, |lane| 0x80 + lane as u32);
    // The lanes add one after another to the poison in LDS.
    let start = 0xcbcb_cbcbu32;
    let before = |lane: usize| start + (lane * (lane + 1) / 2) as u32;
    check(&wave, 6, before);
    check(&wave, 8, |_| before(64));
    // Lane 0 exchanges; the other lanes find its value.
    check(&wave, 9, |lane| if lane == 0 { before(64) } else { 0x80 });
    check(&wave, 10, |_| 0xffff_ff80);
}

/// A product of matrices computed from the manual's layout, with blocks broadcast by `cbsz` and `abid`.
fn blocks(
    m: usize,
    k: usize,
    count: usize,
    a: impl Fn(usize, usize, usize) -> f32,
    b: impl Fn(usize, usize, usize) -> f32,
) -> Vec<f32> {
    let mut product = vec![0.0; count * m * m];
    for block in 0..count {
        for i in 0..m {
            for j in 0..m {
                product[(block * m + i) * m + j] = (0..k).map(|x| a(block, i, x) * b(block, x, j)).sum();
            }
        }
    }
    product
}

#[test]
fn blocks_of_matrices() {
    let small = |seed: usize| ((seed * 37 + 11) % 17) as f32 - 8.0;
    let setup = |wave: &mut Wave| {
        wave.v[0] = floats(small);
        wave.v[1] = floats(|lane| small(lane + 100));
    };
    // Four blocks of 16 x 16, one step deep: lane l holds row or column l % 16 of block l / 16.
    let wave = run("v_mfma_f32_16x16x1_4b_f32 v[16:31], v0, v1, 1.0", &[0xd3c1_0010, 0x03ca_0300], setup);
    let expected = blocks(16, 1, 4, |b, i, _| small(16 * b + i), |b, _, j| small(100 + 16 * b + j));
    for (index, expected) in expected.iter().enumerate() {
        let (block, i, j) = (index / 256, index / 16 % 16, index % 16);
        let got = f32::from_bits(wave.v[16 + 4 * block + i % 4][i / 4 * 16 + j]);
        assert_eq!(got, expected + 1.0, "block {block}, {i}, {j}");
    }
    // Block 1 of A serves blocks 0 and 1, block 3 serves 2 and 3.
    let wave = run(
        "v_mfma_f32_16x16x1_4b_f32 v[16:31], v0, v1, 0 cbsz:1 abid:1",
        &[0xd3c1_0910, 0x0202_0300],
        setup,
    );
    let expected = blocks(16, 1, 4, |b, i, _| small(16 * (b | 1) + i), |b, _, j| small(100 + 16 * b + j));
    for (index, expected) in expected.iter().enumerate() {
        let (block, i, j) = (index / 256, index / 16 % 16, index % 16);
        assert_eq!(f32::from_bits(wave.v[16 + 4 * block + i % 4][i / 4 * 16 + j]), *expected);
    }
    // The first 16 lanes of B serve all.
    let wave = run("v_mfma_f32_4x4x1_16b_f32 a[0:3], v0, v1, 0 blgp:4", &[0xd3c2_8000, 0x8202_0300], setup);
    let expected = blocks(4, 1, 16, |b, i, _| small(4 * b + i), |b, _, j| small(100 + (4 * b + j) % 16));
    for (index, expected) in expected.iter().enumerate() {
        let (block, i, j) = (index / 16, index / 4 % 4, index % 4);
        assert_eq!(f32::from_bits(wave.v[256 + i][4 * block + j]), *expected, "block {block}, {i}, {j}");
    }
}

#[test]
fn matrices_of_small_types() {
    let byte = |seed: usize| ((seed * 73 + 5) % 31) as u32;
    let setup = |wave: &mut Wave| {
        for register in 0..4 {
            wave.v[register] = words(|lane| {
                (0..4).fold(0, |word, part| {
                    word | (byte(register * 1000 + lane * 4 + part) & 0xff) << (8 * part)
                })
            });
        }
    };
    // Element e of lane l: row (or column) l % 32, step 8 * (l / 32) + e.
    let element = |first: usize, index: usize, k: usize| {
        let lane = k / 8 * 32 + index;
        byte((first + k % 8 / 4) * 1000 + lane * 4 + k % 4)
    };
    let wave = run("v_mfma_i32_32x32x16_i8 v[16:31], v[0:1], v[2:3], 7", &[0xd3d6_0010, 0x021e_0500], setup);
    for i in 0..32 {
        for j in 0..32 {
            let sum: u32 = (0..16).map(|k| element(0, i, k) * element(2, j, k)).sum();
            let (register, lane) = (i / 8 * 4 + i % 4, i / 4 % 2 * 32 + j);
            assert_eq!(wave.v[16 + register][lane], sum + 7, "{i}, {j}");
        }
    }
    let fp8 = super::values::eighth::fp8_to_f32;
    let wave =
        run("v_mfma_f32_32x32x16_fp8_fp8 v[16:31], v[0:1], v[2:3], 0", &[0xd3f7_0010, 0x0202_0500], setup);
    for i in 0..32 {
        for j in 0..32 {
            let sum: f32 = (0..16).map(|k| fp8(element(0, i, k)) * fp8(element(2, j, k))).sum();
            let (register, lane) = (i / 8 * 4 + i % 4, i / 4 % 2 * 32 + j);
            let got = f32::from_bits(wave.v[16 + register][lane]);
            assert!((got - sum).abs() <= 1e-5, "{i}, {j}: {got}, not {sum}");
        }
    }
    assert_eq!(f16_to_f32(f32_to_f16(0.5)), 0.5);
}

#[test]
fn sums_of_products_saturate() {
    let setup = |wave: &mut Wave| {
        wave.v[0] = [0x7f7f_7f7f; LANES];
        wave.v[1] = [0x8001_807f; LANES];
        wave.v[2] = [0x8000_0010; LANES];
    };
    let sum = 127 * -128 + 127 + 127 * -128 + 127 * 127;
    let wave = run(
        "v_dot4_i32_i8 v3, v0, v1, v2; v_dot4_i32_i8 v4, v0, v1, v2 clamp; v_dot4_u32_u8 v5, v0, v1, 3",
        &[0xd3a8_4003, 0x1c0a_0300, 0xd3a8_c004, 0x1c0a_0300, 0xd3a9_4005, 0x1a0e_0300],
        setup,
    );
    check(&wave, 3, |_| (i64::from(i32::MIN) + 16 + sum) as u32);
    check(&wave, 4, |_| if sum < -16 { 0x8000_0000 } else { (i64::from(i32::MIN) + 16 + sum) as u32 });
    check(&wave, 5, |_| 127 * (0x80 + 1 + 0x80 + 0x7f) + 3);
}
