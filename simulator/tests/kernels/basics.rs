// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elementwise kernels.

use crate::args;
use crate::gpu::Gpu;

#[test]
fn vector_add() {
    let gpu = Gpu::new();
    let kernel = gpu.kernel("vector_add", "vector_add");
    for n in [1usize, 63, 64, 65, 1000] {
        let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let b: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
        let out = gpu.buffer(&vec![-1f32; n]);
        for block in [1, 64, 100, 1024] {
            gpu.run(&kernel, n, block, args![gpu.buffer(&a), gpu.buffer(&b), out, n as i32]);
            let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
            assert_eq!(gpu.contents::<f32>(out), expected, "{n} in blocks of {block}");
        }
    }
}
