// SPDX-License-Identifier: MIT OR Apache-2.0
//! Brings a program under another loader than the one that it names, before any of its code runs.
//!
//! `windlass exec --hip amd` starts its program by the loader that lies with AMD's libraries. The kernel knows nothing of that,
//! so what the program starts in turn begins with the machine's loader. That loads this library first of all, because `LD_AUDIT`
//! names it (see `rtld-audit(7)`), and this library starts the program again where it uses HIP. All others stay as they are: a
//! program that is started by a loader finds that loader, not itself, in `/proc/self/exe`.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub mod audit;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod plan;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod program;

/// The variable that says how: the loader, then the folders that it is to search for libraries, with colons between.
pub const VARIABLE: &str = "WINDLASS_RESTART";

/// Tells this library from others.
#[unsafe(no_mangle)]
pub static windlass_simulator_marker: [u8; 24] = *b"libwindlass_restart.so\0\0";
