// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions of RDNA 4 in waves of 32 lanes, interpreted and as blocks.

use super::*;
use crate::memory::AllocationKind;

const END: u32 = 0xbfb0_0000;
/// A quiet and a signalling NaN.
const QUIET: u32 = 0x7fc0_0005;
const SIGNALLING: u32 = 0xff80_0003;
/// The content of memory from `s[8:9]` on, and of LDS.
const BYTES: [u8; 16] = [1, 2, 3, 4, 5, 0xf6, 0x87, 0xc8, 9, 10, 11, 12, 13, 14, 15, 0xf0];

/// Runs code in one way. Returns the wave, and the first words of memory.
fn run_code(code: &[u32], cold: Option<u32>, setup: &impl Fn(&mut Wave)) -> (Wave, [u8; 16]) {
    let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
    let base = memory.allocate(4096, 256, AllocationKind::Device, "test").unwrap();
    memory.write(base, &BYTES).unwrap();
    let mut lds = Lds::new();
    lds.reset(4096);
    let mut wave = Wave::new();
    wave.set_size(32);
    wave.has_ieee_mode = isa::GFX1201.has_ieee_mode();
    wave.set_mode(0xf0);
    wave.set_exec(wave.lanes());
    (wave.s[8], wave.s[9]) = (base as u32, (base >> 32) as u32);
    // A buffer of the same memory, 16 bytes long.
    wave.s[12..16].copy_from_slice(&[base as u32, (base >> 32) as u32, 16, 0x3102_7000]);
    setup(&mut wave);
    let code: Vec<u32> = code.iter().copied().chain([END]).collect();
    run_on(&mut wave, &isa::GFX1201, &code, &memory, &mut lds, cold);
    let mut bytes = [0; 16];
    memory.read(base, &mut bytes).unwrap();
    (wave, bytes)
}

/// Runs instructions, given as text and as words, in both ways.
#[track_caller]
fn both(text: &str, code: &[u32], setup: impl Fn(&mut Wave)) -> [(Wave, [u8; 16]); 2] {
    let (mut left, mut shown) = (code, Vec::new());
    while !left.is_empty() {
        let inst = isa::GFX1201.decode(left).unwrap();
        shown.push(inst.to_string());
        left = &left[usize::from(inst.size) / 4..];
    }
    assert_eq!(shown.join("; "), text);
    [None, Some(0)].map(|cold| run_code(code, cold, &setup))
}

/// Checks `v2` of one instruction on `v0`, `v1` and `v3`, which are the same in all lanes.
#[track_caller]
fn vector(text: &str, code: &[u32], [a, b, c]: [u32; 3], expected: u32) {
    let setup = |wave: &mut Wave| {
        (wave.v[0], wave.v[1], wave.v[2], wave.v[3]) =
            ([a; LANES], [b; LANES], [0x1122_3344; LANES], [c; LANES]);
    };
    for (wave, _) in both(text, code, setup) {
        let got = wave.v[2][31];
        assert_eq!(got, expected, "{text} of {a:#x}, {b:#x}, {c:#x}: {got:#x}, not {expected:#x}");
    }
}

/// Checks `s4` of one instruction on `s5` and `s6`.
#[track_caller]
fn scalar(text: &str, code: &[u32], [a, b]: [u32; 2], expected: u32) {
    for (wave, _) in both(text, code, |wave| (wave.s[5], wave.s[6]) = (a, b)) {
        assert_eq!(wave.s[4], expected, "{text}: {:#x}, not {expected:#x}", wave.s[4]);
    }
}

