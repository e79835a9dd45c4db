// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each program, on every HIP that serves it: a test passes where a HIP lacks what its program needs, and says so.
#![allow(clippy::print_stderr, reason = "a program that runs on fewer HIPs says so")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use libtest_mimic::{Arguments, Trial};
use windlass_hip_assumptions::{Needs, Outcome, PROGRAMS, Program};
use windlass_hip_sys::null::{Instance, Options};
use windlass_hip_sys::{Api, Source};
use windlass_simulator::Simulator;

fn main() {
    let trials = PROGRAMS
        .iter()
        .map(|program| {
            Trial::test(program.name(), move || {
                on_each_hip(program);
                Ok(())
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn on_each_hip(program: &Program) {
    if program.needs() == Needs::Fault {
        return run(program, simulated("?threads=2&faults=sticky"));
    }
    if program.needs() == Needs::Memory {
        run(program, Instance::new(Options { devices: 2, ..Options::default() }).api());
    }
    for options in ["?threads=2&devices=2", "?threads=2&hip=5.3"] {
        run(program, simulated(options));
    }
    // Programs on the one HIP of the process run one at a time.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the library that the system or the environment names as HIP is HIP.
    match unsafe { Api::load(&Source::System) } {
        Ok(api) => run(program, api),
        Err(error) => say_once(format!("not run on the system's HIP: {error}")),
    }
}

fn run(program: &Program, api: Api) {
    if let Outcome::NotRun(reason) = program.run(api, kernels) {
        say_once(format!("not run: {reason}"));
    }
}

/// A reason concerns many programs.
fn say_once(reason: String) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if !said.contains(&reason) {
        eprintln!("{reason}");
        said.insert(reason);
    }
}

fn simulated(options: &str) -> Api {
    Simulator::new(options.parse().expect("options")).expect("a simulator").api()
}

/// The bundles beside the conformance suite. They live as long as the process, as those in a program do.
fn kernels(module: &str) -> Option<&'static [u8]> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cts/kernels/bundles");
    let bytes = std::fs::read(folder.join(module).with_extension("ccob")).expect("a bundle of the suite");
    Some(bytes.leak())
}
