// SPDX-License-Identifier: MIT OR Apache-2.0
//! Data that moves between lanes.

use crate::args;
use crate::gpu::{Gpu, Random};

const N: usize = 256;

fn input(seed: u64) -> Vec<u32> {
    let mut random = Random(seed);
    (0..N).map(|_| (random.bits() as u32 % 5).wrapping_mul(random.bits() as u32 | 1)).collect()
}

fn run(gpu: &Gpu, name: &str, results: usize, extra: Option<Vec<u32>>) -> Vec<u32> {
    let out = gpu.buffer(&vec![0u32; N * results]);
    let kernel = gpu.kernel("wave", name);
    let values = gpu.buffer(&input(71));
    match extra {
        Some(extra) => gpu.run(&kernel, N, 128, args![values, gpu.buffer(&extra), out]),
        None => gpu.run(&kernel, N, 128, args![values, out]),
    }
    gpu.contents(out)
}

#[test]
fn shuffles() {
    let gpu = Gpu::new();
    let values = input(71);
    let from = input(72);
    let got = run(&gpu, "shuffle_32", 1, Some(from.clone()));
    for i in 0..N {
        assert_eq!(got[i], values[i / 32 * 32 + from[i] as usize % 32], "{i}");
    }
}

#[test]
fn rows() {
    let values = input(71);
    for (i, got) in run(&Gpu::new(), "rows_16", 4, None).chunks_exact(4).enumerate() {
        let (row, place) = (i / 16 * 16, i % 16);
        let expected = [
            if place == 0 { 0 } else { values[i - 1] },
            values[row + 15 - place],
            values[row + (place + 13) % 16],
            values[i ^ 1],
        ];
        assert_eq!(got, expected, "{i}");
    }
}

#[test]
fn ballots() {
    let values = input(71);
    for (i, got) in run(&Gpu::new(), "ballot_32", 2, None).chunks_exact(2).enumerate() {
        let start = i / 32 * 32;
        let ballot = (0..32).fold(0, |bits, j| bits | u32::from(values[start + j] != 0) << j);
        let before = (start..i).filter(|&j| values[j] != 0).count() as u32;
        assert_eq!(got, [ballot, before], "{i}");
    }
}

#[test]
fn swizzles() {
    let values = input(71);
    for (i, got) in run(&Gpu::new(), "swizzle_32", 2, None).chunks_exact(2).enumerate() {
        assert_eq!(got, [values[i ^ 31], values[i & !1]], "{i}");
    }
}

#[test]
fn the_first_lane_speaks_for_all() {
    let gpu = Gpu::new();
    let values = input(71);
    let out = gpu.buffer(&vec![9u32; N]);
    let threshold = 1u32 << 30;
    gpu.run(&gpu.kernel("wave", "first_lane"), N, 128, args![gpu.buffer(&values), out, threshold]);
    for (i, got) in gpu.contents::<u32>(out).into_iter().enumerate() {
        let wave = &values[i / 64 * 64..][..64];
        let first = *wave.iter().find(|&&value| value >= threshold).unwrap_or(&0);
        assert_eq!(got, if values[i] >= threshold { first } else { 0 }, "{i}");
    }
}
