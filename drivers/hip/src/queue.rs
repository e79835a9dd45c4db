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
use windlass_hal::{Buffer, Error, Operation, Points, Result, edge::Edge, pending::Edges};

use crate::{
    call::{Event, Stream},
    command_buffer::{self, CommandBuffer, Scratch},
    device::{Inner, lock},
    gpu::Gpu,
    reaper::Reaper,
    replay::{Counts, Enqueue, Progress, Rest, Visit, Whole},
    watchers::Watchers,
};

/// One stream of the device. Work gets ascending epochs and completes in their order.
pub(crate) struct Queue {
    pub(crate) index: u32,
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) stream: Stream,
    /// Held while HIP takes work in, which may last: who has a deadline only tries it.
    pub(crate) state: Mutex<State>,
    /// The epoch of the newest work. Written under the lock.
    newest: AtomicU64,
    /// Everything up to this epoch has retired.
    pub(crate) retired: AtomicU64,
    pub(crate) reaper: Arc<Reaper>,
    pub(crate) watchers: Watchers,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) in_flight: VecDeque<InFlight>,
    scratch: Scratch,
}

/// What became of an operation that was to be enqueued. Both have an epoch, which retires behind all work before.
pub(crate) enum Enqueued {
    /// It is in the stream: others may be ordered behind it on the device.
    Work(u64),
    /// The beginning of it is in the stream. Nobody may be ordered behind it; the rest follows when it retires.
    Piece(u64),
    /// Some of it is not. Nobody may be ordered behind it; its signals fail when it retires.
    Failure(u64),
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
    pub(crate) operation: Operation,
    pub(crate) staging: Option<Buffer>,
    /// What is to be enqueued once this has retired.
    pub(crate) rest: Option<Rest>,
    /// Lives as long as any piece of an operation in several.
    pub(crate) whole: Option<Whole>,
}

/// What [`Queue::enqueue`] takes in.
pub(crate) struct Submission {
    pub(crate) operation: Operation,
    /// The bytes of an update, or of a fill that HIP gets wrong, where the device can read them, or room for workgroup
    /// counts.
    pub(crate) staging: Option<Buffer>,
    pub(crate) waits: Points,
    pub(crate) signals: Points,
    pub(crate) edges: Edges,
    /// What of it was enqueued before.
    pub(crate) progress: Progress,
    pub(crate) whole: Option<Whole>,
}

impl Queue {
    pub(crate) fn new(index: u32, gpu: &Arc<Gpu>) -> Result<Self> {
        Ok(Self {
            index,
            gpu: gpu.clone(),
            stream: gpu.hip.create_stream()?,
            state: Mutex::default(),
            newest: AtomicU64::new(0),
            retired: AtomicU64::new(0),
            reaper: Arc::default(),
            watchers: Watchers::default(),
        })
    }

    /// Enqueues an operation behind its edges. What fails is noted in what is in flight, and reaches the signals when
    /// the work before it has retired.
    pub(crate) fn enqueue(&self, device: &Inner, submission: Submission) -> Enqueued {
        let Submission { operation, staging, waits, signals, edges, progress, whole } = submission;
        let hip = &self.gpu.hip;
        // Events of other queues are found before this queue is locked: nobody holds the locks of two queues.
        let events: Result<SmallVec<[Arc<Event>; 4]>> =
            self.foreign(&edges).filter_map(|edge| device.event_of(edge).transpose()).collect();
        // Memory that was given back waits for its event, even if nobody else does.
        let wanted = !signals.is_empty()
            || matches!(operation, Operation::Dealloca { .. })
            || hip.quirks.contained_faults;
        let mut state = lock(&self.state);
        let current = hip.current();
        let mut outcome = match (&current, events) {
            (Err(error), _) => Err(error.clone()),
            (_, Err(error)) => Err(error),
            (Ok(_), Ok(events)) => {
                events.iter().try_for_each(|event| hip.wait_event(self.stream, **event)).and_then(|()| {
                    let visit = Visit {
                        gpu: &self.gpu,
                        limits: &device.limits,
                        stream: self.stream,
                        progress,
                        settled: edges.is_empty(),
                        counts: Counts(staging.as_ref()),
                    };
                    self.run(&visit, &operation, staging.as_ref(), &mut state.scratch)
                })
            }
        };
        let goes_on = matches!(outcome, Ok(Enqueue::UpTo(_)));
        // An event that is made on another GPU would be of no use, now or later.
        let event = match self.record(goes_on || (wanted && current.is_ok())) {
            Ok(event) => event,
            Err(error) => {
                outcome = outcome.and(Err(error));
                None
            }
        };
        drop(current);
        let epoch = self.newest() + 1;
        self.newest.store(epoch, Ordering::SeqCst);
        let (failure, rest) = match outcome {
            Ok(Enqueue::Whole) => (None, None),
            Ok(Enqueue::UpTo(progress)) => (None, Some(Rest { lane: self.index, progress })),
            Err(error) => (Some(error.context(operation.name())), None),
        };
        let enqueued = match (&failure, &rest) {
            (None, None) => Enqueued::Work(epoch),
            (None, Some(_)) => Enqueued::Piece(epoch),
            (Some(_), _) => Enqueued::Failure(epoch),
        };
        let whole = if rest.is_some() { whole.or_else(|| Some(device.unfinished.begin())) } else { whole };
        state.in_flight.push_back(InFlight {
            epoch,
            event,
            waits,
            signals,
            edges,
            failure,
            operation,
            staging,
            rest,
            whole,
        });
        enqueued
    }

