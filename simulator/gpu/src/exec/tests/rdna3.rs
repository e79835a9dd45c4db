// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions of RDNA 3 in waves of 32 lanes, interpreted and translated.

use super::wave32::{both, numbers, run_code};
use super::*;
use crate::exec::machine::outside::Outside;

/// Sets registers to the same word in all lanes.
fn words_of<const N: usize>(registers: [(usize, u32); N]) -> impl Fn(&mut Wave) {
    move |wave| registers.iter().for_each(|(register, word)| wave.v[*register] = [*word; LANES])
}

/// Runs one instruction in both ways and checks `v2`.
#[track_caller]
fn check_word(text: &str, code: &[u32], expected: u32, setup: impl Fn(&mut Wave)) {
    for wave in both(text, code, setup) {
        assert_eq!(wave.v[2][..32], [expected; 32], "{text}: {:#x}, not {expected:#x}", wave.v[2][31]);
    }
}

/// As `numbers`, with an old value in `v2` and only the odd lanes active.
fn odd(wave: &mut Wave) {
    numbers(wave);
    wave.v[2] = [99; LANES];
    wave.set_exec(LaneMask::of_bits(0xaaaa_aaaa));
}

#[test]
fn eight_lanes_are_permuted() {
    for wave in both("v_mov_b32_dpp v2, v0 dpp8:[7,6,5,4,3,2,1,0]", &[0x7e04_02e9, 0x0539_7700], numbers) {
        for lane in 0..32 {
            assert_eq!(wave.v[2][lane], lane as u32 ^ 7);
        }
    }
    // Each odd lane reads an even one, which is inactive: zero, or its value.
    for wave in both("v_mov_b32_dpp v2, v0 dpp8:[7,6,5,4,3,2,1,0]", &[0x7e04_02e9, 0x0539_7700], odd) {
        for lane in 0..32 {
            assert_eq!(wave.v[2][lane], if lane % 2 == 1 { 0 } else { 99 }, "lane {lane}");
        }
    }
    for wave in both("v_mov_b32_dpp v2, v0 dpp8:[7,6,5,4,3,2,1,0] fi:1", &[0x7e04_02ea, 0x0539_7700], odd) {
        for lane in 0..32 {
            assert_eq!(wave.v[2][lane], if lane % 2 == 1 { lane as u32 ^ 7 } else { 99 }, "lane {lane}");
        }
    }
    let setup = |wave: &mut Wave| {
        wave.v[0] = words(|lane| lane as u32);
        wave.v[1] = words(|lane| if lane < 16 { lane as u32 ^ 1 } else { lane as u32 });
    };
    let code = [0xd525_0002, 0x0002_02e9, 0xde54_c100];
    for wave in both("v_add_nc_u32_e64_dpp v2, v0, v1 dpp8:[1,0,3,2,5,4,7,6]", &code, setup) {
        for lane in 0..32 {
            let added = if lane < 16 { lane ^ 1 } else { lane };
            assert_eq!(wave.v[2][lane], ((lane ^ 1) + added) as u32, "lane {lane}");
        }
    }
    let code = [0xd44a_0004, 0x0002_02e9, 0xde54_c100];
    for wave in both("v_cmp_eq_u32_e64_dpp s4, v0, v1 dpp8:[1,0,3,2,5,4,7,6]", &code, setup) {
        assert_eq!(wave.s[4], 0xffff);
    }
}

