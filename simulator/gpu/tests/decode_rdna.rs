// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoder and disassembler of gfx1100, gfx1150, gfx1030, gfx1010 and gfx1201 against LLVM's checked-in text. Code objects and random words are in
//! `decode.rs`.

use std::collections::{HashMap, HashSet};

use windlass_simulated_gpu::isa::{
    DecodeError, Encoding, GFX900, GFX1010, GFX1010_WAVE64, GFX1011, GFX1011_WAVE64, GFX1030, GFX1030_WAVE64,
    GFX1100, GFX1100_WAVE64, GFX1150, GFX1150_WAVE64, GFX1201, GFX1201_WAVE64, Inst, InstructionSet, Op,
    Operand,
};

/// The words and the text of each row of a list.
fn rows(list: &'static str) -> impl Iterator<Item = (Vec<u32>, &'static str)> {
    list.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (words, text) = line.split_once('\t').expect("a tab in each row");
        let word = |word| u32::from_str_radix(word, 16).expect("hexadecimal");
        (words.split(' ').map(word).collect(), text)
    })
}

/// What LLVM says of a GPU. A list after the first has what differs from the lists before it.
struct Lists {
    /// In waves of 32 lanes.
    set: &'static InstructionSet,
    wave64: &'static InstructionSet,
    rows: &'static [&'static str],
    /// The rows that differ in waves of 64 lanes.
    differing: &'static [&'static str],
    mnemonics: &'static [&'static str],
    /// Starts of the mnemonics that are not decoded: shaders use them, kernels do not.
    not_decoded: &'static [&'static str],
}

const RDNA: [Lists; 5] = [
    Lists {
        set: &GFX1100,
        wave64: &GFX1100_WAVE64,
        rows: &[include_str!("data/gfx1100.txt")],
        differing: &[include_str!("data/gfx1100.wave64.txt")],
        mnemonics: &[include_str!("data/mnemonics.gfx1100.txt")],
        not_decoded: NOT_DECODED,
    },
    Lists {
        set: &GFX1150,
        wave64: &GFX1150_WAVE64,
        rows: &[include_str!("data/gfx1100.txt"), include_str!("data/gfx1150.txt")],
        differing: &[include_str!("data/gfx1100.wave64.txt"), include_str!("data/gfx1150.wave64.txt")],
        mnemonics: &[include_str!("data/mnemonics.gfx1100.txt"), include_str!("data/mnemonics.gfx1150.txt")],
        not_decoded: NOT_DECODED,
    },
    Lists {
        set: &GFX1030,
        wave64: &GFX1030_WAVE64,
        rows: &[include_str!("data/gfx1030.txt")],
        differing: &[include_str!("data/gfx1030.wave64.txt")],
        mnemonics: &[include_str!("data/mnemonics.gfx1030.txt")],
        not_decoded: NOT_DECODED,
    },
    Lists {
        set: &GFX1010,
        wave64: &GFX1010_WAVE64,
        rows: &[include_str!("data/gfx1030.txt"), include_str!("data/gfx1010.txt")],
        differing: &[include_str!("data/gfx1030.wave64.txt"), include_str!("data/gfx1010.wave64.txt")],
        mnemonics: &[include_str!("data/mnemonics.gfx1030.txt"), include_str!("data/mnemonics.gfx1010.txt")],
        not_decoded: NOT_DECODED,
    },
    Lists {
        set: &GFX1201,
        wave64: &GFX1201_WAVE64,
        rows: &[include_str!("data/gfx1201.txt")],
        differing: &[include_str!("data/gfx1201.wave64.txt")],
        mnemonics: &[include_str!("data/mnemonics.gfx1201.txt")],
        not_decoded: &["image_", "exp", "v_interp_", "ds_param_load", "ds_direct_load", "ds_bvh_stack_"],
    },
];

const NOT_DECODED: &[&str] = &["image_", "exp", "v_interp_", "lds_", "ds_ordered_count"];

