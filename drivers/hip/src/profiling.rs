// SPDX-License-Identifier: MIT OR Apache-2.0
//! Times of the GPU for profiles, by pairs of events.
//!
//! Each profiled submission has an event before its work, and its usual event behind it; both take times. The thread that
//! retires the submission asks HIP for the times between them and the queue's anchor, and tells the witness. The first
//! anchors come from a stream of their own, which is idle, so that a call of the host encloses the event closely.

use std::{
    mem,
    sync::{Arc, atomic::Ordering::Relaxed},
};

use windlass_hal::{
    Code, Error, Result, TimeSpan, driver,
    witness::{Witness, now},
};

use crate::{
    call::{Event, EventStatus, StreamHandle},
    command_buffer::CommandBuffer,
    device::Inner,
    event_pool::EventPool,
    gpu::Gpu,
    hip::Hip,
    queue::{Queue, QueueState},
    stream::Stream,
    submission::{Next, Submission, Work},
    sync::lock,
    timing::{Anchor, Clock, Mark, Marks, Timing, nanoseconds},
};

/// The longest search for an idle moment of a GPU, in nanoseconds.
const PATIENCE: u64 = 1_000_000_000;
/// The largest correction of a GPU's clock at a time, in nanoseconds. A clock that is farther off does not count time.
const DRIFT: i64 = 1_000_000;
/// An uncertainty that is good enough, in nanoseconds, and how many tries it is worth.
const CLOSE: u64 = 20_000;
const TRIES: usize = 8;

impl QueueState {
    /// Tells the witness of a submission its queue, and records the event before the piece, if it is the first or has
    /// commands to time. From here on the queue records events that take times, up to
    /// [`end_watched`](Self::end_watched). Without an event before it, the submission runs untimed.
    pub(crate) fn begin_watched(&mut self, queue: &Queue, submission: &mut Submission) {
        let Some(witness) = Witness::of(&submission.order.signals) else { return };
        witness.on_queue(queue.index);
        if self.clock.anchor.is_none() || !witness.wants_device_times() {
            return;
        }
        let is_first = !submission.timing.has_begun();
        if is_first {
            submission.timing.start = queue.stream().record(&mut self.clock.pool).ok();
        }
        if !submission.timing.has_begun() {
            return;
        }
        if matches!(submission.work, Work::Execute { .. }) && witness.wants_commands() {
            let mut marks = Marks { marks: Vec::new(), pool: self.clock.take_pool() };
            if !is_first {
                let _ = marks.add(queue.stream(), None);
            }
            self.scratch.marks = Some(marks);
        }
        mem::swap(&mut self.events, &mut self.clock.pool);
        self.clock.has_swapped = true;
    }

    /// Takes the events of a piece over that is in the stream. `event` is the one behind it.
    #[cold]
    pub(crate) fn end_watched(&mut self, submission: &mut Submission, event: Option<&Arc<Event>>) {
        if !mem::take(&mut self.clock.has_swapped) {
            return;
        }
        mem::swap(&mut self.events, &mut self.clock.pool);
        submission.timing.end = event.cloned();
        if let Some(mut marks) = self.scratch.marks.take() {
            // The event behind the piece was made while the pool was away.
            let made = self.clock.take_pool();
            self.clock.pool = marks.pool;
            made.into_events().for_each(|event| self.clock.pool.release(event));
            submission.timing.marks.append(&mut marks.marks);
        }
    }
}

