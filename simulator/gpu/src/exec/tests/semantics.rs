// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every instruction against the reference: lists by family, in every encoding and with every modifier, run
//! on random registers full of edge values, by both compilations of the handler.

use super::buffers::check_buffers;
use super::reference::{Machine, Memories, fill, input_type};
use crate::exec::families;
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::lds::Lds;
use crate::exec::machine::step::Step;
use crate::exec::machine::wave::Wave;
use crate::exec::operands::source::{PRIVATE_APERTURE, SHARED_APERTURE};
use crate::exec::translate::{Blocks, End};
use crate::exec::values::row::LANES;
use crate::exec::values::wide::has_wide_vectors;
use crate::isa::{self, GFX90A, GFX900, GFX908, GFX942, GFX950, InstructionSet};
use crate::lane_mask::LaneMask;
use crate::memory::{AllocationKind, Memory, MemoryOptions, Windows};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Words and text of an instruction.
type Case = (Vec<u32>, &'static str);

/// Each row of a list.
pub(super) fn rows(list: &'static str) -> impl Iterator<Item = Case> {
    list.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (words, text) = line.split_once('\t').expect("a tab in each row");
        (words.split(' ').map(|word| u32::from_str_radix(word, 16).expect("hexadecimal")).collect(), text)
    })
}

/// Random numbers from a seed.
pub(super) fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    }
}

/// Float modes: the usual one, then without IEEE's rules, with denormals flushed, and rounding in other directions.
const MODES: [u32; 8] = [0x3f0, 0x1f0, 0x300, 0x100, 0x2d5, 0x3ba, 0x3ff, 0x1f9];
/// The mode in which overflow saturates, in conversions to eight bits. On hardware conversions to halves do
/// too; that is not simulated.
const SATURATING: u32 = 0x0080_03f0;
pub(super) const EXECS: [u64; 4] = [!0, 0x0fff_ffff_ffff_fff0, 0x5a5a_00ff_0f0f_8001, !0];

/// Runs one instruction in place, by one of its compilations. Returns the reason if it stopped.
pub(super) fn run(
    wave: &mut Wave,
    inst: isa::Inst,
    portable: bool,
    shared: &mut Shared,
) -> Result<(), String> {
    let compilations = families::compilations(&inst).map_err(String::from)?;
    let handler = if portable { compilations.portable() } else { compilations.pick() };
    let step = Step::new(handler, inst, 0);
    let mut windows = Windows::default();
    let mut core = Core::new(wave, &mut shared.lds, &shared.memory, &mut windows);
    // SAFETY: `pick` chose for this processor, and every processor runs the portable version.
    let flow = unsafe { handler(&mut core, &step) };
    match flow {
        Flow::Next => Ok(()),
        other => Err(format!("{other:?}, {:?}", core.trouble)),
    }
}

/// Runs one instruction in place, as the block before an end.
pub(super) fn run_translated(wave: &mut Wave, inst: isa::Inst, shared: &mut Shared) -> Result<(), String> {
    let steps = [Step::new(families::handler(&inst)?, inst, 0)];
    let mut windows = Windows::default();
    let mut core = Core::new(wave, &mut shared.lds, &shared.memory, &mut windows);
    match Blocks::new(1, inst.set.wave_size()).enter(&mut core, &steps, 0, false, 0).map(|left| left.end) {
        Some(End::Limit) => Ok(()),
        // It has changed EXEC.
        Some(End::Stay) if core.wave.exec().bits() != !0 || core.wave.unusual => Ok(()),
        None => run(wave, inst, false, shared),
        Some(other) => Err(format!("{other:?}, {:?}", core.trouble)),
    }
}

/// The data of all runs.
pub(super) struct Shared {
    pub(super) lds: Lds,
    pub(super) memory: Arc<Memory>,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            lds: Lds::new(),
            memory: Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap(),
        }
    }
}

