// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conformance suite over `null://`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut registry = windlass_hal::Registry::new();
    windlass_null::register(&mut registry);
    windlass_cts::run(registry, std::env::args_os())
}
