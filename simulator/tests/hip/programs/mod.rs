// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random programs over HIP's functions against a sequential model: streams of both kinds and the null stream, events,
//! host functions, pools, graphs that are captured, and several threads. A program has no races, so that each order
//! which HIP permits gives the result of the model.

mod generate;
mod model;
mod perform;

use crate::common::Machine;
use generate::Program;
use perform::{Plant, perform};

/// Runs a program on a machine. The error says where it differs from the model.
fn run(machine: &Machine, seed: u64, plant: Plant) -> Result<(), String> {
    let program = Program::new(seed);
    let wrong = perform(machine, &program, &program.expected(), plant);
    wrong.map_err(|error| format!("program {seed}: {error}\n{program}"))
}

/// How many programs: a few, or as many as the variable says, for `.ci/random-programs`.
fn count(few: u64) -> u64 {
    std::env::var("WINDLASS_HIP_PROGRAMS").map_or(few, |count| count.parse().unwrap())
}

#[test]
fn random_programs_give_the_results_of_the_model_under_every_seed() {
    for seed in 1..=count(40) {
        let machine = Machine::new(&format!("?seed={seed}"));
        run(&machine, seed, Plant::Nothing).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn random_programs_of_several_threads_give_the_results_of_the_model() {
    for round in 0..count(40) / 4 {
        // Before 7 copies are refused while another thread captures.
        let machine = &Machine::new(["?hip=7.1", "?hip=7.1&hardware_queues=2"][(round % 2) as usize]);
        std::thread::scope(|scope| {
            let clients = [0, 1, 2].map(|client| {
                let seed = 1_000_000 + 3 * round + client;
                scope.spawn(move || run(machine, seed, Plant::Nothing))
            });
            for client in clients {
                client.join().unwrap().unwrap_or_else(|error| panic!("{error}"));
            }
        });
    }
}

/// The first program that goes wrong, of those that have the planted error. A fault of a kernel makes a call fail,
/// which is a panic.
fn found(plant: Plant) -> Option<u64> {
    let is_right = |seed: u64| {
        std::panic::catch_unwind(|| run(&Machine::new(&format!("?seed={seed}")), seed, plant))
            .is_ok_and(|outcome| outcome.is_ok())
    };
    (1..=200).find(|seed| !is_right(*seed))
}

#[test]
fn random_programs_find_a_lost_wait() {
    assert!(found(Plant::LostWait).is_some());
}

#[test]
fn random_programs_find_an_event_that_is_recorded_too_early() {
    assert!(found(Plant::EarlyRecord).is_some());
}

#[test]
fn random_programs_find_memory_that_is_given_before_its_free_is_reached() {
    assert!(found(Plant::EarlyReuse).is_some());
}