    /// The edges that this stream has to be made to wait for: of each other stream the last.
    fn foreign<'a>(&self, edges: &'a Edges) -> impl Iterator<Item = &'a Edge> {
        let own = self.index;
        edges.iter().enumerate().filter_map(move |(index, edge)| {
            let covered = edges
                .iter()
                .enumerate()
                .any(|(other, by)| by.lane == edge.lane && (by.epoch, index) > (edge.epoch, other));
            (edge.lane != own && !covered).then_some(edge)
        })
    }

    /// The epoch of the newest work.
    pub(crate) fn newest(&self) -> u64 {
        self.newest.load(Ordering::SeqCst)
    }

    /// An event behind everything enqueued, if one is wanted.
    fn record(&self, wanted: bool) -> Result<Option<Arc<Event>>> {
        if !wanted {
            return Ok(None);
        }
        let Gpu { hip, events, .. } = &*self.gpu;
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
        visit: &Visit<'_>,
        operation: &Operation,
        staging: Option<&Buffer>,
        scratch: &mut Scratch,
    ) -> Result<Enqueue> {
        let (hip, stream) = (&self.gpu.hip, self.stream);
        let done = match operation {
            Operation::Barrier | Operation::Alloca { .. } | Operation::Dealloca { .. } => Ok(()),
            Operation::Fill { target, pattern } => {
                let (address, length) = (target.device_address(), target.len());
                if hip.quirks.fill_runs_away(address, length) {
                    let bytes = staging.map(Buffer::device_address);
                    command_buffer::write(hip, stream, address, length, bytes)
                } else {
                    command_buffer::fill(hip, stream, address, length, *pattern)
                }
            }
            Operation::Update { target, .. } => {
                let bytes = staging
                    .filter(|bytes| bytes.len() == target.len())
                    .ok_or_else(|| Error::internal("an update with fewer or more bytes than its target"))?;
                hip.copy(stream, target.device_address(), bytes.device_address(), target.len())
            }
            Operation::Copy { source, target } if source.len() != target.len() => {
                Err(Error::internal("a copy between ranges of different lengths"))
            }
            Operation::Copy { source, target } => {
                hip.copy(stream, target.device_address(), source.device_address(), target.len())
            }
            Operation::Dispatch(dispatch) => {
                return command_buffer::dispatch(visit, dispatch);
            }
            Operation::Execute { command_buffer, bindings } => {
                return command_buffer
                    .as_any()
                    .downcast_ref::<CommandBuffer>()
                    .ok_or_else(|| {
                        Error::internal("a command buffer of another driver reached the HIP driver")
                    })?
                    .replay(visit, bindings, scratch);
            }
            other => Err(Error::unimplemented(format!("the HIP driver does not know {}", other.name()))),
        };
        done.map(|()| Enqueue::Whole)
    }

    /// Whether everything up to `epoch` has retired.
    pub(crate) fn has_retired(&self, epoch: u64) -> bool {
        self.retired.load(Ordering::Acquire) >= epoch
    }

    /// The first event at or behind `epoch`; `None` if that has retired. Records one where none was needed so far.
    pub(crate) fn event_from(&self, epoch: u64) -> Result<Option<Arc<Event>>> {
        let mut state = lock(&self.state);
        let covers = |flight: &&InFlight| flight.epoch >= epoch && flight.event.is_some();
        if let Some(flight) = state.in_flight.iter().find(covers) {
            return Ok(flight.event.clone());
        }
        let Some(last) = state.in_flight.back_mut().filter(|last| last.epoch >= epoch) else {
            return Ok(None);
        };
        let _current = self.gpu.hip.current()?;
        last.event = self.record(true)?;
        Ok(last.event.clone())
    }

    /// The oldest work in flight, and what has to retire before it.
    pub(crate) fn oldest(&self) -> Option<(u64, Edges)> {
        lock(&self.state).in_flight.front().map(|flight| (flight.epoch, flight.edges.clone()))
    }

    /// An edge that stands for `epoch` of this queue.
    pub(crate) fn edge(&self, device: &Arc<Inner>, epoch: u64) -> Edge {
        Edge { source: device.clone(), lane: self.index, epoch }
    }
}
