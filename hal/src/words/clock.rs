// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's clock, by which records of profiles tell times.
#![allow(unsafe_code)]

/// Nanoseconds of the clock that only goes forward: `CLOCK_MONOTONIC` on Linux, elsewhere from a start of its own.
#[cfg(target_os = "linux")]
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a pointer to a local.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Nanoseconds of the clock that only goes forward: `CLOCK_MONOTONIC` on Linux, elsewhere from a start of its own.
#[cfg(not(target_os = "linux"))]
pub fn now() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}
