// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers of RDNA 3, with its resources and formats, and memory by the number of a lane.

use super::wave32::run_code;
use super::*;

/// `global_store_b32 v9, v5, s[8:9]` and `global_load_b32 v6, v9, s[8:9]`.
const STORE: [u32; 2] = [0xdc6a_0000, 0x0008_0509];
const LOAD: [u32; 2] = [0xdc52_0000, 0x0608_0009];

/// Runs one instruction between a store of `v5` to consecutive dwords and a load of them to `v6`. The resource in `s[4:7]` begins
/// there too.
#[track_caller]
fn between(text: &str, code: [u32; 2], setup: impl Fn(&mut Wave)) -> Wave {
    assert_eq!(isa::GFX1100.decode(&code).unwrap().to_string(), text);
    let setup = |wave: &mut Wave| {
        (0..10).for_each(|register| wave.v[register] = [99; LANES]);
        wave.v[0] = words(|lane| lane as u32);
        wave.v[9] = words(|lane| 4 * lane as u32);
        (wave.s[4], wave.s[5], wave.s[6], wave.s[7]) = (wave.s[8], wave.s[9], 0, 0);
        setup(wave);
    };
    let code = [STORE, code, LOAD].concat();
    let [interpreted, translated] = [None, Some(0)].map(|cold| run_code(&code, cold, &setup));
    for register in 0..10 {
        assert_eq!(interpreted.v[register][..32], translated.v[register][..32], "v{register} of {text}");
    }
    interpreted
}

/// Records of four bytes.
fn records(count: u32, word: u32) -> impl Fn(&mut Wave) {
    move |wave: &mut Wave| {
        wave.v[5] = [word; LANES];
        wave.s[5] |= 4 << 16;
        wave.s[6] = count;
    }
}

/// Loads to `v[10:13]`, beside the registers of [`between`].
fn formatted(text: &str, code: [u32; 2], setup: impl Fn(&mut Wave)) -> [u32; 4] {
    let wave = between(text, code, setup);
    [10, 11, 12, 13].map(|register| wave.v[register][31])
}

#[test]
fn a_number_stands_for_the_format() {
    let text = |name: &str| {
        format!("tbuffer_load_format_xyzw v[10:13], v0, s[4:7], 0 format:[BUF_FMT_{name}] idxen")
    };
    let single = |value: f64| (value as f32).to_bits();
    let unorm = formatted(&text("8_8_8_8_UNORM"), [0xe951_8000, 0x8081_0a00], records(32, 0x80ff_0001));
    assert_eq!(unorm, [1.0 / 255.0, 0.0, 1.0, 128.0 / 255.0].map(single));
    let integers = formatted(&text("2_10_10_10_UINT"), [0xe941_8000, 0x8081_0a00], records(32, 0x80ff_0001));
    assert_eq!(integers, [1, 0x3c0, 0xf, 2]);
    let packed = formatted(&text("10_11_11_FLOAT"), [0xe8f1_8000, 0x8081_0a00], records(32, 0x7820_03c0));
    assert_eq!(packed, [1.0, 2.0, 1.0, 0.0].map(single));
    // It may be in the resource: 8_8_8_8_UNORM, with a one in place of the last component.
    let resource = |wave: &mut Wave| {
        records(32, 0x80ff_0001)(wave);
        wave.s[7] = 42 << 12 | 4 | 5 << 3 | 6 << 6 | 1 << 9;
    };
    let text = "buffer_load_format_xyzw v[10:13], v0, s[4:7], 0 idxen";
    assert_eq!(
        formatted(text, [0xe00c_0000, 0x8081_0a00], resource),
        [1.0 / 255.0, 0.0, 1.0, 1.0].map(single)
    );
    let halves = |wave: &mut Wave| {
        records(32, 0)(wave);
        (wave.v[10], wave.v[11]) = ([1.5f32.to_bits(); LANES], [(-2f32).to_bits(); LANES]);
    };
    let text = "tbuffer_store_format_xy v[10:11], v0, s[4:7], 0 format:[BUF_FMT_16_16_FLOAT] idxen";
    let wave = between(text, [0xe8ea_8000, 0x8081_0a00], halves);
    assert_eq!(wave.v[6][..32], [0xc000_3e00; 32]);
}