#[test]
fn packed_sources_come_from_other_lanes() {
    let setup = |wave: &mut Wave| {
        // The halves 1.5 and 3 in even lanes, times 2 and 4.
        wave.v[0] = words(|lane| if lane % 2 == 0 { 0x4200_3e00 } else { 0 });
        (wave.v[1], wave.v[2]) = ([0x4400_4000; LANES], [7; LANES]);
        wave.v[3] = [0.5f32.to_bits(); LANES];
    };
    let expected = |lane: usize| if lane % 2 == 1 { 15.5f32.to_bits() } else { 0.5f32.to_bits() };
    let code = [0xcc13_4002, 0x1c0e_02e9, 0xde54_c100];
    for wave in both("v_dot2_f32_f16_e64_dpp v2, v0, v1, v3 dpp8:[1,0,3,2,5,4,7,6]", &code, setup) {
        for lane in 0..32 {
            assert_eq!(wave.v[2][lane], expected(lane), "lane {lane}");
        }
    }
    let text = "v_dot2_f32_f16_e64_dpp v2, v0, v1, v3 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0x1";
    for wave in both(text, &[0xcc13_4002, 0x1c0e_02fa, 0xf100_b100], setup) {
        for lane in 0..32 {
            assert_eq!(wave.v[2][lane], if lane % 16 < 4 { expected(lane) } else { 7 }, "lane {lane}");
        }
    }
    let setup = |wave: &mut Wave| {
        wave.v[0] = floats(|lane| lane as f32);
        (wave.v[1], wave.v[3]) = ([2f32.to_bits(); LANES], [0.5f32.to_bits(); LANES]);
    };
    let code = [0xcc20_0002, 0x040e_02e9, 0xde54_c100];
    for wave in both("v_fma_mix_f32_e64_dpp v2, v0, v1, v3 dpp8:[1,0,3,2,5,4,7,6]", &code, setup) {
        for lane in 0..32 {
            assert_eq!(f32::from_bits(wave.v[2][lane]), (lane ^ 1) as f32 * 2.0 + 0.5, "lane {lane}");
        }
    }
}

#[test]
fn lanes_of_rows_are_permuted() {
    // Each row is reversed.
    let reversed = |setup: fn(&mut Wave)| {
        move |wave: &mut Wave| {
            setup(wave);
            (wave.s[4], wave.s[5]) = (0x89ab_cdef, 0x0123_4567);
        }
    };
    let opposite = |lane: usize| lane as u32 ^ 15;
    for wave in both("v_permlane16_b32 v2, v0, s4, s5", &[0xd65b_0002, 0x0014_0900], reversed(numbers)) {
        assert!((0..32).all(|lane| wave.v[2][lane] == opposite(lane)), "{:?}", wave.v[2]);
    }
    for wave in both("v_permlanex16_b32 v2, v0, s4, s5", &[0xd65c_0002, 0x0014_0900], reversed(numbers)) {
        assert!((0..32).all(|lane| wave.v[2][lane] == opposite(lane) ^ 16), "{:?}", wave.v[2]);
    }
    // Each odd lane selects an even one, which is inactive.
    let cases = [
        ("v_permlane16_b32 v2, v0, s4, s5", 0xd65b_0002, [99; 32]),
        ("v_permlane16_b32 v2, v0, s4, s5 op_sel:[1,0]", 0xd65b_0802, std::array::from_fn(opposite)),
        ("v_permlane16_b32 v2, v0, s4, s5 op_sel:[0,1]", 0xd65b_1002, [0; 32]),
    ];
    for (text, first, expected) in cases {
        for wave in both(text, &[first, 0x0014_0900], reversed(odd)) {
            for (lane, expected) in expected.into_iter().enumerate() {
                assert_eq!(wave.v[2][lane], if lane % 2 == 1 { expected } else { 99 }, "{text}");
            }
        }
    }
    // There is no other half.
    let setup = |wave: &mut Wave| {
        numbers(wave);
        wave.v[2] = [99; LANES];
    };
    for wave in both("v_permlane64_b32 v2, v0", &[0x7e04_cf00], setup) {
        assert_eq!(wave.v[2][..32], [99; 32]);
    }
}

/// Runs one instruction on a wave of 64 lanes.
#[track_caller]
fn wide(text: &str, code: &[u32], setup: impl Fn(&mut Wave)) -> Wave {
    assert_eq!(isa::GFX1100_WAVE64.decode(code).unwrap().to_string(), text);
    let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
    let mut wave = Wave::new();
    wave.set_mode(0x3f0);
    wave.set_exec(LaneMask::of_bits(!0));
    setup(&mut wave);
    let code: Vec<u32> = code.iter().copied().chain([0xbfb0_0000]).collect();
    run_on(&mut wave, &isa::GFX1100_WAVE64, &code, &memory, &mut Lds::new(), Some(0));
    wave
}

