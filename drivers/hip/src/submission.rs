// SPDX-License-Identifier: MIT OR Apache-2.0
//! Submissions and their pieces.
//!
//! A submission is an operation whose waits allow it to enter a stream. Nearly every submission enters as one piece. An
//! operation with an indirect dispatch may need several, because HIP launches no kernel with a workgroup count that the
//! host does not know. Then each piece but the last ends with copies of counts to pinned memory and an event. The thread
//! that retires a piece enqueues the next one in the same stream, so neither a caller nor a stream waits in between. The
//! last piece carries the signals. Closing the device does not stop a submission between two pieces: its signals must not
//! fail while a piece may still write memory.

use std::sync::{Arc, Mutex};

use slab::Slab;
use windlass_hal::{
    Buffer, Error, Limits, Notifications, Operation, Point, Points, Semaphore, pending::Edges,
};

use crate::{call::Event, stream::Stream, sync::lock, workgroup_count::Counts};

/// An operation on its way through a stream, with everything that it keeps alive.
pub(crate) struct Submission {
    pub(crate) operation: Operation,
    /// Pinned memory: the bytes of an update, the bytes of a fill that HIP gets wrong, or room for workgroup counts.
    pub(crate) staging: Option<Buffer>,
    pub(crate) waits: Points,
    pub(crate) signals: Points,
    /// Work of this device that has to retire first, so that payloads grow in the order of cause and effect.
    pub(crate) edges: Edges,
    /// Where its next piece begins.
    pub(crate) resume: Resume,
    /// Present from the first of several pieces on.
    pub(crate) unfinished: Option<Unfinished>,
}

/// Where the next piece of a submission begins. The default is the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Resume {
    /// The next step of the command buffer.
    pub(crate) step: usize,
    /// How many workgroup counts the host can read.
    pub(crate) known: usize,
}

/// A piece that is being enqueued.
pub(crate) struct NewPiece<'a> {
    pub(crate) stream: Stream<'a>,
    pub(crate) limits: &'a Limits,
    /// Where it begins.
    pub(crate) start: Resume,
    /// Everything that the submission waits for has completed, so the host may read memory that it sees without asking the
    /// device.
    pub(crate) waits_completed: bool,
    pub(crate) counts: Counts<'a>,
}

/// The part of a submission that is in a stream now.
pub(crate) struct Piece {
    /// The index of its queue.
    pub(crate) queue: u32,
    /// Its position in the queue.
    pub(crate) epoch: u64,
    /// Recorded behind the piece if anything needs it. Otherwise the next event of the stream stands for the piece.
    pub(crate) event: Option<Arc<Event>>,
    pub(crate) next: Next,
    pub(crate) submission: Submission,
}

/// The step that follows once a piece has retired.
pub(crate) enum Next {
    /// It was the last piece: reach the signals.
    Signal,
    /// Enqueue the next piece.
    Resume,
    /// Enqueueing or running it failed: fail the signals.
    Fail(Error),
}

/// The submissions that go in several pieces and have not ended. A drain waits for them as well as for the queues.
#[derive(Clone, Default)]
pub(crate) struct UnfinishedList(Arc<Mutex<Slab<Semaphore>>>);

impl UnfinishedList {
    /// Adds a submission, until the returned entry is dropped.
    pub(crate) fn begin(&self) -> Unfinished {
        let end = Semaphore::new(0);
        Unfinished { key: lock(&self.0).insert(end.clone()), list: self.clone(), end }
    }

    /// One point for each submission in the list, reached when that submission ends.
    pub(crate) fn ends(&self) -> Vec<Point> {
        lock(&self.0).iter().map(|(_, end)| end.at(1)).collect()
    }
}

/// The entry of one submission in the [`UnfinishedList`]. The submission owns it.
pub(crate) struct Unfinished {
    list: UnfinishedList,
    key: usize,
    end: Semaphore,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        lock(&self.list.0).try_remove(self.key);
        self.end.advance(1, &mut Notifications::new());
    }
}
