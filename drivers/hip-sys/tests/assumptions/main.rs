// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the HIP driver relies on HIP to do, one program each.
//!
//! Each belief is the name of its program; why we believe it is in `docs/hip-assumptions.md`, row by row. Every program
//! runs on the simulated GPU, and on what `Source::System` gives where that has a device: a GPU, or whatever
//! `WINDLASS_HIP_LIBRARY` names, such as the simulated GPU's drop-in library. What needs neither kernels nor work in
//! flight runs on the null HIP too. A library that breaks one of these needs a row in the driver's quirks, or a driver that
//! relies on less.

/// Makes a call of HIP.
macro_rules! call {
    ($hip:ident.$name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: each program gives pointers to memory of its own or of HIP's that is as long as HIP documents and
        // outlives its use, and handles that it has not destroyed.
        unsafe { $hip.$name($($argument),*) }
    };
}

/// Makes a call of HIP that has to succeed.
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