/// Runs a list; panics with the first failure of each mnemonic.
pub(super) fn check(set: &'static InstructionSet, list: impl Iterator<Item = Case>, at_least: usize) {
    let mut shared = Shared::new();
    let mut failures: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut count = 0;
    for (number, (words, text)) in list.enumerate() {
        count += 1;
        let inst = set.decode(&words).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(inst.to_string(), text, "{words:08x?}");
        if let Err(why) = check_row(number, inst, text, &mut shared) {
            let entry = failures.entry(inst.op.mnemonic().to_owned()).or_insert((0, why));
            entry.0 += 1;
        }
    }
    assert!(count >= at_least, "only {count} rows");
    let report: Vec<String> =
        failures.iter().map(|(name, (count, first))| format!("{name} ({count} rows): {first}")).collect();
    assert!(report.is_empty(), "{} mnemonics differ:\n{}", report.len(), report.join("\n"));
}

pub(super) fn check_row(
    number: usize,
    inst: isa::Inst,
    text: &str,
    shared: &mut Shared,
) -> Result<(), String> {
    let mut next = random(0x9e37_79b9_7f4a_7c15 ^ (number as u64) << 20);
    let mut wave = Wave::new();
    let operands = Machine::operands(text);
    // The modes do not affect integers.
    let rounds = if operands.iter().any(|(_, kind)| kind.is_float()) { MODES.len() } else { 3 };
    let saturating = text.contains("8_f32").then_some(SATURATING);
    let modes = MODES.into_iter().take(rounds).chain(saturating).enumerate();
    let states = modes.map(|(round, mode)| (mode, EXECS[(round + number) % EXECS.len()]));
    // A single lane is executed on its own.
    let alone = 1 << (number % LANES);
    for (mode, exec) in states.chain([(MODES[0], alone), (MODES[0], !0)]) {
        for number in (0..64).chain(256..320) {
            wave.v[number].fill_with(|| next() as u32);
        }
        wave.s.fill_with(|| next() as u32);
        for &(register, kind) in &operands {
            fill(&mut wave, register, kind, &mut next);
        }
        wave.scc = next() & 1 != 0;
        wave.set_exec(LaneMask::of_bits(exec));
        wave.s[124] = (next() & 0x3f) as u32;
        wave.set_mode(mode);
        wave.set_indexing(None);
        let mut expected = Machine::copy_of(&wave, inst.set.name());
        expected.execute(text)?;
        if let isa::Operand::Vgpr(register) = inst.dst
            && inst.set.writes_halves()
            && inst.encoding != isa::Encoding::Vop3p
            && inst.mods.op_sel & 8 == 0
            && inst.mods.sdwa.is_none()
            && matches!(
                inst.dst_type,
                isa::OperandType { element: isa::Element::F16 | isa::Element::I16, dwords: 1, .. }
            )
        {
            expected.keep_high_half(register.into(), &wave);
        }
        let mut got = wave.clone_for_test();
        run(&mut got, inst, false, shared).map_err(|why| format!("{text}: {why}"))?;
        let place = format!("{text} (mode {mode:#x}, exec {:#x})", wave.exec().bits());
        if let Some(difference) = expected.difference(&got) {
            let inputs = Machine::describe(text, &wave, &difference);
            return Err(format!("{place}: {difference}{inputs}"));
        }
        let mut translated = wave.clone_for_test();
        run_translated(&mut translated, inst, shared)?;
        if translated.v != got.v || translated.s != got.s || translated.scc != got.scc {
            return Err(format!("{place}: the translation differs"));
        }
        if has_wide_vectors() {
            let mut portable = wave.clone_for_test();
            run(&mut portable, inst, true, shared)?;
            if portable.v != got.v || portable.s != got.s || portable.scc != got.scc {
                return Err(format!("{place}: the two compilations differ"));
            }
        }
    }
    Ok(())
}

/// Bytes of global memory; accesses start in the first half.
pub(super) const GLOBAL: usize = 16 << 10;
pub(super) const LDS: usize = 8 << 10;
pub(super) const SCRATCH: usize = 512;
/// High halves of the addresses in LDS's aperture, and of those in the aperture of private memory.
const APERTURES: [u64; 2] = [SHARED_APERTURE >> 32, PRIVATE_APERTURE >> 32];

/// Random words that are finite as floats of every width.
pub(super) fn finite(next: &mut impl FnMut() -> u64) -> u32 {
    next() as u32 & 0xbfff_bfff
}

