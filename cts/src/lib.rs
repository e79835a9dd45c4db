// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conformance suite of Windlass drivers.
//!
//! A driver conforms when every case of this suite passes over it. A case proves one contract, stated in one
//! sentence, through the public interface of [`windlass_hal`] alone: the suite knows no driver. Its kernels are
//! embedded, so that a driver outside this repository has them too.
//!
//! # Over a driver of your own
//!
//! Add to the driver's `Cargo.toml`
//!
//! ```toml
//! [dev-dependencies]
//! windlass-cts = "0.1"
//!
//! [[test]]
//! name = "cts"
//! harness = false
//! ```
//!
//! and make `tests/cts.rs` of one line and what it needs:
//!
//! ```
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     let mut registry = windlass_hal::Registry::new();
//!     # let arguments = ["cts", "--list"];
//!     # /*
//!     my_driver::register(&mut registry);
//!     windlass_cts::run(registry, std::env::args_os())
//!     # */
//!     # windlass_cts::run(registry, arguments)
//! }
//! ```
//!
//! `cargo test --test cts` runs it all; `cargo test --test cts -- transfer. --skip large` a part of it, and
//! `-- --help` tells the rest. Without `--device`, `WINDLASS_DEVICE` is tested if it names a device of the registered
//! drivers, and the default device of the driver that was registered last otherwise.
//!
//! `docs/driver-authors.md` in Windlass's repository leads there from an empty folder, and `examples/out-of-tree-driver` is a
//! driver that does it.
//!
//! # What a driver lacks
//!
//! A driver need not offer everything, but it says beforehand what it does not: in
//! [`DeviceInfo::lacks`](windlass_hal::DeviceInfo::lacks), with a reason. Cases that need it are skipped with that
//! reason, and the count of skips is shown beside the reason. An `UNIMPLEMENTED` that was not declared fails the
//! case, and so does a declaration that is not true.
//!
//! # A driver with kernels of its own
//!
//! The suite's kernels are bundles of AMD code objects. A driver that runs something else names it in
//! [`DeviceInfo::executable_formats`](windlass_hal::DeviceInfo::executable_formats) and brings twins of these kernels:
//! `windlass_cts::run_with(registry, &[Kernels::new("my-format", my_driver::find)], arguments)`.
//!
//! # How cases run
//!
//! Each runs on a thread of its own, one after the other, on one device that they share; after a failure it is
//! opened anew. A case that does not end within the timeout is named, its thread abandoned, and the next runs on a
//! fresh device; after the third such case the rest is skipped. With `--isolate` each case has a process of its own,
//! so that a crash, too, fails that case alone. Random choices come from `--seed`.
//!
//! | exit code | meaning |
//! |---|---|
//! | 0 | no case failed |
//! | 1 | a case failed, or passed against the [expectations](Expectations) |
//! | 2 | the command line or the file of expectations is wrong, a report cannot be opened, or no case fits the filters |
//! | 3 | a device is absent and `--require` was given; without it, everything on it is skipped |
//!
//! # Harnesses of your own
//!
//! A [`Harness`] is the program that [`run`] runs, with cases of your own beside those of [`cases`], or a subcommand in
//! front of its options. [`run_cases`] takes a registry, any list of [`Case`]s and [`Options`], writes to whatever you
//! give it, and returns a [`Summary`]; [`main_with`] adds the messages and exit codes of a command. Nothing in this crate
//! prints by itself but [`run`] and [`Harness::run`].

mod args;
mod case;
mod check;
mod context;
mod expectations;
mod file_in_memory;
mod harness;
mod in_child;
mod in_process;
mod kernels;
mod options;
mod outcome;
mod pass;
pub mod program;
mod random;
mod report;
mod runner;
pub mod saboteurs;
mod shard;
pub mod shuffle;
mod suites;
mod summary;

use std::{ffi::OsString, process::ExitCode};

use windlass_hal::Registry;

pub use args::Usage;
pub use case::Case;
pub use context::Context;
pub use expectations::{Expectation, Expectations, ExpectationsError, Kind};
pub use harness::{Harness, main_with};
pub use kernels::{FORMAT, HOST_FORMATS, Kernels};
pub use options::{Format, Options};
pub use outcome::{Level, Outcome, Stop};
pub use random::Random;
pub use runner::{RunError, run_cases};
pub use shard::Shard;
pub use suites::cases;
pub use summary::{CaseResult, Exit, Problem, Summary, TestedDevice, Verdict};

/// Runs the suite as a program: reads the command line (its first word is the program's name), writes results to
/// standard output and messages to standard error.
pub fn run<T: Into<OsString> + Clone>(
    registry: Registry,
    arguments: impl IntoIterator<Item = T>,
) -> ExitCode {
    run_with(registry, &[], arguments)
}

/// [`run`] with the suite's kernels in further formats, for drivers that run no AMD code objects.
pub fn run_with<T: Into<OsString> + Clone>(
    registry: Registry,
    kernels: &[Kernels],
    arguments: impl IntoIterator<Item = T>,
) -> ExitCode {
    Harness::new(registry).kernels(kernels).run(arguments)
}
