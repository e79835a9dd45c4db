// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code of IREE and Triton.

use crate::args;
use crate::gpu::{Gpu, Random, kernels};
use half::f16;

fn close(got: &[f32], expected: impl Iterator<Item = f32>, tolerance: f32, what: &str) {
    let mut count = 0;
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((got - expected).abs() <= tolerance, "{what}, element {index}: {got}, not {expected}");
        count += 1;
    }
    assert_eq!(count, got.len());
}

fn floats(count: usize, seed: u64) -> Vec<f32> {
    let mut random = Random(seed);
    (0..count).map(|_| random.unit() as f32).collect()
}

#[test]
fn iree_add() {
    let gpu = Gpu::new();
    let kernel = gpu
        .load(&kernels().join("iree/add.gfx942.hsaco"))
        .kernel("add_dispatch_0_elementwise_D_f32")
        .unwrap();
    for n in [1usize, 100, 1000] {
        let (a, b) = (floats(n, 81), floats(n, 82));
        let out = gpu.buffer(&vec![0f32; n]);
        let (low, high) = (n as i32, 0i32);
        let args = args![gpu.buffer(&a), gpu.buffer(&b), out, low, high, low, high];
        gpu.run_grid(&kernel, [n.div_ceil(64) as u32, 1, 1], [64, 1, 1], 0, args);
        close(&gpu.contents::<f32>(out), a.iter().zip(&b).map(|(a, b)| a + b), 0.0, "add");
    }
}

#[test]
fn iree_matmul() {
    let gpu = Gpu::new();
    let module = gpu.load(&kernels().join("iree/matmul_f32.gfx942.hsaco"));
    let kernel = module.kernel("matmul_f32_dispatch_0_matmul_100x60x70_f32").unwrap();
    let (a, b) = (floats(7000, 83), floats(4200, 84));
    let c = gpu.buffer(&vec![0f32; 6000]);
    gpu.run_grid(&kernel, [2, 1, 1], [256, 1, 1], 0, args![gpu.buffer(&a), gpu.buffer(&b), c]);
    let expected = (0..6000).map(|i| (0..70).map(|k| a[i / 60 * 70 + k] * b[k * 60 + i % 60]).sum());
    close(&gpu.contents::<f32>(c), expected, 1e-4, "matmul");

    let module = gpu.load(&kernels().join("iree/matmul_f16.gfx942.hsaco"));
    let kernel = module.kernel("matmul_f16_dispatch_0_matmul_64x64x64_f16xf16xf32").unwrap();
    let [a, b] = [85, 86].map(|seed| floats(4096, seed).into_iter().map(f16::from_f32).collect::<Vec<_>>());
    let c = gpu.buffer(&vec![0f32; 4096]);
    gpu.run_grid(&kernel, [1, 1, 1], [256, 1, 1], 0, args![gpu.buffer(&a), gpu.buffer(&b), c]);
    let expected =
        (0..4096).map(|i| (0..64).map(|k| a[i / 64 * 64 + k].to_f32() * b[k * 64 + i % 64].to_f32()).sum());
    close(&gpu.contents::<f32>(c), expected, 1e-4, "matmul_f16");
}
