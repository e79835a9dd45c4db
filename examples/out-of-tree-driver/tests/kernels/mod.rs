// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite's kernels in postfix notation. Windlass's `cts/kernels/README.md` specifies each kernel.

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
    // The suite truncates files anywhere and expects an error, but a text without its last white space would still be
    // valid.
    Some(text.trim_end().as_bytes().to_vec())
}
