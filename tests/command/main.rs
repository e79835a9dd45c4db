// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command from a user's view: exit codes, standard output, standard error, and the results of whole kernels.
#![allow(clippy::print_stderr)]

mod audit;
mod bench;
#[cfg(target_os = "linux")]
mod big_files;
mod bundle;
mod clang;
mod committed;
mod conformance;
mod devices;
mod escapes;
mod examples;
#[cfg(target_os = "linux")]
mod exec;
#[cfg(target_os = "linux")]
mod exec_amd;
#[cfg(target_os = "linux")]
mod exec_folders;
mod exec_symbols;
mod extract;
#[cfg(all(feature = "local", target_os = "linux", target_arch = "x86_64"))]
mod host_kernels;
mod inspect;
mod iree;
mod listing;
mod mistakes;
mod readme;
mod replay;
mod report;
mod results;
mod runs;
#[cfg(all(feature = "local", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod same_numbers;
mod shared;
mod support;
mod triton;
mod triton_gfx950;