#[test]
fn formatted_loads_go_to_lds() {
    // The integers of 16 bits in even halves, to the place in M0.
    let setup = |wave: &mut Wave| {
        wave.v[5] = words(|lane| 0x7777_0100 + lane as u32);
        wave.s[124] = 64;
        (wave.s[4], wave.s[5]) = (wave.s[8], wave.s[9] | 4 << 16);
        (wave.s[6], wave.s[7]) = (32, 11 << 12 | 4);
        wave.v[0] = words(|lane| lane as u32);
        wave.v[9] = words(|lane| 4 * lane as u32);
    };
    // `buffer_load_lds_format_x v0, s[4:7], 0 idxen`, `ds_load_b32 v6, v9 offset:64`.
    let code = [STORE, [0xe0c8_0000, 0x8081_0000], [0xd8d8_0040, 0x0600_0009]].concat();
    for cold in [None, Some(0)] {
        let wave = run_code(&code, cold, &setup);
        assert!((0..32).all(|lane| wave.v[6][lane] == 0x100 + lane as u32), "{:?}", wave.v[6]);
    }
}

#[test]
fn the_resource_says_what_is_out_of_bounds() {
    let numbered = |stride: u32, count: u32, word: u32| {
        move |wave: &mut Wave| {
            wave.v[5] = words(|lane| 100 + lane as u32);
            wave.s[5] |= stride << 16;
            (wave.s[6], wave.s[7]) = (count, word);
        }
    };
    // Bytes.
    let bytes = |wave: &mut Wave| {
        numbered(0, 64, 3 << 28)(wave);
        wave.v[0] = wave.v[9];
    };
    let wave = between("buffer_load_b32 v10, v0, s[4:7], 0 offen", [0xe050_0000, 0x8041_0a00], bytes);
    assert!((0..32).all(|lane| wave.v[10][lane] == if lane < 16 { 100 + lane as u32 } else { 0 }));
    // Records.
    let text = "buffer_load_b32 v10, v0, s[4:7], 0 idxen";
    let wave = between(text, [0xe050_0000, 0x8081_0a00], numbered(4, 20, 1 << 28));
    assert!((0..32).all(|lane| wave.v[10][lane] == if lane < 20 { 100 + lane as u32 } else { 0 }));
    // Records and places in them: the second dword is in the next record.
    let places = |wave: &mut Wave| {
        numbered(8, 16, 0)(wave);
        wave.v[1] = [4; LANES];
    };
    let text = "buffer_load_b64 v[10:11], v[0:1], s[4:7], 0 idxen offen";
    let wave = between(text, [0xe054_0000, 0x80c1_0a00], places);
    assert!((0..16).all(|lane| (wave.v[10][lane], wave.v[11][lane]) == (101 + 2 * lane as u32, 0)));
    assert_eq!(wave.v[10][16..32], [0; 16]);
    // A store past the end has no effect.
    let store = |wave: &mut Wave| {
        bytes(wave);
        wave.v[4] = [7; LANES];
    };
    let wave = between("buffer_store_b32 v4, v0, s[4:7], 0 offen", [0xe068_0000, 0x8041_0400], store);
    assert!((0..32).all(|lane| wave.v[6][lane] == if lane < 16 { 7 } else { 100 + lane as u32 }));
}

#[test]
fn lanes_address_lds_by_their_number() {
    let setup = |wave: &mut Wave| {
        wave.v[5] = words(|lane| 100 + lane as u32);
        wave.s[124] = 0x9999_0040;
        wave.v[9] = words(|lane| 4 * lane as u32);
    };
    // `ds_store_addtid_b32 v5 offset:8`, `ds_load_addtid_b32 v4 offset:4`, `ds_load_b32 v6, v9 offset:64`.
    let code = [[0xdac0_0008, 0x0000_0500], [0xdac4_0004, 0x0400_0000], [0xd8d8_0040, 0x0600_0009]].concat();
    for cold in [None, Some(0)] {
        let wave = run_code(&code, cold, &setup);
        assert!((1..32).all(|lane| wave.v[4][lane] == 99 + lane as u32), "{:?}", wave.v[4]);
        assert!((2..32).all(|lane| wave.v[6][lane] == 98 + lane as u32), "{:?}", wave.v[6]);
    }
}

#[test]
fn lanes_address_memory_by_their_number() {
    let setup = |wave: &mut Wave| {
        wave.v[4] = words(|lane| 200 + lane as u32);
        wave.v[5] = words(|lane| 100 + lane as u32);
    };
    let wave = between("global_load_addtid_b32 v4, s[8:9] offset:16", [0xdca2_0010, 0x0408_0000], setup);
    assert!((0..28).all(|lane| wave.v[4][lane] == 104 + lane as u32), "{:?}", wave.v[4]);
    let wave = between("global_store_addtid_b32 v4, s[8:9] offset:16", [0xdca6_0010, 0x0008_0400], setup);
    let expected = |lane: usize| if lane < 4 { 100 + lane as u32 } else { 196 + lane as u32 };
    assert!((0..32).all(|lane| wave.v[6][lane] == expected(lane)), "{:?}", wave.v[6]);
}
