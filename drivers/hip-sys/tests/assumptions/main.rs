// SPDX-License-Identifier: MIT OR Apache-2.0
//! The properties of HIP that the driver relies on, one program each.
//!
//! The name of each program is the assumption; `docs/hip-assumptions.md` has its source, row by row. Every program
//! runs on the simulated GPU, and on the HIP of `Source::System` if that has a device: a GPU, or the library that
//! `WINDLASS_HIP_LIBRARY` names, such as the simulated GPU's drop-in library. Programs without kernels and without
//! work in flight run on the null HIP too. A library that breaks an assumption needs a row in the driver's quirks, or
//! a driver that does not rely on it.

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
mod page;
mod peer;
mod stream;
mod waiting;
