// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events that time work for profiles, and the clock of a queue.
//!
//! HIP tells only the time between two events, in milliseconds of 32 bits. So each queue has an anchor: an event whose
//! time on the host's clock is known. As the numbers lose precision with distance, the anchor moves forward with the
//! work. `profiling.rs` records the events and tells the times.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use windlass_hal::{Position, Result};

use crate::{
    call::{Event, StreamHandle},
    event_pool::EventPool,
    group::Group,
    hip::Hip,
    stream::Stream,
};

/// The distance in nanoseconds from which on the anchor moves. HIP's numbers are exact to 4 ns up to there.
const FAR: u64 = 50_000_000;

/// An event whose time on the host's clock is known.
pub(crate) struct Anchor {
    pub(crate) event: Arc<Event>,
    pub(crate) at: u64,
}

/// The events of a submission that is profiled.
#[derive(Default)]
pub(crate) struct Timing {
    /// Before the work.
    pub(crate) start: Option<Arc<Event>>,
    /// Behind the newest piece.
    pub(crate) end: Option<Arc<Event>>,
    pub(crate) marks: Vec<Mark>,
}

/// An event behind a command.
pub(crate) struct Mark {
    /// The command. Without one, the event is where a later command begins.
    pub(crate) position: Option<Position>,
    pub(crate) event: Arc<Event>,
    /// Whether the event is one of the clock's pool.
    pub(crate) is_own: bool,
}

/// The marks of a piece that is being enqueued.
pub(crate) struct Marks {
    pub(crate) marks: Vec<Mark>,
    pub(crate) pool: EventPool,
}

impl Marks {
    /// Records an event.
    pub(crate) fn add(&mut self, stream: Stream<'_>, position: Option<Position>) -> Result<()> {
        self.marks.push(Mark { position, event: stream.record(&mut self.pool)?, is_own: true });
        Ok(())
    }

    /// Takes over the events of a group of collective operations, which is behind the newest command, in the stream of
    /// its channel. The stream waits for its end.
    pub(crate) fn add_group(
        &mut self,
        stream: Stream<'_>,
        position: Option<Position>,
        group: &Group,
    ) -> Result<()> {
        for (position, event) in [(None, &group.start), (position, &group.end)] {
            self.marks.push(Mark { position, event: event.clone(), is_own: false });
        }
        self.add(stream, None)
    }
}

/// The timing of one queue.
pub(crate) struct Clock {
    /// `None` while there is no profile.
    pub(crate) anchor: Option<Anchor>,
    /// Events that take times.
    pub(crate) pool: EventPool,
    pub(crate) is_on: bool,
    /// Whether the pool is in the place of the queue's other events.
    pub(crate) has_swapped: bool,
}

/// The streams that serve only to compare clocks, one for each GPU.
#[derive(Default)]
pub(crate) struct ClockStreams(pub(crate) Mutex<Vec<(usize, StreamHandle)>>);

impl ClockStreams {
    /// The streams, when nothing else uses the device any more.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (usize, StreamHandle)> + use<> {
        mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner)).into_iter()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self { anchor: None, pool: EventPool::timed(), is_on: false, has_swapped: false }
    }
}

impl Clock {
    /// Whether there is a profile.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    pub(crate) fn take_pool(&mut self) -> EventPool {
        mem::replace(&mut self.pool, EventPool::timed())
    }

    /// Every event, to destroy it.
    pub(crate) fn take(&mut self) -> Vec<Arc<Event>> {
        let mut events = self.pool.take();
        events.extend(self.anchor.take().map(|anchor| anchor.event));
        events
    }

    pub(crate) fn set(&mut self, anchor: Option<Anchor>) {
        if let Some(before) = mem::replace(&mut self.anchor, anchor) {
            self.pool.release(before.event);
        }
    }

    /// The time of an event on the host's clock. Moves the anchor if it is far.
    pub(crate) fn time_of(&mut self, hip: &Hip, event: &Arc<Event>) -> Option<u64> {
        let anchor = self.anchor.as_ref()?;
        let distance = nanoseconds(hip, &anchor.event, event)?;
        let at = anchor.at.checked_add_signed(distance)?;
        if distance > FAR as i64 {
            self.set(Some(Anchor { event: event.clone(), at }));
        }
        Some(at)
    }
}

/// The time from one event to another.
pub(crate) fn nanoseconds(hip: &Hip, from: &Event, to: &Event) -> Option<i64> {
    let milliseconds = hip.elapsed(*from, *to)?;
    Some((f64::from(milliseconds) * 1e6).round() as i64)
}

impl Timing {
    /// Whether the first piece has been timed.
    #[inline]
    pub(crate) fn has_begun(&self) -> bool {
        self.start.is_some()
    }
}