#[test]
fn minima_by_numbers_and_with_nans() {
    let [one, two, three] = [1f32, 2.0, 3.0].map(f32::to_bits);
    let quiet = SIGNALLING | 0x0040_0000;
    let (min, max) = ("v_min_num_f32_e32 v2, v0, v1", "v_max_num_f32_e32 v2, v0, v1");
    vector(min, &[0x2a04_0300], [one, two, 0], one);
    vector(max, &[0x2c04_0300], [one, two, 0], two);
    // A signalling NaN is missing data too.
    vector(min, &[0x2a04_0300], [SIGNALLING, two, 0], two);
    vector(max, &[0x2c04_0300], [one, SIGNALLING, 0], one);
    vector(min, &[0x2a04_0300], [SIGNALLING, QUIET, 0], quiet);
    vector(min, &[0x2a04_0300], [0, 0x8000_0000, 0], 0x8000_0000);
    let third = 0x040e_0300;
    vector("v_min3_num_f32 v2, v0, v1, v3", &[0xd629_0002, third], [three, SIGNALLING, two], two);
    vector("v_max3_num_f32 v2, v0, v1, v3", &[0xd62a_0002, third], [three, QUIET, two], three);
    vector("v_med3_num_f32 v2, v0, v1, v3", &[0xd631_0002, third], [three, one, two], two);
    vector("v_minmax_num_f32 v2, v0, v1, v3", &[0xd668_0002, third], [three, one, two], two);
    vector("v_maxmin_num_f32 v2, v0, v1, v3", &[0xd669_0002, third], [three, one, two], two);
    vector("v_minimum_f32 v2, v0, v1", &[0xd765_0002, 0x0002_0300], [two, one, 0], one);
    vector("v_minimum_f32 v2, v0, v1", &[0xd765_0002, 0x0002_0300], [two, QUIET, 0], QUIET);
    vector("v_maximum_f32 v2, v0, v1", &[0xd766_0002, 0x0002_0300], [QUIET, SIGNALLING, 0], quiet);
    vector("v_minimum3_f32 v2, v0, v1, v3", &[0xd62d_0002, third], [two, one, QUIET], QUIET);
    vector("v_maximum3_f32 v2, v0, v1, v3", &[0xd62e_0002, third], [two, one, three], three);
    vector("v_minimummaximum_f32 v2, v0, v1, v3", &[0xd66c_0002, third], [three, two, one], two);
    vector("v_maximumminimum_f32 v2, v0, v1, v3", &[0xd66d_0002, third], [three, two, one], one);
    // Halves leave the other half of the register alone.
    vector("v_min_num_f16_e32 v2, v0, v1", &[0x6004_0300], [0x3c00, 0x7c01, 0], 0x1122_3c00);
    vector("v_minimum_f16 v2, v0, v1", &[0xd767_0002, 0x0002_0300], [0x3c00, 0x7c01, 0], 0x1122_7e01);
    vector(
        "v_maximumminimum_f16 v2, v0, v1, v3",
        &[0xd66f_0002, third],
        [0x4000, 0x3c00, 0x3e00],
        0x1122_3e00,
    );
    vector("v_minmax_num_f16 v2, v0, v1, v3", &[0xd66a_0002, third], [0x4000, 0x3c00, 0x3e00], 0x1122_3e00);
    vector(
        "v_pk_minimum_f16 v2, v0, v1",
        &[0xcc1d_4002, 0x1802_0300],
        [0x7e01_4000, 0x3c00_3c00, 0],
        0x7e01_3c00,
    );
    vector(
        "v_pk_max_num_f16 v2, v0, v1",
        &[0xcc1c_4002, 0x1802_0300],
        [0x7e01_4000, 0x3c00_3c00, 0],
        0x3c00_4000,
    );
    let doubles = |wave: &mut Wave| {
        // A signalling NaN, and two.
        (wave.v[0], wave.v[1]) = ([1; LANES], [0x7ff0_0000; LANES]);
        (wave.v[4], wave.v[5]) = ([0; LANES], [0x4000_0000; LANES]);
    };
    for (wave, _) in both("v_min_num_f64_e32 v[2:3], v[0:1], v[4:5]", &[0x1a04_0900], doubles) {
        assert_eq!((wave.v[2][0], wave.v[3][0]), (0, 0x4000_0000));
    }
    for (wave, _) in both("v_maximum_f64 v[2:3], v[0:1], v[4:5]", &[0xd742_0002, 0x0002_0900], doubles) {
        assert_eq!((wave.v[2][0], wave.v[3][0]), (1, 0x7ff8_0000));
    }
    scalar("s_min_num_f32 s4, s5, s6", &[0xa104_0605], [SIGNALLING, two], two);
    scalar("s_minimum_f32 s4, s5, s6", &[0xa784_0605], [SIGNALLING, two], quiet);
    scalar("s_max_num_f16 s4, s5, s6", &[0xa604_0605], [0x3c00, 0x7c01], 0x3c00);
    scalar("s_maximum_f16 s4, s5, s6", &[0xa904_0605], [0x3c00, 0x7c01], 0x7e01);
}

