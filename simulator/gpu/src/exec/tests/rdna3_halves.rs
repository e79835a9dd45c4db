// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operands of 16 bits of RDNA 3: each is one half of a register, and the other half has no part in it.

use super::semantics::{Shared, random, rows, run, run_translated};
use super::wave32::run_code;
use super::*;
use crate::exec::families;
use crate::isa::{Element, Encoding, Inst, Operand};

/// Whether an operand of a type is half of a register.
fn is_half(element: Element) -> bool {
    matches!(element, Element::F16 | Element::I16 | Element::Bf16)
}

/// Vector instructions that are executed and are not packed.
fn executed() -> impl Iterator<Item = (Inst, &'static str)> {
    let short = [Encoding::Vop1, Encoding::Vop2, Encoding::Vopc, Encoding::Vop3];
    rows(include_str!("../../../tests/data/gfx1100.txt"))
        .map(|(words, text)| (isa::GFX1100.decode(&words).unwrap(), text))
        .filter(move |(inst, _)| short.contains(&inst.encoding) && families::handler(inst).is_ok())
}

/// 32-bit forms with one 16-bit operand in the high half of its register, which is 0 to 2 or the destination, 3. LLVM 19 does
/// not name most of them.
fn high() -> impl Iterator<Item = (Inst, Inst, usize, &'static str)> {
    /// The place of each operand's bit 7 in the first word, and in the second one of DPP.
    const PLACES: [(Encoding, usize, u32); 6] = [
        (Encoding::Vop1, 0, 7),
        (Encoding::Vop1, 3, 24),
        (Encoding::Vop2, 0, 7),
        (Encoding::Vop2, 1, 16),
        (Encoding::Vop2, 3, 24),
        (Encoding::Vopc, 0, 7),
    ];
    rows(include_str!("../../../tests/data/gfx1100.txt")).flat_map(|(words, text)| {
        let low = isa::GFX1100.decode(&words).unwrap();
        let places = PLACES.into_iter().chain([(Encoding::Vopc, 1, 16)]);
        places.filter(|(encoding, ..)| *encoding == low.encoding).collect::<Vec<_>>().into_iter().filter_map(
            move |(_, at, bit)| {
                let crossed = low.mods.dpp.is_some() || low.mods.dpp8.is_some();
                let (operand, ty) =
                    if at < 3 { (low.src[at], low.src_type[at]) } else { (low.dst, low.dst_type) };
                let is_low = matches!(operand, Operand::Vgpr(0..128)) && low.mods.op_sel >> at & 1 == 0;
                if !is_low || !is_half(ty.element) || crossed && at == 0 || families::handler(&low).is_err() {
                    return None;
                }
                let mut words = words.clone();
                words[0] |= 1 << bit;
                Some((low, isa::GFX1100.decode(&words).unwrap(), at, text))
            },
        )
    })
}

#[test]
fn short_forms_reach_both_halves() {
    let (mut count, mut failures) = (0, Vec::new());
    for (number, (low, high, at, text)) in high().enumerate() {
        let operand = if at < 3 { low.src[at] } else { low.dst };
        let Operand::Vgpr(register) = operand else { continue };
        let users = low.src.iter().chain([&low.dst]).filter(|other| **other == operand).count();
        assert_eq!(high.mods.op_sel, low.mods.op_sel | 1 << at, "{text}");
        assert!(high.to_string().contains(".h"), "{high}");
        if users != 1 {
            continue;
        }
        // With the halves of the register exchanged before and after, it is the instruction with the low half.
        let exchange = |wave: &mut Wave| {
            wave.v[usize::from(register)].iter_mut().for_each(|word| *word = word.rotate_left(16));
        };
        let mut plain = random_wave(number as u64);
        let mut exchanged = random_wave(number as u64);
        exchange(&mut exchanged);
        run(&mut plain, low, false, &mut Shared::new()).unwrap();
        let mut translated = exchanged.clone_for_test();
        run(&mut exchanged, high, false, &mut Shared::new()).unwrap();
        run_translated(&mut translated, high, &mut Shared::new()).unwrap();
        let differs = translated.v != exchanged.v || translated.s != exchanged.s;
        exchange(&mut exchanged);
        if differs || plain.v != exchanged.v || plain.s != exchanged.s {
            failures.push(format!("{high}"));
        }
        count += 1;
    }
    assert!(failures.is_empty(), "{} of {count}: {failures:#?}", failures.len());
    assert!(count > 200, "{count}");
}

fn random_wave(seed: u64) -> Wave {
    let mut next = random(seed);
    let mut wave = Wave::new();
    wave.set_size(32);
    wave.v.iter_mut().for_each(|row| row.fill_with(|| next() as u32));
    wave.s.fill_with(|| next() as u32);
    wave.set_mode(0x3f0);
    wave.set_exec(wave.lanes());
    wave
}

