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

#[test]
fn iree_reductions() {
    let gpu = Gpu::new();
    let module = gpu.load(&kernels().join("iree/row_sum.gfx942.hsaco"));
    let kernel = module.kernel("row_sum_dispatch_0_reduction_DxD_f32").unwrap();
    for (rows, columns) in [(3usize, 1000usize), (2, 4096), (1, 7)] {
        let x = floats(rows * columns, 87);
        let sums = gpu.buffer(&vec![0f32; rows]);
        let args = args![gpu.buffer(&x), sums, columns as i32, 0i32, rows as i32, 0i32];
        gpu.run_grid(&kernel, [rows as u32, 1, 1], [1024, 1, 1], 0, args);
        close(&gpu.contents::<f32>(sums), x.chunks(columns).map(|row| row.iter().sum()), 1e-3, "row_sum");
    }
    let module = gpu.load(&kernels().join("iree/softmax.gfx942.hsaco"));
    let kernel = module.kernel("softmax_dispatch_0_softmax_8x256xf32_dispatch_tensor_store").unwrap();
    let x = floats(2048, 88);
    let y = gpu.buffer(&vec![0f32; 2048]);
    gpu.run_grid(&kernel, [8, 1, 1], [64, 1, 1], 0, args![gpu.buffer(&x), y]);
    close(&gpu.contents::<f32>(y), x.chunks(256).flat_map(softmax), 1e-6, "softmax");
}

fn softmax(row: &[f32]) -> Vec<f32> {
    let greatest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f64> = row.iter().map(|x| f64::from(x - greatest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| (power / sum) as f32).collect()
}

#[test]
fn triton_kernels() {
    let gpu = Gpu::new();
    let load =
        |name: &str| gpu.load(&kernels().join(format!("triton/{name}.gfx942.hsaco"))).kernel(name).unwrap();
    let (a, b) = (floats(2500, 89), floats(2500, 90));
    let out = gpu.buffer(&vec![0f32; 2500]);
    let args = args![gpu.buffer(&a), gpu.buffer(&b), out, 2500i32, 0u64, 0u64];
    gpu.run_grid(&load("vector_add"), [3, 1, 1], [256, 1, 1], 0, args);
    close(&gpu.contents::<f32>(out), a.iter().zip(&b).map(|(a, b)| a + b), 0.0, "vector_add");

    let x = floats(5 * 300, 91);
    let out = gpu.buffer(&vec![0f32; 5 * 300]);
    for columns in [200usize, 256] {
        let args = args![gpu.buffer(&x), out, 300i32, columns as i32, 0u64, 0u64];
        gpu.run_grid(&load("softmax"), [5, 1, 1], [256, 1, 1], 16, args);
        for (got, row) in gpu.contents::<f32>(out).chunks(300).zip(x.chunks(300)) {
            close(&got[..columns], softmax(&row[..columns]).into_iter(), 1e-6, "softmax");
        }
    }

    let (m, n, k) = (50usize, 70usize, 90usize);
    let a: Vec<f16> = floats(m * k, 92).into_iter().map(f16::from_f32).collect();
    let b: Vec<f16> = floats(k * n, 93).into_iter().map(f16::from_f32).collect();
    let c = gpu.buffer(&vec![0f32; m * n]);
    let args = args![gpu.buffer(&a), gpu.buffer(&b), c, m as i32, n as i32, k as i32, 0u64, 0u64];
    gpu.run_grid(&load("matmul"), [2, 3, 1], [256, 1, 1], 2048, args);
    let product = |i: usize| (0..k).map(|x| a[i / n * k + x].to_f32() * b[x * n + i % n].to_f32()).sum();
    close(&gpu.contents::<f32>(c), (0..m * n).map(product), 1e-4, "matmul");
}
