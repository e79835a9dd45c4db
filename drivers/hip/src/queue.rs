// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue: one in-order stream, and what is in flight in it.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use smallvec::SmallVec;
use windlass_hal::{BufferParams, Dispatch, Error, Operation, Points, Result, edge::Edge, pending::Edges};

use crate::{
    allocator::write_staging,
    buffer::Buffer,
    call::{Event, Hip, Stream},
    command_buffer::{self, CommandBuffer},
    device::{Inner, lock},
    event::EventPool,
    reaper::Reaper,
};

/// One stream of the device. Work gets ascending epochs and completes in their order.
pub(crate) struct Queue {
    pub(crate) index: u32,
    pub(crate) stream: Stream,
    pub(crate) state: Mutex<State>,
    /// Everything up to this epoch has retired.
    pub(crate) retired: AtomicU64,
    pub(crate) reaper: Arc<Reaper>,
}

#[derive(Default)]
pub(crate) struct State {
    /// The epoch of the newest work.
    pub(crate) newest: u64,
    pub(crate) in_flight: VecDeque<InFlight>,
    /// Room for one argument block.
    scratch: Vec<u8>,
}

/// A submission that HIP has, with everything that it keeps alive.
pub(crate) struct InFlight {
    pub(crate) epoch: u64,
    /// Recorded behind the work, if anybody signals or asked; else the next event of the stream stands for it.
    pub(crate) event: Option<Arc<Event>>,
    pub(crate) waits: Points,
    pub(crate) signals: Points,
    /// Work of other streams that has to retire first, so that payloads grow in the order of cause and effect.
    pub(crate) edges: Edges,
    /// What went wrong while it was enqueued.
    pub(crate) failure: Option<Error>,
    /// Kept alive until it has retired.
    _operation: Operation,
    _staging: Option<Buffer>,
}

impl Queue {
    pub(crate) fn new(index: u32, hip: &Hip) -> Result<Self> {
        Ok(Self {
            index,
            stream: hip.create_stream()?,
            state: Mutex::default(),
            retired: AtomicU64::new(0),
            reaper: Arc::default(),
        })
    }

    /// Enqueues an operation behind its edges. Everything that fails is noted in what is in flight, and reaches the
    /// signals when the work before it has retired.
    pub(crate) fn enqueue(
        &self,
        device: &Arc<Inner>,
        operation: Operation,
        waits: Points,
        signals: Points,
        edges: Edges,
    ) -> u64 {
        let hip = &device.hip;
        // Events of other queues are found before this queue is locked: nobody holds the locks of two queues.
        let foreign = edges.iter().filter(|edge| edge.lane != self.index);
        let events: Result<SmallVec<[Arc<Event>; 4]>> =
            foreign.filter_map(|edge| device.event_of(edge).transpose()).collect();
        let mut staging = None;
        let mut state = lock(&self.state);
        let current = hip.current();
        let mut outcome = match (&current, events) {
            (Err(error), _) => Err(error.clone()),
            (_, Err(error)) => Err(error),
            (Ok(_), Ok(events)) => events
                .iter()
                .try_for_each(|event| hip.wait_event(self.stream, **event))
                .and_then(|()| self.run(device, &operation, &mut state.scratch, &mut staging)),
        };
        let event = match self.record(&device.events, hip, !signals.is_empty()) {
            Ok(event) => event,
            Err(error) => {
                outcome = outcome.and(Err(error));
                None
            }
        };
        drop(current);
        state.newest += 1;
        let epoch = state.newest;
        state.in_flight.push_back(InFlight {
            epoch,
            event,
            waits,
            signals,
            edges,
            failure: outcome.err().map(|error| error.context(operation.name())),
            _operation: operation,
            _staging: staging,
        });
        epoch
    }