#[test]
fn floats_of_eight_bits_are_the_ocps() {
    // -1.5, 448, the least denormal and 1 as FP8; as BF8 they are others.
    let bytes = 0x3801_7ebc;
    let single = f32::to_bits;
    let (fp8, bf8) = ("v_cvt_f32_fp8_e64 v2, v0 byte_sel:", "v_cvt_f32_bf8_e64 v2, v0 byte_sel:");
    vector(&format!("{fp8}1"), &[0xd5ec_1002, 0x0000_0100], [bytes, 0, 0], single(448.0));
    vector(&format!("{fp8}2"), &[0xd5ec_0802, 0x0000_0100], [bytes, 0, 0], single(2f32.powi(-9)));
    vector("v_cvt_f32_bf8_e32 v2, v0", &[0x7e04_db00], [bytes, 0, 0], single(-1.0));
    vector(&format!("{bf8}3"), &[0xd5ed_1802, 0x0000_0100], [bytes, 0, 0], single(0.5));
    let setup = |wave: &mut Wave| wave.v[0] = [bytes; LANES];
    let text = "v_cvt_pk_f32_fp8_e64 v[2:3], v0 op_sel:[1,0]";
    for (wave, _) in both(text, &[0xd5ee_0802, 0x0000_0100], setup) {
        assert_eq!([wave.v[2][7], wave.v[3][7]], [2f32.powi(-9), 1.0].map(f32::to_bits));
    }
    for (wave, _) in both("v_cvt_pk_f32_bf8_e32 v[2:3], v0", &[0x7e04_df00], |wave| {
        wave.v[0] = [0x7c3c; LANES];
    }) {
        assert_eq!([wave.v[2][7], wave.v[3][7]], [1.0, f32::INFINITY].map(f32::to_bits));
    }
    let text = "v_cvt_pk_fp8_f32 v2, v0, v1 op_sel:[0,0,1]";
    vector(text, &[0xd769_4002, 0x0002_0300], [single(1.0), single(-1e9), 0], 0xff38_3344);
    let text = "v_cvt_pk_bf8_f32 v2, v0, v1";
    vector(text, &[0xd76a_0002, 0x0002_0300], [single(1.0), single(-1e9), 0], 0x1122_fc3c);
    // The random bits carry into the mantissa: 1.0625 becomes 1.125.
    let text = "v_cvt_sr_fp8_f32 v2, v0, v1 byte_sel:2";
    vector(text, &[0xd76b_4002, 0x0002_0300], [single(1.0), 0xf000_0000, 0], 0x1139_3344);
    // 1 * 2 + -1.5 * 1 + 448 * 0 + the least denormal * 1, in BF8 on the other side.
    let (a, b) = (0x017e_bc38, 0x3c00_3c40);
    let expected = single(0.25 + 2.0 - 1.5 + 2f32.powi(-9));
    vector("v_dot4_f32_fp8_bf8 v2, v0, v1, v3", &[0xcc24_4002, 0x1c0e_0300], [a, b, single(0.25)], expected);
    let text = "v_dot4_f32_bf8_fp8 v2, v0, v1, v3 neg_lo:[0,0,1] neg_hi:[0,0,1]";
    let expected = single(-0.25 + 2.0 - 1.5 + 2f32.powi(-9));
    vector(text, &[0xcc25_4402, 0x9c0e_0300], [b, a, single(-0.25)], expected);
}

