// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets: what a queue can be asked to do.

use crate::engine::{Choose, Fault, Step};
use crate::memory::MemoryError;

/// One item of a queue. A packet tells its own front end how it ended, before the scheduler tells anybody.
pub(crate) trait Packet: Send {
    /// Does it. Blocks for as long as it takes.
    fn run(self: Box<Self>);

    /// Does what is one step, and begins what is more.
    fn begin(self: Box<Self>, choices: &mut dyn Choose) -> Begun;

    /// Whether it calls a function of the client's, which may wait for anything.
    fn is_host_function(&self) -> bool {
        false
    }
}

/// What becomes of a packet under a schedule.
pub(crate) enum Begun {
    Ended,
    /// It goes on step by step.
    Going(Box<dyn Going>),
    /// A function of the client's, to be called where it keeps nobody from going on.
    HostFunction(Box<dyn HostFunction>),
}

/// A function of the client's.
pub(crate) trait HostFunction: Send {
    /// Calls it.
    fn call(&mut self);

    /// Whether it only looked, once it was called, and will look again at once.
    fn looks_again(&self) -> bool {
        false
    }

    /// Tells the front end that it cannot be called, and why.
    fn give_up(&mut self, reason: String);
}

/// A packet that has begun.
pub(crate) trait Going: Send {
    /// Does one step. After [`Step::Done`] nothing is left to do.
    fn step(&mut self, choices: &mut dyn Choose) -> Step;
}

/// Why a dispatch, a copy or a fill could not be done.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The kernel went wrong, or was not started.
    Fault(Box<Fault>),
    /// A copy or a fill left its allocations. The text says which.
    Memory(&'static str, MemoryError),
    /// The simulator itself failed.
    Defect,
}