#[test]
fn waves_of_64_lanes_have_two_halves() {
    let wave = wide("v_permlane64_b32 v2, v0", &[0x7e04_cf00], |wave| {
        numbers(wave);
        wave.v[2] = [99; LANES];
        // The sources are inactive.
        wave.set_exec(LaneMask::of_bits(0xffff));
    });
    check(&wave, 2, |lane| if lane < 16 { lane as u32 + 32 } else { 99 });
    let wave = wide("v_mov_b32_dpp v2, v0 dpp8:[7,6,5,4,3,2,1,0]", &[0x7e04_02e9, 0x0539_7700], numbers);
    check(&wave, 2, |lane| lane as u32 ^ 7);
    let wave = wide("v_permlanex16_b32 v2, v0, s4, s5", &[0xd65c_0002, 0x0014_0900], |wave| {
        numbers(wave);
        (wave.s[4], wave.s[5]) = (0x89ab_cdef, 0x0123_4567);
    });
    check(&wave, 2, |lane| lane as u32 ^ 31);
    // The address of lane `lane + 33`, which is the next one of the same half.
    let setup = |wave: &mut Wave| {
        wave.v[0] = words(|lane| 4 * (lane as u32 + 33));
        wave.v[1] = words(|lane| 100 + lane as u32);
    };
    let wave = wide("ds_bpermute_b32 v2, v0, v1", &[0xdacc_0000, 0x0200_0100], setup);
    check(&wave, 2, |lane| 100 + (lane & 32 | (lane + 1) & 31) as u32);
    let wave = wide("ds_permute_b32 v2, v0, v1", &[0xdac8_0000, 0x0200_0100], setup);
    check(&wave, 2, |lane| 100 + (lane & 32 | (lane + 31) & 31) as u32);
    assert_eq!(wide("v_readlane_b32 s4, v0, 45", &[0xd760_0004, 0x0001_5b00], numbers).s[4], 45);
}

#[test]
fn products_of_short_floats_are_summed() {
    let single = f32::to_bits;
    // 1.5 times 2, and 3 times 4.
    let halves = |third: u32| words_of([(0, 0x4200_3e00), (1, 0x4400_4000), (2, 0x1234_5678), (3, third)]);
    let bfloats = |third: u32| words_of([(0, 0x4040_3fc0), (1, 0x4080_4000), (2, 0x1234_5678), (3, third)]);
    let half = single(0.5);
    check_word("v_dot2_f32_f16 v2, v0, v1, v3", &[0xcc13_4002, 0x1c0e_0300], single(15.5), halves(half));
    check_word("v_dot2_f32_bf16 v2, v0, v1, v3", &[0xcc1a_4002, 0x1c0e_0300], single(15.5), bfloats(half));
    let text = "v_dot2_f32_bf16 v2, v0, v1, v3 neg_lo:[1,0,1] neg_hi:[0,1,0]";
    check_word(text, &[0xcc1a_4202, 0xbc0e_0300], single(-15.5), bfloats(half));
    // A constant is the low half alone.
    check_word("v_dot2_f32_bf16 v2, 4.0, v1, v3", &[0xcc1a_4002, 0x1c0e_02f6], single(8.5), bfloats(half));
    check_word(
        "v_dot2_f32_bf16 v2, v0, v1, v3 clamp",
        &[0xcc1a_c002, 0x1c0e_0300],
        0x3f80_0000,
        bfloats(half),
    );
    // Halves and bfloats: 0.5 and, above it, 1.
    let third = 0x3c00_3800;
    check_word("v_dot2_f16_f16 v2, v0, v1, v3", &[0xd666_0002, 0x040e_0300], 0x1234_4bc0, halves(third));
    check_word("v_dot2_f16_f16 v2, v0, v1, -v3", &[0xd666_0002, 0x840e_0300], 0x1234_4b40, halves(third));
    let text = "v_dot2_f16_f16 v2, v0, v1, v3 op_sel:[0,0,1,1]";
    check_word(text, &[0xd666_6002, 0x040e_0300], 0x4c00_5678, halves(third));
    let third = 0x3f80_3f00;
    check_word("v_dot2_bf16_bf16 v2, v0, v1, v3", &[0xd667_0002, 0x040e_0300], 0x1234_4178, bfloats(third));
    let text = "v_dot2_bf16_bf16 v2, v0, v1, v3 op_sel:[0,0,1,1]";
    check_word(text, &[0xd667_6002, 0x040e_0300], 0x4180_5678, bfloats(third));
    check_word("v_dot2_bf16_bf16 v2, v0, v1, 1.0", &[0xd667_0002, 0x03ca_0300], 0x1234_4180, bfloats(0));
    let setup = words_of([(0, 0x4200_3e00), (1, 0x4400_4000), (2, half)]);
    check_word("v_dot2acc_f32_f16 v2, v0, v1", &[0x0404_0300], single(15.5), setup);
}

