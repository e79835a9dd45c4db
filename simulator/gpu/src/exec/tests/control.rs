// SPDX-License-Identifier: MIT OR Apache-2.0
//! Program control, by programs of a few instructions that report their path: every branch both ways, calls,
//! computed jumps, barriers, sleeps, traps and ends.

use super::*;
use crate::exec::machine::trouble::{Cause, Trouble};
use crate::exec::machine::wave::WaveStatus;
use crate::exec::run::TurnEnd;
use crate::part::Part;

const BASE: u64 = 0x1000;

/// The effects of a program.
struct Outcome {
    wave: Wave,
    /// The end of each turn, and whether the wave then waited at a barrier.
    turns: Vec<(TurnEnd, bool)>,
    trouble: Option<Trouble>,
}

impl Outcome {
    /// The register in which a program reports its path.
    fn told(&self) -> u32 {
        self.wave.s[20]
    }
}

/// The words of the program for a mnemonic. The decoder checks that they match the source.
fn program(name: &str) -> Vec<u32> {
    let row = include_str!("cases/control.txt").lines().find(|line| line.split('\t').next() == Some(name));
    let mut fields = row.unwrap_or_else(|| panic!("no program about {name}")).split('\t').skip(1);
    let words = fields.next().unwrap_or("").split(' ');
    let words: Vec<u32> = words.map(|word| u32::from_str_radix(word, 16).expect("hexadecimal")).collect();
    let source = fields.next().unwrap_or("").split("; ");
    let source = source.map(|line| line.split(": ").last().unwrap_or("").split(' ').next().unwrap_or(""));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let decoded =
        isa::GFX942.decode_program(&bytes).map(|(_, inst)| inst.map_or("", |inst| inst.op.mnemonic()));
    assert!(source.eq(decoded), "{name}: not what its source says");
    words
}

/// Runs the program for a mnemonic with a number in `s[4:5]`, turn after turn, until it ends.
fn play(name: &str, number: u64) -> Outcome {
    let program = Arc::new(Program::new(&isa::GFX942, BASE, program(name)));
    let memory = Memory::new(MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() }).unwrap();
    let stop = AtomicBool::new(false);
    let mut wave = Wave::new();
    wave.set_exec(LaneMask::of_bits(!0));
    wave.set_mode(0x1f0);
    (wave.s[4], wave.s[5]) = (number as u32, (number >> 32) as u32);
    wave.s[20] = 99;
    wave.status = WaveStatus::Ready;
    let mut counter = Counter { position: program.find(BASE), visited: None };
    let mut turns = Vec::new();
    loop {
        let (mut lds, mut windows) = (Lds::new(), Windows::default());
        let mut runner = Runner {
            core: Core::new(&mut wave, &mut lds, &memory, &mut windows),
            counter: &mut counter,
            program: &program,
            abreast: false,
            cold: Some(0),
            stop: &stop,
        };
        match runner.run(1000) {
            Ok(turn) => turns.push((turn, wave.status == WaveStatus::Barrier)),
            Err(trouble) => return Outcome { wave, turns, trouble: Some(trouble) },
        }
        if wave.status == WaveStatus::Ended {
            return Outcome { wave, turns, trouble: None };
        }
        wave.status = WaveStatus::Ready;
        assert!(turns.len() < 10, "{name} does not end: {turns:?}");
    }
}

#[test]
fn branches_go_both_ways() {
    // Whether the branch is taken without a number, and with one. The program reports 1 if it is taken, else
    // 2.
    let branches = [
        ("s_cbranch_scc0", true, false),
        ("s_cbranch_scc1", false, true),
        ("s_cbranch_vccz", true, false),
        ("s_cbranch_vccnz", false, true),
        ("s_cbranch_execz", true, false),
        ("s_cbranch_execnz", false, true),
        // Without a debugger its flags are clear.
        ("s_cbranch_cdbgsys", false, false),
        ("s_cbranch_cdbguser", false, false),
        ("s_cbranch_cdbgsys_or_user", false, false),
        ("s_cbranch_cdbgsys_and_user", false, false),
    ];
    for (name, without, with) in branches {
        // A bit in either half of a mask suffices.
        for (number, taken) in [(0, without), (1, with), (1 << 32, with), (u64::MAX, with)] {
            let told = play(name, number).told();
            assert_eq!(told, if taken { 1 } else { 2 }, "{name} with {number:#x}");
        }
    }
}

