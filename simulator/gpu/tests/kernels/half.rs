// SPDX-License-Identifier: MIT OR Apache-2.0
//! Half precision, one by one and packed.

use crate::args;
use crate::arithmetic::singles;
use crate::gpu::Gpu;
use half::f16;

const N: usize = 2000;

fn halves(seed: u64) -> Vec<f16> {
    let small = |index: usize, value: f32| if index.is_multiple_of(2) { value } else { value % 64.0 };
    singles(N, seed)
        .into_iter()
        .enumerate()
        .map(|(index, value)| f16::from_f32(small(index, value)))
        .collect()
}

#[track_caller]
fn same(got: f16, expected: f16, what: &str) {
    assert!(
        got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
        "{what}: {got} ({:#x}), not {expected} ({:#x})",
        got.to_bits(),
        expected.to_bits()
    );
}

/// Exact: the product has 22 bits, and a double differs from the sum only far below a half's last place,
/// except if the sum is so close to a tie that the addend decides.
fn fma(a: f16, b: f16, c: f16) -> f16 {
    let product = a.to_f64() * b.to_f64();
    let sum = product + c.to_f64();
    let error = if sum.is_finite() {
        (product - (sum - c.to_f64())) + (c.to_f64() - (sum - (sum - c.to_f64())))
    } else {
        0.0
    };
    let nudged = if error == 0.0 || sum.to_bits() & 1 == 1 {
        sum
    } else if (error > 0.0) == (sum > 0.0) {
        f64::from_bits(sum.to_bits() + 1)
    } else {
        f64::from_bits(sum.to_bits() - 1)
    };
    f16::from_f64(nudged)
}

#[test]
fn arithmetic() {
    let gpu = Gpu::new();
    let [a, b, c] = [21, 22, 23].map(halves);
    let out = gpu.buffer(&vec![f16::ZERO; 5 * N]);
    let args = args![gpu.buffer(&a), gpu.buffer(&b), gpu.buffer(&c), out, N as i32];
    gpu.run(&gpu.kernel("half", "half_arithmetic"), N, 128, args);
    for (index, got) in gpu.contents::<f16>(out).chunks_exact(5).enumerate() {
        let (a, b, c) = (a[index], b[index], c[index]);
        let expected = [a + b, a * b, fma(a, b, c), a.max(b), f16::from_f32(a.to_f32().floor())];
        for (place, (got, expected)) in got.iter().zip(expected).enumerate() {
            let zeros = place == 3 && *got == expected;
            if !zeros {
                same(*got, expected, &format!("result {place} of {a}, {b}, {c}"));
            }
        }
    }
    let out = gpu.buffer(&vec![f16::ZERO; N]);
    let args = args![gpu.buffer(&a), gpu.buffer(&b), gpu.buffer(&c), out, N as i32];
    gpu.run(&gpu.kernel("half", "half_packed"), N / 2, 64, args);
    for (index, got) in gpu.contents::<f16>(out).into_iter().enumerate() {
        same(got, fma(a[index], b[index], c[index]) + a[index], "packed");
    }
}

#[test]
fn conversions() {
    let gpu = Gpu::new();
    let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let out = gpu.buffer(&vec![0f32; all.len()]);
    gpu.run(
        &gpu.kernel("half", "half_widen"),
        all.len(),
        256,
        args![gpu.buffer(&all), out, all.len() as i32],
    );
    for (value, got) in all.iter().zip(gpu.contents::<f32>(out)) {
        assert!(got == value.to_f32() || got.is_nan() && value.is_nan(), "{value}: {got}");
    }
    let wide = singles(4000, 24);
    let out = gpu.buffer(&vec![f16::ZERO; wide.len()]);
    let args = args![gpu.buffer(&wide), out, wide.len() as i32];
    gpu.run(&gpu.kernel("half", "half_narrow"), wide.len(), 256, args);
    for (value, got) in wide.iter().zip(gpu.contents::<f16>(out)) {
        same(got, f16::from_f32(*value), &format!("{value:e}"));
    }
}

#[test]
fn mixed_precision() {
    let gpu = Gpu::new();
    let [a, b] = [25, 26].map(|seed| {
        halves(seed)
            .into_iter()
            .map(|x| if x.is_finite() { x } else { f16::ONE })
            .take(333)
            .collect::<Vec<_>>()
    });
    let out = gpu.buffer(&[0f32]);
    gpu.run(&gpu.kernel("half", "half_dot"), 1, 1, args![gpu.buffer(&a), gpu.buffer(&b), out, 333i32]);
    let expected = a.iter().zip(&b).fold(0f32, |sum, (a, b)| a.to_f32().mul_add(b.to_f32(), sum));
    assert_eq!(gpu.contents::<f32>(out), [expected]);
}
