// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conformance suite of Windlass drivers.
//!
//! A driver conforms if every case of this suite passes on it, or is skipped for a lack that the driver declares. A
//! case tests one contract, which one sentence states. It uses only the public interface of [`windlass_hal`] and
//! depends on no driver. The suite's kernels are embedded, so that out-of-tree drivers have them too.
//!
//! # Running the suite on your driver
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
//! and write this `tests/cts.rs`:
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
//! `cargo test --test cts` runs the whole suite, `cargo test --test cts -- transfer. --skip large` a part of it. The
//! option `--help` lists all options. Without `--device` the suite tests the device that `WINDLASS_DEVICE` names, if it
//! belongs to a registered driver. Otherwise it tests the default device of the driver that was registered last.
//!
//! `docs/driver-authors.md` in Windlass's repository leads from an empty folder to a driver that passes.
//! `examples/out-of-tree-driver` is such a driver.
//!
//! # Lacks
//!
//! A driver may lack features if it declares each lack with a reason in
//! [`DeviceInfo::lacks`](windlass_hal::DeviceInfo::lacks). The suite skips the cases that need the feature, and reports
//! the reason with the number of skips. An undeclared `UNIMPLEMENTED` fails its case. A case also fails if the driver
//! has a feature that it declares as a lack.
//!
//! # A driver with kernels of its own
//!
//! The suite's kernels are bundles of AMD code objects. A driver that runs another format names it in
//! [`DeviceInfo::executable_formats`](windlass_hal::DeviceInfo::executable_formats) and supplies these kernels in its
//! format: `windlass_cts::run_with(registry, &[Kernels::new("my-format", my_driver::find)], arguments)`.
//!
//! # How cases run
//!
//! Cases run one after the other, each on its own thread. They share one device, which is opened anew after a failure.
//! A case that exceeds the timeout is reported as hung, and its thread is abandoned. After the third such case the
//! remaining cases are not run. With `--isolate` each case has its own process, so that a crash fails only its case, and
//! `--jobs` runs several at the same time. `--retry` tells flaky cases from broken ones. After a failure a real device
//! must pass a health check; if it stays lost, the rest is not run. `--resume` continues a run after a reboot. Random
//! choices come from `--seed`. `compare OLD NEW` compares the reports of two runs.
//!
//! | exit code | meaning |
//! |---|---|
//! | 0 | no case failed |
//! | 1 | a case failed, or passed although the [expectations](Expectations) list it, a device was lost, or `--max-skips` or `--must-pass` was not met |
//! | 2 | the command line, the file of expectations or that of `--resume` is wrong, a report cannot be opened, or no case matches the filters and [`Harness::must_run`] was not called |
//! | 3 | a device is in use by another run, does not match `--expect-arch` or `--real`, or is absent although `--require` was given. This exit code outranks `--max-skips` and `--must-pass`. Without `--require`, the cases of an absent device are skipped |
//! | 4 | [`Harness::must_run`] was called, as `windlass cts` does, and no case ran, for example because none matches the filters |
//!
//! # Your own harness
//!
//! [`run`] runs a [`Harness`]. A harness of your own may have further cases beside those of [`cases`], or a subcommand
//! before its options. A signal that asks the program to end (SIGHUP, SIGINT, SIGTERM) ends the run before the next
//! case. The reports have the results up to that point. Then the process dies of the signal. [`run_cases`] takes a
//! registry, any list of [`Case`]s and [`Options`], writes to a writer that you supply, and returns a [`Summary`].
//! [`main_with`] adds the messages and exit codes of a command. Only [`run`] and [`Harness::run`] print on their own.

mod args;
mod bounded_file;
mod case;
mod check;
mod compare;
mod context;
mod demands;
mod expectations;
mod file_in_memory;
mod harness;
mod health;
mod interrupt;
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

pub use args::{CommandOption, Usage, command_options};
pub use case::Case;
pub use context::Context;
pub use demands::Unmet;
pub use expectations::{Expectation, ExpectationKind, Expectations, ExpectationsError};
pub use harness::{ChosenDevice, Harness, main_with};
pub use kernels::{FORMAT, HOST_FORMATS, Kernels, bundle};
pub use options::{Format, Options};
pub use outcome::{Level, Outcome, Stop};
pub use random::Random;
pub use runner::{RunError, run_cases};
pub use shard::Shard;
pub use suites::cases;
pub use summary::{CaseResult, Exit, Problem, Summary, TestedDevice, Verdict};

/// Runs the suite as a program. Parses the command line, whose first word is the program's name. Writes results to
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
