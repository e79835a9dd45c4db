// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elementwise kernels of floats.

use crate::args;
use crate::gpu::{Gpu, Plain, Random};

/// Values at the edges of single precision, then some at random.
pub(crate) fn singles(count: usize, seed: u64) -> Vec<f32> {
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        3.0,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::from_bits(1),
        -f32::from_bits(0x7f_ffff),
        8_388_607.5,
        16_777_216.0,
        0.1,
    ];
    let mut random = Random(seed);
    let rest = (edges.len()..count).map(|index| match index % 3 {
        0 => f32::from_bits(random.bits() as u32),
        1 => (random.unit() * 100.0) as f32,
        _ => edges[random.bits() as usize % edges.len()],
    });
    edges.into_iter().chain(rest).take(count).collect()
}

/// The same for double precision.
pub(crate) fn doubles(count: usize, seed: u64) -> Vec<f64> {
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        2.5,
        f64::MIN_POSITIVE,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::from_bits(1),
        4_503_599_627_370_497.5,
        0.1,
    ];
    let mut random = Random(seed);
    let rest = (edges.len()..count).map(|index| match index % 3 {
        0 => f64::from_bits(random.bits()),
        1 => random.unit() * 100.0,
        _ => edges[random.bits() as usize % edges.len()],
    });
    edges.into_iter().chain(rest).take(count).collect()
}

#[track_caller]
fn same32(got: f32, expected: f32, what: &str) {
    assert!(
        got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
        "{what}: {got:e} ({:#x}), not {expected:e} ({:#x})",
        got.to_bits(),
        expected.to_bits()
    );
}

#[track_caller]
fn same64(got: f64, expected: f64, what: &str) {
    assert!(
        got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
        "{what}: {got:e} ({:#x}), not {expected:e} ({:#x})",
        got.to_bits(),
        expected.to_bits()
    );
}

#[test]
fn vector_add() {
    let gpu = Gpu::new();
    let kernel = gpu.kernel("vector_add", "vector_add");
    for n in [1usize, 63, 64, 65, 1000] {
        let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let b: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
        for block in [1, 64, 100, 1024] {
            let out = gpu.buffer(&vec![-1f32; n + 1]);
            gpu.run(&kernel, n, block, args![gpu.buffer(&a), gpu.buffer(&b), out, n as i32]);
            let mut expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
            expected.push(-1.0);
            assert_eq!(gpu.contents::<f32>(out), expected, "{n} in blocks of {block}");
        }
    }
}

#[test]
fn several_entries() {
    let gpu = Gpu::new();
    let n = 300;
    let input = singles(n, 1);
    let check = |name: &str, f: &dyn Fn(f32) -> f32| {
        let out = gpu.buffer(&vec![0f32; n]);
        gpu.run(&gpu.kernel("entries", name), n, 64, args![gpu.buffer(&input), out, n as i32]);
        for (got, value) in gpu.contents::<f32>(out).into_iter().zip(&input) {
            same32(got, f(*value), &format!("{name} of {value:e}"));
        }
    };
    check("negate", &|x| -x);
    check("twice", &|x| x + x);
    check("absolute", &f32::abs);
    let out = gpu.buffer(&vec![0f32; n]);
    let args = args![gpu.buffer(&input), out, 3.0f32, -0.25f32, n as i32];
    gpu.run(&gpu.kernel("entries", "scale_and_offset"), n, 64, args);
    for (got, value) in gpu.contents::<f32>(out).into_iter().zip(&input) {
        same32(got, value.mul_add(3.0, -0.25), "scale_and_offset");
    }
    let empty = gpu.kernel("entries", "empty");
    let statistics = gpu.launch(&empty, [3, 2, 1], [65, 1, 1], 0, &[]).unwrap();
    assert_eq!((statistics.workgroups, statistics.waves), (6, 12));
}

#[test]
fn saxpy_and_its_double() {
    let gpu = Gpu::new();
    let n = 1000;
    let (x, y) = (singles(n, 2), singles(n, 3));
    let inout = gpu.buffer(&y);
    let kernel = gpu.kernel("saxpy", "saxpy");
    gpu.run_grid(&kernel, [2, 1, 1], [256, 1, 1], 0, args![1.25f32, gpu.buffer(&x), inout, n as i32]);
    for (index, got) in gpu.contents::<f32>(inout).into_iter().enumerate() {
        same32(got, 1.25f32.mul_add(x[index], y[index]), "saxpy");
    }
    let (x, y) = (doubles(n, 2), doubles(n, 3));
    let inout = gpu.buffer(&y);
    let kernel = gpu.kernel("saxpy", "saxpy_f64");
    gpu.run_grid(&kernel, [3, 1, 1], [64, 1, 1], 0, args![1.25f64, gpu.buffer(&x), inout, n as i32]);
    for (index, got) in gpu.contents::<f64>(inout).into_iter().enumerate() {
        same64(got, 1.25f64.mul_add(x[index], y[index]), "saxpy_f64");
    }
}

