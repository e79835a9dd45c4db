// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the packets of queues: in order on each queue, side by side on different ones.
//!
//! With a seed, the [`schedule`](super::schedule) says which packet runs, and on which thread.
//!
//! One lock guards the queues. A packet is ready when it is first in its queue and in the hardware queue that this may
//! share, nothing of that queue runs, and each of its edges is reached. Points are captured when a packet is queued and lie in the past, so waiting for them
//! cannot go in circles. Conditions are asked for anew whenever something has happened, and once a millisecond, since
//! kernels and the host change memory without a word. Threads are started when ready packets outnumber idle threads,
//! and end with the simulator.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::clock::Clock;
use super::edge::{Edge, Edges};
use super::hardware::Hardware;
use super::queue::{Point, Queue, Role};
use super::schedule::{Schedule, Turn};
use super::work::Packet;
use crate::trace::tell;

/// How often conditions are asked for while nothing happens that is known to the scheduler.
const LOOK: Duration = Duration::from_millis(1);
/// How often a wait asks whether a hardware queue is why it lasts.
const PATIENCE: Duration = Duration::from_secs(2);

/// The queues of one simulator and the threads that empty them.
pub(crate) struct Scheduler {
    /// Where there is a seed.
    pub(crate) schedule: Option<Schedule>,
    /// What clients are told of the time.
    pub(super) clock: Arc<Clock>,
    /// Called on each thread that runs packets, before the first.
    enter_thread: Box<dyn Fn() + Send + Sync>,
    state: Mutex<State>,
    /// Rung when a packet becomes ready.
    ready: Condvar,
    /// Rung when a packet has finished.
    finished: Condvar,
}

/// Why a packet was not taken, or a wait did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The simulator is gone, or goes away meanwhile.
    Closed,
    /// The queue is closed.
    QueueClosed,
    /// There is no thread to run packets on.
    NoThread,
    /// A step waits for one that does not come before it.
    Backwards,
    /// The simulator itself failed.
    Defect,
}

pub(super) struct State {
    /// By queue id. The order is fixed, so that a seed draws from the same list each time.
    pub(super) queues: BTreeMap<u64, Waiting>,
    pub(super) hardware: Hardware,
    /// What host functions wait for that wait in here, by the queues that run them.
    pub(super) host_waits: BTreeMap<u64, Vec<Point>>,
    next_queue: u64,
    threads: usize,
    idle: usize,
    closed: bool,
}

/// A queue with the packets that have not run.
pub(super) struct Waiting {
    pub(super) queue: Arc<Queue>,
    /// Number of the packet that was queued last.
    queued: u64,
    items: VecDeque<Item>,
    running: Running,
    /// Whether the packet that runs is a host function.
    pub(super) calls_host: bool,
    pub(super) hardware: Sharing,
}

/// Whether a queue shares a hardware queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// It is its own.
    No,
    /// From its first packet on.
    Later,
    /// The one at this place.
    With(usize),
}

/// Whether a packet of a queue is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Running {
    No,
    /// On a thread of its own.
    OnThread,
    /// By steps of a [`Schedule`].
    BySteps,
}

/// A packet in its queue.
pub(super) struct Item {
    /// From 1 on, in the order of the queue.
    pub(super) number: u64,
    edges: Edges,
    pub(super) packet: Box<dyn Packet>,
}

impl Scheduler {
    /// A scheduler without queues and threads. `enter_thread` is called on each thread that runs packets. Queues that are
    /// created share so many hardware queues for each device and priority; with 0 each has its own.
    pub(crate) fn new(
        schedule: Option<Schedule>,
        clock: Arc<Clock>,
        hardware_queues: usize,
        enter_thread: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let state = State {
            queues: BTreeMap::new(),
            hardware: Hardware { most: hardware_queues, queues: Vec::new() },
            host_waits: BTreeMap::new(),
            next_queue: 0,
            threads: 0,
            idle: 0,
            closed: false,
        };
        Self {
            schedule,
            clock,
            enter_thread: Box::new(enter_thread),
            state: Mutex::new(state),
            ready: Condvar::new(),
            finished: Condvar::new(),
        }
    }

