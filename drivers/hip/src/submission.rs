// SPDX-License-Identifier: MIT OR Apache-2.0
//! Submissions and their pieces.
//!
//! A submission is an accepted operation with everything that it keeps alive. It lives in a box from its acceptance to
//! its retirement. It is filled there, every list and queue that it passes moves only the box, and the next submission
//! uses the box again.
//!
//! Nearly every submission enters a stream as one piece. An operation with an indirect dispatch may need several,
//! because HIP launches no kernel with a workgroup count that the host does not know. Then each piece but the last ends
//! with copies of counts to pinned memory and an event. The thread that retires a piece enqueues the next one in the
//! same stream, so neither a caller nor a stream waits in between. A group of collective operations in a command buffer
//! ends a piece too: once that piece has retired, or at once if nothing is in it, the line of the channel issues the
//! group, and the next piece waits for its end. The line gets the submission only then, because it fails the signals at
//! once where the channel has failed or closes: no piece may still write memory. The last piece carries the signals.
//! Closing the device does not stop a submission between two pieces: its signals must not fail while a piece may still
//! write memory.

use std::{
    cell::RefCell,
    sync::{Arc, Mutex},
};

use slab::Slab;
use windlass_hal::{
    BindingTable, Buffer, DispatchRef, Error, HostCall, Limits, Notifications, OperationRef, Pattern, Point,
    QueueAffinity, Result, Semaphore, WorkgroupCount, driver,
    pending::{self, Order},
};

use crate::{
    call::Event,
    external_timepoint::Timepoint,
    gate::Opening,
    group::{Group, SubmittedGroup},
    stream::Stream,
    sync::lock,
    timing::Timing,
    workgroup_count::Counts,
};

/// An accepted operation. Arguments, buffers and bindings lie beside `work`, where they use memory of the box again.
#[derive(Default)]
pub(crate) struct Submission {
    pub(crate) affinity: QueueAffinity,
    pub(crate) work: Work,
    /// The argument block of a dispatch.
    pub(crate) arguments: Vec<u8>,
    /// The buffers of the operation: the target of a transfer, then its source; the buffer of an alloca or a dealloca;
    /// those that the arguments of a dispatch point to.
    pub(crate) resources: Vec<Buffer>,
    /// The buffers for the slots of a command buffer.
    pub(crate) bindings: BindingTable,
    /// The group of collective operations: that of the operation, or the one at which the next piece of a command
    /// buffer begins.
    pub(crate) group: Option<Box<SubmittedGroup>>,
    /// Pinned memory: the bytes of an update, the bytes of fills that HIP gets wrong, or room for workgroup counts.
    pub(crate) staging: Option<Buffer>,
    /// Its signals, and the work of this device that has to retire first, so that payloads grow in the order of cause and
    /// effect.
    pub(crate) order: Order,
    /// Where its next piece begins.
    pub(crate) resume: Resume,
    /// Present from the first of several pieces on.
    pub(crate) unfinished: Option<Unfinished>,
    pub(crate) piece: Piece,
    /// Empty unless the submission is profiled.
    pub(crate) timing: Timing,
    /// The next one in a [`Stack`].
    below: Option<Box<Self>>,
}

impl From<Box<Submission>> for Stack {
    fn from(submission: Box<Submission>) -> Self {
        Self(Some(submission))
    }
}

/// An operation of a submission.
#[derive(Default)]
pub(crate) enum Work {
    #[default]
    Barrier,
    Alloca,
    Dealloca,
    Fill {
        pattern: Pattern,
    },
    /// The bytes are staged.
    Update,
    Copy,
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
    },
    ImportTimepoint {
        timepoint: Arc<dyn driver::RawTimepoint>,
    },
    Collective,
    /// Opens the gate of a foreign stream.
    ExportTimepoint(Opening),
    /// An operation that the driver does not know, by its name.
    Unknown(&'static str),
}