impl Lists {
    /// The words and the text of each row, `-` where LLVM has no such instruction.
    fn all_rows(&self) -> HashMap<Vec<u32>, &'static str> {
        self.rows.iter().flat_map(|list| rows(list)).collect()
    }

    /// The rows that are instructions.
    fn rows(&self) -> impl Iterator<Item = (Vec<u32>, &'static str)> + use<> {
        self.all_rows().into_iter().filter(|(_, text)| *text != "-")
    }

    /// Today's mnemonics.
    fn mnemonics(&self) -> HashSet<&'static str> {
        let mut found = HashSet::new();
        for line in self.mnemonics.iter().flat_map(|list| list.lines()).filter(|line| !line.starts_with('#'))
        {
            // An older spelling is followed by the current one.
            let name = line.split('\t').next_back().unwrap_or(line).trim_start_matches(['+', '-']);
            if line.starts_with('-') {
                found.remove(name)
            } else {
                found.insert(name)
            };
        }
        found
    }

    /// The instructions of the set.
    fn instructions(&self) -> impl Iterator<Item = Op> {
        Op::ALL.iter().copied().filter(|op| self.set.has(*op))
    }
}

fn decoded(set: &'static InstructionSet, words: &[u32]) -> Inst {
    set.decode(words).unwrap_or_else(|error| panic!("{words:08x?}: {error}"))
}

#[test]
fn the_lists_decode_to_llvms_text() {
    for lists in RDNA {
        let mut count = 0;
        for (words, text) in lists.all_rows() {
            if text == "-" {
                assert!(lists.set.decode(&words).is_err(), "{:?} has {words:08x?}", lists.set);
                continue;
            }
            let inst = decoded(lists.set, &words);
            assert_eq!(inst.to_string(), text, "{words:08x?}");
            assert_eq!(usize::from(inst.size), words.len() * 4, "{text}");
            count += 1;
        }
        assert!(count > 4000, "{:?}: {count} rows", lists.set);
    }
}

#[test]
fn the_lists_decode_to_llvms_text_in_waves_of_64_lanes() {
    for lists in RDNA {
        let differing: HashMap<_, _> = lists.differing.iter().flat_map(|list| rows(list)).collect();
        let mut refused = 0;
        for (words, usual) in lists.rows() {
            let text = *differing.get(&words).unwrap_or(&usual);
            match lists.wave64.decode(&words) {
                Ok(inst) => assert_eq!(inst.to_string(), text, "{words:08x?}"),
                Err(error) => {
                    assert_eq!(text, "-", "{words:08x?}: {error}");
                    refused += 1;
                }
            }
        }
        // The refused ones are dual instructions.
        let (count, has_dual) = (differing.len(), ![&GFX1030, &GFX1010].contains(&lists.set));
        assert!(count > 500 && (refused > 100) == has_dual, "{count} rows differ, {refused} are refused");
    }
}

#[test]
fn the_lists_have_every_instruction_and_every_form() {
    // 64-bit forms with a literal; 32-bit forms with DPP8. RDNA 3: 64-bit forms with DPP and DPP8, compares with DPP, a
    // literal of dual instructions. RDNA 2: SDWA.
    let both = [(Encoding::Vop3, "", 3), (Encoding::Vop3p, "", 3), (Encoding::Vop1, "dpp8", 2)];
    let newer = [
        (Encoding::Vop3, "dpp", 3),
        (Encoding::Vop3, "dpp8", 3),
        (Encoding::Vopc, "dpp", 2),
        (Encoding::Vopd, "", 3),
    ];
    let rdna2 = [(Encoding::Vop1, "sdwa", 2), (Encoding::Vop2, "sdwa", 2), (Encoding::Vopc, "sdwa", 2)];
    for lists in RDNA {
        let own = if lists.set.name().starts_with("gfx10") { rdna2.as_slice() } else { &newer };
        let (mut listed, mut forms) = (HashSet::new(), HashMap::new());
        for (words, _) in lists.rows() {
            let inst = decoded(lists.set, &words);
            listed.insert(inst.op);
            listed.extend(inst.second);
            let mods = inst.mods;
            let names =
                [(mods.dpp.is_some(), "dpp"), (mods.dpp8.is_some(), "dpp8"), (mods.sdwa.is_some(), "sdwa")];
            let name = names.into_iter().find(|(is, _)| *is).map_or("", |(_, name)| name);
            *forms.entry((inst.encoding, name, words.len())).or_insert(0) += 1;
        }
        let missing: Vec<_> = lists.instructions().filter(|op| !listed.contains(op)).collect();
        assert!(missing.is_empty(), "{:?}: no row for {missing:?}", lists.set);
        for form in both.iter().chain(own) {
            let count = forms.get(form).copied().unwrap_or(0);
            assert!(count > 10, "{:?}: {count} rows of {form:?}", lists.set);
        }
    }
}

