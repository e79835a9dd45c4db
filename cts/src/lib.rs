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
//! opened anew. A case that does not end within the timeout is named, and ends the run: the cases behind it count
//! as skipped, the report is complete, and the process should end. Random choices come from `--seed`.
//!
//! | exit code | meaning |
//! |---|---|
//! | 0 | no case failed |
//! | 1 | a case failed |
//! | 2 | the command line is wrong, or no case matches it |
//! | 3 | the device is absent and `--require` was given; without it, everything is skipped and 0 |
//!
//! # Harnesses of your own
//!
//! [`run_cases`] takes a registry, any list of [`Case`]s (those of [`cases`], your own, or both) and [`Options`],
//! writes to whatever you give it, and returns a [`Summary`]. [`main_with`] adds the messages and exit codes of a
//! command. Nothing in this crate prints by itself but [`run`].

mod args;
mod case;
mod check;
mod context;
mod junit;
mod kernels;
mod options;
mod random;
mod report;
mod runner;
mod suites;

use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
};

use windlass_hal::Registry;

pub use args::Usage;
pub use case::{Case, Level, Outcome, Stop};
pub use context::Context;
pub use kernels::{FORMAT, Kernels};
pub use options::{Format, Options};
pub use random::Random;
pub use report::{CaseResult, Exit, Summary, Verdict};
pub use runner::run_cases;
pub use suites::cases;

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
    let exit = match Options::parse(arguments) {
        Ok(mut options) => {
            options.kernels = kernels.to_vec();
            if options.device.is_empty() {
                options.device = device_of_environment(&registry);
            }
            main_with(&registry, &cases(), options, &mut io::stdout(), &mut io::stderr())
        }
        Err(usage) if usage.is_help() => {
            let written = io::stdout().write_all(usage.to_string().as_bytes());
            if written.is_ok() { Exit::Passed } else { Exit::Failed }
        }
        Err(usage) => {
            let _ = io::stderr().write_all(usage.to_string().as_bytes());
            Exit::Usage
        }
    };
    exit.into()
}

/// `WINDLASS_DEVICE`, if it names a device of these drivers: a test of one driver must not fail because the
/// variable names another.
fn device_of_environment(registry: &Registry) -> String {
    std::env::var("WINDLASS_DEVICE")
        .ok()
        .filter(|uri| uri.split_once("://").is_some_and(|(scheme, _)| registry.driver(scheme).is_ok()))
        .unwrap_or_default()
}

/// Runs cases as a program does, with writers of the caller's choice: results go to `out`, messages to `err`.
///
/// An empty [`Options::device`] is the default device of the driver that was registered last.
pub fn main_with(
    registry: &Registry,
    cases: &[Case],
    mut options: Options,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Exit {
    // A message that cannot be written has nowhere else to go.
    let mut say = |message: String| drop(writeln!(err, "cts: {message}"));
    if options.device.is_empty() {
        options.device =
            registry.drivers().next().map_or(String::new(), |driver| format!("{}://", driver.scheme()));
    }
    if !options.list {
        let scheme = options.device.split("://").next().unwrap_or_default();
        if let Err(error) = registry.driver(scheme) {
            say(format!("--device `{}`: {error}", options.device));
            return Exit::Usage;
        }
    }
    let (filtered, listed) = (!options.filters.is_empty() || !options.skip.is_empty(), options.list);
    match run_cases(registry, cases, &options, out) {
        Ok(summary) if filtered && !listed && summary.results.is_empty() => {
            say("no case matches the filters; --list shows them all".to_owned());
            Exit::Usage
        }
        Ok(summary) => summary.exit,
        Err(error) => {
            say(format!("the results could not be written: {error}"));
            Exit::Failed
        }
    }
}