/// Runs a list of memory instructions: the memories are compared as well.
pub(super) fn check_memory(set: &'static InstructionSet, list: impl Iterator<Item = Case>, at_least: usize) {
    let mut shared = Shared::new();
    shared.lds.reset(LDS);
    let base = shared.memory.allocate(GLOBAL as u64, 256, AllocationKind::Device, "test").unwrap();
    let mut failures = Vec::new();
    let mut count = 0;
    for (number, (words, text)) in list.enumerate() {
        count += 1;
        let inst = set.decode(&words).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(inst.to_string(), text, "{words:08x?}");
        for round in 0..3 {
            if let Err(why) = check_access(number * 3 + round, inst, text, base, &mut shared) {
                failures.push(why);
                break;
            }
        }
    }
    assert!(count >= at_least, "only {count} rows");
    let shown = &failures[..failures.len().min(60)];
    assert!(failures.is_empty(), "{} rows differ:\n{}", failures.len(), shown.join("\n"));
}

/// Registers and memories for one access.
fn access_state(seed: usize, text: &str, base: u64) -> (Wave, Memories) {
    let mut next = random(0x1234_5678_9abc_def1 ^ (seed as u64) << 24);
    let mut wave = Wave::new();
    for number in 0..64 {
        wave.v[number].fill_with(|| finite(&mut next));
    }
    wave.s.fill_with(|| next() as u32);
    wave.set_exec(LaneMask::of_bits(if seed % 7 == 6 {
        1 << (seed % LANES)
    } else {
        EXECS[seed % EXECS.len()]
    }));
    wave.set_mode(0x3f0);
    wave.s[124] = 256;
    let (lds, scratch, buffer) =
        (text.starts_with("ds_"), text.starts_with("scratch_"), text.contains("buffer_"));
    let whole_address = !lds && !scratch && !buffer && !text.contains(", s[8:9]");
    // Multiples of 16, so that every width is aligned; some past the end where that is harmless.
    let reach = if lds {
        LDS as u64 + 64
    } else if scratch {
        256
    } else {
        8192
    };
    let atomic =
        text.contains("atomic") || lds && !text.starts_with("ds_read") && !text.starts_with("ds_write");
    // Sometimes unaligned, where that is allowed.
    let unaligned = seed % 4 == 1 && !atomic;
    let dword = !text.contains("_x2") && !text.contains("64");
    // Lanes that lie side by side, that are spaced, or that share their place in groups are accessed together.
    let pattern = match seed % 10 {
        _ if atomic || unaligned => None,
        2 => Some((4, 0)),
        4 => Some((8, 0)),
        6 => Some((16, 0)),
        8 => Some((0, 64)),
        9 => Some((4, 16)),
        _ => None,
    };
    let first = seed as u64 * 7919 % (reach / 64) * 16;
    for lane in 0..64 {
        let mut place = next() % (reach / 16) * 16;
        if let Some((distance, of_group)) = pattern {
            let lane = lane as u64;
            place = (first + distance * lane + lane / 16 * of_group) % (reach - 16);
        }
        if unaligned {
            place += next() % 16;
        }
        if whole_address {
            place += base + 64;
            if text.starts_with("flat_") && !seed.is_multiple_of(3) {
                // Some lanes in LDS, some in private memory.
                place = match next() % 4 {
                    0 => (APERTURES[0] << 32) | (place % LDS as u64),
                    1 if dword || !atomic => (APERTURES[1] << 32) | (place % 256),
                    _ => place,
                };
            }
            wave.v[5][lane] = (place >> 32) as u32;
        }
        if buffer && next().is_multiple_of(8) {
            place += 0x8000_0000;
        }
        wave.v[4][lane] = place as u32;
    }
    let start = base + 64;
    wave.s[8] = if scratch { 64 } else { start as u32 };
    wave.s[9] = (start >> 32) as u32 & 0xffff;
    wave.s[10] = 6000 + 4 * (seed as u32 % 5);
    wave.s[11] = 0x0002_7000;
    wave.s[20] = 32;
    if text.starts_with("s_load") || text.starts_with("s_store") {
        // The low bits of an address are ignored.
        wave.s[8] += next() as u32 % 4;
    }
    wave.scratch_size = SCRATCH as u32;
    wave.scratch = (0..SCRATCH / 4).map(|_| std::array::from_fn(|_| finite(&mut next))).collect();
    let float = atomic && ["f16", "f32", "f64"].iter().any(|ty| text.contains(ty));
    let mut word = |rare: u64| {
        // Infinities and NaNs, quiet and signalling, of every format.
        const EDGES: [u32; 8] = [
            0x7ff8_0001,
            0xfff0_0001,
            0x7fc5_ffc1,
            0x7f81_7c01,
            0x7f80_7f80,
            0xff80_fc00,
            0x7ff0_0000,
            0xfff0_0000,
        ];
        let edge = float && next().is_multiple_of(rare);
        if edge { EDGES[next() as usize % EDGES.len()] } else { finite(&mut next) }
    };
    if float {
        for number in 10..18 {
            wave.v[number].fill_with(|| word(6));
        }
    }
    let mut bytes = |size: usize| (0..size / 4).flat_map(|_| word(12).to_le_bytes()).collect();
    let memories = Memories {
        lds: bytes(LDS),
        global: bytes(GLOBAL),
        base,
        scratch: scratch_by_lane(&wave),
        apertures: APERTURES,
    };
    (wave, memories)
}

