// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers by index: with `s_set_gpr_idx_on`, an instruction has the effect of one whose registers have
//! greater numbers. The reference gets the text with those numbers.

use super::reference::{Machine, fill};
use super::semantics::{EXECS, Shared, random, rows, run};
use crate::exec::machine::program::Program;
use crate::exec::machine::wave::Wave;
use crate::isa;
use crate::lane_mask::LaneMask;

/// `v4`, `-|v4|` or `v[4:5]` with greater numbers.
fn moved(operand: &str, by: u32) -> String {
    let Some(at) = operand.find('v').filter(|at| operand[..*at].chars().all(|c| "-|".contains(c))) else {
        return operand.to_owned();
    };
    let (signs, register) = operand.split_at(at + 1);
    let close = |c: char| c == ']' || c == '|';
    let digits = register.trim_start_matches('[').trim_end_matches(close);
    let numbers: Option<Vec<u32>> = digits.split(':').map(|number| number.parse().ok()).collect();
    let Some(numbers) = numbers else { return operand.to_owned() };
    let numbers: Vec<String> = numbers.iter().map(|number| (number + by).to_string()).collect();
    format!("{signs}{}", register.replace(digits, &numbers.join(":")))
}

/// The text of a row with `by` added to the registers of the operands in `which`: bits for three sources and for the
/// destination.
fn shifted(text: &str, which: u8, by: u32) -> String {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let has_carry = name.contains("_co_")
        || name.contains("div_scale")
        || name.contains("mad_u64")
        || name.contains("mad_i64");
    let mut operands = Vec::new();
    for (at, operand) in rest.split(", ").enumerate() {
        let (operand, tail) =
            operand.split_once(' ').map_or((operand, ""), |(operand, tail)| (operand, tail));
        let bit = match at.checked_sub(1 + usize::from(has_carry)) {
            Some(source) => source as u8,
            None => 3,
        };
        let new = if which >> bit & 1 != 0 { moved(operand, by) } else { operand.to_owned() };
        operands.push(if tail.is_empty() { new } else { format!("{new} {tail}") });
    }
    format!("{name} {}", operands.join(", "))
}

/// Instructions with operands that indexing does not shift like this: they read their destination, hold a
/// constant among their sources, or move between register files.
const OTHERS: [&str; 12] = [
    "v_fmac",
    "v_mac",
    "v_dot",
    "v_pk_",
    "v_fma_mix",
    "v_fmamk",
    "v_fmaak",
    "v_madmk",
    "v_madak",
    "v_accvgpr",
    "v_swap",
    "v_nop",
];

#[test]
fn instructions_find_registers_by_index() {
    let mut shared = Shared::new();
    let mut failures = Vec::new();
    let mut compared = 0;
    for (number, (words, text)) in rows(include_str!("cases/vector.txt")).enumerate() {
        let plain = !text.contains("_dpp ") && !text.contains("_sdwa ");
        let lanes = ["v_readlane", "v_writelane", "v_readfirstlane", "v_clrexcp"];
        if !plain || OTHERS.iter().chain(&lanes).any(|start| text.starts_with(start)) {
            continue;
        }
        let inst = isa::GFX942.decode(&words).unwrap_or_else(|error| panic!("{text}: {error}"));
        // Every set of operands in turn.
        let (which, by) = (number as u8 % 15 + 1, 2 * (number as u32 % 5 + 1));
        let text = shifted(text, which, by);
        let mut next = random(0x1357_9bdf ^ (number as u64) << 20);
        let mut wave = Wave::new();
        for register in 0..80 {
            wave.v[register].fill_with(|| next() as u32);
        }
        wave.s.fill_with(|| next() as u32);
        for &(register, kind) in &Machine::operands(&text) {
            fill(&mut wave, register, kind, &mut next);
        }
        wave.set_exec(LaneMask::of_bits(EXECS[number % EXECS.len()]));
        wave.s[124] = 7;
        wave.set_mode(0x3f0);
        wave.set_indexing(Some((which, by as u8)));
        let mut expected = Machine::copy_of(&wave, inst.set.name());
        if let Err(why) = expected.execute(&text) {
            failures.push(format!("{text}: {why}"));
            continue;
        }
        for portable in super::semantics::compilations() {
            let mut got = wave.clone_for_test();
            let outcome = run(&mut got, inst, portable, &mut shared);
            let difference = outcome.err().or_else(|| expected.difference(&got));
            if let Some(why) = difference {
                failures.push(format!("{text} (operands {which:#06b}, by {by}): {why}"));
            }
        }
        compared += 1;
    }
    let shown = &failures[..failures.len().min(40)];
    assert!(failures.is_empty(), "{} rows differ:\n{}", failures.len(), shown.join("\n"));
    assert!(compared > 1500, "only {compared} rows");
}

#[test]
fn texts_are_shifted() {
    assert_eq!(
        shifted("v_add_f32_e64 v40, -|v4|, v10 clamp", 0b1011, 4),
        "v_add_f32_e64 v44, -|v8|, v14 clamp"
    );
    assert_eq!(
        shifted("v_mul_f64 v[40:41], v[4:5], s[8:9]", 0b1001, 2),
        "v_mul_f64 v[42:43], v[6:7], s[8:9]"
    );
    assert_eq!(
        shifted("v_add_co_u32_e32 v40, vcc, v4, v10", 0b0010, 2),
        "v_add_co_u32_e32 v40, vcc, v4, v12"
    );
    assert_eq!(shifted("v_cmp_lt_f32_e32 vcc, v4, v10", 0b1001, 6), "v_cmp_lt_f32_e32 vcc, v10, v10");
}

#[test]
fn what_does_not_index_is_refused() {
    const ON: u32 = 0xbf11_0904;
    const OFF: u32 = 0xbf9c_0000;
    const END: u32 = 0xbf81_0000;
    // v_pk_add_u16 v2, v0, v2 clamp
    const PACKED: [u32; 2] = [0xd38a_c002, 0x1802_0500];
    let problems = |words: Vec<u32>| {
        let program = Program::new(&isa::GFX942, 0x1000, words);
        let region = program.find(0x1000).expect("code").region;
        region.problems.iter().map(|problem| problem.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(problems(vec![ON, OFF, PACKED[0], PACKED[1], END]), [""; 0]);
    let found = problems(vec![ON, PACKED[0], PACKED[1], OFF, END]);
    assert_eq!(found, ["v_pk_add_u16 v2, v0, v2 clamp (registers by index)"]);
}
