// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoder and disassembler against LLVM: a checked-in list, every available code object, and words without a
//! meaning.

// A skipped comparison says so on standard error.
#![allow(clippy::print_stderr)]

use std::collections::BTreeMap;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use windlass_codeobject::{CodeObject, EntryTarget, File, Options};
use windlass_simulated_gpu::Part;
use windlass_simulated_gpu::isa::{
    DecodeError, Encoding, GFX90A, GFX900, GFX906, GFX908, GFX942, GFX950, GFX1010, GFX1011, GFX1030,
    GFX1100, GFX1150, GFX1201, Inst, InstructionSet, Op, Operand,
};

const GOLDEN: &str = include_str!("data/gfx942.txt");
/// The rows that are new or something else on gfx950, and what its assembler has and lacks beside gfx942's.
const NEWER: &str = include_str!("data/gfx950.txt");
const NEWER_MNEMONICS: &str = include_str!("data/mnemonics.gfx950.txt");
/// The other sets, the newest first, each with the rows that are new or something else than on the set before; `-` is
/// nothing.
const OLDER: [(&InstructionSet, &str); 4] = [
    (&GFX90A, include_str!("data/gfx90a.txt")),
    (&GFX908, include_str!("data/gfx908.txt")),
    (&GFX906, include_str!("data/gfx906.txt")),
    (&GFX900, include_str!("data/gfx900.txt")),
];

/// The words and the text of each row of the list.
fn golden() -> impl Iterator<Item = (Vec<u32>, &'static str)> {
    rows(GOLDEN)
}

/// LLVM's text of the rows of all lists up to that of each set.
fn golden_of_each() -> Vec<(&'static InstructionSet, HashMap<Vec<u32>, String>)> {
    let mut all: HashMap<_, _> = golden().map(|(words, text)| (words, text.to_owned())).collect();
    let mut newer = all.clone();
    for (_, text) in newer.iter_mut().filter(|(_, text)| is_missing_on_gfx950(text)) {
        *text = "-".to_owned();
    }
    newer.extend(rows(NEWER).map(|(words, text)| (words, text.to_owned())));
    let mut sets = vec![(&GFX950, newer), (&GFX942, all.clone())];
    let renamed = |text: &String| {
        let name = |word| match word {
            "sc0" => "glc",
            "nt" => "slc",
            "sc1" => "scc",
            word => word,
        };
        text.split(' ').map(name).collect::<Vec<_>>().join(" ")
    };
    all.values_mut().for_each(|text| *text = renamed(text));
    for (set, list) in OLDER {
        all.extend(rows(list).map(|(words, text)| (words, text.to_owned())));
        sets.push((set, all.clone()));
    }
    sets
}

/// Whether gfx950 lacks an instruction of gfx942.
fn is_missing_on_gfx950(text: &str) -> bool {
    let name = text.split(' ').next().unwrap_or(text);
    NEWER_MNEMONICS.lines().any(|row| row.strip_prefix('-') == Some(name))
}

/// The words and the text of each row of a list.
fn rows(list: &'static str) -> impl Iterator<Item = (Vec<u32>, &'static str)> {
    list.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (words, text) = line.split_once('\t').expect("a tab in each row");
        let words =
            words.split(' ').map(|word| u32::from_str_radix(word, 16).expect("hexadecimal")).collect();
        (words, text)
    })
}

