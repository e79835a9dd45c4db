// SPDX-License-Identifier: MIT OR Apache-2.0
//! Submissions and their pieces.
//!
//! A submission is an accepted operation with everything that it keeps alive. It lives in a box from its acceptance to its
//! retirement. It is filled there, every list and queue that it passes moves only the box, and the next submission uses
//! the box again.
//!
//! Nearly every submission enters a stream as one piece. An operation with an indirect dispatch may need several, because
//! HIP launches no kernel with a workgroup count that the host does not know. Then each piece but the last ends with copies
//! of counts to pinned memory and an event. The thread that retires a piece enqueues the next one in the same stream, so
//! neither a caller nor a stream waits in between. The last piece carries the signals. Closing the device does not stop a
//! submission between two pieces: its signals must not fail while a piece may still write memory.

use std::sync::{Arc, Mutex};

use slab::Slab;
use windlass_hal::{
    BindingTable, Buffer, DispatchRef, Error, HostCall, Limits, Notifications, OperationRef, Pattern, Point,
    QueueAffinity, Semaphore, WorkgroupCount, driver,
    pending::{self, Order},
};

use crate::{call::Event, stream::Stream, sync::lock, workgroup_count::Counts};

/// An accepted operation. The argument block and the buffers of a dispatch lie beside `work`, where they use memory of the
/// box again.
#[derive(Default)]
pub(crate) struct Submission {
    pub(crate) affinity: QueueAffinity,
    pub(crate) work: Work,
    pub(crate) arguments: Vec<u8>,
    pub(crate) resources: Vec<Buffer>,
    /// Pinned memory: the bytes of an update, the bytes of a fill that HIP gets wrong, or room for workgroup counts.
    pub(crate) staging: Option<Buffer>,
    /// Its signals, and the work of this device that has to retire first, so that payloads grow in the order of cause and
    /// effect.
    pub(crate) order: Order,
    /// Where its next piece begins.
    pub(crate) resume: Resume,
    /// Present from the first of several pieces on.
    pub(crate) unfinished: Option<Unfinished>,
    pub(crate) piece: Piece,
}

/// An operation of a submission.
#[derive(Default)]
pub(crate) enum Work {
    #[default]
    Barrier,
    Alloca {
        buffer: Buffer,
    },
    Dealloca {
        buffer: Buffer,
    },
    Fill {
        target: Buffer,
        pattern: Pattern,
    },
    /// The bytes are staged.
    Update {
        target: Buffer,
    },
    Copy {
        source: Buffer,
        target: Buffer,
    },
    HostCall(HostCall),
    Dispatch {
        executable: Arc<dyn driver::RawExecutable>,
        function: u32,
        workgroup_count: WorkgroupCount,
        workgroup_size: [u32; 3],
        dynamic_local_memory: u32,
    },
    Execute {
        command_buffer: Arc<dyn driver::RawCommandBuffer>,
        bindings: BindingTable,
    },
    /// An operation that the driver does not know, by its name.
    Unknown(&'static str),
}

impl Work {
    /// The name as IREE spells it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Barrier => OperationRef::Barrier.name(),
            Self::Alloca { buffer } => OperationRef::Alloca { buffer }.name(),
            Self::Dealloca { buffer } => OperationRef::Dealloca { buffer }.name(),
            Self::Fill { target, pattern } => OperationRef::Fill { target, pattern: *pattern }.name(),
            Self::Update { target } => OperationRef::Update { source: &[], target }.name(),
            Self::Copy { source, target } => OperationRef::Copy { source, target }.name(),
            Self::HostCall(_) => "queue_host_call",
            Self::Dispatch { .. } => "queue_dispatch",
            Self::Execute { command_buffer, bindings } => {
                OperationRef::Execute { command_buffer, bindings }.name()
            }
            Self::Unknown(name) => name,
        }
    }
}

