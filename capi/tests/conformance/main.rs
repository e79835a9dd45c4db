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
mod info;
mod memory;
mod queue;
mod submission;

use std::{path::PathBuf, process::ExitCode, sync::Arc};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    // Test runners ask for the list of tests.
    if !arguments.iter().any(|word| word == "--list") {
        let other = std::env::var_os("WINDLASS_CAPI_LIBRARY").map(PathBuf::from);
        api::load(&other.unwrap_or_else(|| common::libraries().0.clone())).expect("libwindlass.so");
    }
    let mut registry = windlass_hal::Registry::new();
    registry.register(Arc::new(driver::Driver));
    windlass_cts::run_with(registry, &[], arguments)
}
