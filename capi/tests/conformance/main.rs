// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conformance suite over `capi://?over=URI`: a driver that is written against `windlass.h` alone, over a device of
//! the library. Its order of work is that of a client with a scheduler of its own: it submits what can run, waits for
//! its own earlier work by semaphores of the library, and hears of ends by observers.
//!
//! `WINDLASS_CAPI_LIBRARY` names another build of the library, such as an installed one.
//!
//! Only this driver knows the library; the suite and the HAL here are another copy of Windlass.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;

mod api;
mod arguments;
#[allow(
    clippy::all,
    unreachable_pub,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    dead_code,
    unsafe_op_in_unsafe_fn,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
mod bindings;
mod buffer;
mod command_buffer;
mod device;
mod driver;
mod executable;
mod external_timepoint;
mod growable;
mod info;
mod memory;
mod queue;
mod submission;
mod topology;

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use libtest_mimic::{Arguments, Failed, Trial};
use windlass_cts::{Exit, Options};
use windlass_hal::Registry;

/// The devices under the library, by the names of the tests.
const DEVICES: [(&str, &str); 4] = [
    ("over_a_simulated_gpu", "capi://"),
    ("over_two_simulated_gpus", "capi://?over=hip-sim://gfx942?devices=2"),
    ("over_the_cpu", "capi://?over=local://"),
    ("in_any_order", "shuffle://?seed=1&over=capi://"),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    // `cargo test --test conformance -- --device capi://?over=URI` has the options of the suite.
    if arguments.iter().any(|word| word == "--device") {
        load();
        return windlass_cts::run_with(registry(), &[], arguments);
    }
    let trials = DEVICES.map(|(name, uri)| Trial::test(name, move || pass(uri)));
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
}

fn load() {
    let other = std::env::var_os("WINDLASS_CAPI_LIBRARY").map(PathBuf::from);
    api::load(&other.unwrap_or_else(|| common::libraries().0.clone())).expect("libwindlass.so");
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register(Arc::new(driver::Driver));
    let inner = registry.clone();
    registry.register(Arc::new(windlass_cts::shuffle::Driver::new(inner)));
    registry
}

fn pass(uri: &str) -> Result<(), Failed> {
    load();
    let options = Options::parse(["conformance", "--device", uri])?;
    let (mut out, mut messages) = (Vec::new(), Vec::new());
    let cases = windlass_cts::cases();
    match windlass_cts::main_with(&registry(), &cases, options, &mut out, &mut messages) {
        Exit::Passed => Ok(()),
        _ => {
            let text = [out, messages].concat();
            let text = String::from_utf8_lossy(&text);
            let told = text.lines().filter(|line| !line.starts_with("pass"));
            Err(told.collect::<Vec<_>>().join("\n").into())
        }
    }
}
