// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the packets of queues: in order on each queue, side by side on different ones.
//!
//! With a seed, the [`schedule`](super::schedule) decides which packet runs, and on which thread.
//!
//! One lock guards the [`SchedulerState`]. Points are captured when a packet is queued and lie in the past, so waiting
//! for them cannot go in circles. Conditions are polled after each event and once a millisecond, since
//! kernels and the host change memory without notice.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::clock::Clock;
use super::edge::{Edge, Edges};
use super::queue::{Point, Queue, Role};
use super::refusal::Refusal;
use super::schedule::Schedule;
use super::state::{HardwareShare, LOOK, QueuedPacket, SchedulerState, Waiting};
use super::work::Packet;

/// The interval at which a long wait checks whether a hardware queue is the reason.
const PATIENCE: Duration = Duration::from_secs(2);

/// The queues of one simulator and the threads that empty them.
pub(crate) struct Scheduler {
    /// The schedule, if there is a seed.
    pub(crate) schedule: Option<Schedule>,
    /// The clock that clients see.
    pub(super) clock: Arc<Clock>,
    /// Called on each thread that runs packets, before the first.
    enter_thread: Box<dyn Fn() + Send + Sync>,
    state: Mutex<SchedulerState>,
    /// Signalled when a packet becomes ready.
    pub(super) ready: Condvar,
    /// Signalled when a packet has finished.
    pub(super) finished: Condvar,
}

impl Scheduler {
    /// A scheduler without queues and threads. `enter_thread` is called on each thread that runs packets.
    /// Queues share `hardware_queues` hardware queues for each device and priority; with 0 each has its own.
    pub(crate) fn new(
        schedule: Option<Schedule>,
        clock: Arc<Clock>,
        hardware_queues: usize,
        enter_thread: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self {
            schedule,
            clock,
            enter_thread: Box::new(enter_thread),
            state: Mutex::new(SchedulerState::new(hardware_queues)),
            ready: Condvar::new(),
            finished: Condvar::new(),
        }
    }

    /// Adds a queue, which shares a hardware queue with others of its priority. The null queue takes its share with its
    /// first packet: a client may never use it.
    pub(crate) fn create_queue(&self, device: usize, role: Role, priority: i32) -> Arc<Queue> {
        let mut state = self.lock();
        let queue = state.add_queue(device, role, priority);
        let hardware = match role {
            Role::Null => HardwareShare::Later,
            Role::Blocking | Role::NonBlocking => state.share(&queue),
        };
        if let Some(waiting) = state.queues.get_mut(&queue.id) {
            waiting.hardware = hardware;
        }
        queue
    }

    /// Creates a queue that shares its hardware queue with no other.
    pub(crate) fn create_exclusive_queue(&self, device: usize, role: Role, priority: i32) -> Arc<Queue> {
        let mut state = self.lock();
        let queue = state.add_queue(device, role, priority);
        if let Some(waiting) = state.queues.get_mut(&queue.id) {
            waiting.hardware = HardwareShare::No;
        }
        queue
    }

    /// Removes a queue once its packets have run. Does not wait.
    pub(crate) fn close_queue(&self, queue: &Queue) {
        let mut state = self.lock();
        queue.close();
        if state.queues.get(&queue.id).is_some_and(Waiting::is_drained) {
            state.remove(queue.id);
        }
    }

