// SPDX-License-Identifier: MIT OR Apache-2.0
//! LDS, atomics, and kernels that depend on them.

use crate::args;
use crate::gpu::{Gpu, Random};

#[test]
fn matmul() {
    let gpu = Gpu::new();
    let kernel = gpu.kernel("matmul", "matmul");
    let mut random = Random(41);
    for (m, n, k) in [(16, 16, 16), (33, 47, 25), (1, 1, 1), (64, 80, 100)] {
        let a: Vec<f32> = (0..m * k).map(|_| random.unit() as f32).collect();
        let b: Vec<f32> = (0..k * n).map(|_| random.unit() as f32).collect();
        let c = gpu.buffer(&vec![0f32; m * n]);
        let grid = [n.div_ceil(16) as u32, m.div_ceil(16) as u32, 1];
        let args = args![gpu.buffer(&a), gpu.buffer(&b), c, m as i32, n as i32, k as i32];
        gpu.run_grid(&kernel, grid, [16, 16, 1], 0, args);
        for (index, got) in gpu.contents::<f32>(c).into_iter().enumerate() {
            let (row, column) = (index / n, index % n);
            let expected = (0..k).fold(0f32, |sum, i| a[row * k + i].mul_add(b[i * n + column], sum));
            assert_eq!(got, expected, "{m}x{n}x{k}, element {row}, {column}");
        }
    }
}

#[test]
fn reductions() {
    let gpu = Gpu::new();
    let input: Vec<f32> = (0..5000).map(|i| (i % 97) as f32).collect();
    for (grid, block) in [(1u32, 64u32), (7, 256), (3, 1024)] {
        let total = gpu.buffer(&[1f32]);
        let args = args![gpu.buffer(&input), total, 5000i32];
        gpu.run_grid(&gpu.kernel("reduce", "reduce_sum"), [grid, 1, 1], [block, 1, 1], block * 4, args);
        assert_eq!(gpu.contents::<f32>(total), [1.0 + input.iter().sum::<f32>()]);
        let largest = gpu.buffer(&[-5f32]);
        let args = args![gpu.buffer(&input), largest, 5000i32];
        gpu.run_grid(&gpu.kernel("reduce", "reduce_max"), [grid, 1, 1], [block, 1, 1], block * 4, args);
        assert_eq!(gpu.contents::<f32>(largest), [96.0]);
    }
}

#[test]
fn histogram() {
    let gpu = Gpu::new();
    let mut random = Random(42);
    let input: Vec<u8> = (0..20000).map(|_| (random.bits() as u8) & (random.bits() as u8)).collect();
    let bins = gpu.buffer(&[1u32; 256]);
    let args = args![gpu.buffer(&input), bins, 20000i32];
    gpu.run_grid(&gpu.kernel("histogram", "histogram"), [5, 1, 1], [256, 1, 1], 0, args);
    let mut expected = [1u32; 256];
    input.iter().for_each(|&value| expected[usize::from(value)] += 1);
    assert_eq!(gpu.contents::<u32>(bins), expected);
}

macro_rules! atomics {
    ($($ty:ident)*) => {$(
        #[test]
        fn $ty() {
            let gpu = Gpu::new();
            let mut random = Random(43);
            let input: Vec<$ty> = (0..1000).map(|_| random.bits() as $ty).collect();
            let start: [$ty; 8] = [3, 5, !0, 0, 9, <$ty>::MAX, <$ty>::MIN, 1];
            let cells = gpu.buffer(&start);
            let kernel = gpu.kernel("atomics", concat!("atomics_", stringify!($ty)));
            gpu.run(&kernel, 1000, 128, args![gpu.buffer(&input), cells, 1000i32]);
            let fold = |place: usize, f: fn($ty, $ty) -> $ty| input.iter().fold(start[place], |x, &v| f(x, v));
            let expected = [
                fold(0, <$ty>::wrapping_add),
                fold(1, <$ty>::wrapping_sub),
                fold(2, |x, v| x & v),
                fold(3, |x, v| x | v),
                fold(4, |x, v| x ^ v),
                fold(5, <$ty>::min),
                fold(6, <$ty>::max),
                fold(7, <$ty>::wrapping_add),
            ];
            assert_eq!(gpu.contents::<$ty>(cells), expected);
        }
    )*};
}

atomics!(i32 u32 i64 u64);

#[test]
fn atomics_of_doubles() {
    let gpu = Gpu::new();
    let input: Vec<f64> = (0..999).map(f64::from).collect();
    let cell = gpu.buffer(&[0.5f64]);
    gpu.run(&gpu.kernel("atomics", "atomics_f64"), 999, 64, args![gpu.buffer(&input), cell, 999i32]);
    assert_eq!(gpu.contents::<f64>(cell), [0.5 + 998.0 * 999.0 / 2.0]);
}

#[test]
fn atomics_return_the_old_value() {
    let gpu = Gpu::new();
    let (next, taken) = (gpu.buffer(&[0u32]), gpu.buffer(&[1u32; 2000]));
    let kernel = gpu.kernel("atomics", "tickets");
    gpu.run_grid(&kernel, [5, 2, 1], [64, 4, 1], 0, args![next, taken, 2000u32]);
    assert_eq!(gpu.contents::<u32>(next), [2560]);
    // Each entry was 1, then 2, then exchanged for 100 more than it was at first.
    assert!(gpu.contents::<u32>(taken).iter().all(|&value| value == 101));
}

#[test]
fn atomics_of_lds() {
    let gpu = Gpu::new();
    let mut random = Random(44);
    let input: Vec<i32> = (0..500).map(|_| random.bits() as i32).collect();
    let out = gpu.buffer(&[0i32; 6]);
    let args = args![gpu.buffer(&input), out, 500i32];
    gpu.run_grid(&gpu.kernel("atomics", "atomics_lds"), [1, 1, 1], [256, 1, 1], 0, args);
    let expected = [
        input.iter().fold(0i32, |x, v| x.wrapping_add(*v)),
        input.iter().fold(-1, |x, v| x & v),
        input.iter().fold(0, |x, v| x | v),
        input.iter().fold(i32::MIN, |x, v| x ^ v),
        *input.iter().min().unwrap(),
        *input.iter().max().unwrap(),
    ];
    let got = gpu.contents::<i32>(out);
    assert_eq!(
        [got[0], got[1], got[2], got[4], got[5]],
        [expected[0], expected[1], expected[2], expected[4], expected[5]]
    );
}