#[test]
fn branches_go_back_and_forth() {
    assert_eq!(play("s_branch", 10).told(), 12);
    assert_eq!(play("s_branch", 3).told(), 3);
}

#[test]
fn addresses_of_code_are_known() {
    let outcome = play("s_getpc_b64", 0);
    assert_eq!(outcome.wave.pair(20), BASE + 8, "the instruction behind");
}

#[test]
fn computed_jumps_go_where_they_say() {
    assert_eq!(play("s_setpc_b64", 0x0c).told(), 1);
    assert_eq!(play("s_setpc_b64", 0x14).told(), 2);
    for nowhere in [0x1000, 0x0e, u64::MAX] {
        let outcome = play("s_setpc_b64", nowhere);
        let cause = outcome.trouble.expect("no code is there").cause;
        assert!(matches!(cause, Cause::IllegalProgramCounter { .. }), "{cause:?}");
    }
}

#[test]
fn calls_return() {
    for (offset, told) in [(0x14, 45), (0x1c, 55)] {
        let outcome = play("s_swappc_b64", offset);
        assert_eq!((outcome.told(), outcome.wave.pair(30)), (told, BASE + 0x10));
    }
    let outcome = play("s_call_b64", 0);
    assert_eq!((outcome.told(), outcome.wave.pair(30)), (45, BASE + 4));
}

#[test]
fn programs_end_where_they_say() {
    for name in ["s_endpgm", "s_endpgm_saved"] {
        let outcome = play(name, 0);
        assert_eq!((outcome.told(), outcome.turns), (1, vec![(TurnEnd::Over, false)]), "{name}");
    }
}

#[test]
fn waits_end_a_turn_and_go_on() {
    let outcome = play("s_barrier", 0);
    assert_eq!((outcome.told(), outcome.turns), (2, vec![(TurnEnd::Over, true), (TurnEnd::Over, false)]));
    let outcome = play("s_sleep", 0);
    assert_eq!((outcome.told(), outcome.turns), (2, vec![(TurnEnd::Slept, false), (TurnEnd::Over, false)]));
}

#[test]
fn clocks_do_not_go_back() {
    for name in ["s_memtime", "s_memrealtime"] {
        let wave = play(name, 0).wave;
        assert_ne!(wave.pair(20), 99, "{name} writes nothing");
        assert!(wave.pair(20) <= wave.pair(22), "{name}");
    }
}

#[test]
fn the_wall_clock_counts_at_the_rate_that_runtimes_tell() {
    let read = || play("s_memrealtime", 0).wave.pair(20);
    let (begin, start) = (std::time::Instant::now(), read());
    std::thread::sleep(std::time::Duration::from_millis(20));
    let slept = read() - start;
    let ticks = |time: std::time::Duration| time.as_nanos() * u128::from(Part::WALL_CLOCK) / 1_000_000_000;
    assert!(u128::from(slept) >= ticks(std::time::Duration::from_millis(20)), "{slept}");
    assert!(u128::from(slept) <= ticks(begin.elapsed()) + 1, "{slept}");
}

#[test]
fn traps_stop_but_for_breakpoints() {
    let outcome = play("s_trap", 0);
    assert_eq!(outcome.told(), 2, "3 is a breakpoint");
    let cause = outcome.trouble.expect("2 is a trap").cause;
    assert!(matches!(cause, Cause::Trap(2)), "{cause:?}");
}