    /// Waits for this thread's turn to call a function, where there is a seed.
    pub(crate) fn turn<'a>(
        self: &'a Arc<Self>,
        thread: &Cell<Option<u64>>,
        function: &'static str,
    ) -> Option<Turn<'a>> {
        Turn::new(self, self.schedule.as_ref()?, thread, function)
    }

    /// Adds a queue, which shares a hardware queue with others of its priority. The null queue takes its share with its
    /// first packet: a client may never use it.
    pub(crate) fn create_queue(&self, device: usize, role: Role, priority: i32) -> Arc<Queue> {
        let mut state = self.lock();
        let queue = state.add_queue(device, role, priority);
        let hardware = match role {
            Role::Null => Sharing::Later,
            Role::Blocking | Role::NonBlocking => state.share(&queue),
        };
        if let Some(waiting) = state.queues.get_mut(&queue.id) {
            waiting.hardware = hardware;
        }
        queue
    }

    /// Takes a queue away once its packets have run. Does not wait.
    pub(crate) fn close_queue(&self, queue: &Queue) {
        let mut state = self.lock();
        queue.close();
        if state.queues.get(&queue.id).is_some_and(Waiting::is_drained) {
            state.remove(queue.id);
        }
    }

    /// Queues a packet behind those that the queue already holds and behind `edges`. Never waits itself.
    ///
    /// # Errors
    /// [`Refusal::QueueClosed`], [`Refusal::Closed`] after [`close`](Self::close), [`Refusal::NoThread`] when the first
    /// thread cannot be started.
    pub(crate) fn enqueue(
        self: &Arc<Self>,
        queue: &Queue,
        packet: Box<dyn Packet>,
        edges: &[Edge],
    ) -> Result<Point, Refusal> {
        let mut state = self.lock();
        state.check_open(queue)?;
        let mut edges: Edges = edges.iter().filter(|edge| !edge.is_reached()).cloned().collect();
        state.add_null_queue_edges(queue, &mut edges);
        let point = state.append(queue, edges, packet)?;
        self.start(&mut state)?;
        Ok(point)
    }

    /// Queues a packet behind `edges` alone, on a queue that goes with it.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue).
    pub(crate) fn enqueue_alone(
        self: &Arc<Self>,
        device: usize,
        packet: Box<dyn Packet>,
        edges: Edges,
    ) -> Result<Point, Refusal> {
        let mut state = self.lock();
        if state.closed {
            return Err(Refusal::Closed);
        }
        let queue = state.add_lane(device);
        let point = state.append(&queue, edges, packet)?;
        self.start(&mut state)?;
        Ok(point)
    }

    /// Has threads take on the packets that became ready, unless a schedule does.
    pub(super) fn start(self: &Arc<Self>, state: &mut State) -> Result<(), Refusal> {
        if self.schedule.is_some() {
            return Ok(());
        }
        let ready = state.ready_queues().len();
        self.call_threads(state, ready)
    }

    /// The end of the latest packet of a queue.
    pub(crate) fn tail(&self, queue: &Arc<Queue>) -> Point {
        let state = self.lock();
        let queued = state.queues.get(&queue.id).map(|waiting| waiting.queued);
        Point { queue: queue.clone(), number: queued.unwrap_or_else(|| queue.finished()) }
    }

    /// The ends of the latest packets of all queues of a device.
    pub(crate) fn tails(&self, device: usize) -> Vec<Point> {
        let state = self.lock();
        let of_device = state.queues.values().filter(|waiting| waiting.queue.device == device);
        of_device.filter(|waiting| !waiting.is_drained()).map(Waiting::tail).collect()
    }

    /// Blocks until every point is reached.
    ///
    /// # Errors
    /// [`Refusal::Closed`] when the simulator goes away meanwhile.
    pub(crate) fn wait(self: &Arc<Self>, points: &[Point]) -> Result<(), Refusal> {
        let reached = || points.iter().all(Point::is_reached);
        if reached() {
            return Ok(());
        }
        if let Some(schedule) = &self.schedule {
            let _waits = self.note_wait(points);
            return self.wait_by_steps(schedule, (points, None), &reached);
        }
        let _waits = self.note_wait(points);
        let mut look = Instant::now() + PATIENCE;
        let mut state = self.lock();
        while !reached() {
            if state.closed {
                return Err(Refusal::Closed);
            }
            let left = look.saturating_duration_since(Instant::now());
            state = self.finished.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            if Instant::now() >= look {
                drop(state);
                self.tell_held_up(points);
                look = Instant::now() + PATIENCE;
                state = self.lock();
            }
        }
        Ok(())
    }

    /// Blocks until something holds that kernels and the host bring about without a word, or until the deadline. Whether
    /// it held.
    ///
    /// # Errors
    /// [`Refusal::Closed`] when the simulator goes away meanwhile.
    pub(crate) fn wait_until(
        self: &Arc<Self>,
        holds: &dyn Fn() -> bool,
        deadline: Option<Instant>,
    ) -> Result<bool, Refusal> {
        if holds() {
            return Ok(true);
        }
        let late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if let Some(schedule) = &self.schedule {
            // The clock says nothing that a run could repeat: a short time is up when nothing is left that could run.
            let short = deadline.is_some_and(|deadline| deadline <= Instant::now() + LOOK);
            let over = || late() || (short && !self.has_ready());
            self.wait_by_steps(schedule, (&[], deadline), &|| holds() || over())?;
            return Ok(holds());
        }
        let mut state = self.lock();
        loop {
            if holds() {
                return Ok(true);
            }
            if late() {
                return Ok(false);
            }
            if state.closed {
                return Err(Refusal::Closed);
            }
            state = self.finished.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Has conditions asked for anew: somebody changed what they are about.
    pub(crate) fn notice(self: &Arc<Self>) {
        let mut state = self.lock();
        // Without a thread those that wait for the conditions look by themselves.
        let _ = self.start(&mut state);
        drop(state);
        self.finished.notify_all();
        if let Some(schedule) = &self.schedule {
            schedule.notice();
        }
    }

    /// Drops the packets that have not started and lets the threads end. Waits for nothing.
    pub(crate) fn close(&self) {
        let dropped: Vec<Item> = {
            let mut state = self.lock();
            state.closed = true;
            state.queues.values_mut().flat_map(|waiting| waiting.items.drain(..)).collect()
        };
        self.ready.notify_all();
        self.finished.notify_all();
        if let Some(schedule) = &self.schedule {
            schedule.close();
        }
        drop(dropped);
    }

    /// Waits until a packet is ready. False once the scheduler is closed.
    pub(super) fn wait_for_ready(&self) -> bool {
        let mut state = self.lock();
        while !state.closed && state.ready_queues().is_empty() {
            state = self.wait_for_ring(state);
        }
        !state.closed
    }

    /// Waits until a packet may have become ready.
    fn wait_for_ring<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if state.has_conditions() {
            return self.ready.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        self.ready.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the thread that waits until a packet is ready.
    pub(super) fn ring(&self) {
        self.ready.notify_one();
    }

    /// Tells the front end of a thread that runs packets.
    pub(super) fn enter_thread(&self) {
        (self.enter_thread)();
    }

    /// Sees to it that there is a thread for each of so many ready packets.
    fn call_threads(self: &Arc<Self>, state: &mut State, ready: usize) -> Result<(), Refusal> {
        for _ in 0..ready.min(state.idle) {
            self.ready.notify_one();
        }
        for _ in state.idle..ready {
            let scheduler = self.clone();
            let name = format!("windlass-sim-{}", state.threads);
            match std::thread::Builder::new().name(name).spawn(move || scheduler.work()) {
                Ok(_) => state.threads += 1,
                // The threads there are will get to it.
                Err(_) if state.threads > 0 => break,
                Err(error) => {
                    tell(|| tracing::error!(target: "windlass::sim", %error, "no thread to run packets on"));
                    return Err(Refusal::NoThread);
                }
            }
        }
        Ok(())
    }

    /// What each thread does.
    fn work(self: Arc<Self>) {
        self.enter_thread();
        let mut state = self.lock();
        loop {
            if state.closed {
                return;
            }
            let next = state.ready_queues().first().copied();
            let Some((queue, item)) = next.and_then(|id| state.take(id)) else {
                state.idle += 1;
                state = self.wait_for_ring(state);
                state.idle -= 1;
                continue;
            };
            let others = state.ready_queues().len();
            // Without another thread this one gets to them later.
            let _ = self.call_threads(&mut state, others);
            drop(state);
            self.run_on_thread(&queue, || item.packet.run());
            state = self.lock();
            state.finish(&queue, item.number);
            self.finished.notify_all();
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").finish_non_exhaustive()
    }
}

impl State {
    fn add_queue(&mut self, device: usize, role: Role, priority: i32) -> Arc<Queue> {
        self.next_queue += 1;
        let queue = Arc::new(Queue::new(self.next_queue, device, role, priority));
        let waiting = Waiting {
            queue: queue.clone(),
            queued: 0,
            items: VecDeque::new(),
            running: Running::No,
            calls_host: false,
            hardware: Sharing::No,
        };
        self.queues.insert(queue.id, waiting);
        queue
    }

    /// Has a queue share a hardware queue, if there are any.
    fn share(&mut self, queue: &Queue) -> Sharing {
        self.hardware.bind(queue).map_or(Sharing::No, Sharing::With)
    }

    /// Forgets a queue.
    fn remove(&mut self, id: u64) {
        if let Some(gone) = self.queues.remove(&id) {
            self.hardware.release(gone.hardware.place());
        }
    }

    /// Adds a queue that goes when it is drained. It shares no hardware queue.
    pub(super) fn add_lane(&mut self, device: usize) -> Arc<Queue> {
        let lane = self.add_queue(device, Role::NonBlocking, 0);
        lane.close();
        lane
    }

    /// Whether a queue takes packets.
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
        if waiting.hardware == Sharing::Later {
            waiting.hardware = self.hardware.bind(queue).map_or(Sharing::No, Sharing::With);
        }
        let point = waiting.append(edges, packet);
        self.hardware.append(waiting.hardware.place(), (queue.id, point.number));
        Ok(point)
    }

    /// HIP's legacy default stream: it waits for the blocking queues of its device, and each of them for it.
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

    /// The queues on which something can go on.
    pub(super) fn ready_queues(&self) -> SmallVec<[u64; 16]> {
        let ready = self.queues.values().filter(|waiting| waiting.is_ready() && self.is_admitted(waiting));
        ready.map(|waiting| waiting.queue.id).collect()
    }

    /// Whether it is a queue's turn in its hardware queue.
    fn is_admitted(&self, waiting: &Waiting) -> bool {
        self.hardware.admits(waiting.hardware.place(), waiting.queue.id)
    }

    /// Whether a packet that comes next in its queue waits for a condition.
    fn has_conditions(&self) -> bool {
        self.queues.values().any(|waiting| waiting.has_condition() && self.is_admitted(waiting))
    }

    /// Takes the next packet of a queue, to be run.
    pub(super) fn take(&mut self, id: u64) -> Option<(Arc<Queue>, Item)> {
        let waiting = self.queues.get_mut(&id)?;
        let item = waiting.items.pop_front()?;
        waiting.running = Running::OnThread;
        waiting.calls_host = item.packet.is_host_function();
        Some((waiting.queue.clone(), item))
    }

    /// The packet that was taken goes on by steps.
    pub(super) fn set_stepped(&mut self, id: u64) {
        if let Some(waiting) = self.queues.get_mut(&id) {
            waiting.running = Running::BySteps;
        }
    }

    /// The packet that was taken is done. True if this was the last that there will be of the queue.
    pub(super) fn finish(&mut self, queue: &Queue, number: u64) -> bool {
        queue.finish(number);
        let Some(waiting) = self.queues.get_mut(&queue.id) else { return true };
        waiting.running = Running::No;
        self.hardware.finish(waiting.hardware.place());
        let gone = queue.is_closed() && waiting.is_drained();
        if gone {
            self.remove(queue.id);
        }
        gone
    }
}

impl Item {
    /// The packets whose ends it waits for.
    pub(super) fn points(&self) -> impl Iterator<Item = &Point> {
        self.edges.iter().filter_map(|edge| match edge {
            Edge::Point(point) => Some(point),
            Edge::Condition(_) => None,
        })
    }
}

impl Sharing {
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
        self.items.push_back(Item { number: self.queued, edges, packet });
        self.tail()
    }

    fn is_drained(&self) -> bool {
        self.items.is_empty() && self.running == Running::No
    }

    fn is_ready(&self) -> bool {
        match self.running {
            Running::No => self.items.front().is_some_and(|item| item.edges.iter().all(Edge::is_reached)),
            Running::OnThread => false,
            Running::BySteps => true,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.running != Running::No
    }

    /// A packet that has not begun.
    pub(super) fn item(&self, number: u64) -> Option<&Item> {
        let first = self.items.front()?.number;
        self.items.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }

    fn has_condition(&self) -> bool {
        let next = self.items.front().filter(|_| self.running == Running::No);
        next.is_some_and(|item| item.edges.iter().any(|edge| matches!(edge, Edge::Condition(_))))
    }

    fn tail(&self) -> Point {
        Point { queue: self.queue.clone(), number: self.queued }
    }
}
