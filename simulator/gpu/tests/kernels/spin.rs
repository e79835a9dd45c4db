// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels that wait: for another dispatch, for the host, for one another.

use crate::args;
use crate::faults::patched_kernel;
use crate::gpu::Gpu;
use std::sync::atomic::{AtomicU32, Ordering};
use windlass_simulated_gpu::engine::Module;
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

/// Of gfx1201, for waves of 32 lanes. One wave signals the workgroup's barrier, sets the flag, and waits. The others signal when they
/// have seen the flag, and have written before.
#[rustfmt::skip]
const SPLIT_BARRIER: &[u32] = &[
    0xf400_2080, 0xf800_0000, // s_load_b64 s[2:3], s[0:1], 0x0
    0xf400_2100, 0xf800_0010, // s_load_b64 s[4:5], s[0:1], 0x10
    0xf400_0200, 0xf800_0008, // s_load_b32 s8, s[0:1], 0x8
    0xbfc7_0000, // s_wait_kmcnt 0x0
    0x9306_ff74, 0x0005_0019, // s_bfe_u32 s6, ttmp8, 0x50019
    0x7e00_0280, // v_mov_b32_e32 v0, 0
    0xbf06_0806, // s_cmp_eq_u32 s6, s8
    0xbfa1_0010, // s_cbranch_scc0 LATE
    0xbe80_4ec1, // s_barrier_signal -1
    0x7e02_0287, // v_mov_b32_e32 v1, 7
    0xee06_8002, 0x0080_0000, 0x0000_0000, // global_store_b32 v0, v1, s[2:3]
    0xbfc1_0000, // s_wait_storecnt 0x0
    0xbf94_ffff, // s_barrier_wait 0xffff
    0xee05_0004, 0x0000_0002, 0x0000_0000, // global_load_b32 v2, v0, s[4:5]
    0xbfc0_0000, // s_wait_loadcnt 0x0
    0x4a04_0481, // v_add_nc_u32_e32 v2, 1, v2
    0xee06_8004, 0x0100_0000, 0x0000_0400, // global_store_b32 v0, v2, s[4:5] offset:4
    0xbfb0_0000, // s_endpgm
    0xee05_0002, 0x0008_0001, 0x0000_0000, // global_load_b32 v1, v0, s[2:3] scope:SCOPE_DEV
    0xbfc0_0000, // s_wait_loadcnt 0x0
    0x7e0e_0501, // v_readfirstlane_b32 s7, v1
    0xbf06_8707, // s_cmp_eq_u32 s7, 7
    0xbfa1_fff9, // s_cbranch_scc0 LATE
    0x7e04_02a9, // v_mov_b32_e32 v2, 41
    0xee06_8004, 0x0100_0000, 0x0000_0000, // global_store_b32 v0, v2, s[4:5]
    0xbfc1_0000, // s_wait_storecnt 0x0
    0xbe80_4ec1, // s_barrier_signal -1
    0xbf94_ffff, // s_barrier_wait 0xffff
    0xbfb0_0000, // s_endpgm
];

#[test]
fn a_wave_works_between_its_signal_and_its_wait() {
    let gpu = Gpu::named("gfx1201");
    let elf = patched_kernel(&gpu, "spin", "spin_until", SPLIT_BARRIER);
    let module = Module::load(gpu.part, &gpu.memory, &elf).unwrap();
    let kernel = module.kernel("spin_until").unwrap();
    for early in 0..4u32 {
        let (flag, out) = (gpu.buffer(&[0u32]), gpu.buffer(&[0u32; 2]));
        gpu.run_grid(&kernel, [1, 1, 1], [128, 1, 1], 0, args![flag, early, out]);
        assert_eq!(
            (gpu.contents::<u32>(flag), gpu.contents::<u32>(out)),
            (vec![7], vec![41, 42]),
            "wave {early}"
        );
    }
}
