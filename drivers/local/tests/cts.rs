// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conformance suite over `local://`, with the host code of its bundles if the system can load it.

use std::process::ExitCode;

use windlass_cts::Kernels;

fn main() -> ExitCode {
    let mut registry = windlass_hal::Registry::new();
    windlass_local::register(&mut registry);
    let kernels = Kernels::new(windlass_local::FORMAT, windlass_local::conformance::find);
    windlass_cts::run_with(registry, &[kernels], std::env::args_os())
}
