// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels that wait: for another dispatch, for the host, for one another.

use crate::args;
use crate::gpu::Gpu;
use std::sync::atomic::{AtomicU32, Ordering};
use windlass_simulated_gpu::memory::AllocationKind;

#[test]
fn a_dispatch_releases_another() {
    let gpu = Gpu::new();
    let (flag, out) = (gpu.buffer(&[0u32]), gpu.buffer(&[0u32]));
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            gpu.run_grid(&gpu.kernel("spin", "spin_until"), [3, 1, 1], [100, 1, 1], 0, args![flag, 5u32, out])
        });
        gpu.run(&gpu.kernel("spin", "set_flag"), 1, 1, args![flag, 6u32]);
        waiter.join().unwrap();
    });
    assert_eq!(gpu.contents::<u32>(out), [6]);
}

#[test]
fn the_host_releases_a_dispatch() {
    let gpu = Gpu::new();
    let flag = gpu.memory.allocate(4, 4, AllocationKind::HostPinned, "flag").unwrap();
    let out = gpu.buffer(&[0u32]);
    std::thread::scope(|scope| {
        let waiter =
            scope.spawn(|| gpu.run(&gpu.kernel("spin", "spin_until_host"), 1, 1, args![flag, 5u32, out]));
        // SAFETY: pinned memory is host memory at the same address, accessed only by atomics.
        unsafe { AtomicU32::from_ptr(flag as *mut u32) }.store(9, Ordering::Release);
        waiter.join().unwrap();
    });
    assert_eq!(gpu.contents::<u32>(out), [9]);
}

#[test]
fn workgroups_meet() {
    let gpu = Gpu::new();
    let kernel = gpu.kernel("spin", "meet");
    for groups in [1u32, 2, 50] {
        let (arrivals, out) = (gpu.buffer(&[0u32]), gpu.buffer(&vec![0u32; groups as usize]));
        gpu.run_grid(&kernel, [groups, 1, 1], [1, 1, 1], 0, args![arrivals, out]);
        assert_eq!(gpu.contents::<u32>(out), vec![1; groups as usize]);
    }
}

#[test]
fn dispatches_share_a_counter() {
    let gpu = Gpu::new();
    let kernel = gpu.kernel("order", "increment");
    let counter = gpu.buffer(&[0u32]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| gpu.run_grid(&kernel, [20, 1, 1], [128, 1, 1], 0, args![counter]));
        }
    });
    assert_eq!(gpu.contents::<u32>(counter), [4 * 20 * 128]);
}
