// SPDX-License-Identifier: MIT OR Apache-2.0
//! Elementwise kernels of integers.

use crate::args;
use crate::gpu::{Gpu, Random};

const N: usize = 600;

/// Numbers of every magnitude, with the edges of all types.
fn numbers(seed: u64) -> Vec<u64> {
    let mut random = Random(seed);
    (0..N)
        .map(|index| match index % 8 {
            0 => [0, 1, !0, 0x80, 0x7f, 0x8000, 0x7fff, 0x8000_0000, 0x7fff_ffff, 1 << 63, i64::MAX as u64]
                [random.bits() as usize % 11],
            1 => random.bits() & 0xff,
            2 => random.bits() % 37,
            _ => random.bits(),
        })
        .collect()
}

macro_rules! arithmetic {
    ($($ty:ident)*) => {$(
        #[test]
        fn $ty() {
            let gpu = Gpu::new();
            let a: Vec<$ty> = numbers(1).iter().map(|&x| x as $ty).collect();
            let b: Vec<$ty> = numbers(2).iter().map(|&x| x as $ty).collect();
            let shifts: Vec<u32> = numbers(3).iter().map(|&x| x as u32).collect();
            let bits = <$ty>::BITS;

            let out = gpu.buffer(&vec![0 as $ty; 6 * N]);
            let kernel = gpu.kernel("integer", concat!("arithmetic_", stringify!($ty)));
            gpu.run(&kernel, N, 128, args![gpu.buffer(&a), gpu.buffer(&b), out, N as i32]);
            for (index, got) in gpu.contents::<$ty>(out).chunks_exact(6).enumerate() {
                let (a, b) = (a[index], b[index]);
                let expected =
                    [a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a & b, a | b, a ^ b];
                assert_eq!(got, expected, "{a} and {b}");
            }

            let divisors: Vec<$ty> =
                a.iter().zip(&b).map(|(&a, &b)| if a.checked_div(b).is_some() { b } else { 3 }).collect();
            let out = gpu.buffer(&vec![0 as $ty; 2 * N]);
            let kernel = gpu.kernel("integer", concat!("divide_", stringify!($ty)));
            gpu.run(&kernel, N, 128, args![gpu.buffer(&a), gpu.buffer(&divisors), out, N as i32]);
            for (index, got) in gpu.contents::<$ty>(out).chunks_exact(2).enumerate() {
                let (a, b) = (a[index], divisors[index]);
                assert_eq!(got, [a / b, a % b], "{a} / {b}");
            }

            let out = gpu.buffer(&vec![0 as $ty; 3 * N]);
            let kernel = gpu.kernel("integer", concat!("shift_", stringify!($ty)));
            gpu.run(&kernel, N, 128, args![gpu.buffer(&a), gpu.buffer(&shifts), out, N as i32]);
            for (index, got) in gpu.contents::<$ty>(out).chunks_exact(3).enumerate() {
                let (a, s) = (a[index], shifts[index] % bits);
                assert_eq!(got, [a << s, a >> s, a.rotate_left(s)], "{a} by {s}");
            }
        }
    )*};
}

arithmetic!(i8 u8 i16 u16 i32 u32 i64 u64);

#[test]
fn bits() {
    let gpu = Gpu::new();
    let wide = numbers(4);
    let narrow: Vec<u32> = wide.iter().map(|&x| x as u32).collect();
    let out = gpu.buffer(&vec![0u32; 6 * N]);
    gpu.run(&gpu.kernel("integer", "bits_u32"), N, 64, args![gpu.buffer(&narrow), out, N as i32]);
    for (a, got) in narrow.iter().zip(gpu.contents::<u32>(out).chunks_exact(6)) {
        let field = a >> 5 & 0xff;
        let expected =
            [a.count_ones(), a.leading_zeros(), a.trailing_zeros(), a.reverse_bits(), a.swap_bytes(), field];
        assert_eq!(got, expected, "{a:#x}");
    }
    let out = gpu.buffer(&vec![0u64; 6 * N]);
    gpu.run(&gpu.kernel("integer", "bits_u64"), N, 64, args![gpu.buffer(&wide), out, N as i32]);
    for (a, got) in wide.iter().zip(gpu.contents::<u64>(out).chunks_exact(6)) {
        let counts = [a.count_ones(), a.leading_zeros(), a.trailing_zeros()].map(u64::from);
        let expected = [counts[0], counts[1], counts[2], a.reverse_bits(), a.swap_bytes(), a >> 29 & 0xfff];
        assert_eq!(got, expected, "{a:#x}");
    }
}

#[test]
fn wide_products_and_sums_of_products() {
    let gpu = Gpu::new();
    let (a, b) = (numbers(5), numbers(6));
    let out = gpu.buffer(&vec![0u64; 3 * N]);
    let kernel = gpu.kernel("integer", "multiply_wide");
    gpu.run(&kernel, N, 64, args![gpu.buffer(&a), gpu.buffer(&b), out, N as i32]);
    for (index, got) in gpu.contents::<u64>(out).chunks_exact(3).enumerate() {
        let product = u128::from(a[index]) * u128::from(b[index]);
        let signed = i128::from(a[index] as i64) * i128::from(b[index] as i64);
        assert_eq!(got, [product as u64, (product >> 64) as u64, (signed >> 64) as u64]);
    }
    let [a, b, c] = [7, 8, 9].map(|seed| numbers(seed).iter().map(|&x| x as u32).collect::<Vec<u32>>());
    let out = gpu.buffer(&vec![0i32; N]);
    let args = args![gpu.buffer(&a), gpu.buffer(&b), gpu.buffer(&c), out, N as i32];
    gpu.run(&gpu.kernel("integer", "dot_i8"), N, 64, args);
    for (index, got) in gpu.contents::<i32>(out).into_iter().enumerate() {
        let (a, b) = (a[index].to_le_bytes(), b[index].to_le_bytes());
        let sum: i32 = (0..4).map(|byte| i32::from(a[byte] as i8) * i32::from(b[byte] as i8)).sum();
        assert_eq!(got, sum.wrapping_add(c[index] as i32));
    }
}