    /// An event behind everything enqueued, if one is wanted.
    fn record(&self, events: &EventPool, hip: &Hip, wanted: bool) -> Result<Option<Arc<Event>>> {
        if !wanted {
            return Ok(None);
        }
        let event = events.acquire(hip)?;
        match hip.record(*event, self.stream) {
            Ok(()) => Ok(Some(event)),
            Err(error) => {
                events.release(event);
                Err(error)
            }
        }
    }

    fn run(
        &self,
        device: &Arc<Inner>,
        operation: &Operation,
        scratch: &mut Vec<u8>,
        staging: &mut Option<Buffer>,
    ) -> Result<()> {
        let (hip, stream) = (&device.hip, self.stream);
        match operation {
            Operation::Barrier | Operation::Alloca { .. } | Operation::Dealloca { .. } => Ok(()),
            Operation::Fill { target, pattern } => {
                command_buffer::fill(hip, stream, target.device_address(), target.len(), *pattern)
            }
            Operation::Update { source, target } => {
                // HIP may wait for the stream before it reads pageable memory; pinned memory it never does.
                let bytes = stage(device, source)?;
                hip.copy(stream, target.device_address(), bytes.block().address(), target.len())?;
                *staging = Some(bytes);
                Ok(())
            }
            Operation::Copy { source, target } => {
                hip.copy(stream, target.device_address(), source.device_address(), target.len())
            }
            Operation::Dispatch(dispatch) => launch(hip, stream, dispatch),
            Operation::Execute { command_buffer, bindings } => command_buffer
                .as_any()
                .downcast_ref::<CommandBuffer>()
                .ok_or_else(|| Error::internal("a command buffer of another driver reached the HIP driver"))?
                .replay(hip, stream, bindings, scratch),
            other => Err(Error::unimplemented(format!("the HIP driver does not know {}", other.name()))),
        }
    }

    /// Whether everything up to `epoch` has retired.
    pub(crate) fn has_retired(&self, epoch: u64) -> bool {
        self.retired.load(Ordering::Acquire) >= epoch
    }

    /// The first event at or behind `epoch`; `None` if that has retired. Records one where none was needed so far.
    pub(crate) fn event_from(&self, device: &Inner, epoch: u64) -> Result<Option<Arc<Event>>> {
        let mut state = lock(&self.state);
        let covers = |flight: &&InFlight| flight.epoch >= epoch && flight.event.is_some();
        if let Some(flight) = state.in_flight.iter().find(covers) {
            return Ok(flight.event.clone());
        }
        let Some(last) = state.in_flight.back_mut().filter(|last| last.epoch >= epoch) else {
            return Ok(None);
        };
        let _current = device.hip.current()?;
        last.event = self.record(&device.events, &device.hip, true)?;
        Ok(last.event.clone())
    }

    /// The oldest event in flight.
    pub(crate) fn oldest_event(&self, device: &Inner) -> Result<Option<Arc<Event>>> {
        let oldest = lock(&self.state).in_flight.front().map(|flight| flight.epoch);
        oldest.map_or(Ok(None), |epoch| self.event_from(device, epoch))
    }

    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.state).in_flight.is_empty()
    }

    /// An edge that stands for `epoch` of this queue.
    pub(crate) fn edge(&self, device: &Arc<Inner>, epoch: u64) -> Edge {
        Edge { source: device.clone(), lane: self.index, epoch }
    }
}

fn launch(hip: &Hip, stream: Stream, dispatch: &Dispatch) -> Result<()> {
    let function = command_buffer::function(dispatch.executable.as_ref(), dispatch.function)?;
    hip.launch(
        stream,
        function,
        dispatch.workgroup_count,
        dispatch.workgroup_size,
        dispatch.dynamic_local_memory,
        &dispatch.arguments,
    )
}

/// Writes bytes to pinned memory that the device can read.
fn stage(device: &Arc<Inner>, bytes: &[u8]) -> Result<Buffer> {
    let params = BufferParams::host();
    let staging = device.allocator.allocate(device, &params, bytes.len() as u64, false)?;
    write_staging(&staging, bytes)?;
    Ok(staging)
}