impl Work {
    /// The name as IREE spells it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Barrier => "queue_barrier",
            Self::Alloca => "queue_alloca",
            Self::Dealloca => "queue_dealloca",
            Self::Fill { .. } => "queue_fill",
            Self::Update => "queue_update",
            Self::Copy => "queue_copy",
            Self::HostCall(_) => "queue_host_call",
            Self::Dispatch { .. } => "queue_dispatch",
            Self::Execute { .. } => "queue_execute",
            Self::ImportTimepoint { .. } => "queue_import_timepoint",
            Self::Collective => "queue_collective",
            Self::ExportTimepoint(_) => "export_timepoint",
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
            OperationRef::Alloca { buffer } => self.keep_buffers(&[buffer], Work::Alloca),
            OperationRef::Dealloca { buffer } => self.keep_buffers(&[buffer], Work::Dealloca),
            OperationRef::Fill { target, pattern } => self.keep_buffers(&[target], Work::Fill { pattern }),
            OperationRef::Update { target, .. } => self.keep_buffers(&[target], Work::Update),
            OperationRef::Copy { source, target } => self.keep_buffers(&[target, source], Work::Copy),
            OperationRef::HostCall(call) => Work::HostCall(call),
            OperationRef::Dispatch(dispatch) => self.keep_dispatch(dispatch),
            OperationRef::Execute { command_buffer, bindings } => {
                self.bindings.clone_from(bindings);
                Work::Execute { command_buffer: command_buffer.clone() }
            }
            OperationRef::ImportTimepoint { timepoint } => {
                Work::ImportTimepoint { timepoint: timepoint.clone() }
            }
            OperationRef::Collective { channel, operations } => {
                let zeros = self.staging.take();
                self.group = Some(Box::new(SubmittedGroup::new(channel.clone(), operations, zeros)));
                Work::Collective
            }
            other => Work::Unknown(other.name()),
        };
    }

    fn keep_buffers(&mut self, buffers: &[&Buffer], work: Work) -> Work {
        self.resources.extend(buffers.iter().map(|buffer| (*buffer).clone()));
        work
    }

    fn keep_dispatch(&mut self, dispatch: &DispatchRef<'_>) -> Work {
        self.arguments.extend_from_slice(dispatch.arguments);
        let work = Work::Dispatch {
            executable: dispatch.executable.clone(),
            function: dispatch.function,
            workgroup_count: dispatch.workgroup_count.clone(),
            workgroup_size: dispatch.workgroup_size,
            dynamic_local_memory: dispatch.dynamic_local_memory,
        };
        self.keep_buffers(dispatch.resources, work)
    }

    /// The buffer of an alloca or a dealloca, or the target of a transfer.
    pub(crate) fn target(&self) -> Result<&Buffer> {
        self.resources.first().ok_or_else(|| Error::internal("an operation without its buffer"))
    }

    /// The imported timepoint; `None` for other work.
    pub(crate) fn timepoint(&self) -> Option<&Timepoint> {
        let Work::ImportTimepoint { timepoint } = &self.work else { return None };
        timepoint.as_any().downcast_ref()
    }

    /// The group of collective operations that was issued before its piece; `None` for other work.
    #[inline]
    pub(crate) fn issued_group(&self) -> Option<&Group> {
        self.group.as_ref()?.issued.as_ref()
    }

    /// The group that was issued, where its piece could not be enqueued behind it, and yet may not retire before it has
    /// ended: it uses the buffers of the submission until then.
    #[inline]
    pub(crate) fn unawaited_group(&self) -> Option<&Group> {
        self.issued_group().filter(|_| matches!(self.piece.next, Next::Fail(_)))
    }

    /// The source of a copy.
    pub(crate) fn source(&self) -> Result<&Buffer> {
        self.resources.get(1).ok_or_else(|| Error::internal("a copy without its source"))
    }

    /// Lets go of everything but some memory for the next submission. Dropped objects may call back, so no lock may be
    /// held.
    fn clear(&mut self) {
        self.work = Work::Barrier;
        self.arguments.clear();
        self.arguments.shrink_to(KEPT_BYTES);
        self.resources.clear();
        self.resources.shrink_to(KEPT_BUFFERS);
        self.bindings.clear();
        self.group = None;
        self.staging = None;
        self.order.clear();
        self.resume = Resume::default();
        self.unfinished = None;
        self.piece.next = Next::Signal;
        if self.timing.has_begun() {
            self.timing = Timing::default();
        }
    }
}

impl pending::Work for Submission {
    fn order(&mut self) -> &mut Order {
        &mut self.order
    }
}

/// Submissions linked to each other. The last one comes out first.
#[derive(Default)]
pub(crate) struct Stack(Option<Box<Submission>>);

impl Stack {
    #[inline(always)]
    pub(crate) fn push(&mut self, mut submission: Box<Submission>) {
        submission.below = self.0.take();
        self.0 = Some(submission);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Box<Submission>> {
        let mut top = self.0.take()?;
        self.0 = top.below.take();
        Some(top)
    }
}

impl Drop for Stack {
    /// One by one, so that a high stack needs no more of the thread's stack.
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

/// Boxes of ended submissions, for the next ones. A thread that waits for its own work finds them without a lock. Where
/// one thread submits and another one retires, they meet in the device's list.
#[derive(Default)]
pub(crate) struct Boxes(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    boxes: Stack,
    count: usize,
}

/// The most bytes of arguments, and the most buffers, for which a box keeps memory.
const KEPT_BYTES: usize = 4096;
const KEPT_BUFFERS: usize = 64;
/// The most boxes that a device keeps.
const KEPT: usize = 256;
/// The most boxes that a thread keeps, for all devices.
const KEPT_BY_THREAD: usize = 8;

thread_local! {
    static OWN: RefCell<Counted> = RefCell::default();
}

impl Counted {
    fn take(&mut self) -> Option<Box<Submission>> {
        let taken = self.boxes.pop()?;
        self.count -= 1;
        Some(taken)
    }

    /// Adds a cleared box if there is room, and returns it otherwise.
    fn give_back(&mut self, cleared: Box<Submission>, most: usize) -> Option<Box<Submission>> {
        if self.count == most {
            return Some(cleared);
        }
        self.count += 1;
        self.boxes.push(cleared);
        None
    }
}

impl Boxes {
    /// An empty submission.
    #[inline]
    pub(crate) fn take(&self) -> Box<Submission> {
        // A thread that is ending has no boxes of its own.
        let own = OWN.try_with(|own| own.borrow_mut().take()).ok().flatten();
        own.unwrap_or_else(|| self.take_shared())
    }

    fn take_shared(&self) -> Box<Submission> {
        let shared = lock(&self.0).take();
        shared.unwrap_or_default()
    }

    /// Clears submissions that have ended, and keeps their boxes. Call it with no lock held.
    pub(crate) fn give_back(&self, mut ended: Stack) {
        while let Some(mut cleared) = ended.pop() {
            // Dropped objects may submit, so the list of the thread is not borrowed here.
            cleared.clear();
            let mut cleared = Some(cleared);
            let _ = OWN.try_with(|own| {
                cleared =
                    cleared.take().and_then(|cleared| own.borrow_mut().give_back(cleared, KEPT_BY_THREAD));
            });
            if let Some(cleared) = cleared {
                let _surplus = lock(&self.0).give_back(cleared, KEPT);
            }
        }
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
    /// Everything that the submission waits for has completed, so the host may read memory that it sees without asking
    /// the device.
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
