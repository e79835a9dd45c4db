// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocks of waves of 32 lanes: loads and stores of all lanes, shifts of 64 bits, carries and masks that go nowhere.

use super::semantics::{finite, random};
use super::wave32::run_code;
use super::*;

/// `ds_store_b32 v0, v2` and `global_store_b32 v0, v2, s[8:9]`.
const STORES: [u32; 4] = [0xd834_0000, 0x0000_0200, 0xdc6a_0000, 0x0008_0200];
/// `ds_load_b32 v3, v1 offset:4`, `ds_load_2addr_b32 v[4:5], v1 offset0:1 offset1:8` and `global_load_b32 v6, v1, s[8:9]`.
const LOADS: [u32; 6] = [0xd8d8_0004, 0x0300_0001, 0xd8dc_0801, 0x0400_0001, 0xdc52_0000, 0x0608_0001];

/// The address of a lane.
type Place = fn(u32) -> u32;

/// The ways in which lanes lie.
const PLACES: [(&str, Place); 4] = [
    ("side by side", |lane| 4 * lane),
    ("the same", |_| 64),
    ("one for each eight lanes", |lane| lane / 8 * 4),
    ("any", |lane| lane * 28 % 96),
];

#[test]
fn stores_write_what_each_of_32_lanes_has_and_the_last_lane_of_a_place_wins() {
    // `ds_store_b32 v1, v2`, `ds_store_2addr_b32 v1, v2, v7 offset0:64 offset1:128` and `global_store_b32 v1, v2, s[8:9]`; then
    // `ds_load_b32 v3, v0`, the same from offsets 256 and 512, and `global_load_b32 v6, v0, s[8:9]`.
    let code = [
        0xd834_0000,
        0x0000_0201,
        0xd838_8040,
        0x0007_0201,
        0xdc6a_0000,
        0x0008_0201, //
        0xd8d8_0000,
        0x0300_0000,
        0xd8d8_0100,
        0x0400_0000,
        0xd8d8_0200,
        0x0500_0000,
        0xdc52_0000,
        0x0608_0000,
    ];
    for (name, place) in PLACES {
        for cold in [None, Some(0)] {
            let wave = run_code(&code, cold, &|wave| {
                wave.v[0] = words(|lane| 4 * lane as u32);
                // The other half of a row belongs to no lane.
                wave.v[1] = words(|lane| if lane < 32 { place(lane as u32) } else { 0 });
                wave.v[2] = words(|lane| 1000 + lane as u32);
                wave.v[7] = words(|lane| 2000 + lane as u32);
            });
            for number in 0..32 {
                let last = (0..32).rev().find(|&lane| place(lane) == 4 * number);
                let word = |first: u32| last.map_or(0xcbcb_cbcb, |lane| first + lane);
                let found = [3, 4, 5].map(|register: usize| wave.v[register][number as usize]);
                assert_eq!(found, [1000, 1000, 2000].map(word), "{name}, {cold:?}, word {number} of LDS");
                assert_eq!(
                    wave.v[6][number as usize],
                    word(1000),
                    "{name}, {cold:?}, word {number} of memory"
                );
            }
        }
    }
}

#[test]
fn loads_read_what_each_of_32_lanes_asks_for() {
    for (name, place) in PLACES {
        for cold in [None, Some(0)] {
            let code: Vec<u32> = STORES.into_iter().chain(LOADS).collect();
            let wave = run_code(&code, cold, &|wave| {
                wave.v[0] = words(|lane| 4 * lane as u32);
                // The other half of a row belongs to no lane.
                wave.v[1] = words(|lane| if lane < 32 { place(lane as u32) } else { !0xf });
                wave.v[2] = words(|lane| 1000 + lane as u32);
            });
            for lane in 0..32 {
                let word = |distance: u32| {
                    let number = place(lane) / 4 + distance;
                    // A word that nobody wrote.
                    if number < 32 { 1000 + number } else { 0xcbcb_cbcb }
                };
                let found = [3, 4, 5].map(|register: usize| wave.v[register][lane as usize]);
                assert_eq!(found, [1, 1, 8].map(word), "{name}, {cold:?}, lane {lane} of LDS");
                assert_eq!(wave.v[6][lane as usize], word(0), "{name}, {cold:?}, lane {lane} of memory");
            }
        }
    }
}

#[test]
fn blocks_shift_carry_and_narrow_as_handlers_do() {
    let cases: [(&str, &[u32]); 12] = [
        ("v_lshlrev_b64 v[3:4], 2, v[0:1]", &[0xd73c_0003, 0x0002_0082]),
        ("v_lshlrev_b64 v[3:4], 35, v[0:1]", &[0xd73c_0003, 0x0002_00a3]),
        ("v_lshlrev_b64 v[1:2], 0, v[0:1]", &[0xd73c_0001, 0x0002_0080]),
        ("v_lshlrev_b64 v[1:2], 31, s[4:5]", &[0xd73c_0001, 0x0000_089f]),
        ("v_add_co_ci_u32_e64 v1, null, s3, v1, vcc_lo", &[0xd520_7c01, 0x01aa_0203]),
        ("v_add_co_u32 v2, null, v0, v1", &[0xd700_7c02, 0x0002_0300]),
        ("v_mad_u64_u32 v[1:2], null, v0, v1, v[2:3]", &[0xd6fe_7c01, 0x040a_0300]),
        ("v_mad_u64_u32 v[1:2], null, s3, v1, s[4:5]", &[0xd6fe_7c01, 0x0012_0203]),
        ("v_mad_u64_u32 v[4:5], null, v0, s3, 0", &[0xd6fe_7c04, 0x0200_0700]),
        ("v_cmpx_gt_u32_e32 v1, v0", &[0x7d98_0101]),
        ("v_cmpx_eq_u32_e32 v0, v0", &[0x7d94_0100]),
        ("v_cmpx_ge_i32_e64 s3, v1", &[0xd4c6_007e, 0x0002_0203]),
    ];
    let mut next = random(0x32b1_0c35);
    for (text, words) in cases {
        assert_eq!(isa::GFX1100.decode(words).unwrap().to_string(), text);
        for _ in 0..50 {
            let seed = next();
            // `v_mov_b32 v9, v0` shows the lanes that are active behind the instruction.
            let code: Vec<u32> = words.iter().copied().chain([0x7e12_0300]).collect();
            let [expected, found] = [None, Some(0)].map(|cold| {
                run_code(&code, cold, &|wave| {
                    let mut next = random(seed);
                    wave.v[..10].iter_mut().for_each(|row| row.fill_with(|| finite(&mut next)));
                    (wave.s[3], wave.s[4], wave.s[5], wave.s[106]) =
                        (next() as u32, next() as u32, next() as u32, next() as u32);
                })
            });
            for register in 0..10 {
                assert_eq!(found.v[register][..32], expected.v[register][..32], "v{register} of {text}");
            }
            for (number, word) in found.s.iter().enumerate().filter(|(number, _)| !matches!(number, 8 | 9)) {
                assert_eq!(*word, expected.s[number], "s{number} of {text}");
            }
        }
    }
}