    /// Queues a packet behind those that the queue already holds and behind `edges`. Never blocks.
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
        // A condition counts at the moment when the packet is next, and earlier packets may change it.
        let counts = |edge: &&Edge| matches!(edge, Edge::Condition(_)) || !edge.is_reached();
        let mut edges: Edges = edges.iter().filter(counts).cloned().collect();
        state.add_null_queue_edges(queue, &mut edges);
        let point = state.append(queue, edges, packet)?;
        self.start(&mut state)?;
        Ok(point)
    }

    /// Queues a packet behind `edges` alone, on a queue that is removed with it.
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
        let queue = state.add_closed_queue(device);
        let point = state.append(&queue, edges, packet)?;
        self.start(&mut state)?;
        Ok(point)
    }

    /// Queues a packet behind `edges` alone. Of the packets that are queued like this, one runs at a time.
    /// Without a seed the first that is ready is next.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue).
    pub(crate) fn enqueue_in_turn(
        self: &Arc<Self>,
        packet: Box<dyn Packet>,
        edges: Edges,
    ) -> Result<Point, Refusal> {
        let mut state = self.lock();
        if state.closed {
            return Err(Refusal::Closed);
        }
        // No device runs it.
        let queue = state.add_closed_queue(usize::MAX);
        state.take_turns(&queue);
        let point = state.append(&queue, edges, packet)?;
        self.start(&mut state)?;
        Ok(point)
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

    /// Calls `work` while no packet runs and none begins, after those that are queued. `None` if others queue packets again and
    /// again.
    ///
    /// # Errors
    /// [`Refusal::Closed`] when the simulator is closed meanwhile.
    pub(crate) fn while_idle<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> Result<Option<T>, Refusal> {
        const TRIES: usize = 1000;
        for _ in 0..TRIES {
            let state = self.lock();
            let busy = state.queues.values().filter(|waiting| !waiting.is_drained());
            let tails: Vec<Point> = busy.map(Waiting::tail).collect();
            if tails.is_empty() {
                return Ok(Some(work()));
            }
            drop(state);
            self.wait(&tails)?;
        }
        Ok(None)
    }

    /// The ends of the latest packets of the null queue of a device and of the queues that it waits for.
    pub(crate) fn null_tails(&self, device: usize) -> Vec<Point> {
        let mut tails = self.tails(device);
        tails.retain(|point| point.queue.role != Role::NonBlocking);
        tails
    }

    /// Blocks until every point is reached.
    ///
    /// # Errors
    /// [`Refusal::Closed`] when the simulator is closed meanwhile.
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
            state = self.sleep_until_finish(state, left);
            if Instant::now() >= look {
                drop(state);
                self.tell_held_up(points);
                look = Instant::now() + PATIENCE;
                state = self.lock();
            }
        }
        Ok(())
    }

    /// Blocks until a condition holds, which kernels and the host change without notice, or until the
    /// deadline. Returns whether the condition held.
    ///
    /// # Errors
    /// [`Refusal::Closed`] when the simulator is closed meanwhile.
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
            // The clock cannot decide, or the run could not be repeated: a short wait ends when nothing is
            // left that could run.
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
            state = self.sleep_until_finish(state, LOOK);
        }
    }

    /// Sleeps until a packet has finished, but not for longer than `most`.
    fn sleep_until_finish<'a>(
        &self,
        mut state: MutexGuard<'a, SchedulerState>,
        most: Duration,
    ) -> MutexGuard<'a, SchedulerState> {
        state.threads.waiters += 1;
        let mut state = self.finished.wait_timeout(state, most).unwrap_or_else(PoisonError::into_inner).0;
        state.threads.waiters -= 1;
        state
    }

    /// Checks conditions again: the memory or the state that they depend on has changed.
    pub(crate) fn notice(self: &Arc<Self>) {
        let mut state = self.lock();
        // If no thread starts, the callers that wait for the conditions check them.
        let _ = self.start(&mut state);
        drop(state);
        self.finished.notify_all();
        if let Some(schedule) = &self.schedule {
            schedule.notice();
        }
    }

    /// Drops the packets that have not started and ends the threads. Does not wait.
    pub(crate) fn close(&self) {
        let dropped: Vec<QueuedPacket> = {
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

    /// Waits, after [`close`](Self::close), until no packet runs but one on this thread. False where one runs
    /// for longer than `patience`.
    pub(crate) fn wait_for_end(&self, patience: Duration) -> bool {
        let (own, deadline) = (self.runs_here(), Instant::now() + patience);
        let mut state = self.lock();
        while state.runs_besides(own) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.sleep_until_finish(state, left);
        }
        true
    }

    /// Tells the front end about a thread that runs packets.
    pub(super) fn enter_thread(&self) {
        (self.enter_thread)();
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, SchedulerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").finish_non_exhaustive()
    }
}