#[test]
fn short_sums_are_rounded_as_the_mode_says() {
    // One and a product of 2 to the -20th, rounded up to the next half; of 2 to the -24th, to the next single.
    let setup = |factor: u32, third: u32| {
        move |wave: &mut Wave| {
            words_of([(0, factor), (1, factor), (2, 0), (3, third)])(wave);
            wave.set_mode(0x3f5);
        }
    };
    check_word("v_dot2_f16_f16 v2, v0, v1, v3", &[0xd666_0002, 0x040e_0300], 0x3c01, setup(0x1400, 0x3c00));
    let one = 0x3f80_0000;
    let (text, code) = ("v_dot2_f32_f16 v2, v0, v1, v3", [0xcc13_4002, 0x1c0e_0300]);
    check_word(text, &code, one + 1, setup(0x0c00, one));
}

#[test]
fn products_of_short_integers_are_summed() {
    // Bytes, the lowest first: 128 (-128), 3, 2, 255 (-1), times 254 (-2), 3, 2, 1.
    let bytes = |third: u32| words_of([(0, 0xff02_0380), (1, 0x0102_03fe), (3, third)]);
    let signed = |value: i32| value as u32;
    check_word("v_dot4_i32_iu8 v2, v0, v1, v3", &[0xcc16_4002, 0x1c0e_0300], 32790, bytes(10));
    let text = "v_dot4_i32_iu8 v2, v0, v1, v3 neg_lo:[1,0,0]";
    check_word(text, &[0xcc16_4002, 0x3c0e_0300], signed(-32490), bytes(10));
    let text = "v_dot4_i32_iu8 v2, v0, v1, v3 neg_lo:[1,1,0]";
    check_word(text, &[0xcc16_4002, 0x7c0e_0300], 278, bytes(10));
    let almost = signed(i32::MAX - 1);
    let text = "v_dot4_i32_iu8 v2, v0, v1, v3 clamp";
    check_word(text, &[0xcc16_c002, 0x1c0e_0300], signed(i32::MAX), bytes(almost));
    check_word("v_dot4_u32_u8 v2, v0, v1, v3", &[0xcc17_4002, 0x1c0e_0300], 32790, bytes(10));
    // Four bits: 8 (-8) and 15 (-1), times the same.
    let nibbles = words_of([(0, 0x8000_000f), (1, 0x8000_000f), (3, 10)]);
    let text = "v_dot8_i32_iu4 v2, v0, v1, v3 neg_lo:[0,1,0]";
    check_word(text, &[0xcc18_4002, 0x5c0e_0300], signed(-69), &nibbles);
    let text = "v_dot8_i32_iu4 v2, v0, v1, v3 neg_lo:[1,1,0] clamp";
    check_word(text, &[0xcc18_c002, 0x7c0e_0300], 75, &nibbles);
    check_word("v_dot8_u32_u4 v2, v0, v1, v3", &[0xcc19_4002, 0x1c0e_0300], 299, &nibbles);
}

#[test]
fn halves_are_chosen_by_a_mask() {
    let setup = |wave: &mut Wave| {
        words_of([(0, 0x1111_2222), (1, 0x3333_c444), (2, 0xaaaa_bbbb)])(wave);
        wave.s[6] = 0xffff;
    };
    let chosen = |wave: &Wave, set: u32, clear: u32| {
        (0..32)
            .for_each(|lane| assert_eq!(wave.v[2][lane], if lane < 16 { set } else { clear }, "lane {lane}"));
    };
    for wave in both("v_cndmask_b16 v2, v0, v1, s6", &[0xd65d_0002, 0x001a_0300], setup) {
        chosen(&wave, 0xaaaa_c444, 0xaaaa_2222);
    }
    for wave in both("v_cndmask_b16 v2, -v0, |v1|, s6", &[0xd65d_0202, 0x201a_0300], setup) {
        chosen(&wave, 0xaaaa_4444, 0xaaaa_a222);
    }
    // The high half of `v0`, and of the result.
    let wave = run_code(&[0xd65d_4802, 0x001a_0300], None, &setup);
    chosen(&wave, 0xc444_bbbb, 0x1111_bbbb);
}

