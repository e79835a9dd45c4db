// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue: one in-order stream, and the pieces that are in flight in it.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use smallvec::SmallVec;
use windlass_hal::{Buffer, Error, Limits, Result, edge::Edge, pending::Edges};

use crate::{
    call::{Event, StreamHandle},
    demand::Demand,
    dispatch,
    event_pool::EventPool,
    gpu::Gpu,
    queues::Queues,
    replay::{self, Scratch},
    stream::Stream,
    submission::{NewPiece, Next, Piece, Resume, Submission, Work},
    sync::{lock, try_lock},
    timing::Clock,
    watchers::Watchers,
    workgroup_count::Counts,
};

/// The events of other queues that a piece has to wait for.
pub(crate) type Events = SmallVec<[Arc<Event>; 4]>;

/// One stream of the device. Pieces get ascending epochs and complete in that order.
pub(crate) struct Queue {
    pub(crate) index: u32,
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) handle: StreamHandle,
    /// Held during calls to HIP that enqueue work, which may take long: a caller with a deadline only tries the lock.
    pub(crate) state: Mutex<QueueState>,
    /// The epoch of the newest piece. Written under the lock.
    newest: AtomicU64,
    /// Everything up to this epoch has retired.
    pub(crate) retired: AtomicU64,
    pub(crate) demand: Arc<Demand>,
    pub(crate) watchers: Watchers,
}

/// Of so many pieces one at least has an event. So work without signals retires as well, and the search for the next event is
/// short.
const MOST_WITHOUT_EVENT: u32 = 64;

#[derive(Default)]
pub(crate) struct QueueState {
    /// The submissions with a piece in the stream, by epoch.
    pub(crate) in_flight: VecDeque<Box<Submission>>,
    pub(crate) events: EventPool,
    /// For profiles.
    pub(crate) clock: Clock,
    /// The newest pieces without an event behind them.
    without_event: u32,
    pub(crate) scratch: Scratch,
}

/// The outcome of [`Queue::enqueue`], with the epoch of the piece. The piece retires after all work before it.
pub(crate) enum Enqueued {
    /// The whole submission is in the stream, or the rest of it: other work may be ordered behind it on the device.
    All(u64),
    /// The next piece follows when this one retires. No work may be ordered behind it on the device.
    Part(u64),
    /// It failed, wholly or in part. No work may be ordered behind it; its signals fail when it retires.
    Failed(u64),
}

/// The oldest piece of a queue.
pub(crate) struct Oldest {
    pub(crate) epoch: u64,
    /// The work that has to retire before it.
    pub(crate) edges: Edges,
    /// The end of its group of collective operations, if the stream may not wait for it.
    pub(crate) group: Option<Arc<Event>>,
}

impl Enqueued {
    pub(crate) fn epoch(&self) -> u64 {
        let (Self::All(epoch) | Self::Part(epoch) | Self::Failed(epoch)) = self;
        *epoch
    }
}

impl Queue {
    pub(crate) fn new(index: u32, gpu: &Arc<Gpu>) -> Result<Self> {
        Ok(Self {
            index,
            gpu: gpu.clone(),
            handle: gpu.hip.create_stream()?,
            state: Mutex::default(),
            newest: AtomicU64::new(0),
            retired: AtomicU64::new(0),
            demand: Arc::default(),
            watchers: Watchers::default(),
        })
    }

