// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads of halves of registers. Both parts have SRAM ECC, so that a load writes the whole register: the other half is zero.

use super::{check, run, run_with_lds};
use crate::exec::machine::lds::Lds;
use crate::exec::machine::wave::Wave;
use crate::exec::values::row::LANES;

/// The contents of registers before a load.
const BEFORE: u32 = 0xaaaa_bbbb;

fn setup(wave: &mut Wave) {
    wave.v[0] = [0; LANES];
    wave.v[1] = [0; LANES];
    for register in 2..16 {
        wave.v[register] = [BEFORE; LANES];
    }
    wave.scratch_size = 64;
}

#[test]
fn loads_of_halves_from_lds_clear_the_other_half() {
    let mut lds = Lds::new();
    lds.reset(64);
    lds.store(0, 0x9287_u16.to_le_bytes());
    let text = "ds_read_u16_d16 v2, v0; ds_read_u16_d16_hi v3, v0; ds_read_i8_d16 v4, v0; ds_read_i8_d16_hi v5, v0; \
                ds_read_u8_d16 v6, v0; ds_read_u8_d16_hi v7, v0";
    let codes = [0xd8b4, 0xd8b6, 0xd8b0, 0xd8b2, 0xd8ac, 0xd8ae];
    let words: Vec<u32> = (0x0200_0000..)
        .step_by(0x0100_0000)
        .zip(codes)
        .flat_map(|(registers, code)| [code << 16, registers])
        .collect();
    let wave = run_with_lds(text, &words, &mut lds, setup);
    for (register, expected) in
        [(2, 0x9287), (3, 0x9287_0000), (4, 0xff87), (5, 0xff87_0000), (6, 0x87), (7, 0x0087_0000)]
    {
        check(&wave, register, |_| expected);
    }
}

#[test]
fn loads_of_halves_from_private_memory_clear_the_other_half() {
    let text = "scratch_load_short_d16 v8, v1, off; scratch_load_short_d16_hi v9, v1, off; \
                scratch_load_sbyte_d16_hi v10, v1, off";
    let words = [0xdc90_6000, 0x087f_0001, 0xdc94_6000, 0x097f_0001, 0xdc8c_6000, 0x0a7f_0001];
    let wave = run(text, &words, setup);
    // Nobody wrote to it: it holds the pattern of fresh memory.
    for (register, expected) in [(8, 0xcbcb), (9, 0xcbcb_0000), (10, 0xffcb_0000)] {
        check(&wave, register, |_| expected);
    }
}