#[test]
fn a_result_leaves_the_other_half_alone() {
    let (mut count, mut failures) = (0, Vec::new());
    for (number, (inst, text)) in executed().enumerate() {
        let Operand::Vgpr(register) = inst.dst else { continue };
        if !is_half(inst.dst_type.element) || inst.dst_type.dwords != 1 {
            continue;
        }
        let before = random_wave(number as u64);
        let mut wave = before.clone_for_test();
        run(&mut wave, inst, false, &mut Shared::new()).unwrap();
        let kept = if inst.mods.op_sel & 8 != 0 { 0xffff } else { 0xffff_0000 };
        let [old, new] = [&before, &wave].map(|wave| wave.v[usize::from(register)].map(|word| word & kept));
        if old[..32] != new[..32] {
            failures.push(text);
        }
        count += 1;
    }
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(count > 300, "{count}");
}

#[test]
fn a_source_is_one_half() {
    let (mut count, mut failures) = (0, Vec::new());
    for (number, (inst, text)) in executed().enumerate() {
        for index in 0..3 {
            let Operand::Vgpr(register) = inst.src[index] else { continue };
            let others = inst.src.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, source)| source);
            if !is_half(inst.src_type[index].element)
                || others.chain([&inst.dst]).any(|operand| *operand == inst.src[index])
            {
                continue;
            }
            let other_half = if inst.mods.op_sel >> index & 1 != 0 { 0xffff } else { 0xffff_0000 };
            let [same, changed] = [0, other_half].map(|change| {
                let mut wave = random_wave(number as u64);
                wave.v[usize::from(register)].iter_mut().for_each(|word| *word ^= change);
                run(&mut wave, inst, false, &mut Shared::new()).unwrap();
                wave.v[usize::from(register)] = [0; LANES];
                wave
            });
            if same.v != changed.v || same.s != changed.s {
                failures.push((index, text));
            }
            count += 1;
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(count > 300, "{count}");
}

#[test]
fn halves_are_selected_by_the_instruction() {
    let half = f16_to_f32;
    assert_eq!((half(0x3e00), half(0x4000), half(0x4300), half(0x4700)), (1.5, 2.0, 3.5, 7.0));
    // `v0` has 1.5 in the high half, `v1` has 2 in the low half.
    let cases: [(&str, [u32; 2], u32); 11] = [
        ("v_add_f16 of the high and the low half, to the high half", [0xd532_4802, 0x0002_0300], 0x4300_5678),
        ("v_add_f16, clamped", [0xd532_c802, 0x0002_0300], 0x3c00_5678),
        ("v_cvt_f32_f16 of the high half", [0xd58b_0802, 0x0000_0100], 1.5f32.to_bits()),
        ("v_cvt_f16_f32 to the high half", [0xd58a_4002, 0x0000_0103], 0x3800_5678),
        (
            "v_mad_u32_u16 of the high and the low half",
            [0xd659_0802, 0x040e_0300],
            0x3e00 * 0x4000 + 0x3f00_0000,
        ),
        ("v_ldexp_f16 by the high half", [0xd53b_1802, 0x0002_0300], 0x1234_4600),
        ("v_add_nc_u16, clamped, to the high half", [0xd703_f802, 0x0002_0300], 0x3e02_5678),
        ("v_add_nc_u16 of the low halves, clamped", [0xd703_8002, 0x0002_0300], 0x1234_ffff),
        ("v_pack_b32_f16 of the high and the low half", [0xd711_0802, 0x0002_0300], 0x4000_3e00),
        ("v_fma_f16 with the high half of the third", [0xd648_6802, 0x040e_0300], 0x44c0_5678),
        ("v_sat_pk_u8_i16", [0xd5e2_0002, 0x0000_0100], 0x1234_ff00),
    ];
    let setup = |wave: &mut Wave| {
        for (register, word) in [(0, 0x3e00_f000), (1, 0x0002_4000), (2, 0x1234_5678), (3, 0x3f00_0000)] {
            wave.v[register] = [word; LANES];
        }
    };
    for (what, code, expected) in cases {
        for cold in [None, Some(0)] {
            let wave = run_code(&code, cold, &setup);
            assert_eq!(wave.v[2][31], expected, "{what}: {:#x}, not {expected:#x}", wave.v[2][31]);
        }
    }
    // `v_cmp_lt_f16` of the high and the low half: 1.5 and 2.
    assert_eq!(run_code(&[0xd401_0804, 0x0002_0300], None, &setup).s[4], !0);
    assert_eq!(
        run_code(&[0xd401_1804, 0x0002_0300], None, &setup).s[4],
        0,
        "1.5 is not less than a denormal"
    );
    // `v_cvt_f16_f32` rounds up to the high half.
    let up = |wave: &mut Wave| {
        setup(wave);
        wave.v[3] = [0x3f80_0001; LANES];
        wave.set_mode(0x3f5);
    };
    assert_eq!(run_code(&[0xd58a_4002, 0x0000_0103], None, &up).v[2][31], 0x3c01_5678);
}
