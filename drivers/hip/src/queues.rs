// SPDX-License-Identifier: MIT OR Apache-2.0
//! All queues of a device: the choice of a queue for an operation, and the events that order work between queues.

use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use windlass_hal::{Limits, QueueAffinity, Result, edge::Edge};

use crate::{
    buffer::gpu_of,
    call::{Event, EventStatus},
    gpus::Gpus,
    hip::Hip,
    queue::{Enqueued, Events, Oldest, Queue},
    submission::{Submission, UnfinishedList, Work},
};

/// The queues, by their index. To the HAL a queue is a lane.
pub(crate) struct Queues {
    queues: Box<[Queue]>,
    gpus: Arc<Gpus>,
    /// The first GPU's, at hand: each submission asks it whether the device is lost.
    pub(crate) hip: Hip,
    /// The queue whose turn it is.
    next: AtomicU32,
    /// The queues that have pieces in flight, as bits. Changed under the lock of the queue.
    busy: AtomicU64,
    pub(crate) unfinished: UnfinishedList,
}

impl Queues {
    pub(crate) fn new(gpus: &Arc<Gpus>) -> Result<Self> {
        let mut queues: Vec<Queue> = Vec::with_capacity(gpus.limits.queues as usize);
        for index in 0..gpus.limits.queues {
            let queue = Queue::new(index, gpus.of_queue(index)).inspect_err(|_| {
                queues.iter().for_each(|queue| gpus.hip.destroy_stream(queue.handle));
            })?;
            queues.push(queue);
        }
        Ok(Self {
            queues: queues.into(),
            gpus: gpus.clone(),
            hip: gpus.hip.clone(),
            next: AtomicU32::new(0),
            busy: AtomicU64::new(0),
            unfinished: UnfinishedList::default(),
        })
    }

    /// The queues, when nothing else uses the device any more.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Queue> {
        self.queues.iter_mut()
    }

    /// The queues that have pieces in flight, as bits.
    #[inline]
    pub(crate) fn busy(&self) -> u64 {
        self.busy.load(Ordering::Acquire)
    }

    /// Notes whether a queue has pieces in flight. The caller holds its lock.
    pub(crate) fn note(&self, queue: &Queue, is_busy: bool) {
        let bit = 1 << queue.index;
        match is_busy {
            true => self.busy.fetch_or(bit, Ordering::AcqRel),
            false => self.busy.fetch_and(!bit, Ordering::AcqRel),
        };
    }

    /// The queues of a set of bits.
    pub(crate) fn of_bits(&self, mut bits: u64) -> impl Iterator<Item = &Queue> + Clone {
        std::iter::from_fn(move || {
            let queue = self.get(bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(queue)
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.gpus.limits
    }

    /// Whether everything up to `epoch` of a queue has retired.
    pub(crate) fn has_retired(&self, lane: u32, epoch: u64) -> bool {
        self.get(lane as usize).is_none_or(|queue| queue.has_retired(epoch))
    }

    /// The queue for an operation: one that the operation has to follow anyway, else the next in turn.
    pub(crate) fn choose(&self, mut affinity: QueueAffinity, submission: &Submission) -> &Queue {
        if let Some(near) = self.near(submission).filter(|near| near & affinity.bits() != 0) {
            affinity = QueueAffinity::from_bits(near & affinity.bits());
        }
        let allowed = |index: u32| affinity.bits() >> index & 1 == 1;
        let last = self.queues.len() as u32 - 1;
        if let Some(edge) = submission.order.edges.iter().find(|edge| edge.lane <= last && allowed(edge.lane))
        {
            return &self.queues[edge.lane as usize];
        }
        let only = affinity.bits().trailing_zeros();
        if affinity.bits().is_power_of_two() && only <= last {
            return &self.queues[only as usize];
        }
        let start = self.next.fetch_add(1, Ordering::Relaxed);
        let turn = (0..=last).map(|step| start.wrapping_add(step) % (last + 1)).find(|index| allowed(*index));
        &self.queues[turn.unwrap_or(0) as usize]
    }

    /// The queues of the GPU that has the memory a submission works on, as bits. `None` if the device has one GPU.
    fn near(&self, submission: &Submission) -> Option<u64> {
        if self.gpus.len() == 1 {
            return None;
        }
        let buffer = match &submission.work {
            Work::Fill { .. } | Work::Update | Work::Dispatch { .. } => submission.resources.first()?,
            Work::Copy => submission.source().ok()?,
            Work::Execute { .. } => submission.bindings.first()?,
            _ => return None,
        };
        let gpu = gpu_of(buffer)?;
        let near = self.iter().filter(|queue| queue.gpu.index == gpu);
        Some(near.fold(0, |bits, queue| bits | 1 << queue.index))
    }

    /// Enqueues the next piece of a submission behind its edges. Calls `promise` with the submission and its epoch once all
    /// of it is in the stream, before it can retire.
    pub(crate) fn enqueue(
        &self,
        queue: &Queue,
        submission: Box<Submission>,
        promise: impl FnOnce(&Submission, u64),
    ) -> Enqueued {
        // Events of other queues are looked up before this queue is locked: no thread holds the locks of two queues.
        let edges = &submission.order.edges;
        let events = match edges.is_empty() {
            true => Ok(Events::new()),
            false => queue.foreign(edges).filter_map(|edge| self.event_of(edge).transpose()).collect(),
        };
        queue.enqueue(&events, self, submission, promise)
    }

    /// The event that a stream waits for to honour an edge of this device; `None` if the edge has retired.
    pub(crate) fn event_of(&self, edge: &Edge) -> Result<Option<Arc<Event>>> {
        match self.get(edge.lane as usize) {
            Some(queue) if !queue.has_retired(edge.epoch) => queue.event_from(edge.epoch),
            _ => Ok(None),
        }
    }

    /// The event that must complete before the oldest piece of a queue can retire: its own, that of its group of collective
    /// operations, or that of work that its edges name. As a rule the stream has waited for that work, but it has not if enqueueing the wait failed.
    pub(crate) fn first_obstacle(&self, queue: &Queue) -> Result<Option<Arc<Event>>> {
        let mut queue = queue;
        loop {
            // Edges lead to work that was enqueued earlier, so this ends.
            let Some(Oldest { epoch, edges, group }) = queue.oldest() else { return Ok(None) };
            let open = edges.iter().find(|edge| !self.has_retired(edge.lane, edge.epoch));
            match open.and_then(|edge| self.get(edge.lane as usize)) {
                Some(before) => queue = before,
                None => {
                    let is_open =
                        |end: &Arc<Event>| matches!(self.hip.query(**end), Ok(EventStatus::Running));
                    return group
                        .filter(is_open)
                        .map_or_else(|| queue.event_from(epoch), |end| Ok(Some(end)));
                }
            }
        }
    }
}

impl Deref for Queues {
    type Target = [Queue];

    fn deref(&self) -> &[Queue] {
        &self.queues
    }
}