#[test]
fn functions_of_one_scalar() {
    let single = f32::to_bits;
    scalar("v_s_exp_f32 s4, s5", &[0xd680_0004, 5], [single(3.0), 0], single(8.0));
    scalar("v_s_rcp_f16 s4, s5", &[0xd685_0004, 5], [0xffff_4000, 0], 0x3800);
    scalar("v_s_sqrt_f32 s4, |s5|", &[0xd688_0104, 5], [single(-9.0), 0], single(3.0));
    scalar("v_s_rsq_f32 s4, 4.0", &[0xd686_0004, 0xf6], [0, 0], single(0.5));
    scalar("v_s_log_f32 s4, -s5", &[0xd682_0004, 0x2000_0005], [single(-8.0), 0], single(3.0));
    scalar("v_s_log_f32 s4, -s5", &[0xd682_0004, 0x2000_0005], [SIGNALLING, 0], 0x7fc0_0003);
    // The constant is a half.
    scalar("v_s_exp_f16 s4, 0.5", &[0xd681_0004, 0xf0], [0, 0], 0x3da8);
}

#[test]
fn rows_are_permuted_by_the_lanes_choice() {
    let setup = |wave: &mut Wave| {
        wave.v[0] = words(|lane| lane as u32);
        // Each lane selects the one opposite in the row. The high bits have no meaning.
        wave.v[1] = words(|lane| 0xffff_fff0 | (15 - lane as u32 % 16));
        wave.v[2] = [99; LANES];
    };
    for (wave, _) in both("v_permlane16_var_b32 v2, v0, v1", &[0xd70f_0002, 0x0002_0300], setup) {
        assert!((0..32).all(|lane| wave.v[2][lane] == lane as u32 ^ 15), "{:?}", wave.v[2]);
    }
    for (wave, _) in both("v_permlanex16_var_b32 v2, v0, v1", &[0xd710_0002, 0x0002_0300], setup) {
        assert!((0..32).all(|lane| wave.v[2][lane] == lane as u32 ^ 31), "{:?}", wave.v[2]);
    }
    // An inactive source gives zero if the instruction is bounded.
    let odd = |wave: &mut Wave| {
        setup(wave);
        wave.set_exec(LaneMask::of_bits(0xaaaa_aaaa));
    };
    let text = "v_permlane16_var_b32 v2, v0, v1 op_sel:[0,1]";
    for (wave, _) in both(text, &[0xd70f_1002, 0x0002_0300], odd) {
        assert!((0..32).all(|lane| wave.v[2][lane] == if lane % 2 == 1 { 0 } else { 99 }));
    }
}

#[test]
fn bytes_and_halves_are_loaded_to_scalars() {
    scalar("s_load_u8 s4, s[8:9], 0x5", &[0xf401_2104, 0xf800_0005], [0, 0], 0xf6);
    scalar("s_load_i8 s4, s[8:9], 0x6", &[0xf401_0104, 0xf800_0006], [0, 0], 0xffff_ff87);
    scalar("s_load_u16 s4, s[8:9], 0x6", &[0xf401_6104, 0xf800_0006], [0, 0], 0xc887);
    scalar("s_load_i16 s4, s[8:9], s5 offset:0x2", &[0xf401_4104, 0x0a00_0002], [4, 0], 0xffff_c887);
    scalar("s_buffer_load_i8 s4, s[12:15], 0x6", &[0xf403_0106, 0xf800_0006], [0, 0], 0xffff_ff87);
    scalar("s_buffer_load_u16 s4, s[12:15], 0x6", &[0xf403_6106, 0xf800_0006], [0, 0], 0xc887);
    // It ends behind the buffer.
    scalar("s_buffer_load_u16 s4, s[12:15], 0xf", &[0xf403_6106, 0xf800_000f], [0, 0], 0);
    for (wave, _) in both("s_load_b96 s[4:6], s[8:9], 0x4", &[0xf400_a104, 0xf800_0004], |wave| {
        wave.s[7] = 77;
    }) {
        assert_eq!(wave.s[4..8], [0xc887_f605, 0x0c0b_0a09, 0xf00f_0e0d, 77]);
    }
}

