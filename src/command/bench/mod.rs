// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass bench`: how long the host takes to record, submit and complete work, on any device.

mod baton;
mod budgets;
mod compare;
mod cpus;
mod environment;
#[cfg(feature = "hip")]
mod floor;
mod icount;
mod interrupt;
mod kernels;
mod once;
mod options;
mod peers;
mod recorded;
mod report;
mod result;
mod row;
mod rows;
mod run;
mod sample;
mod shape;
mod stop;
mod subject;
mod target;

use clap::{Args, Subcommand};

use super::failure::Outcome;

/// Options of `bench`.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_long_help = "docs/benchmarks.md describes each row: what is timed, its floor, its unit.\n\
                       Exit codes: 0 done; 1 a row failed, is slower or over its budget, or Ctrl-C ended the run; 2 the command line or the \
                       input is wrong; 3 a device is absent, with --require; 130 after a second Ctrl-C."
)]
pub(crate) struct Bench {
    #[command(subcommand)]
    other: Option<Other>,
    #[command(flatten)]
    options: options::Options,
}

#[derive(Subcommand)]
enum Other {
    /// Say which rows are slower in NEW than in OLD beyond their noise; both are output of --format jsonl
    Compare(compare::Compare),
    #[command(hide = true)]
    Once(once::Once),
}

impl Bench {
    /// Measures, lists or compares.
    pub(crate) fn run(self) -> Outcome {
        match self.other {
            Some(Other::Compare(compare)) => compare.run(),
            Some(Other::Once(once)) => once.run(),
            None => run::run(&self.options),
        }
    }
}

/// The names of the rows that a device has, in their order.
pub(crate) fn names_of_rows(uri: &str) -> Vec<String> {
    rows::all().into_iter().filter(|row| row.is_for(uri)).map(|row| row.name).collect()
}
