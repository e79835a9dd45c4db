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
mod channel;
mod command_buffer;
mod device;
mod driver;
mod executable;
mod external_timepoint;
mod growable;
mod info;
mod memory;
mod plugin;
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

/// The devices of `tests/plugin`: drivers and wrappers in C.
const IN_C: [(&str, &str); 7] = [
    ("over_a_driver_in_c", "capi://?over=c-host://"),
    ("over_a_driver_in_c_in_any_order", "shuffle://?seed=1&over=capi://?over=c-host://"),
    ("over_a_driver_in_c_without_lists", "capi://?over=c-steps://"),
    ("over_the_least_driver_in_c", "capi://?over=c-least://"),
    ("over_a_driver_in_c_that_ends_operations_twice", "capi://?over=c-twice://"),
    ("over_a_wrapper_in_c", "capi://?over=c-trace://?quiet=1&over=hip-sim://gfx942"),
    ("over_a_wrapper_in_c_that_forwards_late", "capi://?over=c-late://?over=hip-sim://gfx942"),
];

/// Drivers and wrappers in C with one mistake: the suite, or the library, must say these words.
const BROKEN: [(&str, &str, &str); 8] = [
    ("a_crooked_address_is_caught", "c-crooked://", "no multiple of 256"),
    ("memory_without_a_pointer_is_caught", "c-hidden://", "gave no host pointer"),
    ("a_device_without_a_description_is_caught", "c-silent://", "has not called windlass_answer_device"),
    ("transfers_that_are_not_done_are_caught", "c-idler://", "bytes differ"),
    ("command_buffers_that_do_nothing_are_caught", "c-shallow://", "command_buffer.fill"),
    ("a_forgotten_operation_is_caught", "c-forgetful://", "neither completed nor forwarded"),
    ("transfers_that_a_wrapper_drops_are_caught", "c-idle://?over=hip-sim://gfx942", "bytes differ"),
    (
        "operations_that_a_wrapper_loses_are_caught",
        "c-lost://?over=local://",
        "neither completed nor forwarded",
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    // `cargo test --test conformance -- --device capi://?over=URI` has the options of the suite.
    if arguments.iter().any(|word| word == "--device") {
        load();
        plugin::load();
        return windlass_cts::run_with(registry(), &[], arguments);
    }
    let mut trials: Vec<_> = DEVICES.map(|(name, uri)| Trial::test(name, move || pass(uri, &[]))).into();
    trials.extend(IN_C.map(|(name, uri)| Trial::test(name, move || pass_in_c(uri))));
    trials.extend(BROKEN.map(|(name, over, words)| Trial::test(name, move || fail_in_c(over, words))));
    let mut arguments = Arguments::from_args();
    // Cases wait about as long as they compute.
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    arguments.test_threads.get_or_insert(2 * cpus);
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn pass_in_c(uri: &str) -> Result<(), Failed> {
    load();
    if plugin::load() { pass(uri, &[]) } else { Ok(()) }
}

/// The suite must fail over the device, and its report must have the words.
fn fail_in_c(over: &str, words: &str) -> Result<(), Failed> {
    load();
    if !plugin::load() {
        return Ok(());
    }
    let uri = format!("capi://?over={over}");
    match pass(&uri, &["transfer.", "buffer."]) {
        Ok(()) => Err(format!("the suite passed over {over}").into()),
        Err(failed) => {
            let report = failed.message().unwrap_or_default();
            if report.contains(words) { Ok(()) } else { Err(format!("no `{words}` in {report}").into()) }
        }
    }
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

fn pass(uri: &str, filters: &[&str]) -> Result<(), Failed> {
    load();
    let arguments = ["conformance", "--require", "--device", uri];
    let options = Options::parse(arguments.into_iter().chain(filters.iter().copied()))?;
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
