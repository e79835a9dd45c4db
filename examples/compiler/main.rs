// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compiler of array expressions that targets Windlass, small enough to read in ten minutes.
//!
//!     cargo run --example compiler [URI]
//!
//! `graph.rs` holds the expressions, `kernels.rs` divides them into kernels, `codegen.rs` writes and compiles the kernels'
//! source, `plan.rs` places all intermediate values in one buffer, and `program.rs` records them as one command buffer,
//! which runs again and again with other inputs.
//!
//! If clang is installed (`CLANG` names it, else clang-19 or clang), each kernel is made for this graph, and chains of
//! elementwise operations become one kernel. Otherwise a kernel for each operation comes from a bundle beside this file.
//! The compiler wrote the source of that bundle too: `--operations` prints it.
#![allow(clippy::print_stdout)]
#![allow(unreachable_pub, reason = "the modules are those of one program")]

mod codegen;
mod graph;
mod kernels;
mod plan;
mod program;

use std::time::Duration;

use graph::{Graph, Shape};
use program::Program;
use windlass::{Result, Semaphore};

const MINUTE: Duration = Duration::from_secs(60);

fn main() -> Result<()> {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("--operations") {
        print!("{}", codegen::operations());
        return Ok(());
    }
    let device = windlass::open(argument.as_deref().unwrap_or("hip-sim://gfx942"))?;

    // A layer of a network: softmax(relu(x * weights + bias)), with a softmax that does not overflow.
    let mut graph = Graph::default();
    let x = graph.input(Shape { rows: 24, columns: 48 });
    let weights = graph.input(Shape { rows: 48, columns: 100 });
    let bias = graph.input(Shape { rows: 1, columns: 100 });
    let product = graph.matmul(x, weights);
    let sum = graph.binary("add", product, bias);
    let hidden = graph.unary("relu", sum);
    let greatest = graph.reduce("row_max", hidden);
    let below = graph.binary("subtract", hidden, greatest);
    let powers = graph.unary("exp", below);
    let total = graph.reduce("row_sum", powers);
    let result = graph.binary("divide", powers, total);

    let program = Program::compile(&device, &graph, result)?;
    println!("{program}");

    // All runs are submitted before the first one is awaited.
    let queue = device.queue(0)?;
    let timeline = Semaphore::new(0);
    let mut runs = Vec::new();
    for run in 1..=3_u64 {
        let inputs: Vec<Vec<f32>> =
            graph.inputs().map(|(slot, shape)| numbers(shape, run + slot as u64)).collect();
        let before = (run - 1) * 100;
        let mut table = Vec::new();
        let mut value = before;
        for input in &inputs {
            let bytes: Vec<u8> = input.iter().flat_map(|number| number.to_le_bytes()).collect();
            let buffer = device.allocate_device(bytes.len() as u64)?;
            queue.update(&[timeline.at(value)], &[timeline.at(value + 1)], &bytes, &buffer)?;
            table.push(buffer);
            value += 1;
        }
        let output = device.allocate_device(graph.shape(result).bytes())?;
        table.push(output.clone());
        // The runs share the buffer of intermediate values, so each waits for the one before.
        queue.execute(&[timeline.at(value)], &[timeline.at(before + 100)], program.commands(), table)?;
        runs.push((inputs, queue.download(&[timeline.at(before + 100)], &output)?));
    }
    for (inputs, download) in runs {
        let bytes = download.wait(MINUTE)?;
        let found = bytes.as_chunks().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes)));
        let expected = graph.evaluate(result, &inputs);
        assert_eq!(bytes.len(), 4 * expected.len());
        for (found, expected) in found.zip(expected) {
            assert!(
                (found - expected).abs() <= 1e-5 * expected.abs() + 1e-7,
                "{found} in the place of {expected}"
            );
        }
    }
    println!("all numbers of 3 runs are right");
    Ok(())
}

/// Numbers from -1 to 1 that look random.
fn numbers(shape: Shape, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..shape.elements()).map(|_| next()).collect()
}