#[test]
fn scalars_of_64_bits_do_not_set_scc() {
    let setup = |wave: &mut Wave| {
        (wave.s[12], wave.s[13]) = (!0, 1);
        (wave.s[14], wave.s[15]) = (3, 2);
        wave.scc = false;
    };
    let (a, b) = (0x1_ffff_ffffu64, 0x2_0000_0003u64);
    for (text, code, expected) in [
        ("s_mul_u64 s[4:5], s[12:13], s[14:15]", 0xaa84_0e0c, a.wrapping_mul(b)),
        ("s_add_nc_u64 s[4:5], s[12:13], s[14:15]", 0xa984_0e0c, a + b),
        ("s_sub_nc_u64 s[4:5], s[12:13], s[14:15]", 0xaa04_0e0c, a.wrapping_sub(b)),
    ] {
        for (wave, _) in both(text, &[code], setup) {
            assert_eq!((wave.pair(4), wave.scc), (expected, false), "{text}");
        }
    }
}

#[test]
fn a_wave_alone_passes_its_barrier() {
    let text = "s_barrier_signal_isfirst -1; s_barrier_wait 0xffff; s_get_barrier_state s4, -1";
    for (wave, _) in both(text, &[0xbe80_4fc1, 0xbf94_ffff, 0xbe84_50c1], |_| {}) {
        assert_eq!((wave.scc, wave.s[4], wave.phase), (true, 1 | 1 << 4, None));
    }
    // The barrier of trap handlers is none outside of one.
    for (wave, _) in both("s_barrier_signal -2; s_barrier_signal -1", &[0xbe80_4ec2, 0xbe80_4ec1], |_| {}) {
        assert_eq!(wave.phase, Some(0));
    }
}

#[test]
fn mode_has_no_rules_for_nan() {
    scalar("s_getreg_b32 s4, hwreg(HW_REG_MODE)", &[0xb884_f801], [0, 0], 0xf0);
    // Clamping turns NaN into zero.
    vector("v_add_f32_e64 v2, v0, v1 clamp", &[0xd503_8002, 0x0002_0300], [QUIET, 0, 0], 0);
    // An output is scaled where denormals are flushed.
    let [two, three, six, twelve] = [2f32, 3.0, 6.0, 12.0].map(f32::to_bits);
    let (text, code) = ("v_mul_f32_e64 v2, v0, v1 mul:2", [0xd508_0002, 0x0802_0300]);
    vector(text, &code, [two, three, 0], six);
    for (wave, _) in both(&format!("s_denorm_mode 0; {text}"), &[0xbf92_0000, code[0], code[1]], |wave| {
        (wave.v[0], wave.v[1]) = ([two; LANES], [three; LANES]);
    }) {
        assert_eq!(wave.v[2][0], twelve);
    }
}