/// LLVM's assembler and the decoder know the same instructions.
#[test]
fn llvm_has_the_same_mnemonics() {
    for lists in RDNA {
        let mut assembled = lists.mnemonics();
        let is_decoded = |name: &str| !lists.not_decoded.iter().any(|start| name.starts_with(start));
        // Nor are LDS instructions whose second operand lies in LDS.
        assembled.retain(|name| is_decoded(name) && !name.contains("_src2_"));
        // A dual instruction is assembled by the mnemonic of its first half.
        let dual: HashSet<_> = assembled.extract_if(|name| name.starts_with("v_dual_")).collect();
        let ours: HashSet<&str> = lists.instructions().map(|op| lists.set.mnemonic(op)).collect();
        let different: Vec<_> = assembled.symmetric_difference(&ours).collect();
        assert!(different.is_empty(), "{:?}: {different:?}", lists.set);
        let first_halves: HashSet<_> = lists
            .rows()
            .filter(|(words, _)| decoded(lists.set, words).encoding == Encoding::Vopd)
            .filter_map(|(_, text)| text.split(' ').next())
            .collect();
        assert_eq!(first_halves, dual);
    }
}

/// gfx1011 is a gfx1010 with the dot products of gfx1030.
#[test]
fn dot_products_are_what_gfx1011_adds() {
    let is_dot = |op: Op| op.mnemonic().starts_with("v_dot");
    let mut dots = 0;
    for (set, older, newer) in
        [(&GFX1011, &GFX1010, &GFX1030), (&GFX1011_WAVE64, &GFX1010_WAVE64, &GFX1030_WAVE64)]
    {
        for &op in Op::ALL {
            assert_eq!(set.has(op), if is_dot(op) { newer.has(op) } else { older.has(op) }, "{op:?}");
        }
        for (words, _) in RDNA.into_iter().flat_map(|lists| lists.rows()) {
            let text =
                |of: &'static InstructionSet| of.decode(&words).map(|inst| (inst.op, inst.to_string())).ok();
            let expected = match text(newer) {
                Some((op, text)) if is_dot(op) => Some((op, text)),
                _ => text(older),
            };
            dots += u32::from(expected.as_ref().is_some_and(|(op, _)| is_dot(*op)));
            assert_eq!(text(set), expected, "{words:08x?}");
        }
    }
    assert!(dots > 100, "{dots}");
}

#[test]
fn every_shorter_prefix_is_truncated() {
    let all = RDNA.into_iter().flat_map(|lists| lists.rows().map(move |row| (lists.set, row)));
    for (set, (words, text)) in all {
        for have in 0..words.len() {
            match set.decode(&words[..have]) {
                Err(DecodeError::Truncated { have: found, need }) => {
                    assert_eq!(found, have, "{text}");
                    assert!(need > have && need <= words.len(), "{text}: {need}");
                }
                other => panic!("{text}: {have} words gave {other:?}"),
            }
        }
    }
}

