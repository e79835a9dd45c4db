// SPDX-License-Identifier: MIT OR Apache-2.0
//! Matrix instructions, one tile each.

use crate::args;
use crate::gpu::{Gpu, Plain, Random};
use half::{bf16, f16};

/// Small integers, so that every order of summing gives the same result.
fn numbers<T>(count: usize, seed: u64, from: fn(f64) -> T) -> Vec<T> {
    let mut random = Random(seed);
    (0..count).map(|_| from((random.bits() % 17) as f64 - 8.0)).collect()
}

fn check<I: Plain, S: Plain + Into<f64>>(
    name: &str,
    m: usize,
    k: usize,
    from: fn(f64) -> I,
    to: fn(I) -> f64,
    sum: fn(f64) -> S,
) {
    let gpu = Gpu::new();
    let (a, b, c) = (numbers(m * k, 61, from), numbers(k * m, 62, from), numbers(m * m, 63, sum));
    let inout = gpu.buffer(&c);
    gpu.run_grid(
        &gpu.kernel("matrix", name),
        [1, 1, 1],
        [64, 1, 1],
        0,
        args![gpu.buffer(&a), gpu.buffer(&b), inout],
    );
    for (index, got) in gpu.contents::<S>(inout).into_iter().enumerate() {
        let (row, column) = (index / m, index % m);
        let product: f64 = (0..k).map(|i| to(a[row * k + i]) * to(b[i * m + column])).sum();
        assert_eq!(got.into(), product + c[index].into(), "{name}, element {row}, {column}");
    }
}

#[test]
fn tiles() {
    check("tile_f32", 16, 4, |x| x as f32, f64::from, |x| x as f32);
    check("tile_f16", 16, 16, f16::from_f64, f16::to_f64, |x| x as f32);
    check("tile_bf16", 16, 16, bf16::from_f64, bf16::to_f64, |x| x as f32);
    check("tile_f16_32", 32, 8, f16::from_f64, f16::to_f64, |x| x as f32);
    check("tile_f64", 16, 4, |x| x, |x| x, |x| x);
}