/// `text` with single spaces, without the comment behind it.
fn normalised(text: &str) -> String {
    text.split("//").next().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_lists_decode_to_llvms_text() {
    // LLVM takes no scope bit in these atomics, nor in buffer_invl2. That does not concern their effects.
    let is_float = |name: &str| ["_f16", "_f32", "_f64"].iter().any(|ty| name.ends_with(ty));
    let is_lenient = |name: &str| name.contains("_atomic_") && is_float(name);
    for (set, list) in golden_of_each() {
        let (mut refused, count) = (0, list.len());
        for (words, text) in list {
            match set.decode(&words) {
                Ok(inst) if text == "-" => {
                    let scope = if inst.encoding == Encoding::Mubuf { 15 } else { 25 };
                    let scoped = words[0] >> scope & 1 != 0 && is_lenient(inst.op.mnemonic());
                    assert!(scoped || inst.op == Op::buffer_invl2, "{set:?} {words:08x?}: {inst}");
                }
                Ok(inst) => {
                    assert_eq!(inst.to_string(), text, "{set:?} {words:08x?}");
                    assert_eq!(usize::from(inst.size), words.len() * 4, "{set:?} {text}");
                }
                Err(error) => {
                    assert_eq!(text, "-", "{set:?} {words:08x?}: {error}");
                    refused += 1;
                }
            }
        }
        assert!(
            count > 1800 && (refused > 50) == (set != &GFX942 && set != &GFX950),
            "{set:?}: {refused} of {count} rows are refused"
        );
    }
}

#[test]
fn what_another_part_has_is_named() {
    // v_mov_b64_e32 v[0:1], v[2:3]; v_mad_f32 v1, v2, v3, v4; an instruction that neither has.
    let error = GFX90A.decode(&[0x7e00_7102]).unwrap_err().to_string();
    assert!(
        error.contains("gfx90a has no v_mov_b64_e32 v[0:1], v[2:3]") && error.contains("gfx942"),
        "{error}"
    );
    let error = GFX942.decode(&[0xd1c1_0001, 0x0412_0702]).unwrap_err().to_string();
    assert!(error.contains("gfx942 has no v_mad_f32 v1, v2, v3, v4") && error.contains("gfx90a"), "{error}");
    // image_load v[0:3], v[4:5], s[8:15] dmask:0xf unorm
    let error = GFX90A.decode(&[0xf000_1f00, 0x0002_0004]).unwrap_err().to_string();
    assert!(error.contains("image_load (0xf0001f00 0x00020004: images are not simulated)"), "{error}");
    let error = GFX942.decode(&[0xf000_1f00, 0x0002_0004]).unwrap_err().to_string();
    assert!(error.contains("gfx942 has no images"), "{error}");
    // s_add_f32 s0, s1, s2, of RDNA 3.5.
    let error = GFX1100.decode(&[0xa000_0201]).unwrap_err().to_string();
    assert!(error.contains("gfx1100 has no s_add_f32 s0, s1, s2") && error.contains("gfx1150"), "{error}");
    let error = GFX90A.decode(&[0xbe80_ff00]).unwrap_err().to_string();
    assert!(error.contains("no gfx90a instruction of format Sop1"), "{error}");
}

/// The instructions of a set.
fn instructions(set: &'static InstructionSet) -> impl Iterator<Item = Op> {
    Op::ALL.iter().copied().filter(|op| set.has(*op))
}

#[test]
fn the_lists_have_every_mnemonic() {
    let mut all = HashSet::new();
    for (set, list) in golden_of_each() {
        let listed: HashSet<Op> =
            list.keys().filter_map(|words| set.decode(words).ok()).map(|inst| inst.op).collect();
        // LLVM shows these only with the global data share, which it cannot assemble for these GPUs.
        let is_missing = |op: &Op| !listed.contains(op) && !op.mnemonic().starts_with("ds_gws_");
        let missing: Vec<_> = instructions(set).filter(is_missing).collect();
        assert!(missing.is_empty(), "{set:?}: no row for {missing:?}");
        all.extend(instructions(set));
    }
    InstructionSet::RDNA.iter().for_each(|set| all.extend(instructions(set)));
    assert_eq!(all.len(), Op::ALL.len(), "every instruction is of some set");
}

/// LLVM's assembler and the decoder know the same instructions.
#[test]
fn llvm_has_the_same_mnemonics() {
    // An older spelling is followed by the current one.
    let lines = |list: &'static str| list.lines().filter(|line| !line.starts_with('#'));
    let rows = lines(include_str!("data/mnemonics.txt"));
    let mut assembled: HashSet<&'static str> =
        rows.map(|row| row.split('\t').next_back().unwrap_or(row)).collect();
    let compare = |set: &'static InstructionSet, assembled: &HashSet<&str>| {
        let decoded: HashSet<&str> = instructions(set).map(|op| set.mnemonic(op)).collect();
        let mut different: Vec<_> = assembled.symmetric_difference(&decoded).collect();
        different.retain(|name| {
            !NOT_DECODED.iter().any(|start| name.starts_with(start)) && !name.contains("_src2_")
        });
        different.sort();
        assert!(different.is_empty(), "{set:?}: {different:?}");
    };
    compare(&GFX942, &assembled);
    let change = |assembled: &mut HashSet<&'static str>, list| {
        for row in lines(list) {
            let changed = match row.split_at(1) {
                ("+", name) => assembled.insert(name),
                (_, name) => assembled.remove(name),
            };
            assert!(changed, "{row} changes nothing");
        }
    };
    let mut newer = assembled.clone();
    change(&mut newer, NEWER_MNEMONICS);
    compare(&GFX950, &newer);
    for (set, list) in MNEMONICS {
        change(&mut assembled, list);
        compare(set, &assembled);
    }
}

