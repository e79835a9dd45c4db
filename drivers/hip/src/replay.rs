// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays in several pieces: how work goes on once the host has read a workgroup count.
//!
//! HIP launches no kernel with a count that only the device knows. So an operation with an indirect dispatch enters its
//! stream in pieces. A piece ends with copies of counts into pinned memory and an event. When the event has
//! completed, whoever retires it enqueues the next piece into the same stream. Neither a caller nor a stream waits in
//! between. The last piece carries the signals. An operation that has begun goes on when its device is closed, as
//! anything that was issued does: failing it earlier would fail signals while its first piece still writes memory.

use std::sync::{Arc, Mutex};

use slab::Slab;
use windlass_hal::{
    Buffer, BufferParams, Error, Limits, Notifications, Operation, Point, Points, Result, Semaphore,
    WorkgroupCount,
    edge::EdgeSource,
    pending::{self, Edges},
};

use crate::{
    allocator::Need,
    call::Stream,
    command_buffer::CommandBuffer,
    device::{Inner, lock},
    gpu::Gpu,
    queue::{Enqueued, InFlight, Submission},
};

/// Bytes of a workgroup count.
const COUNT: u64 = 12;

/// How far an operation has been enqueued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// The next step of its command buffer.
    pub(crate) step: usize,
    /// How many of its counts the host can read.
    pub(crate) known: usize,
}

/// What a visit to the stream left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enqueue {
    Whole,
    /// The rest needs counts that the device copies now.
    UpTo(Progress),
}

/// One visit of an operation to its stream.
pub(crate) struct Visit<'a> {
    pub(crate) gpu: &'a Gpu,
    pub(crate) limits: &'a Limits,
    pub(crate) stream: Stream,
    /// Where the visit begins.
    pub(crate) progress: Progress,
    /// All that the operation waits for is complete: the host may read what it sees without asking the device.
    pub(crate) settled: bool,
    pub(crate) counts: Counts<'a>,
}

/// The next piece of an operation in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    pub(crate) lane: u32,
    pub(crate) progress: Progress,
}

/// The counts of one submission, in pinned memory that it owns: one command buffer may be in flight many times.
#[derive(Clone, Copy)]
pub(crate) struct Counts<'a>(pub(crate) Option<&'a Buffer>);

impl Counts<'_> {
    fn memory(&self) -> Result<&Buffer> {
        self.0.ok_or_else(|| Error::internal("an indirect dispatch without memory for its count"))
    }

    /// Where the device copies a count to.
    pub(crate) fn address(&self, index: usize) -> Result<u64> {
        Ok(self.memory()?.device_address() + COUNT * index as u64)
    }

    /// A count that was copied.
    pub(crate) fn get(&self, index: usize) -> Result<[u32; 3]> {
        let mut bytes = [0; COUNT as usize];
        self.memory()?.map()?.read(COUNT * index as u64, &mut bytes)?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Ok([word(0), word(4), word(8)])
    }

    /// Copies a count on the host. `false` where the host does not see it.
    pub(crate) fn read_now(&self, index: usize, count: &Buffer) -> Result<bool> {
        if count.raw().host_pointer().is_none() {
            return Ok(false);
        }
        // The driver's own handle: the caller's buffer need not be for mapping.
        let whole = Buffer::from_driver(count.raw().clone(), BufferParams::host());
        let mut bytes = [0; COUNT as usize];
        whole.subspan(count.offset(), COUNT)?.map()?.read(0, &mut bytes)?;
        self.memory()?.map()?.write(COUNT * index as u64, &bytes)?;
        Ok(true)
    }
}

/// Pinned memory for the counts that an operation reads, if it reads any. Taken when it is submitted: who is
/// short of memory hears of it.
pub(crate) fn memory_for_counts(device: &Arc<Inner>, operation: &Operation) -> Result<Option<Buffer>> {
    let counts = match operation {
        Operation::Dispatch(dispatch) => {
            usize::from(matches!(dispatch.workgroup_count, WorkgroupCount::Indirect(_)))
        }
        Operation::Execute { command_buffer, .. } => {
            command_buffer.as_any().downcast_ref::<CommandBuffer>().map_or(0, CommandBuffer::counts)
        }
        _ => 0,
    };
    if counts == 0 {
        return Ok(None);
    }
    let params = BufferParams::host();
    let memory = device.allocator.allocate(device, &params, COUNT * counts as u64, Need::Now)?;
    Ok(Some(Buffer::from_driver(memory, params)))
}

/// The operations that are between two pieces, or in their last: what a drain waits for besides its queues.
#[derive(Clone, Default)]
pub(crate) struct Unfinished(Arc<Mutex<Slab<Semaphore>>>);

impl Unfinished {
    /// Notes an operation that will go on.
    pub(crate) fn begin(&self) -> Whole {
        let end = Semaphore::new(0);
        Whole { key: lock(&self.0).insert(end.clone()), list: self.clone(), end }
    }

    /// Points that are reached once what goes on now has ended.
    pub(crate) fn ends(&self) -> Vec<Point> {
        lock(&self.0).iter().map(|(_, end)| end.at(1)).collect()
    }
}

/// An operation in several pieces, while any of it is in flight.
pub(crate) struct Whole {
    list: Unfinished,
    key: usize,
    end: Semaphore,
}

impl Drop for Whole {
    fn drop(&mut self) {
        lock(&self.list.0).try_remove(self.key);
        self.end.advance(1, &mut Notifications::new());
    }
}

impl Inner {
    /// Enqueues the next piece of work whose last piece has retired. Called by whoever retired it, with no lock held.
    pub(crate) fn resume(&self, flight: InFlight, rest: Rest) {
        let InFlight { operation, staging, signals, whole, .. } = flight;
        let Some((device, queue)) = self.this().upgrade().zip(self.queues.get(rest.lane as usize)) else {
            return pending::fail(&signals, &Error::cancelled("the device went away between two dispatches"));
        };
        if let Some(error) = self.lost() {
            return pending::fail(&signals, error);
        }
        let promised = signals.clone();
        let submission = Submission {
            operation,
            staging,
            waits: Points::default(),
            signals,
            edges: Edges::default(),
            progress: rest.progress,
            whole,
        };
        let epoch = match queue.enqueue(self, submission) {
            Enqueued::Work(epoch) => {
                let mut notifications = Notifications::new();
                for signal in promised.iter() {
                    signal.semaphore.attach_edge(
                        signal.value,
                        queue.edge(&device, epoch),
                        &mut notifications,
                    );
                }
                notifications.fire();
                epoch
            }
            Enqueued::Piece(epoch) | Enqueued::Failure(epoch) => epoch,
        };
        // Nobody polls on behalf of what comes next, and a drain may wait for the end.
        self.demand(queue.index, epoch);
    }
}
