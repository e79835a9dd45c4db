// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls, private memory, device variables, and code without optimisation.

use crate::args;
use crate::gpu::{Gpu, Random};
use windlass_simulated_gpu::Part;

/// Runs a test on every part, each of which keeps private memory and calls in its own way.
fn each(test: impl Fn(Gpu)) {
    for part in Part::all() {
        test(Gpu::named(part.name()));
    }
}

#[test]
fn private_arrays() {
    each(|gpu| {
        let mut random = Random(51);
        let input: Vec<u32> = (0..300).map(|_| random.bits() as u32).collect();
        let out = gpu.buffer(&vec![0u32; 300]);
        gpu.run(&gpu.kernel("scratch", "permute_private"), 300, 64, args![gpu.buffer(&input), out, 300i32]);
        let permute = |value: u32| {
            let mut a: [u32; 32] = std::array::from_fn(|j| value.wrapping_add(j as u32));
            for j in 0..32u32 {
                let place = value.wrapping_add(7 * j) % 32;
                a[place as usize] = a[place as usize].wrapping_add(a[j as usize]);
            }
            (0..32).fold(0, |x, j| x ^ a[j as usize].wrapping_mul(2 * j + 1))
        };
        let expected: Vec<u32> = input.iter().map(|&value| permute(value)).collect();
        assert_eq!(gpu.contents::<u32>(out), expected);
    });
}

#[test]
fn recursion() {
    each(|gpu| {
        let input: Vec<u32> = (0..64).map(|i| i % 14).collect();
        let out = gpu.buffer(&vec![0u32; 64]);
        gpu.run(&gpu.kernel("scratch", "recurse"), 64, 64, args![gpu.buffer(&input), out, 64i32]);
        let fibonacci = [0u32, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233];
        let expected: Vec<u32> = input.iter().map(|&i| fibonacci[i as usize]).collect();
        assert_eq!(gpu.contents::<u32>(out), expected);
    });
}

#[test]
fn calls() {
    each(|gpu| {
        let input: Vec<f32> = (0..200).map(|i| i as f32 * 0.375 - 20.0).collect();
        let out = gpu.buffer(&vec![0f32; 200]);
        gpu.run(&gpu.kernel("scratch", "call"), 200, 64, args![gpu.buffer(&input), out, 200i32]);
        let expected: Vec<f32> = input.iter().map(|x| -((x * x) * (x * x))).collect();
        assert_eq!(gpu.contents::<f32>(out), expected);

        let which: Vec<u32> = (0..200).map(|i| i * 5 + i / 3).collect();
        let args = args![gpu.buffer(&input), gpu.buffer(&which), out, 200i32];
        gpu.run(&gpu.kernel("scratch", "call_indirect"), 200, 64, args);
        let expected: Vec<f32> = input
            .iter()
            .zip(&which)
            .map(|(x, which)| match which % 3 {
                0 => x * x,
                1 => x / 2.0,
                _ => -x,
            })
            .collect();
        assert_eq!(gpu.contents::<f32>(out), expected);
    });
}

#[test]
fn functions_of_every_visibility() {
    each(|gpu| {
        let values: Vec<f32> = (0..100).map(|i| i as f32).collect();
        let inout = gpu.buffer(&values);
        gpu.run_grid(&gpu.kernel("functions", "use_functions"), [1, 1, 1], [100, 1, 1], 0, args![inout]);
        let expected: Vec<f32> = values.iter().map(|v| 14.0 * v).collect();
        assert_eq!(gpu.contents::<f32>(inout), expected);
    });
}

#[test]
fn device_variables() {
    each(|gpu| {
        let module = gpu.module("globals");
        let (biases, size) = module.global("biases").unwrap();
        assert_eq!(size, 256);
        let bias: Vec<u8> = (0..64).flat_map(|i| (i as f32 * 0.5).to_le_bytes()).collect();
        gpu.memory.write(biases, &bias).unwrap();
        let out = gpu.buffer(&vec![0f32; 150]);
        gpu.run(&module.kernel("use_globals").unwrap(), 150, 64, args![out, 150i32]);
        let expected: Vec<f32> = (0..150).map(|i| (1 << (i % 16)) as f32 + (i % 64) as f32 * 0.5).collect();
        assert_eq!(gpu.contents::<f32>(out), expected);
        let counter = gpu.buffer(&[0i32]);
        gpu.run(&module.kernel("read_counter").unwrap(), 1, 1, args![counter]);
        assert_eq!(gpu.contents::<i32>(counter), [157]);
        assert!(module.global("no such variable").is_none());

        let used = gpu.memory.usage().allocations;
        drop(module);
        assert_eq!(gpu.memory.usage().allocations, used - 1, "the module's memory is given back");
    });
}

#[test]
fn code_without_optimisation() {
    each(|gpu| {
        let mut random = Random(52);
        let [a, b] = [0, 1].map(|_| (0..600).map(|_| random.unit() as f32).collect::<Vec<f32>>());
        let out = gpu.buffer(&vec![0f32; 600]);
        let kernel = gpu.kernel("unoptimized", "cross_product");
        gpu.run(&kernel, 200, 64, args![gpu.buffer(&a), gpu.buffer(&b), out, 200i32]);
        for (index, got) in gpu.contents::<f32>(out).chunks_exact(3).enumerate() {
            let (a, b) = (&a[3 * index..], &b[3 * index..]);
            let part = |x: usize, y: usize| a[x] * b[y] - a[y] * b[x];
            assert_eq!(got, [part(1, 2), part(2, 0), part(0, 1)]);
        }
        let values: Vec<u32> = (0..512).collect();
        let inout = gpu.buffer(&values);
        gpu.run_grid(&gpu.kernel("unoptimized", "reverse_block"), [2, 1, 1], [256, 1, 1], 0, args![inout]);
        let expected: Vec<u32> = values.chunks(256).flat_map(|chunk| chunk.iter().rev().copied()).collect();
        assert_eq!(gpu.contents::<u32>(inout), expected);
    });
}