#[test]
fn singles_become_packed_integers() {
    let singles = |low: f32, high: f32| words_of([(0, low.to_bits()), (1, high.to_bits())]);
    let (signed, unsigned) = ([0xd706_0002, 0x0002_0300], [0xd707_0002, 0x0002_0300]);
    check_word("v_cvt_pk_i16_f32 v2, v0, v1", &signed, 0x7fff_fffe, singles(-2.9, 40000.0));
    check_word("v_cvt_pk_i16_f32 v2, v0, v1", &signed, 0x8000_0000, singles(f32::NAN, -1e9));
    check_word("v_cvt_pk_u16_f32 v2, v0, v1", &unsigned, 0xffff_0002, singles(2.9, 70000.0));
    check_word("v_cvt_pk_u16_f32 v2, v0, v1", &unsigned, 0x9c40_0000, singles(-1.0, 40000.0));
    let halves = words_of([(0, 0x3800), (1, 0xbc00)]);
    check_word("v_cvt_pk_norm_i16_f16 v2, v0, v1", &[0xd712_0002, 0x0002_0300], 0x8001_4000, &halves);
    check_word("v_cvt_pk_norm_u16_f16 v2, v0, v1", &[0xd713_0002, 0x0002_0300], 0x0000_8000, &halves);
}

#[test]
fn products_for_lighting() {
    let (code, text) = ([0xd618_0002, 0x040e_0300], "v_mullit_f32 v2, v0, v1, v3");
    let cases = [
        ([3.0, 2.0, 1.0], 6.0),
        ([3.0, f32::MIN, 1.0], f32::MIN),
        ([3.0, f32::NEG_INFINITY, 1.0], f32::MIN),
        ([3.0, f32::NAN, 1.0], f32::MIN),
        ([3.0, 2.0, 0.0], f32::MIN),
        ([3.0, 2.0, -1.0], f32::MIN),
        ([3.0, 2.0, f32::NAN], f32::MIN),
        ([0.0, f32::INFINITY, 1.0], 0.0),
    ];
    for ([a, b, c], expected) in cases {
        let setup = words_of([(0, a.to_bits()), (1, b.to_bits()), (3, c.to_bits())]);
        check_word(text, &code, expected.to_bits(), setup);
    }
    let up = |wave: &mut Wave| {
        words_of([(0, 0x3f80_0001), (1, 0x3f80_0001), (3, 0x3f80_0000)])(wave);
        wave.set_mode(0x3f5);
    };
    check_word(text, &code, 0x3f80_0003, up);
}

#[test]
fn fused_sums_without_infinite_products_are_rounded_as_the_mode_says() {
    let up = |registers: [(usize, u32); 4]| {
        move |wave: &mut Wave| {
            words_of(registers)(wave);
            wave.set_mode(0x3f5);
        }
    };
    let (one, little) = (0x3f80_0000, (1.0f32 / 1e9).to_bits());
    let (fused, accumulating) = ([0xd609_0002, 0x040e_0300], [0x0c04_0300]);
    let setup = up([(0, one), (1, one), (2, 0), (3, little)]);
    check_word("v_fma_dx9_zero_f32 v2, v0, v1, v3", &fused, one + 1, setup);
    let setup = up([(0, 0), (1, 0x7f80_0000), (2, 0), (3, little)]);
    check_word("v_fma_dx9_zero_f32 v2, v0, v1, v3", &fused, little, setup);
    let setup = up([(0, one), (1, one), (2, little), (3, 0)]);
    check_word("v_fmac_dx9_zero_f32_e32 v2, v0, v1", &accumulating, one + 1, setup);
}

