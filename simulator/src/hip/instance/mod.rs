// SPDX-License-Identifier: MIT OR Apache-2.0
//! One simulator as its clients see it: its tables of handles, the state of each calling thread, its owner process, and
//! the simulator that a whole process shares.

pub(crate) mod owner;
pub(crate) mod process;
pub(crate) mod runtime;
pub(crate) mod setup;
pub(crate) mod thread;
