// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies by the engines of GPUs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::engine::{Choose, StepOutcome};
use crate::packet::{Begun, CopyCall, Direction, Edge, Edges, Going, Packet, Rows, Transfer, WorkError};
use crate::trace::tell;

use super::abi::Signal;
use super::runtime::Runtime;
use super::signal::{Awaited, Comparison, SignalRef};
use super::status::{Outcome, Status};

/// A copy in flight.
struct Copy {
    runtime: Arc<Runtime>,
    transfer: Transfer,
    completion: Option<SignalRef>,
    start: u64,
}

impl Runtime {
    /// Checks and prepares a copy.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for null and freed addresses, and for ranges that leave their allocation.
    pub(crate) fn transfer(&self, to: (u64, Rows), from: (u64, Rows)) -> Outcome<Transfer> {
        let copy = CopyCall { to, from, direction: Direction::Any };
        Transfer::new(&self.memory, &copy).map_err(|_| Status::INVALID_ARGUMENT)
    }

    /// As [`transfer`](Self::transfer), of bytes without gaps.
    ///
    /// # Errors
    /// As `transfer`.
    pub(crate) fn line(&self, to: u64, from: u64, size: u64) -> Outcome<Transfer> {
        let rows = Rows::line(size);
        self.transfer((to, rows), (from, rows))
    }

    /// Copies once each of the signals that the copy depends on is zero. The client keeps host memory valid
    /// until the completion signal tells that the copy has ended, as HSA demands.
    ///
    /// # Errors
    /// `INVALID_SIGNAL`.
    pub(crate) fn copy(
        self: &Arc<Self>,
        transfer: Transfer,
        dependencies: &[Signal],
        completion: Signal,
    ) -> Outcome<()> {
        let completion = Some(self.signals.get(completion)?);
        let edges: Outcome<Edges> = dependencies
            .iter()
            .map(|signal| {
                let awaited = Awaited { signal: self.signals.get(*signal)?, until: Comparison::equals(0) };
                Ok(Edge::Condition(Arc::new(awaited)))
            })
            .collect();
        let copy = Copy { runtime: self.clone(), transfer, completion, start: 0 };
        self.scheduler.enqueue_alone(usize::MAX, Box::new(copy), edges?)?;
        Ok(())
    }
}

impl Copy {
    /// Moves the bytes. A defect of the simulator must fail the copy, or the client would wait forever.
    fn moved(&self) -> Result<(), WorkError> {
        let moved = catch_unwind(AssertUnwindSafe(|| self.transfer.run(&self.runtime.memory)));
        moved.unwrap_or(Err(WorkError::Defect))
    }

    fn end(&self, moved: Result<(), WorkError>) {
        let Some(signal) = &self.completion else { return };
        let end = self.runtime.now().max(self.start + 1);
        match moved {
            Ok(()) => signal.complete_timed(self.start, end),
            Err(error) => {
                tell(|| tracing::error!(target: "windlass::sim", "a copy failed: {error:?}"));
                signal.fail_timed(self.start, end);
            }
        }
    }
}

impl Packet for Copy {
    fn run(mut self: Box<Self>) {
        self.start = self.runtime.now();
        self.end(self.moved());
    }

    fn begin(mut self: Box<Self>, choices: &mut dyn Choose) -> Begun {
        self.start = self.runtime.now();
        // Other packets may see half of a copy.
        if self.transfer.places() == 0 || choices.choose(2) != 0 {
            self.run();
            return Begun::Ended;
        }
        let rest = self.transfer.cut(choices.choose(self.transfer.places()));
        match self.moved() {
            Ok(()) => Begun::Going(Box::new(Self { transfer: rest, ..*self })),
            failed => {
                self.end(failed);
                Begun::Ended
            }
        }
    }
}

impl Going for Copy {
    fn step(&mut self, _: &mut dyn Choose) -> StepOutcome {
        self.end(self.moved());
        StepOutcome::Done
    }
}
