// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packet processor: reads AQL packets from rings, and queues them as packets of the scheduler.
//!
//! Each packet gets a scheduler queue of its own, and edges to the packets before it that it waits for: all
//! of them if it has the barrier bit, else the latest barrier.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::{Cause, Choose, Fault, Kernel, Launch, Placed, StepOutcome};
use crate::memory::Grants;
use crate::options::Lds;
use crate::packet::{
    Begun, Condition, Dispatch, Edge, Edges, Going, GoingDispatch, Packet, Point, WorkError,
};
use crate::tally;
use crate::trace::tell;

use super::aql::{self, Aql, Body, DispatchPacket};
use super::queue::AqlQueue;
use super::runtime::Runtime;
use super::signal::{Awaited, Comparison, SignalRef};
use super::status::{Outcome, Status};

/// The most packets of a queue that are read and not done.
const WINDOW: usize = 32;

/// The progress of a queue.
#[derive(Default)]
pub(crate) struct Processor {
    /// The packet that is read next.
    next: u64,
    /// One past the last packet that a doorbell submitted.
    told: u64,
    /// The packets that all later ones wait for.
    fence: Vec<Point>,
    /// The other packets that were read.
    open: Vec<Point>,
    /// Packets that are done although an earlier one is not.
    done: BTreeSet<u64>,
    /// Packets that were read and are not done.
    in_flight: usize,
}

impl Runtime {
    /// A client has stored a value in the doorbell of a queue.
    pub(crate) fn ring(self: &Arc<Self>, queue: &Arc<AqlQueue>, value: i64) {
        let told = (value as u64).wrapping_add(1);
        let written = queue.write_index().load(Ordering::Acquire);
        if told > written && value >= 0 {
            tell(|| {
                tracing::error!(
                    target: "windlass::sim",
                    "a doorbell was rung for packet {value}, but only {written} packets were claimed: hsa_queue_add_write_index \
                     comes before the doorbell"
                );
            });
        }
        {
            let mut processor = lock(&queue.processor);
            processor.told = processor.told.max(told.min(written));
        }
        self.process(queue);
    }

    /// Reads packets of a queue as long as there are any.
    fn process(self: &Arc<Self>, queue: &Arc<AqlQueue>) {
        let failed = {
            let mut processor = lock(&queue.processor);
            loop {
                match self.read_next(queue, &mut processor) {
                    Ok(true) => {}
                    Ok(false) => break None,
                    Err(status) => break Some((processor.next, status)),
                }
            }
        };
        if let Some((index, status)) = failed {
            let id = queue.address();
            tell(|| {
                tracing::error!(target: "windlass::sim", "packet {index} of the queue at {id:#x} was refused: {status:?}");
            });
            self.fail(queue, status, None);
        }
    }

    /// Reads one packet. Returns whether there was one.
    fn read_next(self: &Arc<Self>, queue: &Arc<AqlQueue>, processor: &mut Processor) -> Outcome<bool> {
        let index = processor.next;
        if queue.is_stopped() || processor.in_flight >= WINDOW || index >= processor.told {
            return Ok(false);
        }
        if aql::kind(queue.header(index).load(Ordering::Acquire)) == aql::INVALID {
            // The slot was claimed. The client rings the doorbell when it has written the packet.
            return Ok(false);
        }
        let mut bytes = [0; aql::SIZE as usize];
        self.memory.read(queue.packet(index), &mut bytes).map_err(|_| Status::INVALID_QUEUE)?;
        let packet = Aql::read(&bytes)?;
        let completion = self.signals.find(packet.completion).map_err(|_| Status::INVALID_ARGUMENT)?;
        let (work, condition) = match packet.body {
            Body::Dispatch(dispatch) => (Some(self.prepare(queue, index, &dispatch)?), None),
            Body::All(signals) => (None, Some(self.dependencies(queue, &signals, true)?)),
            Body::Any(signals) => (None, Some(self.dependencies(queue, &signals, false)?)),
        };
        queue.header(index).store(aql::INVALID, Ordering::Release);

        if packet.barrier {
            let open = std::mem::take(&mut processor.open);
            processor.fence.extend(open);
        }
        processor.fence.retain(|point| !point.is_reached());
        processor.open.retain(|point| !point.is_reached());
        let is_barrier = condition.is_some();
        let mut edges: Edges = processor.fence.iter().cloned().map(Edge::Point).collect();
        edges.extend(condition.map(|condition| Edge::Condition(Arc::new(condition))));
        let packet = AqlPacket { runtime: self.clone(), queue: queue.clone(), index, completion, work };
        processor.next += 1;
        processor.in_flight += 1;
        let point = self.scheduler.enqueue_alone(queue.gpu, Box::new(packet), edges)?;
        if is_barrier {
            processor.fence = vec![point];
        } else {
            processor.open.push(point);
        }
        Ok(true)
    }

