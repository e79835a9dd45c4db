// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dispatches: a kernel with its launch, run to the end or step by step.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::engine::{Choose, Engine, Kernel, Launch, OfQueue, Statistics, StepOutcome, Stepped};
use crate::memory::Memory;
use crate::tally::{self, Count};
use crate::trace::tell;

use super::work::WorkError;

/// A kernel and the machine that runs it.
#[derive(Clone)]
pub(crate) struct Dispatch {
    pub(crate) engine: Arc<Engine>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) kernel: Arc<Kernel>,
}

/// A dispatch in flight that runs step by step.
pub(crate) struct GoingDispatch {
    dispatch: Dispatch,
    stepped: Stepped,
}

impl Dispatch {
    /// Runs the kernel to its end, for a queue.
    pub(crate) fn run_of(&self, launch: &Launch<'_>, queue: OfQueue) -> Result<(), WorkError> {
        tally::count(Count::Launch);
        let ran = self.engine.dispatch_of(&self.memory, &self.kernel, launch, queue);
        self.tell(ran.map_err(WorkError::Fault)?);
        Ok(())
    }

    /// Begins to run the kernel. The order in which workgroups start is a choice.
    pub(crate) fn begin(
        self,
        mut launch: Launch<'_>,
        queue: OfQueue,
        choices: &mut dyn Choose,
    ) -> Result<GoingDispatch, WorkError> {
        tally::count(Count::Launch);
        // Zero is the ascending order, which is that of hardware.
        launch.seed = match choices.choose(4) {
            0 => None,
            _ => Some(choices.choose(1 << 16) as u64),
        };
        let stepped = Engine::begin(&self.memory, &self.kernel, &launch, queue).map_err(WorkError::Fault)?;
        Ok(GoingDispatch { dispatch: self, stepped })
    }

    fn tell(&self, statistics: Statistics) {
        tell(|| tracing::debug!(target: "windlass::sim", kernel = self.kernel.name(), ?statistics));
    }
}

impl GoingDispatch {
    /// Runs one turn of one wave.
    pub(crate) fn step(&mut self, choices: &mut dyn Choose) -> Result<StepOutcome, WorkError> {
        // A defect of the simulator must fail the device, not the thread that runs the step.
        let stepped = catch_unwind(AssertUnwindSafe(|| self.stepped.step(choices)));
        if !matches!(stepped, Ok(Ok(StepOutcome::Progress | StepOutcome::Spun))) {
            self.dispatch.engine.keep(self.stepped.findings());
        }
        let step = stepped.map_err(|_| WorkError::Defect)?.map_err(WorkError::Fault)?;
        if step == StepOutcome::Done {
            self.dispatch.tell(self.stepped.statistics());
        }
        Ok(step)
    }
}
