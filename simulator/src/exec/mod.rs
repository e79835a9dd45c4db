// SPDX-License-Identifier: MIT OR Apache-2.0
//! Execution of code, a wave of 64 lanes at a time.
//!
//! [`Program`] decodes code into [`Step`](step::Step)s, each with a handler; [`Core::run`] calls one after another on a
//! [`Wave`]. Handlers work on whole registers of 64 lanes and are compiled twice, for the baseline processor and
//! for AVX2 with FMA. Families of instructions have a file each; `table` finds the family. What no family knows is reported
//! before a kernel starts.
//!
//! Where it is not the hardware bit for bit: approximate instructions (reciprocals, roots, exponentials, logarithms,
//! sines) give the host's results, which differ in the last place or two; matrix instructions add in ascending order of the
//! inner dimension, each step fused, and give the usual NaN.
//!
//! A workgroup's waves take turns on one thread: each runs until it ends, waits at a barrier or has used up its turn.
//! So LDS needs no locks, and memory instructions take effect in order; counters to wait for are always zero.

mod atomic;
mod buffer;
pub(crate) mod core;
mod crossing;
mod eighth;
mod float;
mod flow;
mod format;
mod gws;
mod half;
mod lanes;
mod lds;
mod matrix;
mod nan;
mod packed;
mod program;
mod reach;
mod result;
mod rounding;
mod scalar;
mod shape;
mod share;
mod smem;
mod soft;
mod space;
mod sparse;
mod state;
mod step;
mod table;
mod turns;
mod typed;
mod vector;
mod vmem;

pub(crate) use self::core::{Core, Finding, Segment, Stray, Trouble, Turn};
pub(crate) use gws::Gws;
pub(crate) use lanes::{PRIVATE_APERTURE, SHARED_APERTURE};
pub(crate) use lds::Lds;
pub(crate) use program::{Program, Programs};
pub(crate) use reach::{NoInstruction, Reached, reach};
pub(crate) use state::{Position, SCRATCH_WINDOW, Status, Wave};
pub(crate) use table::handler;

#[cfg(test)]
mod tests;
