// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every instruction against the reference: lists of them by family, in every encoding and with every modifier, run on
//! random registers full of edges, by both compilations of its handler.

use super::reference::{Machine, fill};
use crate::exec::core::Core;
use crate::exec::lds::Lds;
use crate::exec::program::Program;
use crate::exec::state::Wave;
use crate::exec::step::{Flow, Step, has_wide_vectors};
use crate::exec::table;
use crate::isa;
use crate::memory::{Memory, Options, Windows};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Words and text of each row of a list.
pub(super) fn rows(list: &'static str) -> impl Iterator<Item = (Vec<u32>, &'static str)> {
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
const EXECS: [u64; 4] = [!0, 0x0fff_ffff_ffff_fff0, 0x5a5a_00ff_0f0f_8001, !0];

/// Runs one instruction in place, by one of its compilations. Says why it stopped, if it did.
fn run(wave: &mut Wave, inst: isa::Inst, portable: bool, shared: &mut Shared) -> Result<(), String> {
    let versions = table::versions(&inst).map_err(String::from)?;
    let handler = if portable { versions.portable() } else { versions.pick() };
    let step = Step::new(handler, inst, 0);
    let mut core = Core {
        wave,
        lds: &mut shared.lds,
        memory: &shared.memory,
        windows: &mut Windows::default(),
        program: &shared.program,
        stop: &shared.stop,
        trouble: None,
        abreast: false,
    };
    // SAFETY: `pick` chose for this processor, and every processor runs the other.
    let flow = unsafe { handler(&mut core, &step) };
    match flow {
        Flow::Next => Ok(()),
        other => Err(format!("{other:?}, {:?}", core.trouble)),
    }
}

/// What all runs share.
struct Shared {
    lds: Lds,
    memory: Arc<Memory>,
    program: Arc<Program>,
    stop: AtomicBool,
}

impl Shared {
    fn new() -> Self {
        Self {
            lds: Lds::new(),
            memory: Memory::new(Options { capacity: 1 << 20, ..Options::default() }).unwrap(),
            program: Arc::new(Program::new(0, Vec::new())),
            stop: AtomicBool::new(false),
        }
    }
}

/// Runs a list; panics with the first failure of each mnemonic.
fn check(list: &'static str, at_least: usize) {
    let mut shared = Shared::new();
    let mut failures: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut count = 0;
    for (number, (words, text)) in rows(list).enumerate() {
        count += 1;
        let inst = isa::decode(&words).unwrap_or_else(|error| panic!("{text}: {error}"));
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

fn check_row(number: usize, inst: isa::Inst, text: &str, shared: &mut Shared) -> Result<(), String> {
    let mut next = random(0x9e37_79b9_7f4a_7c15 ^ (number as u64) << 20);
    let mut wave = Wave::new();
    let operands = Machine::operands(text);
    // The modes mean nothing to integers.
    let rounds = if operands.iter().any(|(_, kind)| kind.is_float()) { MODES.len() } else { 3 };
    for (round, mode) in MODES.into_iter().enumerate().take(rounds) {
        for number in (0..64).chain(256..320) {
            wave.v[number].fill_with(|| next() as u32);
        }
        wave.s.fill_with(|| next() as u32);
        for &(register, kind) in &operands {
            fill(&mut wave, register, kind, &mut next);
        }
        wave.scc = next() & 1 != 0;
        wave.set_exec(EXECS[(round + number) % EXECS.len()]);
        wave.s[124] = (next() & 0x3f) as u32;
        wave.set_mode(mode);
        wave.set_indexing(None);
        let mut expected = Machine::of(&wave);
        expected.execute(text)?;
        let mut got = wave.clone_for_test();
        run(&mut got, inst, false, shared).map_err(|why| format!("{text}: {why}"))?;
        let place = format!("{text} (mode {mode:#x}, exec {:#x})", wave.exec());
        if let Some(difference) = expected.difference(&got) {
            let inputs = Machine::describe(text, &wave, &difference);
            return Err(format!("{place}: {difference}{inputs}"));
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

#[test]
fn scalar_arithmetic() {
    check(include_str!("cases/scalar.txt"), 800);
}

#[test]
fn packed_arithmetic() {
    check(include_str!("cases/packed.txt"), 350);
}

#[test]
fn vector_arithmetic() {
    check(include_str!("cases/vector.txt"), 3500);
}
