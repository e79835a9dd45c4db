// SPDX-License-Identifier: MIT OR Apache-2.0
//! Software AMD GPUs, below any runtime: they execute the machine code that compilers emit for a gfx942, gfx950, gfx90a, gfx908,
//! gfx906, gfx900, gfx1100 to gfx1103, gfx1150, gfx1151, gfx1030 to gfx1032, gfx1010 to gfx1012, gfx1200 or gfx1201, instruction by
//! instruction, on CPU threads.
//!
//! The parts, from the bottom: [`memory`] holds bytes and a map of allocations, [`isa`] decodes instructions, [`exec`]
//! executes them, and [`engine`] loads code objects and runs kernels. A [`Part`] is one GPU's row of facts.
//!
//! `windlass-simulator` puts the HIP API and the HSA API on top. The interface of this crate changes whenever
//! `windlass-simulator` needs it.

pub mod engine;
pub mod exec;
pub mod isa;
mod lane_mask;
pub mod memory;
mod part;

pub use part::{GridBarrier, Images, Part, Scratch};
