// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state behind the scheduler's lock: the queues with the packets that have not run.
//!
//! A packet is ready when it is first in its queue and in its hardware queue, if it has one, no packet of its
//! queue runs, and each of its edges is reached.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;

use super::edge::{Edge, Edges};
use super::hardware::Hardware;
use super::queue::{Point, Queue, Role};
use super::refusal::Refusal;
use super::work::Packet;

/// The interval at which conditions are checked while the scheduler learns of no event.
pub(super) const LOOK: Duration = Duration::from_millis(1);

/// The queues, and the threads that empty them.
pub(super) struct SchedulerState {
    /// By queue id. The order is fixed, so that a seed draws from the same list each time.
    pub(super) queues: BTreeMap<u64, Waiting>,
    pub(super) hardware: Hardware,
    /// The points that waiting host functions wait for, by the queue that runs the function.
    pub(super) host_waits: BTreeMap<u64, Vec<Point>>,
    next_queue: u64,
    pub(super) threads: Threads,
    pub(super) closed: bool,
}

/// The number of threads, and their work.
#[derive(Default)]
pub(super) struct Threads {
    pub(super) all: usize,
    /// Threads that sleep, were woken, or are being started.
    pub(super) idle: usize,
    /// At most the number of idle threads that are on their way, woken or being started. A thread that wakes by
    /// itself may count for one of them.
    pub(super) coming: usize,
    /// Callers that sleep until a packet has finished.
    pub(super) waiters: usize,
    /// Whether one of the sleeping threads polls conditions meanwhile.
    pub(super) lookout: bool,
}

impl Threads {
    /// An idle thread begins to look for work.
    pub(super) fn come(&mut self) {
        self.idle -= 1;
        self.coming = self.coming.saturating_sub(1);
    }
}

/// A queue with the packets that have not run.
pub(super) struct Waiting {
    pub(super) queue: Arc<Queue>,
    /// Number of the packet that was queued last.
    pub(super) queued: u64,
    pub(super) items: VecDeque<QueuedPacket>,
    running: RunMode,
    /// Whether the packet that runs is a host function.
    pub(super) calls_host: bool,
    /// Whether it is one of the queues that take turns: one of them runs at a time.
    pub(super) takes_turns: bool,
    pub(super) hardware: HardwareShare,
}

/// Whether a queue shares a hardware queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HardwareShare {
    /// The queue shares none.
    No,
    /// The queue shares one from its first packet on.
    Later,
    /// The queue shares the one with this index.
    With(usize),
}

/// How the current packet of a queue runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunMode {
    No,
    /// On a thread of its own.
    OnThread,
    /// By steps of a [`Schedule`].
    BySteps,
}

/// A packet in its queue.
pub(super) struct QueuedPacket {
    /// From 1 on, in the order of the queue.
    pub(super) number: u64,
    edges: Edges,
    pub(super) packet: Box<dyn Packet>,
}

impl SchedulerState {
    /// No queues. Queues that are added share `hardware_queues` hardware queues for each device and priority.
    pub(super) fn new(hardware_queues: usize) -> Self {
        Self {
            queues: BTreeMap::new(),
            hardware: Hardware { most: hardware_queues, queues: Vec::new() },
            host_waits: BTreeMap::new(),
            next_queue: 0,
            threads: Threads::default(),
            closed: false,
        }
    }

    pub(super) fn add_queue(&mut self, device: usize, role: Role, priority: i32) -> Arc<Queue> {
        self.next_queue += 1;
        self.insert(Queue::new(self.next_queue, device, role, priority))
    }

    fn insert(&mut self, queue: Queue) -> Arc<Queue> {
        let queue = Arc::new(queue);
        let waiting = Waiting {
            queue: queue.clone(),
            queued: 0,
            items: VecDeque::new(),
            running: RunMode::No,
            calls_host: false,
            takes_turns: false,
            hardware: HardwareShare::No,
        };
        self.queues.insert(queue.id, waiting);
        queue
    }

    /// Binds a queue to a hardware queue, if there are any.
    pub(super) fn share(&mut self, queue: &Queue) -> HardwareShare {
        self.hardware.bind(queue).map_or(HardwareShare::No, HardwareShare::With)
    }

    /// Removes a queue.
    pub(super) fn remove(&mut self, id: u64) {
        if let Some(gone) = self.queues.remove(&id) {
            self.hardware.release(gone.hardware.place());
        }
    }

    /// Adds a queue that is removed when it is drained. It shares no hardware queue.
    pub(super) fn add_closed_queue(&mut self, device: usize) -> Arc<Queue> {
        let queue = self.add_queue(device, Role::NonBlocking, 0);
        queue.close();
        queue
    }

    /// Adds such a queue for a branch of a graph of `stream`.
    pub(super) fn add_branch(&mut self, device: usize, stream: &Arc<Queue>) -> Arc<Queue> {
        self.next_queue += 1;
        let queue = self.insert(Queue::branch(self.next_queue, device, stream.clone()));
        queue.close();
        queue
    }

    /// Checks that a queue takes packets.
    pub(super) fn check_open(&self, queue: &Queue) -> Result<(), Refusal> {
        if self.closed {
            return Err(Refusal::Closed);
        }
        if queue.is_closed() || !self.queues.contains_key(&queue.id) {
            return Err(Refusal::QueueClosed);
        }
        Ok(())
    }

