// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library as a program uses it, over the devices of its drivers.

#[cfg(feature = "sim")]
mod damaged_images;
#[cfg(feature = "sim")]
mod faults;
#[cfg(feature = "sim")]
mod futures;
#[cfg(feature = "sim")]
mod linking;
#[cfg(all(feature = "local", feature = "null", feature = "sim"))]
mod machine;
#[cfg(feature = "sim")]
mod old_hip;
#[cfg(all(feature = "local", feature = "null", feature = "sim"))]
mod planted_errors;
#[cfg(all(feature = "local", feature = "null", feature = "sim"))]
mod profiling;
#[cfg(all(
    feature = "sim",
    feature = "local",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod same_numbers;
#[cfg(feature = "sim")]
mod unreliable_programs;
#[cfg(all(feature = "command", feature = "local", feature = "null", feature = "sim"))]
mod uris;
#[cfg(feature = "null")]
mod wrappers;
