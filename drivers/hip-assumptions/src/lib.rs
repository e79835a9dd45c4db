// SPDX-License-Identifier: MIT OR Apache-2.0
//! The properties of HIP that the driver of Windlass relies on, one program each.
//!
//! The name of each program states the assumption. `docs/hip-assumptions.md` has a row for each assumption, with its
//! source. A library that breaks an assumption needs a row in the driver's quirks, or a driver that does not rely on
//! it.
//!
//! A broken assumption is a panic with the call and its values. So a caller runs each program in a test, or in a process
//! of its own.
//!
//! The tests run each program on the simulated GPU, on the null HIP if it has the functions that the program needs, and
//! on the system's HIP. `windlass report` runs each in a process of its own, on the HIP that it reports about.

/// Makes a call of HIP.
macro_rules! call {
    ($hip:ident.$name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: each program passes pointers to memory of its own or of HIP's that is as long as HIP documents and
        // outlives its use, and handles that it has not destroyed.
        unsafe { $hip.$name($($argument),*) }
    };
}

/// Makes a call of HIP that must succeed.
macro_rules! ok {
    ($hip:ident.$name:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(call!($hip.$name($($argument),*)), crate::hips::OK, stringify!($name))
    };
}

mod copy;
mod device;
mod error;
mod event;
mod gpu;
mod hips;
mod launch;
mod memory;
mod module;
mod peer;
mod program;
mod programs;
mod stream;
mod virtual_memory;
mod waiting;

pub use gpu::Kernels;
pub use program::{Needs, Outcome, Program};
pub use programs::PROGRAMS;