    /// The signals of a barrier packet.
    fn dependencies(
        &self,
        queue: &Arc<AqlQueue>,
        signals: &[(super::abi::Signal, Comparison)],
        all: bool,
    ) -> Outcome<Dependencies> {
        let awaited = signals.iter().map(|(signal, until)| {
            Ok(Awaited {
                signal: self.signals.get(*signal).map_err(|_| Status::INVALID_ARGUMENT)?,
                until: *until,
            })
        });
        Ok(Dependencies { queue: queue.clone(), awaited: awaited.collect::<Outcome<_>>()?, all })
    }

    /// Checks a dispatch packet.
    fn prepare(&self, queue: &AqlQueue, index: u64, packet: &DispatchPacket) -> Outcome<PacketDispatch> {
        let (kernel, gpu) = self.loader.kernel(packet.kernel_object).ok_or(Status::INVALID_CODE_OBJECT)?;
        if gpu != queue.gpu {
            return Err(Status::INVALID_CODE_OBJECT);
        }
        if packet.workgroup.contains(&0) || packet.grid.contains(&0) {
            return Err(Status::INVALID_ARGUMENT);
        }
        if packet.group_segment_size > kernel.module().part().lds {
            return Err(Status::INVALID_ALLOCATION);
        }
        let groups = std::array::from_fn(|axis| packet.grid[axis].div_ceil(packet.workgroup[axis]));
        let placed = Placed {
            arguments: packet.kernarg_address,
            packet: queue.packet(index),
            queue: queue.address(),
            private_segment_size: packet.private_segment_size,
            group_segment_size: packet.group_segment_size,
        };
        let mut launch = Launch::new(groups, packet.workgroup, &[]);
        launch.work_items = Some(packet.grid);
        launch.lds_faults = self.options.lds == Lds::Fault;
        launch.translates = self.options.translate;
        launch.reach = Grants::of_device(queue.gpu);
        launch.placed = Some(placed);
        Ok(PacketDispatch { kernel, launch })
    }

    /// Ends a packet: signals its completion, and continues with the queue.
    fn end(self: &Arc<Self>, queue: &Arc<AqlQueue>, index: u64, completion: Option<&SignalRef>, start: u64) {
        if let Some(signal) = completion {
            signal.complete_timed(start, self.now().max(start + 1));
        }
        {
            let mut processor = lock(&queue.processor);
            processor.in_flight = processor.in_flight.saturating_sub(1);
            processor.done.insert(index);
            let mut read = queue.read_index().load(Ordering::Relaxed);
            while processor.done.remove(&read) {
                read += 1;
            }
            queue.read_index().store(read, Ordering::Release);
        }
        self.process(queue);
    }
}

/// The conditions that a barrier packet waits for.
struct Dependencies {
    queue: Arc<AqlQueue>,
    awaited: Vec<Awaited>,
    all: bool,
}

impl Condition for Dependencies {
    fn holds(&self) -> bool {
        let mut each = self.awaited.iter().map(Condition::holds);
        // The barrier of a stopped queue does not wait.
        self.awaited.is_empty()
            || self.queue.is_stopped()
            || if self.all { each.all(|holds| holds) } else { each.any(|holds| holds) }
    }
}

/// The dispatch of a packet.
struct PacketDispatch {
    kernel: Arc<Kernel>,
    launch: Launch<'static>,
}

/// A packet that was read.
struct AqlPacket {
    runtime: Arc<Runtime>,
    queue: Arc<AqlQueue>,
    index: u64,
    completion: Option<SignalRef>,
    /// `None` for a barrier.
    work: Option<PacketDispatch>,
}

/// A dispatch that has begun.
struct GoingPacket {
    packet: AqlPacket,
    dispatch: GoingDispatch,
    start: u64,
}

