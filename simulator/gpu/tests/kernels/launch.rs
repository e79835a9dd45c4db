// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state in which a kernel starts, and launches that are refused.

use crate::args;
use crate::gpu::{Arg, Gpu};
use windlass_simulated_gpu::engine::{Cause, Launch};

#[test]
fn every_work_item_knows_its_place() {
    let gpu = Gpu::new();
    let kernel = gpu.kernel("positions", "write_positions");
    for (grid, block) in [
        ([2u32, 3, 2], [5u32, 4, 7]),
        ([1, 1, 1], [1, 1, 1]),
        ([3, 1, 1], [64, 1, 1]),
        ([1, 2, 3], [1, 8, 16]),
    ] {
        let size = block.iter().product::<u32>();
        let total = size * grid.iter().product::<u32>();
        let out = gpu.buffer(&vec![0u32; 12 * total as usize]);
        gpu.run_grid(&kernel, grid, block, 0, args![out]);
        for (t, got) in gpu.contents::<u32>(out).chunks_exact(12).enumerate() {
            let (item, group) = (t as u32 % size, t as u32 / size);
            let split =
                |index: u32, by: [u32; 3]| [index % by[0], index / by[0] % by[1], index / by[0] / by[1]];
            let expected = [split(item, block), split(group, grid), block, grid].concat();
            assert_eq!(got, expected, "work-item {t} of {grid:?} times {block:?}");
        }
    }
    let kernel = gpu.kernel("positions", "write_workgroup_ids");
    let out = gpu.buffer(&vec![0u32; 4 * 60]);
    gpu.run_grid(&kernel, [3, 4, 5], [70, 1, 1], 0, args![out]);
    for (w, got) in (0u32..).zip(gpu.contents::<u32>(out).chunks_exact(4)) {
        assert_eq!(got, [w % 3, w / 3 % 4, w / 12, w]);
    }
}

#[test]
fn hidden_arguments_and_the_packet_describe_the_launch() {
    let gpu = Gpu::new();
    let out = gpu.buffer(&[0u64; 13]);
    gpu.run_grid(&gpu.kernel("positions", "write_hidden_arguments"), [3, 4, 5], [6, 7, 8], 0, args![out]);
    assert_eq!(gpu.contents::<u64>(out), [3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 3]);

    let out = gpu.buffer(&[0u32; 8]);
    gpu.run_grid(&gpu.kernel("positions", "write_dispatch_packet"), [3, 4, 5], [6, 7, 8], 100, args![out]);
    let packet = gpu.contents::<u32>(out);
    assert_eq!(packet[..6], [6, 7, 8, 18, 28, 40]);
    assert!((116..=1024).contains(&packet[6]), "{} bytes of LDS", packet[6]);
    assert_eq!(packet[7], 1, "the packet's arguments are the kernel's");
}

#[test]
fn partial_workgroups_are_smaller() {
    let gpu = Gpu::new();
    let kernel = gpu.kernel("positions", "write_hidden_arguments");
    let out = gpu.buffer(&[0u64; 13]);
    let arguments = out.address.to_le_bytes();
    let mut launch = Launch::new([3, 1, 1], [64, 2, 1], &arguments);
    launch.work_items = Some([150, 2, 1]);
    let statistics = gpu.engine.dispatch(&gpu.memory, &kernel, &launch).unwrap();
    assert_eq!(gpu.contents::<u64>(out)[..9], [2, 1, 1, 64, 2, 1, 22, 0, 0]);
    assert_eq!(statistics.waves, 2 + 2 + 1);
    launch.work_items = Some([128, 2, 1]);
    assert!(gpu.engine.dispatch(&gpu.memory, &kernel, &launch).is_err());
}