#[test]
fn words_after_the_instruction_do_not_matter() {
    let all = RDNA.into_iter().flat_map(|lists| lists.rows().map(move |row| (lists.set, row)));
    for (set, (mut words, text)) in all {
        let alone = decoded(set, &words);
        words.extend([0xffff_ffff, 0xffff_ffff]);
        assert_eq!(set.decode(&words), Ok(alone), "{text}");
    }
}

#[test]
fn scalar_registers_have_the_numbers_of_other_sets() {
    // s_mov_b32 m0, null; s_mov_b64 null, s[104:105]
    let inst = decoded(&GFX1100, &[0xbefd_007c]);
    assert_eq!((inst.dst, inst.src[0]), (Operand::M0, Operand::NULL));
    let inst = decoded(&GFX1030, &[0xbefc_037d]);
    assert_eq!((inst.dst, inst.src[0]), (Operand::M0, Operand::NULL));
    let inst = decoded(&GFX1100, &[0xbefc_0168]);
    assert_eq!((inst.dst, inst.src[0], inst.dst_type.dwords), (Operand::NULL, Operand::Sgpr(104), 2));
}

/// An atomic with `glc` returns the old value in the registers of its data.
#[test]
fn scalar_atomics_of_gfx1010_return_if_asked_to() {
    // s_atomic_cmpswap_x2 s[40:43], s[4:5], 0x10
    for (first, text, dst) in [
        (0xf684_0a02, "s_atomic_cmpswap_x2 s[40:43], s[4:5], 0x10", Operand::None),
        (0xf685_0a02, "s_atomic_cmpswap_x2 s[40:43], s[4:5], 0x10 glc", Operand::Sgpr(40)),
    ] {
        let inst = decoded(&GFX1010, &[first, 0xfa00_0010]);
        assert_eq!((inst.to_string().as_str(), inst.dst, inst.src[1]), (text, dst, Operand::Sgpr(40)));
        assert_eq!((inst.src_type[1].dwords, inst.dst_type.dwords), (4, if dst.is_none() { 0 } else { 2 }));
    }
}

#[test]
fn lane_masks_are_as_wide_as_waves() {
    let of = |set: &'static InstructionSet, words: &[u32]| set.decode(words).expect("an instruction");
    // v_add_co_ci_u32 v1, s4, v2, v3, s6; v_cmp_eq_u32 v2, v3
    for (set, dwords) in [(&GFX1100, 1), (&GFX1100_WAVE64, 2)] {
        let carry = of(set, &[0xd520_0401, 0x001a_0702]);
        assert_eq!((carry.sdst, carry.src[2]), (Operand::Sgpr(4), Operand::Sgpr(6)));
        assert_eq!(carry.src_type[2].dwords, dwords);
        let compare = of(set, &[0x7c94_0702]);
        assert_eq!((compare.dst, compare.dst_type.dwords), (Operand::VCC, dwords));
        // v_cmpx_eq_u32 writes EXEC alone.
        assert_eq!(of(set, &[0x7d94_0702]).dst, Operand::None);
    }
    // The sum of a matrix product is spread over the lanes.
    let words = [0xcc40_4028, 0x1c62_2102];
    let sizes =
        [&GFX1100, &GFX1100_WAVE64].map(|set| of(set, &words)).map(|inst| (inst.dst_type, inst.src_type));
    assert_eq!(sizes.map(|(dst, src)| [dst, src[0], src[2]].map(|ty| ty.dwords)), [[8, 8, 8], [4, 8, 4]]);
}

