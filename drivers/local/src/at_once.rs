// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations that run inside their submission, with everything borrowed from the caller: their waits are reached, and no
//! other thread is to run them.

use bytemuck::cast_slice_mut;
use smallvec::SmallVec;
use windlass_hal::{
    BindingTable, Buffer, DispatchRef, Error, Limits, OperationRef, Point, Result, driver, host_memory,
    pending,
    pool::{Frontier, placed},
    witness::Witness,
};

use crate::{
    command_buffer::SHORT_TRANSFER,
    cut::Cut,
    dispatch::{self, Launch},
    queues::Queues,
    replay::{self, Next, Replay},
    submission::guarded,
    threads, trampoline, workgroup_count,
};

impl Queues {
    /// Runs an operation and settles its signals. `false` if it must be issued instead: a wait is open, other threads are to
    /// run it, or this thread is inside another operation. An error means that the device is closed.
    pub(crate) fn run_at_once(
        &self,
        waits: &[Point],
        signals: &[Point],
        operation: &OperationRef<'_>,
    ) -> Result<bool> {
        if !self.may_run_at_once(operation) || !self.pending.all_reached(waits)? {
            return Ok(false);
        }
        let Some(running) = trampoline::enter() else { return Ok(false) };
        if has_work(operation) {
            self.run_work(signals, operation);
        } else {
            if let OperationRef::Dealloca { buffer } = operation {
                release(buffer);
            }
            pending::reach(signals);
        }
        drop(running);
        Ok(true)
    }

    fn run_work(&self, signals: &[Point], operation: &OperationRef<'_>) {
        let flight = self.in_flight.begin();
        if self.threads.is_none() {
            // The work may take long, and the calling thread may be another device's worker.
            threads::announce();
        }
        let witness = Witness::of(signals);
        if let Some(witness) = witness {
            witness.begin();
        }
        let result = guarded(operation.name(), || run(operation, &self.limits));
        if let Some(witness) = witness {
            witness.end();
        }
        match result {
            Ok(()) => pending::reach(signals),
            Err(error) => pending::fail(signals, &error),
        }
        self.in_flight.end(flight);
    }

    fn may_run_at_once(&self, operation: &OperationRef<'_>) -> bool {
        match operation {
            OperationRef::Barrier | OperationRef::Alloca { .. } | OperationRef::Dealloca { .. } => true,
            OperationRef::Fill { target, .. }
            | OperationRef::Update { target, .. }
            | OperationRef::Copy { target, .. } => self.threads.is_none() || target.len() <= SHORT_TRANSFER,
            OperationRef::Dispatch(_) | OperationRef::Execute { .. } => self.threads.is_none(),
            _ => false,
        }
    }
}

/// Whether a drain has to wait for an operation. `reserve` has allocated the memory of an alloca.
fn has_work(operation: &OperationRef<'_>) -> bool {
    !matches!(operation, OperationRef::Barrier | OperationRef::Alloca { .. } | OperationRef::Dealloca { .. })
}

/// Gives memory back. All earlier users of it are done, so the next owner has nothing to wait for.
fn release(buffer: &Buffer) {
    if let Some(placed) = placed(buffer) {
        placed.release(Frontier::new());
    }
}

fn run(operation: &OperationRef<'_>, limits: &Limits) -> Result<()> {
    match operation {
        OperationRef::Fill { target, pattern } => host_memory::fill(target, *pattern),
        OperationRef::Update { source, target } => host_memory::update(source, target),
        OperationRef::Copy { source, target } => host_memory::copy(source, target),
        OperationRef::Dispatch(dispatch) => launch(dispatch, limits),
        OperationRef::Execute { command_buffer, bindings } => {
            replay_all(command_buffer.as_ref(), bindings, limits)
        }
        other => Err(Error::internal(format!("{} was accepted and cannot be run", other.name()))),
    }
}

fn launch(dispatch: &DispatchRef<'_>, limits: &Limits) -> Result<()> {
    let (function, size) = ((dispatch.executable.as_ref(), dispatch.function), dispatch.workgroup_size);
    let count = workgroup_count::resolve(dispatch.workgroup_count.as_ref(), &[], function, size, limits)?;
    let Some(workgroup_count) = count else { return Ok(()) };
    let length = dispatch.arguments.len();
    let mut block: SmallVec<[u128; 8]> = SmallVec::from_elem(0, length.div_ceil(size_of::<u128>()));
    let block = &mut cast_slice_mut::<u128, u8>(&mut block)[..length];
    block.copy_from_slice(dispatch.arguments);
    let launch = Launch {
        executable: dispatch.executable.as_ref(),
        function: dispatch.function,
        workgroup_count,
        workgroup_size: dispatch.workgroup_size,
        dynamic_local_memory: dispatch.dynamic_local_memory,
        arguments: block,
    };
    let cut = Cut::grid(workgroup_count, 1);
    (0..cut.parts()).try_for_each(|part| dispatch::run(&launch, cut.range(part)))
}

fn replay_all(
    command_buffer: &dyn driver::RawCommandBuffer,
    bindings: &BindingTable,
    limits: &Limits,
) -> Result<()> {
    let mut replay = Replay::begin(command_buffer, bindings.clone())?;
    while let Some(next) = replay.next(1, limits)? {
        match next {
            Next::Serial(steps) => replay.serial(steps, limits)?,
            Next::Parallel(shares) => {
                (0..replay::parts(&shares)).try_for_each(|part| replay.part(&shares, part))?;
            }
        }
    }
    Ok(())
}