#[test]
fn exact_operations() {
    let gpu = Gpu::new();
    let n = 3000;
    let (a, b, c) = (singles(n, 4), singles(n, 5), singles(n, 6));
    let (mut a, mut b) = (a, b);
    // Every edge against every other.
    for first in 0..20 {
        for second in 0..20 {
            a.push(a[first]);
            b.push(b[second]);
        }
    }
    let n = a.len();
    let c: Vec<f32> = c.iter().copied().cycle().take(n).collect();
    let out = gpu.buffer(&vec![0f32; 12 * n]);
    let args = args![gpu.buffer(&a), gpu.buffer(&b), gpu.buffer(&c), out, n as i32];
    gpu.run(&gpu.kernel("math", "exact_f32"), n, 256, args);
    for (index, got) in gpu.contents::<f32>(out).chunks_exact(12).enumerate() {
        let (a, b, c) = (a[index], b[index], c[index]);
        let expected = [
            a + b,
            a - b,
            a * b,
            a / b,
            a.mul_add(b, c),
            a.sqrt(),
            a.floor(),
            a.ceil(),
            a.trunc(),
            a.round_ties_even(),
            a.copysign(b),
            a.copysign(b) * c,
        ];
        for (place, (got, expected)) in got.iter().zip(expected).enumerate() {
            same32(*got, expected, &format!("result {place} of {a:e}, {b:e}, {c:e}"));
        }
    }
    let (a, b, c) = (doubles(n, 4), doubles(n, 5), doubles(n, 6));
    let out = gpu.buffer(&vec![0f64; 12 * n]);
    let args = args![gpu.buffer(&a), gpu.buffer(&b), gpu.buffer(&c), out, n as i32];
    gpu.run(&gpu.kernel("math", "exact_f64"), n, 256, args);
    for (index, got) in gpu.contents::<f64>(out).chunks_exact(12).enumerate() {
        let (a, b, c) = (a[index], b[index], c[index]);
        let expected = [
            a + b,
            a - b,
            a * b,
            a / b,
            a.mul_add(b, c),
            a.sqrt(),
            a.floor(),
            a.ceil(),
            a.trunc(),
            a.round_ties_even(),
            a.copysign(b),
            a.copysign(b) * c,
        ];
        for (place, (got, expected)) in got.iter().zip(expected).enumerate() {
            same64(*got, expected, &format!("result {place} of {a:e}, {b:e}, {c:e}"));
        }
    }
}

#[test]
fn approximate_operations() {
    let gpu = Gpu::new();
    let n = 1000;
    let mut random = Random(7);
    let a: Vec<f32> = (0..n).map(|_| (random.unit() * 15.9) as f32).collect();
    let out = gpu.buffer(&vec![0f32; 10 * n]);
    gpu.run(&gpu.kernel("math", "approximate_f32"), n, 64, args![gpu.buffer(&a), out, n as i32]);
    for (a, got) in a.iter().zip(gpu.contents::<f32>(out).chunks_exact(10)) {
        let x = f64::from(*a);
        let expected = [
            x.exp(),
            x.exp2(),
            x.ln(),
            x.log2(),
            x.log10(),
            x.sin(),
            x.cos(),
            1.0 / x,
            1.0 / x.sqrt(),
            x - x.floor(),
        ];
        for (place, (got, expected)) in got.iter().zip(expected).enumerate() {
            let tolerance = if matches!(place, 5 | 6) { 2e-6 } else { expected.abs() * 1e-6 + 1e-7 };
            let close = (f64::from(*got) - expected).abs() <= tolerance;
            assert!(
                close || got.is_nan() && expected.is_nan(),
                "result {place} of {a}: {got}, not {expected}"
            );
        }
    }
}

