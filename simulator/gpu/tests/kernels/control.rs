// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loops and switches with divergent lanes.

use crate::args;
use crate::gpu::{Gpu, Random};

#[test]
fn loops_end_lane_by_lane() {
    let gpu = Gpu::new();
    let input: Vec<u32> = (1..=700).collect();
    let out = gpu.buffer(&vec![0u32; input.len()]);
    gpu.run(&gpu.kernel("control", "collatz"), 700, 100, args![gpu.buffer(&input), out, 700i32]);
    let steps = |mut x: u32| {
        let mut count = 0;
        while x != 1 {
            x = if x.is_multiple_of(2) { x / 2 } else { x.wrapping_mul(3).wrapping_add(1) };
            count += 1;
        }
        count
    };
    let expected: Vec<u32> = input.iter().map(|&x| steps(x)).collect();
    assert_eq!(gpu.contents::<u32>(out), expected);
}

#[test]
fn lanes_take_different_cases() {
    let gpu = Gpu::new();
    let mut random = Random(31);
    let input: Vec<u32> = (0..1000).map(|_| random.bits() as u32).collect();
    let out = gpu.buffer(&vec![0u32; input.len()]);
    gpu.run(&gpu.kernel("control", "dispatch_case"), 1000, 256, args![gpu.buffer(&input), out, 1000i32]);
    let case = |v: u32| match v % 6 {
        0 => v.wrapping_add(1),
        1 => v.wrapping_mul(3),
        2 => v ^ 0xffff,
        3 => v >> 2,
        4 => (0..v % 16).sum(),
        _ => 0,
    };
    let expected: Vec<u32> = input.iter().map(|&v| case(v)).collect();
    assert_eq!(gpu.contents::<u32>(out), expected);
}

#[test]
fn scans_meet_at_barriers() {
    let gpu = Gpu::new();
    let mut random = Random(32);
    let n = 1500;
    let input: Vec<u32> = (0..n).map(|_| random.bits() as u32).collect();
    for block in [64u32, 100, 1024] {
        let out = gpu.buffer(&vec![0u32; n]);
        let grid = [(n as u32).div_ceil(block), 1, 1];
        let args = args![gpu.buffer(&input), out, n as i32];
        gpu.run_grid(&gpu.kernel("control", "scan_block"), grid, [block, 1, 1], block * 4, args);
        let expected: Vec<u32> = input
            .chunks(block as usize)
            .flat_map(|chunk| {
                chunk.iter().scan(0u32, |sum, value| {
                    *sum = sum.wrapping_add(*value);
                    Some(*sum)
                })
            })
            .collect();
        assert_eq!(gpu.contents::<u32>(out), expected, "blocks of {block}");
    }
}
