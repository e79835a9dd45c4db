// SPDX-License-Identifier: MIT OR Apache-2.0
//! The load of most rows: N dispatches of one small workgroup, with a barrier after each.

use windlass::{
    Argument, BindingTable, Buffer, CommandBuffer, Deadline, DispatchConfig, Function, Queue, Semaphore,
};

use crate::command::bench::{
    row::{self, Work},
    target::Target,
};

/// Work-items of a workgroup, and numbers in a buffer.
pub(crate) const ITEMS: u32 = 64;
/// Bytes of a buffer.
pub(crate) const BYTES: u64 = ITEMS as u64 * 4;
/// One workgroup.
pub(crate) const GRID: DispatchConfig = DispatchConfig::new([1, 1, 1]).workgroup_size([ITEMS, 1, 1]);

/// The shape of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) bindings: u32,
    pub(crate) constants: u32,
    pub(crate) n: u32,
    /// Whether the buffers come from a binding table at submission.
    pub(crate) by_table: bool,
}

impl Shape {
    /// Direct buffers, no constants.
    pub(crate) const fn direct(bindings: u32, n: u32) -> Self {
        Self { bindings, constants: 0, n, by_table: false }
    }

    /// The same through a binding table.
    pub(crate) const fn table(bindings: u32, n: u32) -> Self {
        Self { by_table: true, ..Self::direct(bindings, n) }
    }

    /// With constants among the arguments. The kernel for these has two buffers and sixteen constants.
    pub(crate) const fn constants(n: u32) -> Self {
        Self { constants: 16, ..Self::direct(2, n) }
    }

    /// The parameters in a row's name.
    pub(crate) fn text(self) -> String {
        let constants = match self.constants {
            0 => String::new(),
            constants => format!(" constants={constants}"),
        };
        let form = if self.by_table { "table" } else { "direct" };
        format!("bindings={}{constants} n={} form={form}", self.bindings, self.n)
    }

    /// The kernel.
    pub(crate) fn kernel(self) -> String {
        match self.constants {
            0 => format!("bindings_{}", self.bindings),
            constants => format!("constants_{constants}"),
        }
    }

    /// The numbers that the kernel writes.
    pub(crate) fn expected(self, index: u32) -> u32 {
        let inputs = (0..self.bindings.saturating_sub(1)).map(|input| content(input, index));
        (0..self.constants).chain(inputs).fold(index, u32::wrapping_add)
    }
}

/// The numbers of an input.
fn content(input: u32, index: u32) -> u32 {
    (input + 1).wrapping_mul(index + 3)
}

/// A shape on a device: its kernel and its buffers.
#[derive(Clone)]
pub(crate) struct Load {
    pub(crate) shape: Shape,
    pub(crate) queue: Queue,
    pub(crate) function: Function,
    /// The last one is the output.
    pub(crate) buffers: Vec<Buffer>,
}

impl Load {
    /// Loads the kernel, fills the inputs, runs the load once, and checks its numbers where kernels run.
    pub(crate) fn new(target: &Target, shape: Shape) -> Work<Self> {
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
    pub(crate) fn check(&self, target: &Target, work: impl FnOnce(&Semaphore) -> Work) -> Work {
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
        row::check(self.function.name(), &target.download(output)?, |index| self.shape.expected(index))
    }

    /// The arguments of a dispatch.
    pub(crate) fn arguments(&self) -> Vec<Argument<'_>> {
        let argument = |(slot, buffer)| match self.shape.by_table {
            true => Argument::Slot { slot, offset: 0, length: BYTES },
            false => Buffer::arg(buffer),
        };
        let mut arguments: Vec<_> = (0_u32..).zip(&self.buffers).map(argument).collect();
        let output = arguments.pop();
        arguments.extend((0..self.shape.constants).map(Argument::from));
        arguments.extend(output);
        arguments
    }

    /// The command buffer.
    pub(crate) fn record(&self) -> Work<CommandBuffer> {
        self.record_with(&self.arguments())
    }

    /// The same with arguments that were made before.
    pub(crate) fn record_with(&self, arguments: &[Argument<'_>]) -> Work<CommandBuffer> {
        let slots = if self.shape.by_table { self.shape.bindings } else { 0 };
        let mut recorder = self.queue.device().record_with_slots(slots)?;
        for _ in 0..self.shape.n {
            recorder.dispatch(&self.function, GRID, arguments)?;
            recorder.barrier();
        }
        Ok(recorder.finish()?)
    }

    /// The binding table of a submission.
    pub(crate) fn table(&self) -> BindingTable {
        if self.shape.by_table { self.buffers.clone().into() } else { BindingTable::empty() }
    }
}

/// A timeline with the values that were given out.
#[derive(Default)]
pub(crate) struct Timeline {
    pub(crate) semaphore: Semaphore,
    pub(crate) value: u64,
}

impl Timeline {
    /// The next value.
    pub(crate) fn next(&mut self) -> u64 {
        self.value += 1;
        self.value
    }

    /// Waits for the latest value.
    pub(crate) fn wait(&self) -> Work {
        Ok(self.semaphore.wait_blocking(self.value, Deadline::NEVER)?)
    }
}