#[test]
fn powers_of_two() {
    let gpu = Gpu::new();
    let n = 512;
    let mut random = Random(8);
    let e: Vec<i32> = (0..n).map(|_| (random.bits() % 300) as i32 - 150).collect();
    let a: Vec<f32> =
        singles(n, 9).into_iter().map(|a| if a.is_finite() && a != 0.0 { a } else { 3.0 }).collect();
    let (out, exponent) = (gpu.buffer(&vec![0f32; 2 * n]), gpu.buffer(&vec![0i32; n]));
    let args = args![gpu.buffer(&a), gpu.buffer(&e), out, exponent, n as i32];
    gpu.run(&gpu.kernel("math", "scale_f32"), n, 64, args);
    let exponents = gpu.contents::<i32>(exponent);
    for (index, got) in gpu.contents::<f32>(out).chunks_exact(2).enumerate() {
        let exact = f64::from(a[index]) * 2f64.powi(e[index]);
        same32(got[0], exact as f32, &format!("{:e} * 2^{}", a[index], e[index]));
        assert!((0.5..1.0).contains(&got[1].abs()), "mantissa {}", got[1]);
        assert_eq!(f64::from(got[1]) * 2f64.powi(exponents[index]), f64::from(a[index]));
    }
    let a: Vec<f64> =
        doubles(n, 9).into_iter().map(|a| if a.is_finite() && a != 0.0 { a } else { 3.0 }).collect();
    let (out, exponent) = (gpu.buffer(&vec![0f64; 2 * n]), gpu.buffer(&vec![0i32; n]));
    let args = args![gpu.buffer(&a), gpu.buffer(&e), out, exponent, n as i32];
    gpu.run(&gpu.kernel("math", "scale_f64"), n, 64, args);
    let exponents = gpu.contents::<i32>(exponent);
    for (index, got) in gpu.contents::<f64>(out).chunks_exact(2).enumerate() {
        // Two steps are exact unless the result is denormal.
        let expected = a[index] * 2f64.powi(e[index]);
        if expected.is_normal() {
            same64(got[0], expected, &format!("{:e} * 2^{}", a[index], e[index]));
        }
        assert!((0.5..1.0).contains(&got[1].abs()), "mantissa {}", got[1]);
        let half = exponents[index] / 2;
        assert_eq!(got[1] * 2f64.powi(half) * 2f64.powi(exponents[index] - half), a[index]);
    }
}

#[test]
fn conversions() {
    let gpu = Gpu::new();
    let n = 500;
    let mut random = Random(10);
    let mut a: Vec<f64> = (0..n).map(|_| random.unit() * 2f64.powi((random.bits() % 31) as i32)).collect();
    a[..6].copy_from_slice(&[0.0, -0.0, 0.5, -0.5, 2_147_483_647.0, -2_147_483_647.0]);
    let out = gpu.buffer(&vec![0u64; 9 * n]);
    gpu.run(&gpu.kernel("math", "convert"), n, 64, args![gpu.buffer(&a), out, n as i32]);
    for (a, got) in a.iter().zip(gpu.contents::<u64>(out).chunks_exact(9)) {
        let single = *a as f32;
        let expected = [
            single.to_bits().into(),
            half::f16::from_f32(single).to_bits().into(),
            i64::from(*a as i32) as u64,
            u64::from(*a as u32),
            *a as i64 as u64,
            *a as u64,
            f64::from(*a as i32).to_bits(),
            ((*a as i64).wrapping_mul(3) as f64).to_bits(),
            u64::from((*a as i64 as f32).to_bits()),
        ];
        assert_eq!(got, expected, "{a}");
    }
}

fn check_fill<T: Plain + PartialEq + std::fmt::Debug>(gpu: &Gpu, name: &str, value: T, other: T) {
    const N: usize = 777;
    let out = gpu.buffer(&[other; N + 1]);
    gpu.run(&gpu.kernel("fill", name), N, 128, &[out.into(), value.into(), (N as i64).into()]);
    let mut expected = vec![value; N];
    expected.push(other);
    assert_eq!(gpu.contents::<T>(out), expected, "{name}");
}

#[test]
fn fills_and_copies() {
    let gpu = Gpu::new();
    let n = 777usize;
    check_fill(&gpu, "fill_u8", 0xa5u8, 1);
    check_fill(&gpu, "fill_u16", 0xa55au16, 1);
    check_fill(&gpu, "fill_u32", 0xdead_beefu32, 1);
    check_fill(&gpu, "fill_u64", 0x0123_4567_89ab_cdefu64, 1);
    let out = gpu.buffer(&vec![0u32; n]);
    gpu.run(&gpu.kernel("fill", "iota_u32"), n, 64, args![out, 5u32, 0x8000_0001u32, n as i32]);
    let expected: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(0x8000_0001).wrapping_add(5)).collect();
    assert_eq!(gpu.contents::<u32>(out), expected);

    let bytes: Vec<u8> = (0..16 * n).map(|i| (i * 7) as u8).collect();
    for (name, size) in [("copy_u8", 1), ("copy_u16", 2), ("copy_u32", 4), ("copy_u64", 8), ("copy_u128", 16)]
    {
        let out = gpu.buffer(&vec![0u8; size * n + 3]);
        gpu.run(&gpu.kernel("copy", name), n, 128, args![gpu.buffer(&bytes), out, n as i64]);
        let mut expected = bytes[..size * n].to_vec();
        expected.extend([0; 3]);
        assert_eq!(gpu.contents::<u8>(out), expected, "{name}");
    }
}