pub(super) fn scratch_by_lane(wave: &Wave) -> Vec<Vec<u8>> {
    (0..64).map(|lane| wave.scratch.iter().flat_map(|row| row[lane].to_le_bytes()).collect()).collect()
}

fn check_access(
    seed: usize,
    inst: isa::Inst,
    text: &str,
    base: u64,
    shared: &mut Shared,
) -> Result<(), String> {
    let (wave, memories) = access_state(seed, text, base);
    compare_access(inst, text, &wave, memories, shared)
}

/// Runs an access by the reference and by each compilation, and compares registers and memories.
pub(super) fn compare_access(
    inst: isa::Inst,
    text: &str,
    wave: &Wave,
    memories: Memories,
    shared: &mut Shared,
) -> Result<(), String> {
    let base = memories.base;
    let mut expected = Machine::copy_of(wave, inst.set.name());
    expected.memory = memories.clone();
    expected.execute(text)?;
    for portable in compilations() {
        for (at, word) in memories.lds.chunks_exact(4).enumerate() {
            shared.lds.store::<4>(4 * at as u64, [word[0], word[1], word[2], word[3]]);
        }
        shared.memory.write(base, &memories.global).map_err(|error| error.to_string())?;
        let mut got = wave.clone_for_test();
        run(&mut got, inst, portable, shared).map_err(|why| format!("{text}: {why}"))?;
        if let Some(difference) = expected.difference(&got) {
            return Err(format!("{text}: {difference}; exec {:#x}", wave.exec().bits()));
        }
        let lds: Vec<u8> = (0..LDS as u64).step_by(4).flat_map(|at| shared.lds.load::<4>(at)).collect();
        let mut global = vec![0; GLOBAL];
        shared.memory.read(base, &mut global).map_err(|error| error.to_string())?;
        let scratch = scratch_by_lane(&got);
        let lanes = scratch.iter().zip(&expected.memory.scratch).map(|(a, b)| ("scratch", a, b));
        let spaces =
            [("LDS", &lds, &expected.memory.lds), ("memory", &global, &expected.memory.global)].into_iter();
        for (name, got, wanted) in spaces.chain(lanes) {
            if let Some(at) = (0..wanted.len()).find(|&at| got[at] != wanted[at]) {
                let place = at & !3..(at & !3) + 4;
                let (got, wanted) = (&got[place.clone()], &wanted[place]);
                return Err(format!("{text}: {name} at {at:#x}: {got:x?}, not {wanted:x?}"));
            }
        }
    }
    Ok(())
}

/// Whether each compilation that this processor runs is the portable one.
pub(super) fn compilations() -> impl Iterator<Item = bool> {
    [false, true].into_iter().filter(|&portable| portable || has_wide_vectors())
}

#[test]
fn memory_access() {
    check_memory(&GFX942, rows(include_str!("cases/memory.txt")), 1000);
}

#[test]
fn matrix_products() {
    check_products(&GFX942, rows(include_str!("cases/matrix.txt")), 420);
}

