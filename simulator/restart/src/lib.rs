// SPDX-License-Identifier: MIT OR Apache-2.0
//! Restarts a program under another loader than its own, before any of its code runs.
//!
//! `windlass exec --hip amd` starts its program with the loader beside AMD's libraries. The operating system's kernel
//! does not know that loader, so a child of the program uses the machine's own loader. The machine's loader first loads
//! this library, because `LD_AUDIT` names it (see `rtld-audit(7)`). This library restarts the program if it uses HIP.
//! Other programs must not be restarted: a program that is started through a loader finds the loader, not itself, in
//! `/proc/self/exe`.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub mod audit;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod plan;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod program;

/// The variable with the loader, then the folders that it is to search for libraries, with colons between.
pub const VARIABLE: &str = "WINDLASS_RESTART";

/// Distinguishes this library from others.
#[unsafe(no_mangle)]
pub static windlass_simulator_marker: [u8; 24] = *b"libwindlass_restart.so\0\0";