impl Submission {
    /// Fills in an operation. The bytes of an update are not copied: they must be staged.
    pub(crate) fn keep(&mut self, affinity: QueueAffinity, operation: OperationRef<'_>) {
        self.affinity = affinity;
        self.work = match operation {
            OperationRef::Barrier => Work::Barrier,
            OperationRef::Alloca { buffer } => Work::Alloca { buffer: buffer.clone() },
            OperationRef::Dealloca { buffer } => Work::Dealloca { buffer: buffer.clone() },
            OperationRef::Fill { target, pattern } => Work::Fill { target: target.clone(), pattern },
            OperationRef::Update { target, .. } => Work::Update { target: target.clone() },
            OperationRef::Copy { source, target } => {
                Work::Copy { source: source.clone(), target: target.clone() }
            }
            OperationRef::HostCall(call) => Work::HostCall(call),
            OperationRef::Dispatch(dispatch) => self.keep_dispatch(&dispatch),
            OperationRef::Execute { command_buffer, bindings } => {
                Work::Execute { command_buffer: command_buffer.clone(), bindings: bindings.clone() }
            }
            other => Work::Unknown(other.name()),
        };
    }

    fn keep_dispatch(&mut self, dispatch: &DispatchRef<'_>) -> Work {
        self.arguments.extend_from_slice(dispatch.arguments);
        self.resources.extend(dispatch.resources.iter().map(|buffer| (*buffer).clone()));
        Work::Dispatch {
            executable: dispatch.executable.clone(),
            function: dispatch.function,
            workgroup_count: dispatch.workgroup_count.clone(),
            workgroup_size: dispatch.workgroup_size,
            dynamic_local_memory: dispatch.dynamic_local_memory,
        }
    }

    /// Lets go of everything but memory for the next submission. Dropped objects may call back, so no lock may be held.
    fn clear(&mut self) {
        self.work = Work::Barrier;
        self.arguments.clear();
        self.resources.clear();
        self.staging = None;
        self.order.clear();
        self.resume = Resume::default();
        self.unfinished = None;
        self.piece = Piece::default();
    }
}

impl pending::Work for Submission {
    fn order(&mut self) -> &mut Order {
        &mut self.order
    }
}

/// Boxes of ended submissions, for the next ones.
#[derive(Default)]
pub(crate) struct Boxes(Mutex<Vec<Box<Submission>>>);

/// The most boxes that a device keeps.
const KEPT: usize = 256;

impl Boxes {
    /// An empty submission.
    pub(crate) fn take(&self) -> Box<Submission> {
        let kept = lock(&self.0).pop();
        kept.unwrap_or_default()
    }

    /// Clears a submission that has ended, and keeps its box. Call it with no lock held.
    pub(crate) fn give_back_one(&self, mut ended: Box<Submission>) {
        ended.clear();
        let mut boxes = lock(&self.0);
        if boxes.len() < KEPT {
            boxes.push(ended);
        }
    }

    /// Clears submissions that have ended, and keeps their boxes. Leaves the list empty. Call it with no lock held.
    pub(crate) fn give_back(&self, ended: &mut Vec<Box<Submission>>) {
        ended.iter_mut().for_each(|submission| submission.clear());
        let mut boxes = lock(&self.0);
        let room = KEPT.saturating_sub(boxes.len()).min(ended.len());
        boxes.extend(ended.drain(..room));
        drop(boxes);
        ended.clear();
    }
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
#[derive(Default)]
pub(crate) struct Piece {
    /// The index of its queue.
    pub(crate) queue: u32,
    /// Its position in the queue.
    pub(crate) epoch: u64,
    /// Recorded behind the piece if anything needs it. Otherwise the next event of the stream stands for the piece.
    pub(crate) event: Option<Arc<Event>>,
    pub(crate) next: Next,
}

/// The step that follows once a piece has retired.
#[derive(Default)]
pub(crate) enum Next {
    /// It was the last piece: reach the signals.
    #[default]
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