impl Clock {
    /// Tells the witness of a completed submission when it ran, and takes its events back. Does nothing between two
    /// pieces.
    #[cold]
    pub(crate) fn tell_times(&mut self, gpu: &Gpu, submission: &mut Submission) {
        let end = submission.timing.end.take();
        if end.is_some() {
            // It is the event of the piece.
            self.pool.extend(submission.piece.event.take());
        }
        if matches!(submission.piece.next, Next::Resume) {
            return;
        }
        let Timing { start, marks, .. } = mem::take(&mut submission.timing);
        let witness = Witness::of(&submission.order.signals);
        if let (Some(witness), Some(start), Some(end)) = (witness, &start, &end)
            && let Some(begun) = self.time_of(&gpu.hip, start)
            && let Some((delay, length)) = span(gpu, submission, start, end)
        {
            let now = now();
            let begun = corrected(gpu, witness, begun.saturating_add_signed(delay), length, now);
            let ended = begun.saturating_add_signed(length.max(0));
            witness.ran(gpu.index as u32, TimeSpan { begun, ended }, now);
            if let (Work::Execute { command_buffer }, false) = (&submission.work, marks.is_empty()) {
                tell_commands(witness, command_buffer.as_ref(), start, &marks, |event| {
                    let length = nanoseconds(&gpu.hip, start, event)?;
                    Some(begun.saturating_add_signed(length).min(ended))
                });
            }
        }
        let marks = marks.into_iter().filter(|mark| mark.is_own).map(|mark| mark.event);
        for event in start.into_iter().chain(marks) {
            if !self.is_anchor(&event) {
                self.pool.release(event);
            }
        }
    }

    fn is_anchor(&self, event: &Arc<Event>) -> bool {
        self.anchor.as_ref().is_some_and(|anchor| Arc::ptr_eq(&anchor.event, event))
    }
}

/// How long after `start` a submission began, and how long it ran. A group of collective operations runs in the stream
/// of its channel, and may be done before its queue gets it.
fn span(gpu: &Gpu, submission: &Submission, start: &Event, end: &Event) -> Option<(i64, i64)> {
    let of_group = || {
        let group = submission.issued_group().filter(|_| matches!(submission.work, Work::Collective))?;
        let delay = nanoseconds(&gpu.hip, start, &group.start)?;
        Some((delay, nanoseconds(&gpu.hip, &group.start, &group.end)?))
    };
    of_group().or_else(|| Some((0, nanoseconds(&gpu.hip, start, end)?)))
}

/// The time at which work of this length began. The clocks of GPU and host drift apart, so a time that cannot be,
/// before the submission or behind this moment, corrects the GPU's clock.
fn corrected(gpu: &Gpu, witness: &Witness, begun: u64, length: i64, now: u64) -> u64 {
    let begun = begun.saturating_add_signed(gpu.clock_offset.load(Relaxed));
    let late = begun.saturating_add_signed(length).cast_signed() - now.cast_signed();
    let early = witness.issued().cast_signed() - begun.cast_signed();
    let shift = if late > 0 { -late } else { early.max(0) };
    if shift == 0 || shift.abs() > DRIFT {
        return begun;
    }
    gpu.clock_offset.fetch_add(shift, Relaxed);
    begun.saturating_add_signed(shift)
}

/// Tells the times of commands: each begins where the one before it in the stream has ended.
fn tell_commands(
    witness: &Witness,
    command_buffer: &dyn driver::RawCommandBuffer,
    start: &Arc<Event>,
    marks: &[Mark],
    mut time_of: impl FnMut(&Arc<Event>) -> Option<u64>,
) {
    let Some(command_buffer) = command_buffer.as_any().downcast_ref::<CommandBuffer>() else { return };
    let mut spans = Vec::with_capacity(marks.len());
    let mut before = time_of(start);
    for Mark { position, event, .. } in marks {
        let ended = time_of(event);
        if let (Some(position), Some(begun), Some(ended)) = (position, before, ended) {
            spans.push((*position, TimeSpan { begun, ended: ended.max(begun) }));
        }
        before = ended;
    }
    command_buffer.list.tell(witness, &spans);
}

impl Inner {
    /// Has the queues tell witnesses about their work, with times if there are to be any.
    pub(crate) fn begin_timing(&self, times: bool) -> Result<()> {
        let outcome = if times { self.set_anchors() } else { Ok(()) };
        for queue in self.queues.iter() {
            let clock = &mut lock(&queue.state).clock;
            clock.is_on = true;
            if outcome.is_err() {
                clock.set(None);
            }
        }
        outcome
    }