/// The instructions of gfx90a that gfx942 lacks.
#[test]
fn instructions_of_gfx90a() {
    let of =
        |kind: fn(&str) -> bool| rows(include_str!("cases/gfx90a.txt")).filter(move |(_, text)| kind(text));
    let is_product = |text: &str| text.starts_with("v_mfma_");
    check_products(&GFX90A, of(is_product), 120);
    check_memory(&GFX90A, of(|text| text.contains("_load_")), 20);
    check(&GFX90A, of(|text| !text.starts_with("v_mfma_") && !text.contains("_load_")), 30);
}

/// The instructions of gfx908 that the later parts lack, or do otherwise.
#[test]
fn instructions_of_gfx908() {
    let of =
        |kind: fn(&str) -> bool| rows(include_str!("cases/gfx908.txt")).filter(move |(_, text)| kind(text));
    check_products(&GFX908, of(|text| text.starts_with("v_mfma_")), 120);
    check_memory(&GFX908, of(|text| text.contains("_atomic_")), 4);
    check(&GFX908, of(|text| text.starts_with("v_mul_")), 10);
}

/// The instructions of gfx900 that the later parts lack, or do otherwise.
#[test]
fn instructions_of_gfx900() {
    let of =
        |kind: fn(&str) -> bool| rows(include_str!("cases/gfx900.txt")).filter(move |(_, text)| kind(text));
    check(&GFX900, of(|text| text.starts_with("v_")), 50);
    check_memory(&GFX900, of(|text| !text.starts_with("v_") && !text.contains("buffer_")), 50);
    let (compared, _) = check_buffers(&GFX900, of(|text| text.contains("buffer_")));
    assert!(compared > 100, "only {compared} were compared");
}

/// The instructions of gfx950 that gfx942 lacks, or does otherwise.
#[test]
fn instructions_of_gfx950() {
    let of =
        |kind: fn(&str) -> bool| rows(include_str!("cases/gfx950.txt")).filter(move |(_, text)| kind(text));
    check(
        &GFX950,
        of(|text| text.starts_with("v_") && !text.contains("mfma") && !text.contains("smfmac")),
        300,
    );
    check_memory(&GFX950, of(|text| !text.starts_with("v_")), 10);
}

/// The matrix products of gfx950 that gfx942 lacks, or does otherwise.
#[test]
fn products_of_gfx950() {
    let is_product = |text: &str| text.contains("_mfma_") || text.contains("_smfmac_");
    let list = rows(include_str!("cases/gfx950.txt")).filter(|(_, text)| is_product(text));
    check_products(&GFX950, list, 300);
}

fn check_products(set: &'static InstructionSet, list: impl Iterator<Item = Case>, at_least: usize) {
    let mut shared = Shared::new();
    let mut failures = Vec::new();
    let mut count = 0;
    for (number, (words, text)) in list.enumerate() {
        count += 1;
        let inst = set.decode(&words).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(inst.to_string(), text, "{words:08x?}");
        let mut next = random(0x0bad_cafe ^ (number as u64) << 20);
        let mut wave = Wave::new();
        for register in (0..112).chain(256..368) {
            wave.v[register].fill_with(|| matrix_input(set, text, &mut next));
        }
        if text.starts_with("v_smfmac") {
            // Indices.
            wave.v[8].fill_with(|| next() as u32);
            wave.v[9].fill_with(|| next() as u32);
        }
        if text.starts_with("v_mfma_scale") {
            // Scales that keep most sums finite; now and then one that is none.
            for register in [3, 5] {
                wave.v[register].fill_with(|| {
                    if next() & 63 == 0 { !0 } else { 0x7a7a_7a7a + (next() as u32 & 0x0707_0707) }
                });
            }
        }
        wave.set_exec(LaneMask::of_bits(EXECS[number % EXECS.len()]));
        // Neither rounding nor flushing applies to them.
        wave.set_mode(if number.is_multiple_of(3) { 0x30f } else { 0x3f0 });
        let mut expected = Machine::copy_of(&wave, inst.set.name());
        if let Err(why) = expected.execute(text) {
            failures.push(why);
            continue;
        }
        for portable in compilations() {
            let mut got = wave.clone_for_test();
            if let Err(why) = run(&mut got, inst, portable, &mut shared) {
                failures.push(format!("{text}: {why}"));
            } else if let Some(difference) = expected.difference(&got) {
                failures.push(format!("{text}: {difference}"));
            }
        }
    }
    assert!(count >= at_least, "only {count} rows");
    let shown = &failures[..failures.len().min(40)];
    assert!(failures.is_empty(), "{} rows differ:\n{}", failures.len(), shown.join("\n"));
}