    /// Queues a packet with these edges, without starting it.
    pub(super) fn append(
        &mut self,
        queue: &Queue,
        edges: Edges,
        packet: Box<dyn Packet>,
    ) -> Result<Point, Refusal> {
        let waiting = self.queues.get_mut(&queue.id).ok_or(Refusal::QueueClosed)?;
        if waiting.hardware == HardwareShare::Later {
            waiting.hardware = self.hardware.bind(queue).map_or(HardwareShare::No, HardwareShare::With);
        }
        let point = waiting.append(edges, packet);
        self.hardware.append(waiting.hardware.place(), (queue.id, point.number));
        Ok(point)
    }

    /// Adds the edges of HIP's legacy default stream: it waits for the blocking queues of its device, and
    /// each of them for it.
    pub(super) fn add_null_queue_edges(&self, queue: &Queue, edges: &mut Edges) {
        let other = match queue.role {
            Role::NonBlocking => return,
            Role::Null => Role::Blocking,
            Role::Blocking => Role::Null,
        };
        let others = self.queues.values().filter(|waiting| {
            waiting.queue.device == queue.device && waiting.queue.role == other && !waiting.is_drained()
        });
        edges.extend(others.map(|waiting| Edge::Point(waiting.tail())));
    }

    /// Adds a queue to those that take turns: one of them runs at a time.
    pub(super) fn take_turns(&mut self, queue: &Queue) {
        if let Some(waiting) = self.queues.get_mut(&queue.id) {
            waiting.takes_turns = true;
        }
    }

    /// The queues with work that can run. Any of the queues that take turns may be next.
    pub(super) fn ready_queues(&self) -> SmallVec<[u64; 16]> {
        self.ready().map(|waiting| waiting.queue.id).collect()
    }

    /// The number of queues that can run side by side.
    pub(super) fn count_ready(&self) -> usize {
        let (turns, others): (Vec<&Waiting>, Vec<&Waiting>) =
            self.ready().partition(|waiting| waiting.takes_turns);
        others.len() + turns.len().min(1)
    }

    fn ready(&self) -> impl Iterator<Item = &Waiting> {
        let turn_taken = self.queues.values().any(|waiting| waiting.takes_turns && waiting.is_running());
        let ready = self.queues.values().filter(|waiting| waiting.is_ready() && self.is_admitted(waiting));
        ready.filter(move |waiting| !(waiting.takes_turns && turn_taken))
    }

    /// Whether a packet of another queue than `own` runs on a thread.
    pub(super) fn runs_besides(&self, own: Option<u64>) -> bool {
        let mut running = self.queues.values().filter(|waiting| waiting.running == RunMode::OnThread);
        running.any(|waiting| Some(waiting.queue.id) != own)
    }

    /// Whether it is a queue's turn in its hardware queue.
    fn is_admitted(&self, waiting: &Waiting) -> bool {
        self.hardware.admits(waiting.hardware.place(), waiting.queue.id)
    }

    /// Whether a packet that is next in its queue waits for a condition.
    pub(super) fn has_conditions(&self) -> bool {
        self.queues.values().any(|waiting| waiting.has_condition() && self.is_admitted(waiting))
    }

    /// Takes the next packet of a queue, to be run.
    pub(super) fn take_next(&mut self, id: u64) -> Option<(Arc<Queue>, QueuedPacket)> {
        let waiting = self.queues.get_mut(&id)?;
        let item = waiting.items.pop_front()?;
        waiting.running = RunMode::OnThread;
        waiting.calls_host = item.packet.is_host_function();
        Some((waiting.queue.clone(), item))
    }

    /// Notes that the current packet of a queue runs by steps.
    pub(super) fn set_stepped(&mut self, id: u64) {
        if let Some(waiting) = self.queues.get_mut(&id) {
            waiting.running = RunMode::BySteps;
        }
    }

    /// Ends the current packet of a queue. True if this was the last packet that the queue will have.
    pub(super) fn finish(&mut self, queue: &Queue, number: u64) -> bool {
        queue.finish(number);
        let Some(waiting) = self.queues.get_mut(&queue.id) else { return true };
        waiting.running = RunMode::No;
        self.hardware.finish(waiting.hardware.place());
        let gone = queue.is_closed() && waiting.is_drained();
        if gone {
            self.remove(queue.id);
        }
        gone
    }
}

impl QueuedPacket {
    /// The packets whose ends this one waits for.
    pub(super) fn points(&self) -> impl Iterator<Item = &Point> {
        self.edges.iter().filter_map(|edge| match edge {
            Edge::Point(point) => Some(point),
            Edge::Condition(_) => None,
        })
    }
}

impl HardwareShare {
    pub(super) fn place(self) -> Option<usize> {
        match self {
            Self::With(place) => Some(place),
            Self::No | Self::Later => None,
        }
    }
}

impl Waiting {
    fn append(&mut self, edges: Edges, packet: Box<dyn Packet>) -> Point {
        self.queued += 1;
        self.items.push_back(QueuedPacket { number: self.queued, edges, packet });
        self.tail()
    }

    pub(super) fn is_drained(&self) -> bool {
        self.items.is_empty() && self.running == RunMode::No
    }

    fn is_ready(&self) -> bool {
        match self.running {
            RunMode::No => self.items.front().is_some_and(|item| item.edges.iter().all(Edge::is_reached)),
            RunMode::OnThread => false,
            RunMode::BySteps => true,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.running != RunMode::No
    }

    /// A packet that has not begun.
    pub(super) fn item(&self, number: u64) -> Option<&QueuedPacket> {
        let first = self.items.front()?.number;
        self.items.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }

    fn has_condition(&self) -> bool {
        let next = self.items.front().filter(|_| self.running == RunMode::No);
        next.is_some_and(|item| item.edges.iter().any(|edge| matches!(edge, Edge::Condition(_))))
    }

    pub(super) fn tail(&self) -> Point {
        Point { queue: self.queue.clone(), number: self.queued }
    }
}