    /// Enqueues the next piece of a submission behind `events`. A failure is kept with the piece, and reaches the signals
    /// when all work before the piece has retired. See [`Queues::enqueue`](crate::queues::Queues::enqueue) for `promise`.
    pub(crate) fn enqueue(
        &self,
        events: &Result<Events>,
        queues: &Queues,
        mut submission: Box<Submission>,
        promise: impl FnOnce(&Submission, u64),
    ) -> Enqueued {
        let needs_event = self.needs_event(&submission);
        let mut state = lock(&self.state);
        let state = &mut *state;
        let needs_event = needs_event || state.without_event + 1 >= MOST_WITHOUT_EVENT;
        let mut event = None;
        let outcome = self.gpu.hip.current().and_then(|_current| {
            let waited = match state.clock.is_on() {
                false => self.wait_for(events),
                true => self.begin_watched(state, events, &mut submission),
            };
            let outcome = waited.and_then(|()| self.run(&submission, queues.limits(), &mut state.scratch));
            // The next piece needs an event in any case: it follows when the event completes.
            if needs_event || matches!(outcome, Ok(Some(_))) {
                match self.stream().record(&mut state.events) {
                    Ok(recorded) => event = Some(recorded),
                    Err(error) => return outcome.and(Err(error)),
                }
            }
            outcome
        });
        if state.clock.is_on() {
            state.end_watched(&mut submission, event.as_ref());
        }
        let epoch = self.newest() + 1;
        self.newest.store(epoch, Ordering::SeqCst);
        let (enqueued, next) = match outcome {
            Ok(None) => (Enqueued::All(epoch), Next::Signal),
            Ok(Some(resume)) => {
                submission.resume = resume;
                submission.unfinished.get_or_insert_with(|| queues.unfinished.begin());
                (Enqueued::Part(epoch), Next::Resume)
            }
            Err(error) => (Enqueued::Failed(epoch), Next::Fail(error.context(submission.work.name()))),
        };
        state.without_event = if event.is_some() { 0 } else { state.without_event + 1 };
        submission.piece = Piece { queue: self.index, epoch, event, next };
        if let Enqueued::All(epoch) = enqueued {
            promise(&submission, epoch);
        }
        if state.in_flight.is_empty() {
            queues.note(self, true);
        }
        state.in_flight.push_back(submission);
        enqueued
    }

