// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conformance suite over `postfix://`.

mod kernels;

use std::process::ExitCode;

use windlass_cts::Kernels;

fn main() -> ExitCode {
    let mut registry = windlass_hal::Registry::new();
    postfix_driver::register(&mut registry);
    windlass_cts::run_with(
        registry,
        &[Kernels::new(postfix_driver::FORMAT, kernels::find)],
        std::env::args_os(),
    )
}