#[test]
fn words_in_memory_change() {
    // Lane 0 alone.
    let setup = |offset: u32, operand: u32| {
        move |wave: &mut Wave| {
            (wave.v[0], wave.v[1]) = ([offset; LANES], [operand; LANES]);
            wave.set_exec(LaneMask::of_bits(1));
        }
    };
    let word = |bytes: [u8; 16], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let old = [word(BYTES, 0), word(BYTES, 4)];
    let text = "global_atomic_cond_sub_u32 v2, v0, v1, s[8:9] th:TH_ATOMIC_RETURN";
    for (operand, new) in [(old[0], 0), (old[0] + 1, old[0])] {
        for (wave, bytes) in both(text, &[0xee14_0008, 0x0090_0002, 0], setup(0, operand)) {
            assert_eq!((wave.v[2][0], word(bytes, 0)), (old[0], new));
        }
    }
    let text = "global_atomic_sub_clamp_u32 v2, v0, v1, s[8:9] th:TH_ATOMIC_RETURN";
    for (operand, new) in [(1, old[0] - 1), (old[0] + 1, 0)] {
        for (wave, bytes) in both(text, &[0xee0d_c008, 0x0090_0002, 0], setup(0, operand)) {
            assert_eq!((wave.v[2][0], word(bytes, 0)), (old[0], new));
        }
    }
    let text = "global_atomic_min_num_f32 v2, v0, v1, s[8:9] offset:4 th:TH_ATOMIC_RETURN scope:SCOPE_DEV";
    for (operand, new) in [(SIGNALLING, old[1]), (0xff00_0000, 0xff00_0000)] {
        for (wave, bytes) in both(text, &[0xee14_4008, 0x0098_0002, 0x400], setup(0, operand)) {
            assert_eq!((wave.v[2][0], word(bytes, 4)), (old[1], new));
        }
    }
    let text = "global_atomic_pk_add_bf16 v2, v0, v1, s[8:9] th:TH_ATOMIC_RETURN";
    for (wave, bytes) in both(text, &[0xee16_8008, 0x0090_0002, 0], setup(8, 0)) {
        assert_eq!((wave.v[2][0], word(bytes, 8)), (word(BYTES, 8), word(BYTES, 8)));
    }
    for (text, code, operand, new) in [
        ("ds_cond_sub_rtn_u32 v4, v0, v1", 0xdaa0_0000, 10, 7),
        ("ds_cond_sub_rtn_u32 v4, v0, v1", 0xdaa0_0000, 5, 2),
        ("ds_sub_clamp_rtn_u32 v4, v0, v1", 0xdaa4_0000, 10, 0),
    ] {
        let load = "ds_load_b32 v5, v0";
        let store = "ds_store_b32 v0, v3";
        let all = [0xd834_0000, 0x0000_0300, code, 0x0400_0100, 0xd8d8_0000, 0x0500_0000];
        for (wave, _) in both(&format!("{store}; {text}; {load}"), &all, |wave| {
            setup(16, operand)(wave);
            wave.v[3] = [7; LANES];
        }) {
            assert_eq!((wave.v[4][0], wave.v[5][0]), (7, new), "{text}");
        }
    }
    // An offset has 24 bits and a sign.
    let text = "global_load_b32 v2, v0, s[8:9] offset:-8388608";
    for (wave, _) in both(text, &[0xee05_0008, 0x0000_0002, 0x8000_0000], setup(0x80_0004, 0)) {
        assert_eq!(wave.v[2][0], old[1]);
    }
}

/// Fills registers from `first` on with the rows of A or the columns of B: `depth` elements of `bits` bits, half of them in the
/// lanes from 16 on.
fn fill(wave: &mut Wave, first: usize, bits: usize, depth: usize, element: impl Fn(usize, usize) -> u32) {
    let (each, held) = (32 / bits, depth / 2);
    for register in 0..held.div_ceil(each) {
        wave.v[first + register] = words(|lane| {
            let start = lane / 16 % 2 * held + register * each;
            let part =
                |at: usize| (element(lane % 16, start + at) & (u32::MAX >> (32 - bits))) << (at * bits);
            (0..each).fold(0, |word, at| word | part(at))
        });
    }
}

#[test]
fn sums_of_integers_saturate_if_clamped() {
    let text = "v_wmma_i32_16x16x16_iu4 v[0:7], v8, v16, v[0:7] neg_lo:[1,1,0] clamp";
    for (wave, _) in both(text, &[0xcc45_c000, 0x7c02_2108], |wave| {
        fill(wave, 8, 4, 16, |_, _| 7);
        fill(wave, 16, 4, 16, |column, _| if column == 0 { 7 } else { 8 });
        (0..8).for_each(|register| wave.v[register] = [i32::MAX as u32 - 700; LANES]);
    }) {
        assert_eq!(
            [wave.v[0][0], wave.v[0][1]].map(|word| word as i32),
            [i32::MAX, i32::MAX - 700 - 16 * 56]
        );
    }
}

#[test]
fn waits_prefetches_and_write_backs_have_no_effect() {
    let text = "s_wait_loadcnt_dscnt 0x303; s_prefetch_data s[8:9], 0x10, s4, 7; global_wb scope:SCOPE_SYS";
    let code = [0xbfc8_0303, 0xf404_c1c4, 0x0800_0010, 0xee0b_007c, 0x000c_0000, 0];
    for (_, bytes) in both(text, &code, |_| {}) {
        assert_eq!(bytes, BYTES);
    }
}
