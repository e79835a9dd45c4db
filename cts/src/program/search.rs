// SPDX-License-Identifier: MIT OR Apache-2.0
//! Generates and runs many random programs, and shrinks those that fail.

use std::fmt;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use super::{
    Bench, Discrepancy, Mix, Program,
    build::build,
    recipe::{Recipe, recipes},
};
use crate::random::Random;

/// The number of runs of a program while it is shrunk, because a race does not show each time.
const ATTEMPTS: usize = 5;

/// A program that a device runs wrongly.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The program, shrunk as far as possible.
    pub program: Program,
    /// The difference that the device shows.
    pub discrepancy: Discrepancy,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.discrepancy)?;
        writeln!(f, "the program, as small as it could be made:")?;
        write!(f, "{}", self.program)
    }
}

impl Program {
    /// An endless sequence of programs of a mix, reproducible by the seed.
    pub fn random(seed: u64, mix: Mix) -> impl Iterator<Item = Self> {
        let mut runner = runner(seed, 0);
        std::iter::from_fn(move || {
            let tree = proptest::strategy::Strategy::new_tree(&recipes(mix), &mut runner).ok()?;
            Some(build(&proptest::strategy::ValueTree::current(&tree), mix))
        })
    }
}

/// Runs `count` random programs on a bench. The seed makes them reproducible.
///
/// # Errors
/// The first program that the device runs wrongly, shrunk. A program that left work in the device is not shrunk.
pub fn search(bench: &Bench, seed: u64, count: u32, mix: Mix) -> Result<(), Box<Found>> {
    search_with(seed, count, mix, |program| bench.run(program))
}

/// Runs `count` random programs through `run`. The seed makes them reproducible.
///
/// # Errors
/// The first program for which `run` reports a discrepancy, shrunk unless its device is stuck.
pub fn search_with(
    seed: u64,
    count: u32,
    mix: Mix,
    mut run: impl FnMut(&Program) -> Result<(), Discrepancy>,
) -> Result<(), Box<Found>> {
    let mut failed = None;
    let mut stuck = false;
    let test = |recipe: Recipe| {
        if stuck {
            return Ok(());
        }
        let program = build(&recipe, mix);
        let attempts = if failed.is_some() { ATTEMPTS } else { 1 };
        match (0..attempts).find_map(|_| run(&program).err()) {
            None => Ok(()),
            Some(discrepancy) => {
                stuck = discrepancy.stuck;
                failed = Some(Box::new(Found { program, discrepancy }));
                Err(TestCaseError::fail("a discrepancy"))
            }
        }
    };
    let test = std::cell::RefCell::new(test);
    let result = runner(seed, count).run(&recipes(mix), |recipe| (test.borrow_mut())(recipe));
    match (result, failed) {
        // The last failure belongs to the smallest program.
        (Err(TestError::Fail(..)), Some(found)) => Err(found),
        (Err(error), _) => Err(Box::new(Found {
            program: Program::default(),
            discrepancy: Discrepancy::new(format!("programs could not be generated: {error:?}")),
        })),
        (Ok(()), _) => Ok(()),
    }
}

fn runner(seed: u64, cases: u32) -> TestRunner {
    let mut random = Random::new(seed);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 5000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &random.bytes(32)))
}