/// The mnemonics of each older set that differ from the set before.
const MNEMONICS: [(&InstructionSet, &str); 4] = [
    (&GFX90A, include_str!("data/mnemonics.gfx90a.txt")),
    (&GFX908, include_str!("data/mnemonics.gfx908.txt")),
    (&GFX906, include_str!("data/mnemonics.gfx906.txt")),
    (&GFX900, include_str!("data/mnemonics.gfx900.txt")),
];

/// Starts of the mnemonics that no set decodes; docs/simulator.md has the reasons.
const NOT_DECODED: [&str; 4] = ["image_", "exp", "v_interp_", "ds_ordered_count"];

#[test]
fn every_shorter_prefix_is_truncated() {
    for (words, text) in golden() {
        for have in 0..words.len() {
            match GFX942.decode(&words[..have]) {
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
    for (mut words, text) in golden() {
        let alone = GFX942.decode(&words).unwrap_or_else(|error| panic!("{text}: {error}"));
        words.extend([0xffff_ffff, 0xffff_ffff]);
        assert_eq!(GFX942.decode(&words), Ok(alone), "{text}");
    }
}

#[test]
fn unused_sources_are_ignored() {
    // v_exp_f32_e64 v1, v2, with 0x80 in the fields of the second and third source, as newer LLVMs write it.
    let clean = GFX942.decode(&[0xd160_0001, 0x0000_0102]).expect("plain");
    let filled = GFX942.decode(&[0xd160_0001, 0x0000_0102 | 0x80 << 9 | 0x80 << 18]).expect("filled");
    assert_eq!(clean, filled);
    assert_eq!(filled.src[1], Operand::None);
}

#[test]
fn operands_are_where_the_documentation_says() {
    // buffer_store_dword v3, v4, s[8:11], s5 offen offset:16
    let store = GFX942.decode(&[0xe070_1010, 0x0502_0304]).expect("store");
    assert_eq!(store.op, Op::buffer_store_dword);
    assert_eq!(store.dst, Operand::None);
    assert_eq!(store.src, [Operand::Vgpr(4), Operand::Vgpr(3), Operand::Sgpr(8), Operand::Sgpr(5)]);
    assert_eq!((store.mem.offset, store.mem.offen, store.mem.idxen), (16, true, false));
    assert_eq!(store.src_type[2].dwords, 4);
    // v_addc_co_u32_e32 v1, vcc, v2, v3, vcc
    let carry = GFX942.decode(&[0x3802_0702]).expect("carry");
    assert_eq!((carry.dst, carry.sdst), (Operand::Vgpr(1), Operand::VCC));
    assert_eq!(carry.src[..3], [Operand::Vgpr(2), Operand::Vgpr(3), Operand::VCC]);
    // global_atomic_add v1, v2, v3, s[4:5] sc0: the old value only with sc0
    let returns = GFX942.decode(&[0xdd09_8000, 0x0104_0302]).expect("returns");
    assert_eq!((returns.dst, returns.src[1]), (Operand::Vgpr(1), Operand::Vgpr(3)));
    let silent = GFX942.decode(&[0xdd08_8000, 0x0104_0302]).expect("silent");
    assert_eq!((silent.dst, silent.src), (Operand::None, returns.src));
    // s_cbranch_scc1 to itself
    let branch = GFX942.decode(&[0xbf85_ffff]).expect("branch");
    assert_eq!(branch.branch_target(0x1000), Some(0x1000));
    assert_eq!(branch.disassemble(0x1000), "s_cbranch_scc1 65535 // 0x1000");
    assert_eq!(store.branch_target(0x1000), None);
}

#[test]
fn reserved_codes_are_refused() {
    let refused: [(&[u32], Option<Encoding>); 8] = [
        (&[0xffff_ffff, 0], None),
        // SOP1 with an unused opcode, and with an unused source code.
        (&[0xbe80_ff00], Some(Encoding::Sop1)),
        (&[0xbe80_00d1], Some(Encoding::Sop1)),
        // A literal in VOP3.
        (&[0xd101_0000, 0x0000_00ff], Some(Encoding::Vop3)),
        // A pair that starts at v255.
        (&[0x7e00_4bff], Some(Encoding::Vop1)),
        // A DPP control that does not exist, and one that 64-bit instructions lack.
        (&[0x0206_0afa, 0xff01_4401], Some(Encoding::Vop2)),
        (&[0x7e00_2efa, 0xff01_4002], Some(Encoding::Vop1)),
        // MFMA with a scalar source.
        (&[0xd3c5_0000, 0x0412_0802], Some(Encoding::Mai)),
    ];
    for (words, expected) in refused {
        match GFX942.decode(words) {
            Err(error @ DecodeError::Unknown { encoding, .. }) => {
                assert_eq!(encoding, expected, "{words:08x?}");
                assert!(error.to_string().contains(&format!("{:08x}", words[0])), "{error}");
            }
            other => panic!("{words:08x?} gave {other:?}"),
        }
    }
}

#[test]
fn programs_go_on_after_what_is_unknown() {
    let words = [0xbf80_0000u32, 0xffff_ffff, 0xbe80_00ff, 0x1234_5678, 0xd101_0000];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).chain([1, 2]).collect();
    let found: Vec<_> = GFX942.decode_program(&bytes).collect();
    let texts: Vec<_> =
        found.iter().map(|(at, inst)| (*at, inst.as_ref().ok().map(Inst::to_string))).collect();
    let expected = [(0, Some("s_nop 0")), (4, None), (8, Some("s_mov_b32 s0, 0x12345678")), (16, None)];
    assert_eq!(texts, expected.map(|(at, text)| (at, text.map(String::from))));
    assert_eq!(found[3].1, Err(DecodeError::Truncated { have: 1, need: 2 }));
}

#[test]
fn no_words_make_it_panic() {
    // A xorshift generator with a fixed seed: the same words on every run.
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    };
    let mut decoded = 0;
    for round in 0..100_000u32 {
        let words = [next(), next(), next()];
        let have = 1 + (round % 3) as usize;
        for set in InstructionSet::GFX9.into_iter().chain(InstructionSet::RDNA) {
            match set.decode(&words[..have]) {
                Ok(inst) => {
                    decoded += 1;
                    assert!(inst.size % 4 == 0 && usize::from(inst.size) <= have * 4);
                    let is_dual = inst.encoding == Encoding::Vopd;
                    assert!(is_dual || inst.disassemble(u64::MAX).starts_with(set.mnemonic(inst.op)));
                    assert_eq!(is_dual, inst.disassemble(u64::MAX).contains(" :: "));
                    assert_eq!(set.decode(&words[..usize::from(inst.size) / 4]), Ok(inst));
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
    assert!(decoded > 50_000, "only {decoded} decoded");
}

/// One line of llvm-objdump: address, words, text.
fn objdump_line(line: &str) -> Option<(u64, Vec<u32>, String)> {
    let (text, comment) = line.strip_prefix('\t')?.rsplit_once("// ")?;
    let (address, words) = comment.split_once(": ")?;
    let words = words
        .split_whitespace()
        .take_while(|word| !word.starts_with('<'))
        .map(|word| u32::from_str_radix(word, 16).ok())
        .collect::<Option<Vec<_>>>()?;
    Some((u64::from_str_radix(address, 16).ok()?, words, normalised(text)))
}

/// An executable code object, and the file that had it.
struct Found {
    code_object: Vec<u8>,
    origin: PathBuf,
    processor: String,
    set: &'static InstructionSet,
}

/// Compares code objects of one processor with llvm-objdump, which starts slowly and so gets many at once, and counts them and their
/// instructions.
fn compare_with_objdump(objdump: &str, found: &[Found], counts: &mut Counts) {
    let folder = tempfile::tempdir().expect("a folder for tests");
    let file_of = |index: usize| folder.path().join(format!("{index}.co"));
    for (index, Found { code_object, .. }) in found.iter().enumerate() {
        std::fs::write(file_of(index), code_object).expect("a writable folder for tests");
    }
    let output = Command::new(objdump)
        .args(["-d", "--disassemble-zeroes", "--no-print-imm-hex"])
        .args((0..found.len()).map(file_of))
        .output()
        .expect("llvm-objdump runs");
    let origins: Vec<_> = found.iter().map(|found| &found.origin).collect();
    assert!(output.status.success(), "{origins:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let texts: Vec<_> = text.split(":\tfile format elf64-amdgpu\n").skip(1).collect();
    assert_eq!(texts.len(), found.len(), "{origins:?}");
    for (found, text) in found.iter().zip(texts) {
        let instructions = compare(found, text);
        let count = counts.entry(found.processor.clone()).or_default();
        *count = [count[0] + 1, count[1] + instructions];
    }
}

/// Compares a code object with LLVM's text, and returns the number of its instructions.
fn compare(Found { origin, set, .. }: &Found, text: &str) -> usize {
    let lines: Vec<_> = text.lines().filter_map(objdump_line).collect();
    let mut at = 0;
    while at < lines.len() {
        // A run of lines without a gap is decoded as one program, so that lengths must agree too.
        let start = at;
        let mut next_address = lines[at].0;
        let mut bytes = Vec::new();
        while at < lines.len() && lines[at].0 == next_address {
            bytes.extend(lines[at].1.iter().flat_map(|word| word.to_le_bytes()));
            next_address += lines[at].1.len() as u64 * 4;
            at += 1;
        }
        let mut expected = lines[start..at].iter().peekable();
        let mut lost = false;
        for (offset, inst) in set.decode_program(&bytes) {
            let here = lines[start].0 + offset;
            while lost && expected.next_if(|(address, ..)| *address < here).is_some() {}
            if lost && expected.peek().is_none_or(|(address, ..)| *address > here) {
                continue;
            }
            let (address, words, text) = expected.next().expect("as many instructions as LLVM has");
            let place = format!("{} at {address:#x}: {words:08x?}", origin.display());
            assert_eq!(here, *address, "{place}");
            let inst = inst.unwrap_or_else(|error| panic!("{place}: {error}; LLVM: {text}"));
            // Newer LLVMs write something in fields that an instruction of RDNA does not use. LLVM 19 takes that for
            // no instruction, and reads on in the middle of it.
            lost = InstructionSet::RDNA.contains(set) && text.starts_with(".long");
            // Nor does it name the high halves of registers in the short encodings of most 16-bit instructions.
            let named = !text.contains("/*Invalid register");
            // LLVM 22 marks a literal that could be an inline constant.
            if !lost && named && !text.contains("lit(0x") {
                assert_eq!(normalised(&inst.to_string()), *text, "{place}");
            }
        }
        while lost && expected.next().is_some() {}
        assert!(expected.next().is_none(), "{}: instructions are left over", origin.display());
    }
    lines.len()
}

/// The instructions of a processor.
fn set_of(processor: &str) -> Option<&'static InstructionSet> {
    match processor {
        "gfx9-4-generic" => Some(&GFX942),
        "gfx1100" | "gfx1101" | "gfx1102" | "gfx1103" | "gfx11-generic" => Some(&GFX1100),
        "gfx1150" | "gfx1151" | "gfx1152" => Some(&GFX1150),
        "gfx1010" | "gfx10-1-generic" => Some(&GFX1010),
        "gfx1011" | "gfx1012" => Some(&GFX1011),
        "gfx1200" | "gfx1201" | "gfx12-generic" => Some(&GFX1201),
        "gfx1030" | "gfx1031" | "gfx1032" | "gfx1033" | "gfx1034" | "gfx1035" | "gfx1036" => Some(&GFX1030),
        _ => Part::named(processor).map(|part| part.instructions()),
    }
}

/// Code objects and instructions by processor.
type Counts = BTreeMap<String, [usize; 2]>;

/// Appends every code object under `folder` that can be decoded, in any container.
fn find(folder: &Path, found: &mut Vec<Found>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_symlink() || name.starts_with('.') || name == "target" {
            continue;
        }
        if path.is_dir() {
            find(&path, found);
            continue;
        }
        let bytes = std::fs::read(&path).expect("a readable file");
        let Ok(file) = File::parse(&bytes, &Options::default()) else { continue };
        for bundle in file.bundles() {
            for (index, entry) in bundle.entries().iter().enumerate() {
                if !matches!(entry.target(), EntryTarget::Gpu(_))
                    || entry.size() == 0
                    || entry.problem().is_some()
                {
                    continue;
                }
                let Ok(code_object) = bundle.extract(index) else {
                    // Hostile inputs are not unpacked.
                    continue;
                };
                if !is_executable(&code_object) {
                    continue;
                }
                // The code's own processor: a hostile bundle names another one.
                let Ok(object) = CodeObject::parse(&code_object) else { continue };
                let processor = object.target().processor().to_owned();
                if let Some(set) = set_of(&processor) {
                    found.push(Found {
                        code_object: code_object.to_vec(),
                        origin: path.clone(),
                        processor,
                        set,
                    });
                }
            }
        }
    }
}

const OBJDUMP: &str = "llvm-objdump-19";
const NEWER_OBJDUMP: &str = "llvm-objdump-22";

fn is_installed(objdump: &str) -> bool {
    Command::new(objdump).arg("--version").output().is_ok()
}

/// Whether this is a linked ELF: a relocatable device object holds bitcode.
fn is_executable(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF") && bytes.get(16..18) == Some(&[3, 0])
}

#[test]
fn code_objects_disassemble_as_llvm_does() {
    if !is_installed(OBJDUMP) {
        eprintln!("skipped: no {OBJDUMP} on this machine");
        return;
    }
    if !is_installed(NEWER_OBJDUMP) {
        eprintln!("code for gfx950 is skipped: no {NEWER_OBJDUMP} on this machine");
    }
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")];
    match std::env::var_os("WINDLASS_FIXTURES") {
        Some(fixtures) => folders.push(fixtures.into()),
        None => eprintln!("the fixtures are skipped: set WINDLASS_FIXTURES to their folder"),
    }
    for folder in folders {
        let (mut found, mut counts) = (Vec::new(), Counts::new());
        find(&folder, &mut found);
        // llvm-objdump takes the processor of its first file for all.
        found.sort_by(|one, other| one.processor.cmp(&other.processor));
        for alike in found.chunk_by(|one, other| one.processor == other.processor) {
            // LLVM 19 does not know these.
            let is_new = ["gfx950", "gfx9-4-generic"].contains(&&*alike[0].processor);
            let objdump = if is_new { NEWER_OBJDUMP } else { OBJDUMP };
            if is_installed(objdump) {
                alike.chunks(32).for_each(|some| compare_with_objdump(objdump, some, &mut counts));
            }
        }
        for (processor, [code_objects, instructions]) in &counts {
            eprintln!("{processor}: {instructions} instructions of {code_objects} code objects");
        }
        let total = counts.values().fold([0, 0], |total, count| [total[0] + count[0], total[1] + count[1]]);
        eprintln!("{} instructions of {} code objects in {}", total[1], total[0], folder.display());
        assert!(total[0] >= 10 && total[1] > 1000, "{} has little code", folder.display());
    }
}