    pub(crate) fn stream(&self) -> Stream<'_> {
        Stream { gpu: &self.gpu, handle: self.handle }
    }

    /// Whether an event must be recorded behind a submission. A dealloca needs one without signals, because reuse of the
    /// memory waits for it.
    fn needs_event(&self, submission: &Submission) -> bool {
        !submission.order.signals.is_empty()
            || matches!(submission.work, Work::Dealloca)
            || self.gpu.hip.quirks.contained_faults
    }

    /// Waits for `events`, and prepares the times of a piece for a profile.
    #[cold]
    fn begin_watched(
        &self,
        state: &mut QueueState,
        events: &Result<Events>,
        submission: &mut Submission,
    ) -> Result<()> {
        for event in events.as_ref().map_err(Error::clone)? {
            self.stream().wait(event)?;
        }
        state.begin_watched(self, submission);
        Ok(())
    }

    #[inline]
    fn wait_for(&self, events: &Result<Events>) -> Result<()> {
        match events {
            Ok(events) => events.iter().try_for_each(|event| self.stream().wait(event)),
            Err(error) => Err(error.clone()),
        }
    }

    /// Puts the next piece of an operation into the stream. Returns where the piece after it begins, if there is one.
    fn run(&self, submission: &Submission, limits: &Limits, scratch: &mut Scratch) -> Result<Option<Resume>> {
        let (stream, staging) = (self.stream(), submission.staging.as_ref());
        let piece = NewPiece {
            stream,
            limits,
            start: submission.resume,
            waits_completed: submission.order.edges.is_empty(),
            counts: Counts(staging),
        };
        match &submission.work {
            Work::Barrier | Work::Alloca | Work::Dealloca => Ok(()),
            Work::Fill { pattern } => {
                let target = submission.target()?;
                let staged = staging.map(Buffer::device_address);
                stream.fill(target.device_address(), target.len(), *pattern, staged)
            }
            Work::Update => {
                let target = submission.target()?;
                let bytes = staging
                    .filter(|bytes| bytes.len() == target.len())
                    .ok_or_else(|| Error::internal("an update with fewer or more bytes than its target"))?;
                stream.copy(target.device_address(), bytes.device_address(), target.len())
            }
            Work::Copy => {
                let (source, target) = (submission.source()?, submission.target()?);
                if source.len() != target.len() {
                    return Err(Error::internal("a copy between ranges of different lengths"));
                }
                stream.copy(target.device_address(), source.device_address(), target.len())
            }
            Work::Dispatch { .. } => return dispatch::enqueue(&piece, submission),
            Work::Execute { command_buffer } => {
                if let Some(group) = submission.issued_group() {
                    stream.wait(&group.end)?;
                    // A part of the group may be in the stream, so the piece retires behind its end. The rest does not run.
                    if group.failure.get().is_some() {
                        return Ok(None);
                    }
                    replay::mark_group(&piece, command_buffer.as_ref(), group, scratch)?;
                }
                return replay::enqueue(&piece, command_buffer.as_ref(), &submission.bindings, scratch);
            }
            Work::ImportTimepoint { .. } => {
                let timepoint = submission.timepoint();
                let timepoint = timepoint.ok_or_else(|| Error::internal("a timepoint of another driver"))?;
                timepoint.event.as_deref().map_or(Ok(()), |event| stream.wait(event))
            }
            Work::Collective => {
                let group = submission.issued_group();
                let group = group.ok_or_else(|| Error::internal("a group that its channel did not issue"))?;
                stream.wait(&group.end)
            }
            Work::ExportTimepoint(opening) => stream.open(opening),
            other @ (Work::HostCall(_) | Work::Unknown(_)) => {
                Err(Error::unimplemented(format!("the HIP driver does not know {}", other.name())))
            }
        }
        .map(|()| None)
    }

    /// The edges that this stream has to wait for: the last of each other stream.
    pub(crate) fn foreign<'a>(&self, edges: &'a Edges) -> impl Iterator<Item = &'a Edge> {
        let own = self.index;
        edges.iter().enumerate().filter_map(move |(index, edge)| {
            let covered = edges
                .iter()
                .enumerate()
                .any(|(other, by)| by.lane == edge.lane && (by.epoch, index) > (edge.epoch, other));
            (edge.lane != own && !covered).then_some(edge)
        })
    }

    /// The epoch of the newest piece.
    pub(crate) fn newest(&self) -> u64 {
        self.newest.load(Ordering::SeqCst)
    }

    /// Whether everything up to `epoch` has retired.
    pub(crate) fn has_retired(&self, epoch: u64) -> bool {
        self.retired.load(Ordering::SeqCst) >= epoch
    }

    /// The first event at or behind `epoch`. Records one if there is none; `None` if the epoch has retired.
    pub(crate) fn event_from(&self, epoch: u64) -> Result<Option<Arc<Event>>> {
        let mut state = lock(&self.state);
        // It may have retired since the caller looked, and the event of later work may wait for the caller's.
        if self.has_retired(epoch) {
            return Ok(None);
        }
        let first = state.in_flight.partition_point(|submission| submission.piece.epoch < epoch);
        if let Some(event) =
            state.in_flight.range(first..).find_map(|submission| submission.piece.event.clone())
        {
            return Ok(Some(event));
        }
        if self.newest() < epoch || state.in_flight.is_empty() {
            return Ok(None);
        }
        self.record_behind_newest(&mut state).map(Some)
    }

    /// Records an event behind the newest piece if it has none. Does nothing while another thread is inside HIP.
    pub(crate) fn try_cover_newest(&self) -> Result<()> {
        match try_lock(&self.state) {
            Some(mut state) if state.without_event > 0 && !state.in_flight.is_empty() => {
                self.record_behind_newest(&mut state).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn record_behind_newest(&self, state: &mut QueueState) -> Result<Arc<Event>> {
        let _current = self.gpu.hip.current()?;
        let event = self.stream().record(&mut state.events)?;
        if let Some(newest) = state.in_flight.back_mut() {
            newest.piece.event = Some(event.clone());
        }
        state.without_event = 0;
        Ok(event)
    }

    /// The oldest piece in flight.
    pub(crate) fn oldest(&self) -> Option<Oldest> {
        let state = lock(&self.state);
        let oldest = state.in_flight.front()?;
        Some(Oldest {
            epoch: oldest.piece.epoch,
            edges: oldest.order.edges.clone(),
            group: oldest.unawaited_group().map(|group| group.end.clone()),
        })
    }
}
