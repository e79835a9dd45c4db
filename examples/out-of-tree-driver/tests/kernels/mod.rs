// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite's kernels in postfix notation. What each must do is told in Windlass's `cts/kernels/README.md`.

/// The text of a module.
pub fn find(module: &str) -> Option<Vec<u8>> {
    let text = match module {
        "arguments" => include_str!("arguments.postfix"),
        "entries" => include_str!("entries.postfix"),
        "faults" => include_str!("faults.postfix"),
        "fixed_block" => include_str!("fixed_block.postfix"),
        "histogram" => include_str!("histogram.postfix"),
        "matmul" => include_str!("matmul.postfix"),
        "order" => include_str!("order.postfix"),
        "positions" => include_str!("positions.postfix"),
        "reduce" => include_str!("reduce.postfix"),
        "saxpy" => include_str!("saxpy.postfix"),
        "vector_add" => include_str!("vector_add.postfix"),
        _ => return None,
    };
    // The suite cuts files off anywhere and wants an error: white space at the end would not be missed.
    Some(text.trim_end().as_bytes().to_vec())
}