    /// Gives each queue an anchor.
    fn set_anchors(&self) -> Result<()> {
        if self.hip.quirks.elapsed_times_wrong {
            return Err(Error::unimplemented(
                "times of the GPU: hipEventElapsedTime of AMD's HIP 5 gives wrong ones",
            ));
        }
        for gpu in self.gpus.iter() {
            gpu.clock_offset.store(0, Relaxed);
            let stream = self.clock_stream(gpu)?;
            let (base, at) = anchor(gpu, stream)?;
            let mut outcome = Ok(());
            for queue in self.queues.iter().filter(|queue| queue.gpu.index == gpu.index) {
                outcome = outcome.and_then(|()| self.begin_timing_of(queue, stream, base, at));
            }
            gpu.hip.destroy_event(base);
            outcome?;
        }
        Ok(())
    }

    /// Each queue has an event of its own, because queues destroy their events.
    fn begin_timing_of(&self, queue: &Queue, stream: StreamHandle, base: Event, at: u64) -> Result<()> {
        let hip = &queue.gpu.hip;
        let own = record(&queue.gpu, stream)?;
        let distance = await_event(hip, own, now() + PATIENCE).and_then(|()| {
            nanoseconds(hip, &base, &own)
                .ok_or_else(|| Error::new(Code::Unavailable, "hipEventElapsedTime told no time"))
        });
        match distance {
            Ok(distance) => {
                let anchor = Anchor { event: Arc::new(own), at: at.saturating_add_signed(distance) };
                lock(&queue.state).clock.set(Some(anchor));
                Ok(())
            }
            Err(error) => {
                hip.destroy_event(own);
                Err(error)
            }
        }
    }

    /// Takes the anchors back.
    pub(crate) fn end_timing(&self) {
        for queue in self.queues.iter() {
            let clock = &mut lock(&queue.state).clock;
            clock.is_on = false;
            clock.set(None);
        }
    }

    fn clock_stream(&self, gpu: &Gpu) -> Result<StreamHandle> {
        let mut streams = lock(&self.clock_streams.0);
        if let Some((_, stream)) = streams.iter().find(|(index, _)| *index == gpu.index) {
            return Ok(*stream);
        }
        let stream = gpu.hip.create_stream()?;
        streams.push((gpu.index, stream));
        Ok(stream)
    }
}

/// An event, recorded in the stream.
fn record(gpu: &Gpu, stream: StreamHandle) -> Result<Event> {
    let _current = gpu.hip.current()?;
    let mut pool = EventPool::timed();
    let recorded = Stream { gpu, handle: stream }.record(&mut pool);
    pool.take().iter().for_each(|event| gpu.hip.destroy_event(**event));
    recorded.map(|event| *event)
}

/// An event with its time on the host's clock: of several, the one that two readings of the host's clock enclose most
/// closely.
fn anchor(gpu: &Gpu, stream: StreamHandle) -> Result<(Event, u64)> {
    let deadline = now() + PATIENCE;
    let mut best: Option<(Event, u64, u64)> = None;
    for _ in 0..TRIES {
        let before = now();
        let event = record(gpu, stream)?;
        if let Err(error) = await_event(&gpu.hip, event, deadline) {
            gpu.hip.destroy_event(event);
            if best.is_some() {
                break;
            }
            return Err(error);
        }
        let after = now();
        let width = after.saturating_sub(before);
        let worse = match best {
            Some((_, _, least)) if width >= least => Some(event),
            _ => best.replace((event, before + width / 2, width)).map(|(event, ..)| event),
        };
        worse.iter().for_each(|event| gpu.hip.destroy_event(*event));
        if width < CLOSE {
            break;
        }
    }
    best.map(|(event, at, _)| (event, at))
        .ok_or_else(|| Error::new(Code::Unavailable, "no event was reached"))
}

/// Waits until an event is reached, and no longer than a time of the host's clock.
fn await_event(hip: &Hip, event: Event, deadline: u64) -> Result<()> {
    loop {
        match hip.query(event)? {
            EventStatus::Complete => return Ok(()),
            EventStatus::Faulted(error) => return Err(error),
            EventStatus::Running if now() > deadline => {
                return Err(Error::new(
                    Code::Unavailable,
                    "the GPU was busy for a second, so its clock cannot be compared with the host's",
                ));
            }
            EventStatus::Running => std::thread::yield_now(),
        }
    }
}
