// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets: the entries of a queue.

use crate::engine::{Choose, Fault, StepOutcome};
use crate::memory::MemoryError;

/// One entry of a queue. A packet reports its end to its own front end before the scheduler does so.
pub(crate) trait Packet: Send {
    /// Runs the packet. Blocks until it is done.
    fn run(self: Box<Self>);

    /// Runs a packet of one step, and begins a longer one.
    fn begin(self: Box<Self>, choices: &mut dyn Choose) -> Begun;

    /// Whether it calls a function of the client's, which may wait for anything.
    fn is_host_function(&self) -> bool {
        false
    }
}

/// How a packet continues under a schedule.
pub(crate) enum Begun {
    Ended,
    /// It runs step by step.
    Going(Box<dyn Going>),
    /// A function of the client's, to be called where it blocks no other thread.
    HostFunction(Box<dyn HostFunction>),
}

/// A function of the client's.
pub(crate) trait HostFunction: Send {
    /// Calls it.
    fn call(&mut self);

    /// Whether the last call only checked a condition, and will check it again at once.
    fn looks_again(&self) -> bool {
        false
    }

    /// Tells the front end that the function cannot be called, and why.
    fn give_up(&mut self, reason: String);
}

/// A packet that has begun.
pub(crate) trait Going: Send {
    /// Runs one step. After [`StepOutcome::Done`] no step may follow.
    fn step(&mut self, choices: &mut dyn Choose) -> StepOutcome;
}

/// The reason why a dispatch, a copy or a fill failed.
#[derive(Debug)]
pub(crate) enum WorkError {
    /// The kernel faulted, or was not started.
    Fault(Box<Fault>),
    /// A copy or a fill left its allocations. The text names the operation.
    Memory(&'static str, MemoryError),
    /// The simulator itself failed.
    Defect,
}