/// A register full of elements near 1, of either sign and with all kinds of mantissa; now and then zero or
/// denormal.
fn matrix_input(set: &InstructionSet, text: &str, next: &mut impl FnMut() -> u64) -> u32 {
    let bits = next() as u32;
    let rare = next().is_multiple_of(16);
    match input_type(text.split(' ').next().unwrap_or("")) {
        "f16" if rare => bits & 0x83ff_83ff,
        "f16" => bits & 0x8fff_8fff | 0x3000_3000,
        // A denormal, an infinity or a NaN.
        "bf16" | "f32" | "xf32" if rare => bits & 0x807f_ffff | [0, 0, 0x7f80_0000][bits as usize % 3],
        "bf16" => bits & 0x81ff_81ff | 0x3e80_3e80,
        "f32" | "xf32" => bits & 0x81ff_ffff | 0x3e80_0000,
        "f64" => bits & 0x801f_ffff | 0x3fe0_0000,
        // Codes that no format of eight bits has for a NaN or an infinity.
        "fp8" | "bf8" | "f8f6f4" if set == &GFX950 && !rare => bits & 0xbfbf_bfbf,
        // The only code of eight bits without a number is 0x80.
        "fp8" | "bf8" if set != &GFX950 => bits | 0x0101_0101,
        _ => bits,
    }
}

/// Every mnemonic that is executed has rows, or a program if it is program control; so have all mnemonics
/// that compilers were seen to emit.
#[test]
fn every_mnemonic_is_tested() {
    let lists = [
        include_str!("cases/vector.txt"),
        include_str!("cases/scalar.txt"),
        include_str!("cases/packed.txt"),
        include_str!("cases/memory.txt"),
        include_str!("cases/buffer.txt"),
        include_str!("cases/matrix.txt"),
    ];
    let ours = lists.into_iter().flat_map(rows).map(|row| (&GFX942, row));
    let theirs = [
        (&GFX950, include_str!("cases/gfx950.txt")),
        (&GFX90A, include_str!("cases/gfx90a.txt")),
        (&GFX908, include_str!("cases/gfx908.txt")),
        (&GFX900, include_str!("cases/gfx900.txt")),
    ];
    let theirs = theirs.into_iter().flat_map(|(set, list)| rows(list).map(move |row| (set, row)));
    let in_rows = ours.chain(theirs).map(|(set, (words, text))| {
        set.decode(&words).unwrap_or_else(|error| panic!("{text}: {error}")).op.mnemonic()
    });
    let lines = |list: &'static str| list.lines().filter(|line| !line.starts_with('#'));
    let in_programs = lines(include_str!("cases/control.txt")).filter_map(|line| line.split('\t').next());
    let tested: HashSet<&str> = in_rows.chain(in_programs).collect();
    let census: HashSet<&str> = lines(include_str!("cases/census.txt")).collect();
    assert_eq!(census.len(), 431);
    // The sets of RDNA have tests of their own.
    let simulated =
        isa::Op::ALL.iter().filter(|op| isa::InstructionSet::GFX9.iter().any(|set| set.has(**op)));
    let executed = simulated.map(|op| op.mnemonic()).filter(|name| families::is_executed(name));
    let mut missing: Vec<_> = executed.chain(census).filter(|name| !tested.contains(name)).collect();
    missing.sort();
    assert!(missing.is_empty(), "not tested: {missing:?}");
}

#[test]
fn scalar_arithmetic() {
    check(&GFX942, rows(include_str!("cases/scalar.txt")), 800);
}

#[test]
fn packed_arithmetic() {
    check(&GFX942, rows(include_str!("cases/packed.txt")), 350);
}

#[test]
fn vector_arithmetic() {
    check(&GFX942, rows(include_str!("cases/vector.txt")), 3500);
}
