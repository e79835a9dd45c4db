// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conformance suite over `record://` over `null://`: a recorder changes nothing.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut registry = windlass_hal::Registry::new();
    windlass_null::register(&mut registry);
    registry.register(std::sync::Arc::new(windlass_record::Driver::new(registry.clone(), "its own tests")));
    windlass_cts::run(registry, std::env::args_os())
}
