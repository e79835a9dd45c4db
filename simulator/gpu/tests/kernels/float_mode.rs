// SPDX-License-Identifier: MIT OR Apache-2.0
//! The float mode of the host's threads, which kernels do not see.

#[cfg(target_arch = "x86_64")]
use crate::{args, gpu::Gpu};

/// Flushes denormals, rounds to zero, and traps a division by zero.
#[cfg(target_arch = "x86_64")]
const STRANGE: u32 = 0xfdc0;

#[cfg(target_arch = "x86_64")]
fn set_mode(mode: u32) {
    // SAFETY: the thread computes with no floats until it sets the default again.
    unsafe { std::arch::asm!("ldmxcsr [{from}]", from = in(reg) &raw const mode, options(nostack)) };
}

#[cfg(target_arch = "x86_64")]
fn mode() -> u32 {
    let mut mode = 0u32;
    // SAFETY: the instruction writes four bytes.
    unsafe { std::arch::asm!("stmxcsr [{to}]", to = in(reg) &raw mut mode, options(nostack)) };
    // Without the flags of exceptions that happened.
    mode & !0x3f
}

#[cfg(target_arch = "x86_64")]
#[test]
fn kernels_compute_in_the_default_mode_and_the_thread_keeps_its_own() {
    // As bits: the thread must not compute.
    const DENORMAL: u32 = 0x0008_0000;
    const TINY: u32 = 0x3380_0001;
    const ONE: u32 = 0x3f80_0000;
    let n = 100 * 256;
    let gpu = Gpu::new();
    let kernel = gpu.kernel("vector_add", "vector_add");
    let bits =
        |even: u32, odd: u32| (0..n).map(|i| if i % 2 == 0 { even } else { odd }).collect::<Vec<u32>>();
    let (a, b) = (gpu.buffer(&bits(DENORMAL, ONE)), gpu.buffer(&bits(DENORMAL, TINY)));
    let out = gpu.buffer(&vec![0u32; n]);
    let own = std::thread::scope(|scope| {
        let run = || {
            set_mode(STRANGE);
            // The engine's threads are started here, and inherit the mode.
            gpu.run(&kernel, n, 256, args![a, b, out, n as i32]);
            let own = mode();
            set_mode(0x1f80);
            own
        };
        scope.spawn(run).join().unwrap()
    });
    assert_eq!(own, STRANGE);
    // The sum with TINY is above the middle between one and the next single.
    assert_eq!(gpu.contents::<u32>(out), bits(2 * DENORMAL, ONE + 1));
}
