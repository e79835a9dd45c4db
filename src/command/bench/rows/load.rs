// SPDX-License-Identifier: MIT OR Apache-2.0
//! The load of most rows on a device: its kernel, its buffers, its command buffer.

use crate::{Argument, BindingTable, Buffer, CommandBuffer, Deadline, Function, Queue, Semaphore};

use crate::command::bench::{
    shape::{BYTES, GRID, ITEMS, Shape, content},
    stop::Work,
    subject,
    target::Target,
};

/// A shape on a device: its kernel and its buffers.
#[derive(Clone)]
pub(super) struct Load {
    pub(super) shape: Shape,
    pub(super) queue: Queue,
    pub(super) function: Function,
    /// The last one is the output.
    pub(super) buffers: Vec<Buffer>,
}

impl Load {
    /// Loads the kernel, fills the inputs, runs the load once, and checks its numbers where kernels run.
    pub(super) fn new(target: &Target, shape: Shape) -> Work<Self> {
        let mut buffers = Vec::new();
        for input in 0..shape.bindings.saturating_sub(1) {
            buffers.push(target.numbers((0..ITEMS).map(|index| content(input, index)))?);
        }
        buffers.push(target.numbers((0..ITEMS).map(|_| 0))?);
        let function = target.function(&shape.kernel())?;
        let load = Self { shape, queue: target.queue()?, function, buffers };
        load.check(target, |done| {
            load.queue.execute(&[], &[done.at(1)], &load.record()?, load.table())?;
            Ok(())
        })?;
        Ok(load)
    }

    /// Does work that reaches 1, and checks the numbers in the output where kernels run.
    pub(super) fn check(&self, target: &Target, work: impl FnOnce(&Semaphore) -> Work) -> Work {
        let Some(output) = self.buffers.last() else { return Ok(()) };
        let done = Semaphore::new(0);
        self.queue.fill(&[], &[done.at(1)], output, 0xa5_u8)?;
        done.wait_blocking(1, Deadline::NEVER)?;
        let done = Semaphore::new(0);
        work(&done)?;
        done.wait_blocking(1, Deadline::NEVER)?;
        if !target.runs_kernels {
            return Ok(());
        }
        subject::check(self.function.name(), &target.download(output)?, |index| self.shape.expected(index))
    }

    /// The arguments of a dispatch.
    pub(super) fn arguments(&self) -> Vec<Argument<'_>> {
        // A dispatch counts this too. A plain loop costs the same however the compiler divides this package.
        let mut arguments = Vec::with_capacity(self.buffers.len() + self.shape.constants as usize);
        for (slot, buffer) in self.buffers.iter().enumerate() {
            let is_output = slot + 1 == self.buffers.len();
            let before = if is_output { self.shape.constants } else { 0 };
            for constant in 0..before {
                arguments.push(Argument::from(constant));
            }
            arguments.push(match self.shape.by_table {
                true => Argument::Slot { slot: slot as u32, offset: 0, length: BYTES },
                false => Buffer::arg(buffer),
            });
        }
        arguments
    }

    /// The command buffer.
    pub(super) fn record(&self) -> Work<CommandBuffer> {
        self.record_with(&self.arguments())
    }

    /// The same with arguments that were made before.
    pub(super) fn record_with(&self, arguments: &[Argument<'_>]) -> Work<CommandBuffer> {
        let slots = if self.shape.by_table { self.shape.bindings } else { 0 };
        let mut recorder = self.queue.device().record_with_slots(slots)?;
        for _ in 0..self.shape.n {
            recorder.dispatch(&self.function, GRID, arguments)?;
            recorder.barrier();
        }
        Ok(recorder.finish()?)
    }

    /// The binding table of a submission.
    pub(super) fn table(&self) -> BindingTable {
        if self.shape.by_table { self.buffers.clone().into() } else { BindingTable::empty() }
    }
}

/// A timeline with the values that were given out.
#[derive(Default)]
pub(super) struct Timeline {
    pub(super) semaphore: Semaphore,
    pub(super) value: u64,
}

impl Timeline {
    /// The next value.
    pub(super) fn next(&mut self) -> u64 {
        self.value += 1;
        self.value
    }

    /// Waits for the latest value.
    pub(super) fn wait(&self) -> Work {
        Ok(self.semaphore.wait_blocking(self.value, Deadline::NEVER)?)
    }
}
