// SPDX-License-Identifier: MIT OR Apache-2.0
//! Private memory of a gfx90a. A kernel computes its address in its first instructions.

use crate::args;
use crate::faults::patched_kernel;
use crate::gpu::Gpu;
use windlass_simulated_gpu::engine::{Cause, Fault, Module, Statistics};

const END: u32 = 0xbf81_0000;
/// buffer_store_dword v0, off, s[0:3], 0
const STORE: [u32; 2] = [0xe070_0000, 0x8000_0000];

/// Runs words in place of a kernel that has private memory. The closure takes the number of the scalar
/// register with the wave's offset.
fn run(words: impl Fn(u32) -> Vec<u32>) -> Result<Statistics, Box<Fault>> {
    let gpu = Gpu::named("gfx90a");
    let whole = gpu.kernel("scratch", "permute_private");
    let descriptor = &whole.description().descriptor;
    assert!(whole.private_size() > 0 && descriptor.private_segment_buffer());
    let ids = descriptor.workgroup_id().into_iter().filter(|enabled| *enabled).count();
    let words = words(descriptor.user_sgpr_count() + ids as u32);
    let elf = patched_kernel(&gpu, "scratch", "permute_private", &words);
    let module = Module::load(gpu.part, &gpu.memory, &elf).unwrap();
    let out = gpu.buffer(&[0u32; 64]);
    let kernel = module.kernel("permute_private").unwrap();
    gpu.launch(&kernel, [2, 1, 1], [256, 1, 1], 0, args![out, out, 1i32])
}

/// s_add_u32 s0, s0, s`wave`; s_addc_u32 s1, s1, 0
fn prologue(wave: u32) -> [u32; 2] {
    [0x8000_0000 | wave << 8, 0x8201_8001]
}

#[test]
fn a_resource_with_the_waves_offset_reaches_it() {
    let words = |wave| [&prologue(wave)[..], &STORE, &[END]].concat();
    assert_eq!(run(words).unwrap().workgroups, 2);
}

#[test]
fn a_resource_without_the_waves_offset_is_told() {
    let fault = run(|_| [&STORE[..], &[END]].concat()).unwrap_err();
    assert!(matches!(fault.cause, Cause::PrivateBase { holder: "a buffer resource", .. }), "{fault}");
    assert!(fault.to_string().contains("add the wave's offset"), "{fault}");
}

#[test]
fn flat_scratch_that_was_not_set_is_told() {
    // s_mov_b64 s[20:21], src_private_base; v_mov_b32 v3, s21; v_mov_b32 v2, 0; then a store to v[2:3] or to v2.
    let address = [0xbe94_01ed, 0x7e06_0215, 0x7e04_0280];
    for store in [[0xdc70_0000, 0x0000_0002], [0xdc70_4000, 0x007f_0002]] {
        let fault = run(|_| [&address[..], &store, &[END]].concat()).unwrap_err();
        assert!(matches!(fault.cause, Cause::PrivateBase { holder: "FLAT_SCRATCH", .. }), "{fault}");
    }
}

#[test]
fn an_access_behind_the_end_is_a_fault_of_its_lane() {
    // v_mov_b32 v4, 0x10000; buffer_store_dword v0, v4, s[0:3], 0 offen
    let far = [0x7e08_02ff, 0x0001_0000, 0xe070_1000, 0x8000_0004];
    let fault = run(|wave| [&prologue(wave)[..], &far, &[END]].concat()).unwrap_err();
    assert!(matches!(fault.cause, Cause::IllegalAddress), "{fault}");
    assert!(fault.to_string().contains("past the end of the 144 bytes of scratch of the lane"), "{fault}");
}

#[test]
fn an_atomic_of_private_memory_is_refused() {
    // buffer_atomic_add v0, off, s[0:3], 0
    let atomic = [0xe108_0000, 0x8000_0000];
    let fault = run(|wave| [&prologue(wave)[..], &atomic, &[END]].concat()).unwrap_err();
    assert!(matches!(fault.cause, Cause::Unsupported { .. }), "{fault}");
    assert!(fault.to_string().contains("buffer_atomic_add v0"), "{fault}");
}