impl AqlPacket {
    fn dispatch(&self, kernel: &Arc<Kernel>) -> Dispatch {
        let Runtime { engine, memory, .. } = &*self.runtime;
        Dispatch { engine: engine.clone(), memory: memory.clone(), kernel: kernel.clone() }
    }

    fn end(&self, start: u64) {
        self.runtime.end(&self.queue, self.index, self.completion.as_ref(), start);
    }

    fn fail(&self, error: &WorkError) {
        if let WorkError::Fault(fault) = error
            && matches!(fault.cause, Cause::Cancelled)
        {
            // The queue was stopped, and its stop was reported.
            return;
        }
        let (address, index) = (self.queue.address(), self.index);
        match error {
            WorkError::Fault(fault) => {
                let report = format!("{fault}\n  dispatched by: packet {index} of the queue at {address:#x}");
                tell(|| tracing::error!(target: "windlass::sim", "{report}"));
                tally::fault(report);
                self.runtime.fail(&self.queue, status_of(fault), Some(fault));
            }
            WorkError::Memory(..) | WorkError::Defect => {
                let report = format!("the simulator itself failed: {error:?}");
                tell(|| tracing::error!(target: "windlass::sim", "{report}"));
                tally::fault(report);
                self.runtime.fail(&self.queue, Status::ERROR, None);
            }
        }
    }
}

impl Packet for AqlPacket {
    fn run(self: Box<Self>) {
        if self.queue.is_stopped() {
            return;
        }
        let start = self.runtime.now();
        if let Some(work) = &self.work {
            let Some(at_work) = self.queue.begin_work() else { return };
            let dispatch = self.dispatch(&work.kernel);
            // A defect of the simulator must stop the queue, not the thread that runs the packet.
            let ran = catch_unwind(AssertUnwindSafe(|| dispatch.run_of(&work.launch, at_work.of_queue())));
            // Before the client is told: it may destroy the queue then, which waits for this.
            drop(at_work);
            if let Err(error) = ran.unwrap_or(Err(WorkError::Defect)) {
                return self.fail(&error);
            }
        }
        self.end(start);
    }

    fn begin(self: Box<Self>, choices: &mut dyn Choose) -> Begun {
        let Some(work) = self.work.as_ref().filter(|_| !self.queue.is_stopped()) else {
            self.run();
            return Begun::Ended;
        };
        let start = self.runtime.now();
        let dispatch = self.dispatch(&work.kernel);
        let (launch, dispatches) = (work.launch, self.queue.dispatches());
        let begun = catch_unwind(AssertUnwindSafe(|| dispatch.begin(launch, dispatches, choices)));
        match begun.unwrap_or(Err(WorkError::Defect)) {
            Ok(dispatch) => Begun::Going(Box::new(GoingPacket { packet: *self, dispatch, start })),
            Err(error) => {
                self.fail(&error);
                Begun::Ended
            }
        }
    }
}

impl Going for GoingPacket {
    fn step(&mut self, choices: &mut dyn Choose) -> StepOutcome {
        if self.packet.queue.is_stopped() {
            return StepOutcome::Done;
        }
        match self.dispatch.step(choices) {
            Ok(StepOutcome::Done) => {
                self.packet.end(self.start);
                StepOutcome::Done
            }
            Ok(step) => step,
            Err(error) => {
                self.packet.fail(&error);
                StepOutcome::Done
            }
        }
    }
}

/// The status of a queue that a fault has stopped.
fn status_of(fault: &Fault) -> Status {
    match fault.cause {
        Cause::IllegalAddress
        | Cause::ReadOnly
        | Cause::MisalignedAtomic
        | Cause::NoPeerAccess { .. }
        | Cause::NoMappingAccess
        | Cause::IllegalProgramCounter { .. } => Status::MEMORY_FAULT,
        Cause::InvalidLaunch { .. } => Status::INVALID_ARGUMENT,
        Cause::OutOfMemory { .. } => Status::OUT_OF_RESOURCES,
        Cause::Unsupported { .. } => Status::ILLEGAL_INSTRUCTION,
        _ => Status::EXCEPTION,
    }
}

fn lock(processor: &Mutex<Processor>) -> MutexGuard<'_, Processor> {
    processor.lock().unwrap_or_else(PoisonError::into_inner)
}