#[test]
fn arguments_of_every_size() {
    let gpu = Gpu::new();
    let out = gpu.buffer(&[0xeeu8; 40]);
    let half = half::f16::from_f32(7.0);
    let args = args![out, 200u8, -5i16, 0xdead_beefu32, 0x0123_4567_89ab_cdefu64, half, 9.0f64];
    gpu.run(&gpu.kernel("arguments", "write_arguments"), 1, 1, args);
    let mut expected = Vec::new();
    for value in [200u64, 0xfffb, 0xdead_beef, 0x0123_4567_89ab_cdef] {
        expected.extend(value.to_le_bytes());
    }
    expected.extend([7, 9, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee]);
    assert_eq!(gpu.contents::<u8>(out), expected);

    let input: Vec<i64> = (-50..50).collect();
    let out = gpu.buffer(&vec![0i64; 100]);
    let mut scale = 2.5f32.to_le_bytes().to_vec();
    scale.extend([0; 4]);
    scale.extend((-7i64).to_le_bytes());
    let args = [gpu.buffer(&input).into(), 100i32.into(), Arg::bytes(scale), out.into()];
    gpu.run(&gpu.kernel("arguments", "apply_scale"), 100, 64, &args);
    let expected: Vec<i64> = input.iter().map(|&x| (x as f32 * 2.5) as i64 - 7).collect();
    assert_eq!(gpu.contents::<i64>(out), expected);

    let words: Vec<u8> = (0..256u32).flat_map(|i| (i * i).to_le_bytes()).collect();
    let out = gpu.buffer(&[0u32]);
    gpu.run(&gpu.kernel("arguments", "sum_words"), 1, 1, &[Arg::bytes(words), 200u32.into(), out.into()]);
    assert_eq!(gpu.contents::<u32>(out), [(0..200u32).map(|i| i * i).sum()]);
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let gpu = Gpu::new();
    let fixed = gpu.kernel("fixed_block", "fixed_block");
    assert_eq!(fixed.required_workgroup_size(), Some([64, 2, 1]));
    let input: Vec<u32> = (0..256).collect();
    let out = gpu.buffer(&vec![0u32; 256]);
    let args = || vec![gpu.buffer(&input).into(), out.into(), 256u32.into()];
    gpu.run_grid(&fixed, [2, 1, 1], [64, 2, 1], 0, &args());
    assert_eq!(gpu.contents::<u32>(out), (1..=256).collect::<Vec<u32>>());

    let refused = |grid, block, lds, reason: &str| {
        let fault = gpu.launch(&fixed, grid, block, lds, &args()).unwrap_err();
        assert!(matches!(fault.cause, Cause::InvalidLaunch { .. }), "{fault}");
        assert!(fault.to_string().contains(reason), "{fault}");
    };
    refused([0, 1, 1], [64, 2, 1], 0, "empty");
    refused([1, 1, 1], [64, 0, 1], 0, "empty");
    refused([1, 1, 1], [64, 2, 1], 70000, "70000 bytes of LDS");
    refused([1, 1, 1], [u32::MAX, u32::MAX, u32::MAX], 0, "at most");
    refused([u32::MAX, 1, 1], [64, 2, 1], 0, "work-items in one dimension");
    let any = gpu.kernel("vector_add", "vector_add");
    let fault = gpu.launch(&any, [1, 1, 1], [1025, 1, 1], 0, args![out, out, out, 1i32]).unwrap_err();
    assert!(fault.to_string().contains("1025 work-items"), "{fault}");
}

/// HIP refuses such launches by their metadata; see `hip_kernels.rs`. AMD's own copy kernel is launched like
/// this.
#[test]
fn what_metadata_say_of_workgroups_bounds_no_hardware() {
    let gpu = Gpu::new();
    let fixed = gpu.kernel("fixed_block", "fixed_block");
    let input: Vec<u32> = (0..256).collect();
    let out = gpu.buffer(&vec![0u32; 256]);
    gpu.run_grid(&fixed, [2, 1, 1], [32, 4, 1], 0, args![gpu.buffer(&input), out, 256u32]);
    assert!(gpu.contents::<u32>(out).iter().any(|value| *value != 0), "it ran");

    let saxpy = gpu.kernel("saxpy", "saxpy");
    assert_eq!(saxpy.max_workgroup_size(), 256);
    let (x, y) = (gpu.buffer(&[2f32; 512]), gpu.buffer(&[1f32; 512]));
    gpu.run_grid(&saxpy, [1, 1, 1], [512, 1, 1], 0, args![3f32, x, y, 512i32]);
    assert_eq!(gpu.contents::<f32>(y), [7f32; 512]);
}

#[test]
fn a_local_pointer_is_an_offset_in_dynamic_lds() {
    let gpu = Gpu::new();
    let input: Vec<u32> = (0..128).collect();
    let out = gpu.buffer(&vec![0u32; 128]);
    let kernel = gpu.kernel("fixed_block", "local_argument");
    gpu.run_grid(&kernel, [2, 1, 1], [64, 1, 1], 256, args![gpu.buffer(&input), 0u32, out]);
    let expected: Vec<u32> = input.chunks(64).flat_map(|chunk| chunk.iter().rev().copied()).collect();
    assert_eq!(gpu.contents::<u32>(out), expected);
}

#[test]
fn a_seed_changes_the_order_of_workgroups_and_nothing_else() {
    let gpu = Gpu::new();
    let kernel = gpu.kernel("order", "multiply_add");
    let values: Vec<u32> = (0..1000).collect();
    for seed in [None, Some(1), Some(2)] {
        let inout = gpu.buffer(&values);
        let mut arguments = inout.address.to_le_bytes().to_vec();
        for value in [1000u32, 3, 5] {
            arguments.extend(value.to_le_bytes());
        }
        let mut launch = Launch::new([16, 1, 1], [64, 1, 1], &arguments);
        launch.seed = seed;
        let statistics = gpu.engine.dispatch(&gpu.memory, &kernel, &launch).unwrap();
        assert_eq!(statistics.workgroups, 16);
        assert_eq!(gpu.contents::<u32>(inout), values.iter().map(|v| v * 3 + 5).collect::<Vec<_>>());
    }
}
