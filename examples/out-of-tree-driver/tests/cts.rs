// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conformance suite over `postfix://`.

use std::process::ExitCode;

use windlass_cts::Kernels;

fn main() -> ExitCode {
    let mut registry = windlass_hal::Registry::new();
    postfix_driver::register(&mut registry);
    windlass_cts::run_with(registry, &[Kernels::new(postfix_driver::FORMAT, find)], std::env::args_os())
}

/// The suite's kernels in this driver's form; what each must do is told in Windlass's `cts/kernels/README.md`.
fn find(module: &str) -> Option<Vec<u8>> {
    let text = match module {
        "arguments" => include_str!("kernels/arguments.postfix"),
        "entries" => include_str!("kernels/entries.postfix"),
        "faults" => include_str!("kernels/faults.postfix"),
        "fixed_block" => include_str!("kernels/fixed_block.postfix"),
        "histogram" => include_str!("kernels/histogram.postfix"),
        "matmul" => include_str!("kernels/matmul.postfix"),
        "order" => include_str!("kernels/order.postfix"),
        "positions" => include_str!("kernels/positions.postfix"),
        "reduce" => include_str!("kernels/reduce.postfix"),
        "saxpy" => include_str!("kernels/saxpy.postfix"),
        "vector_add" => include_str!("kernels/vector_add.postfix"),
        _ => return None,
    };
    // The suite cuts files off anywhere and wants an error: white space at the end would not be missed.
    Some(text.trim_end().as_bytes().to_vec())
}