#[test]
fn the_halves_of_a_dual_instruction_are_instructions() {
    // v_dual_fmamk_f32 v2, 0x40000000, 0x40000000, v3 :: v_dual_cndmask_b32 v5, s6, v7
    let inst = decoded(&GFX1100, &[0xc892_06ff, 0x0204_0e06, 0x4000_0000]);
    assert_eq!(inst.encoding, Encoding::Vopd);
    let [first, second] = inst.halves().expect("two halves");
    assert_eq!((first.op, first.encoding, first.dst), (Op::v_fmamk_f32, Encoding::Vop2, Operand::Vgpr(2)));
    let literal = Operand::Literal(0x4000_0000);
    assert_eq!(first.src, [literal, literal, Operand::Vgpr(3), Operand::None]);
    assert_eq!((second.op, second.dst), (Op::v_cndmask_b32, Operand::Vgpr(5)));
    assert_eq!(second.src[..3], [Operand::Sgpr(6), Operand::Vgpr(7), Operand::VCC]);
    assert_eq!(second.src_type[2].dwords, 1);
    assert_eq!(first.halves(), None);
    // v_dual_mov_b32 v1, v2 :: v_dual_lshlrev_b32 v4, 3, v5
    let inst = decoded(&GFX1100, &[0xca22_0102, 0x0104_0a83]);
    let [first, second] = inst.halves().expect("two halves");
    assert_eq!((first.op, first.encoding, first.src[1]), (Op::v_mov_b32, Encoding::Vop1, Operand::None));
    assert_eq!((second.op, second.dst), (Op::v_lshlrev_b32, Operand::Vgpr(4)));
    assert_eq!(second.src[..2], [Operand::Inline(131), Operand::Vgpr(5)]);
}

#[test]
fn lanes_of_dpp8_are_numbers() {
    // v_mov_b32_dpp v10, v5 dpp8:[7,6,5,4,3,2,1,0] fi:1
    let lanes = (0..8).fold(0, |lanes, at| lanes | (7 - at) << (3 * at + 8));
    let dpp8 = decoded(&GFX1100, &[0x7e14_02ea, 5 | lanes]).mods.dpp8.expect("dpp8");
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(|at| dpp8.lane(at)), [7, 6, 5, 4, 3, 2, 1, 0]);
    assert!(dpp8.fetch_inactive);
}

/// In the words of later releases of LLVM: release 19 names the high halves of few 32-bit forms.
#[test]
fn high_halves_are_named() {
    let halves: [(&[u32], &str); 7] = [
        (&[0x6402_05c8], "v_add_f16_e32 v1.l, v72.h, v2.l"),
        (&[0x6502_0502], "v_add_f16_e32 v1.h, v2.l, v2.l"),
        (&[0x7e0a_d782], "v_cvt_u32_u16_e32 v5, v2.h"),
        (&[0x7f0a_1502], "v_cvt_f16_f32_e32 v5.h, v2"),
        (&[0x7c02_0582], "v_cmp_lt_f16_e32 vcc_lo, v2.h, v2.l"),
        (&[0x6d0a_0502], "v_fmac_f16_e32 v5.h, v2.l, v2.l"),
        (&[0xd59c_4040, 0x0201_0190], "v_mov_b16_e64 v64.h, v144.l"),
    ];
    for (words, text) in halves {
        assert_eq!(decoded(&GFX1100, words).to_string(), text, "{words:08x?}");
    }
    // A register below v128 and no high half: as LLVM 19.
    assert_eq!(decoded(&GFX1100, &[0x6402_0502]).to_string(), "v_add_f16_e32 v1, v2, v2");
}

#[test]
fn what_hardware_does_not_have_is_refused() {
    let refused: [(&[u32], Option<Encoding>); 8] = [
        // An image, an export, interpolation.
        (&[0xf000_0000, 0], None),
        (&[0xf800_0000, 0], None),
        (&[0xcd00_0000, 0], None),
        // A literal beside DPP, and as the sum of a matrix product.
        (&[0xd613_000a, 0x03fe_08fa, 0xff00_e405, 7], Some(Encoding::Vop3)),
        (&[0xcc40_4028, 0x1bfe_2102, 7], Some(Encoding::Vop3p)),
        // A control of DPP that only GFX9 has.
        (&[0x7e14_02fa, 0xff01_3005], Some(Encoding::Vop1)),
        // SDWA.
        (&[0x7e14_02f9, 0x0006_0605], Some(Encoding::Vop1)),
        // A second half that does not exist.
        (&[0xc8ff_fffc, 0], Some(Encoding::Vopd)),
    ];
    for (words, expected) in refused {
        match GFX1100.decode(words) {
            Err(error @ DecodeError::Unknown { encoding, .. }) => {
                assert_eq!(encoding, expected, "{words:08x?}");
                let error = error.to_string();
                assert!(error.contains("gfx1100") || error.contains("images"), "{error}");
            }
            other => panic!("{words:08x?} gave {other:?}"),
        }
    }
}

