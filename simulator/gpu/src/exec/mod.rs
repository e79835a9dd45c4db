// SPDX-License-Identifier: MIT OR Apache-2.0
//! Execution of code, one instruction of a wave at a time, for all its lanes.
//!
//! # From bytes to lanes
//!
//! 1. A wave enters a `Program` at an address. `reach` follows the branches from there, and `load` makes
//!    each instruction a `Step`.
//! 2. `families` finds the handler of the instruction. An instruction without a handler is reported before the kernel
//!    starts.
//! 3. `run` is the interpreter's loop: it calls the handler of one step after the other.
//! 4. At hot steps, `translate` makes a block of machine code that takes the place of the loop while all lanes are active.
//! 5. The handler reads its sources and writes its result through `operands`, for whole registers of 64 lanes.
//!
//! # The folders, from the bottom
//!
//! - `values`: rows of 64 lanes, and arithmetic on their numbers. Nothing here knows a wave.
//! - `machine`: the state of a wave and of its workgroup, and the form of decoded code.
//! - `operands`: sources, modifiers, results, and accesses to memory, which the families share.
//! - `families`: the instructions, a file for each family.
//! - `translate`: hot steps as code of the host's processor.
//! - `load`, `loaded` and `run` stand on top: decoding, the code of all modules, and the loop.
//!
//! # Accuracy
//!
//! Two kinds of instructions differ from the hardware's bits. Approximate instructions (reciprocals, roots,
//! exponentials, logarithms, sines) give the host's results, which differ in the last place or two. Matrix instructions
//! add in ascending order of the inner dimension, fuse each step, and give the usual NaN.
//!
//! # Speed
//!
//! Three cases have code of their own, because kernels spend their time there: instructions without modifiers in waves
//! whose lanes are all active (`#[usual]` in the families), waves of which one lane is active (`element::only_lane`),
//! and loads and stores whose lanes lie side by side or share an address (`memory::lanes`).
//!
//! # Order
//!
//! The waves of a workgroup take turns on one thread: each runs until it ends, waits at a barrier or has used up its
//! turn. Therefore LDS needs no locks. Memory instructions take effect in order, so that the counters of `s_waitcnt`
//! are always zero.

mod families;
mod load;
pub(crate) mod loaded;
mod machine;
mod operands;
mod reach;
mod run;
mod translate;
pub(crate) mod values;

pub(crate) use load::handlers;
pub(crate) use machine::barrier::WorkgroupBarrier;
pub(crate) use machine::core::Core;
pub(crate) use machine::debug::Debug;
pub use machine::debug::SourceLine;
pub use machine::gws::{Barrier, Gws};
pub(crate) use machine::lds::Lds;
pub use machine::outside::Outside;
pub(crate) use machine::program::{Counter, Position, Program};
pub use machine::trouble::{AccessKind, Cause};
pub(crate) use machine::trouble::{Finding, FindingKind, Segment, Stray, Trouble};
pub(crate) use machine::wave::{SCRATCH_WINDOW, Wave, WaveStatus};
pub use operands::source::{PRIVATE_APERTURE, SHARED_APERTURE};
pub(crate) use reach::{NoInstruction, Reached, reach};
pub(crate) use run::{Runner, TurnEnd};
pub use values::eighth;

#[cfg(test)]
mod tests;