#[test]
fn without_the_rules_of_ieee_a_signalling_nan_is_passed_over() {
    let lenient = |registers: [(usize, u32); 3]| {
        move |wave: &mut Wave| {
            words_of(registers)(wave);
            wave.v[2] = [0; LANES];
            wave.set_mode(0x1f0);
        }
    };
    let [three, four] = [3f32, 4f32].map(f32::to_bits);
    let setup = lenient([(0, three), (1, four), (3, 0x7f80_0001)]);
    check_word("v_maxmin_f32 v2, v0, v1, v3", &[0xd65e_0002, 0x040e_0300], four, setup);
    let setup = lenient([(0, 0x4200), (1, 0x4000), (3, 0x7c01)]);
    check_word("v_minmax_f16 v2, v0, v1, v3", &[0xd661_0002, 0x040e_0300], 0x4000, setup);
}

#[test]
fn a_sum_may_have_the_nan_of_the_old_value() {
    let setup = words_of([(0, 0x3c00), (1, 0x3c00), (2, 0x7e01)]);
    check_word("v_fmac_f16_e32 v2, v0, v1", &[0x6c04_0300], 0x7e01, setup);
    let one = 0x3f80_0000;
    let setup = words_of([(0, one), (1, one), (2, 0x7fc0_0001)]);
    check_word("v_fmac_dx9_zero_f32_e32 v2, v0, v1", &[0x0c04_0300], 0x7fc0_0001, setup);
}

#[test]
fn registers_are_swapped_with_shifted_numbers() {
    let setup = |wave: &mut Wave| {
        (0..10).for_each(|register| wave.v[register] = [100 + register as u32; LANES]);
        wave.s[124] = 5 << 16 | 3;
        wave.set_exec(LaneMask::of_bits(0xffff));
    };
    for wave in both("v_swaprel_b32 v2, v3", &[0x7e04_d103], setup) {
        assert_eq!((wave.v[7][15], wave.v[6][15]), (106, 107));
        assert_eq!((wave.v[7][16], wave.v[6][16]), (107, 106));
    }
}

#[test]
fn scalar_registers_are_moved_with_shifted_numbers() {
    let setup = |wave: &mut Wave| {
        wave.s[8] = 77;
        wave.s[124] = 6 << 16 | 3;
    };
    for wave in both("s_movrelsd_2_b32 s4, s5", &[0xbe84_4405], setup) {
        assert_eq!(wave.s[10], 77);
    }
    // The last of 106 registers.
    let setup = |wave: &mut Wave| (wave.s[105], wave.s[124]) = (78, 100);
    for wave in both("s_movrels_b32 s4, s5", &[0xbe84_4005], setup) {
        assert_eq!(wave.s[4], 78);
    }
}

struct Clock;

impl Outside for Clock {
    fn nanoseconds(&self) -> u64 {
        0x1_2345_6789 * 10
    }

    fn interrupt(&self) {}
}

#[test]
fn clocks_are_read() {
    let setup = |wave: &mut Wave| {
        wave.outside = Some(Arc::new(Clock));
        wave.clock = 2_000_000;
    };
    for wave in both("s_sendmsg_rtn_b64 s[4:5], sendmsg(MSG_RTN_GET_REALTIME)", &[0xbe84_4d83], setup) {
        assert_eq!(wave.s[4..6], [0x2345_6789, 1]);
    }
    for wave in both("s_sendmsg_rtn_b32 s4, sendmsg(MSG_RTN_GET_REALTIME)", &[0xbe84_4c83], setup) {
        assert_eq!((wave.s[4], wave.s[5] == 1), (0x2345_6789, false));
    }
    // Two ticks in each nanosecond, of which the register has twenty bits.
    for wave in both("s_getreg_b32 s4, hwreg(HW_REG_SHADER_CYCLES, 0, 20)", &[0xb884_981d], setup) {
        assert_eq!(wave.s[4], (0x1_2345_6789u64 * 20) as u32 & 0xf_ffff);
    }
    for wave in both("s_getreg_b32 s4, hwreg(HW_REG_HW_ID1)", &[0xb884_f817], setup) {
        assert_eq!(wave.s[4], 0);
    }
}