#[test]
fn what_gfx1201_does_not_have_is_refused() {
    let refused: [(&[u32], Option<Encoding>); 11] = [
        // Images, an export.
        (&[0xd000_0000, 0, 0], None),
        (&[0xe400_0000, 0, 0], None),
        (&[0xf800_0000, 0], None),
        // Memory of GFX11.
        (&[0xdc50_0000, 0x057c_0002], None),
        // A scalar address of FLAT; a part of an index register that waves of 32 lanes do not have.
        (&[0xec05_0004, 5, 2], Some(Encoding::Flat)),
        (&[0xcc50_5008, 0x1c42_0900], Some(Encoding::Vop3p)),
        // A literal as the sum of a matrix product; a clamp bit; signs of bytes, of indices.
        (&[0xcc40_4028, 0x1bfe_2102, 7], Some(Encoding::Vop3p)),
        (&[0xcc40_c000, 0x1c02_2108], Some(Encoding::Vop3p)),
        (&[0xcc46_4000, 0x3c02_2108], Some(Encoding::Vop3p)),
        (&[0xcc44_4200, 0x1c02_2108], Some(Encoding::Vop3p)),
        (&[0xcc50_4000, 0x9ca2_2108], Some(Encoding::Vop3p)),
    ];
    for (words, expected) in refused {
        match GFX1201.decode(words) {
            Err(DecodeError::Unknown { encoding, .. }) => assert_eq!(encoding, expected, "{words:08x?}"),
            other => panic!("{words:08x?} gave {other:?}"),
        }
    }
}

#[test]
fn images_are_refused_by_name() {
    let images: [(&'static InstructionSet, &[u32], &str); 8] = [
        (&GFX900, &[0xf038_0f00, 0x0002_0004], "image_get_resinfo"),
        (&GFX900, &[0xf0cc_0f00, 0x0082_0004], "image_sample_d_cl_o"),
        (&GFX1030, &[0xf09c_0f08, 0x0082_0004], "image_sample_lz"),
        (&GFX1030, &[0xf198_9f01, 0x0001_0409], "image_bvh_intersect_ray"),
        (&GFX1100, &[0xf018_0f84, 0x0002_0004], "image_store"),
        (&GFX1100, &[0xf068_8f80, 0x0001_0409], "image_bvh64_intersect_ray"),
        (&GFX1201, &[0xd060_c000, 0x0000_1001, 2], "image_atomic_add_flt"),
        (&GFX1201, &[0xe446_0006, 0x0000_500a, 0x000e_0bcc], "image_msaa_load"),
    ];
    for (set, words, name) in images {
        let error = set.decode(words).unwrap_err().to_string();
        assert!(
            error.contains(&format!(
                "{name} ({:#010x} {:#010x}: images are not simulated)",
                words[0], words[1]
            )),
            "{name}: {error}"
        );
    }
}

#[test]
fn atomics_of_gfx1201_return_the_old_value_by_their_hint() {
    for (hint, returns) in [(0, false), (1, true), (2, false), (3, true)] {
        let inst = decoded(&GFX1201, &[0xee0d_4004, 5 << 23 | 6 | hint << 20, 2]);
        assert_eq!(inst.dst, if returns { Operand::Vgpr(6) } else { Operand::None });
        assert_eq!((inst.src[1], inst.mem.hint), (Operand::Vgpr(5), hint as u8));
    }
}
