// SPDX-License-Identifier: MIT OR Apache-2.0
//! Services of HIP's runtime for running kernels: printing, memory, clocks, and barriers of whole grids.
//!
//! Kernels reach the services through hidden arguments. The lowest layer is first:
//!
//! - `numbers` and `format` are C's conversions of numbers and of `printf`; `output` writes to the standard streams.
//! - `budget` counts the bytes of a device. `heap` is the memory that kernels of a device allocate.
//! - `message` joins the parts of a message of a lane. `hostcall` is the buffer through which waves call the host.
//! - `grid_sync` is the state of barriers across a grid, or across the grids of several devices.
//! - `attendance` gives a dispatch what its kernel asks for.

pub(crate) mod attendance;
mod format;
pub(crate) mod grid_sync;
pub(crate) mod heap;
mod hostcall;
mod message;
mod numbers;
mod output;
