// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conformance suite over `local://` with its kernels in Rust, as on a system that loads no shared objects.

use std::{process::ExitCode, sync::Arc};

use windlass_cts::Kernels;
use windlass_local::LocalDriver;

fn main() -> ExitCode {
    let mut registry = windlass_hal::Registry::new();
    registry.register(Arc::new(LocalDriver::new().without_native()));
    let kernels = Kernels::new(windlass_local::FORMAT, windlass_local::conformance::find);
    windlass_cts::run_with(registry, &[kernels], std::env::args_os())
}
