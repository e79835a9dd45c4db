// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs what is queued on streams: in order on each stream, side by side on different ones.
//!
//! With a seed, the [`schedule`](super::schedule) says what runs, and on which thread.
//!
//! One lock guards the queues. An item is ready when it is first in its stream, nothing of that stream runs, and each
//! point that it waits for is reached. Points are captured when an item is queued and lie in the past, so waiting
//! cannot go in circles. Threads are started when ready work outnumbers idle threads, and end with the simulator.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use smallvec::SmallVec;

use super::code::{Code, Outcome};
use super::failure::tell;
use super::machine::Machine;
use super::runtime::Runtime;
use super::schedule::{Schedule, Turn};
use super::stream::{Point, Role, Stream};
use super::work::Work;

/// The queues of one simulator and the threads that empty them.
pub(crate) struct Scheduler {
    pub(super) machine: Arc<Machine>,
    /// Whom a host function that calls HIP is talking to.
    runtime: Weak<Runtime>,
    /// Where there is a seed.
    pub(super) schedule: Option<Schedule>,
    state: Mutex<State>,
    /// Rung when an item becomes ready.
    ready: Condvar,
    /// Rung when an item has finished.
    finished: Condvar,
}

pub(super) struct State {
    /// By stream id. The order is fixed, so that a seed draws from the same list each time.
    queues: BTreeMap<u64, Queue>,
    next_stream: u64,
    threads: usize,
    idle: usize,
    closed: bool,
}

struct Queue {
    stream: Arc<Stream>,
    /// Number of the item that was queued last.
    queued: u64,
    items: VecDeque<Item>,
    running: Running,
}

/// Whether an item of a stream is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Running {
    No,
    /// On a thread of its own.
    OnThread,
    /// By steps of a [`Schedule`].
    BySteps,
}

/// What an item waits for.
pub(super) type Waits = SmallVec<[Point; 2]>;

/// One thing that is queued.
pub(super) struct Item {
    /// From 1 on, in the order of the stream.
    pub(super) number: u64,
    waits: Waits,
    pub(super) work: Work,
}

impl Scheduler {
    /// A scheduler without streams and threads.
    pub(crate) fn new(machine: Arc<Machine>, runtime: Weak<Runtime>, schedule: Option<Schedule>) -> Self {
        let state = State { queues: BTreeMap::new(), next_stream: 0, threads: 0, idle: 0, closed: false };
        Self {
            machine,
            runtime,
            schedule,
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

    /// Adds a stream.
    pub(crate) fn create_stream(&self, device: usize, role: Role, priority: i32) -> Arc<Stream> {
        let mut state = self.lock();
        state.next_stream += 1;
        let stream = Arc::new(Stream::new(state.next_stream, device, role, priority));
        let queue = Queue { stream: stream.clone(), queued: 0, items: VecDeque::new(), running: Running::No };
        state.queues.insert(stream.id, queue);
        stream
    }

    /// Takes a stream away once what is queued on it has run. Does not wait.
    pub(crate) fn destroy_stream(&self, stream: &Stream) {
        let mut state = self.lock();
        stream.destroy();
        if state.queues.get(&stream.id).is_some_and(Queue::is_drained) {
            state.queues.remove(&stream.id);
        }
    }

    /// Queues work behind what the stream already holds and behind `waits`. Never waits itself.
    ///
    /// # Errors
    /// `CONTEXT_IS_DESTROYED` for a destroyed stream, `DEINITIALIZED` after [`close`](Self::close),
    /// `OUT_OF_MEMORY` when the first thread cannot be started.
    pub(crate) fn enqueue(self: &Arc<Self>, stream: &Stream, work: Work, waits: &[Point]) -> Outcome<Point> {
        let mut state = self.lock();
        state.check_open(stream)?;
        let mut waits: Waits = waits.iter().filter(|point| !point.is_reached()).cloned().collect();
        state.add_null_stream_edges(stream, &mut waits);
        let point = state.append(stream, waits, work)?;
        self.start(&mut state)?;
        Ok(point)
    }

    /// Has threads take on what became ready, unless a schedule does.
    pub(super) fn start(self: &Arc<Self>, state: &mut State) -> Outcome<()> {
        if self.schedule.is_some() {
            return Ok(());
        }
        let ready = state.ready_streams().len();
        self.call_threads(state, ready)
    }

    /// The end of what is queued on a stream now.
    pub(crate) fn tail(&self, stream: &Arc<Stream>) -> Point {
        let state = self.lock();
        let queued = state.queues.get(&stream.id).map(|queue| queue.queued);
        Point { stream: stream.clone(), number: queued.unwrap_or_else(|| stream.finished()) }
    }

    /// The ends of what is queued on all streams of a device now.
    pub(crate) fn tails(&self, device: usize) -> Vec<Point> {
        let state = self.lock();
        let queues =
            state.queues.values().filter(|queue| queue.stream.device == device && !queue.is_drained());
        queues.map(Queue::tail).collect()
    }

    /// Blocks until every point is reached.
    ///
    /// # Errors
    /// `DEINITIALIZED` when the simulator goes away meanwhile.
    pub(crate) fn wait(self: &Arc<Self>, points: &[Point]) -> Outcome<()> {
        if points.iter().all(Point::is_reached) {
            return Ok(());
        }
        if let Some(schedule) = &self.schedule {
            return self.wait_by_steps(schedule, points);
        }
        let mut state = self.lock();
        while !points.iter().all(Point::is_reached) {
            if state.closed {
                return Err(Code::DEINITIALIZED);
            }
            state = self.finished.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    /// Drops what has not started and lets the threads end. Waits for nothing.
    pub(crate) fn close(&self) {
        let dropped: Vec<Item> = {
            let mut state = self.lock();
            state.closed = true;
            state.queues.values_mut().flat_map(|queue| queue.items.drain(..)).collect()
        };
        self.ready.notify_all();
        self.finished.notify_all();
        if let Some(schedule) = &self.schedule {
            schedule.close();
        }
        drop(dropped);
    }

    /// Waits until an item is ready. False once the scheduler is closed.
    pub(super) fn wait_for_ready(&self) -> bool {
        let mut state = self.lock();
        while !state.closed && state.ready_streams().is_empty() {
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        !state.closed
    }

    /// Wakes whoever waits until an item is ready.
    pub(super) fn ring(&self) {
        self.ready.notify_one();
    }

    /// Makes the simulator the one that this thread talks to.
    pub(super) fn enter_thread(&self) {
        super::current::enter_thread(&self.runtime);
    }

    /// Sees to it that there is a thread for each of so many ready items.
    fn call_threads(self: &Arc<Self>, state: &mut State, ready: usize) -> Outcome<()> {
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
                    tell(|| tracing::error!(target: "windlass::sim", %error, "no thread to run streams on"));
                    return Err(Code::OUT_OF_MEMORY);
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
            let next = state.ready_streams().first().copied();
            let Some((stream, item)) = next.and_then(|id| state.take(id)) else {
                state.idle += 1;
                state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            let others = state.ready_streams().len();
            // Without another thread this one gets to them later.
            let _ = self.call_threads(&mut state, others);
            drop(state);
            self.machine.run(&stream, item.work);
            state = self.lock();
            state.finish(&stream, item.number);
            self.finished.notify_all();
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether work for a stream is taken.
    pub(super) fn check_open(&self, stream: &Stream) -> Outcome<()> {
        if self.closed {
            return Err(Code::DEINITIALIZED);
        }
        if stream.is_destroyed() || !self.queues.contains_key(&stream.id) {
            return Err(Code::CONTEXT_IS_DESTROYED);
        }
        Ok(())
    }

    /// Queues work that waits for these points, without starting it.
    pub(super) fn append(&mut self, stream: &Stream, waits: Waits, work: Work) -> Outcome<Point> {
        let queue = self.queues.get_mut(&stream.id).ok_or(Code::CONTEXT_IS_DESTROYED)?;
        Ok(queue.append(waits, work))
    }

    /// Adds a stream that goes when it is drained.
    pub(super) fn add_lane(&mut self, device: usize, owner: &Arc<Stream>) -> Arc<Stream> {
        self.next_stream += 1;
        let stream = Arc::new(Stream::lane(self.next_stream, device, owner));
        let queue = Queue { stream: stream.clone(), queued: 0, items: VecDeque::new(), running: Running::No };
        self.queues.insert(stream.id, queue);
        stream
    }

    /// Legacy default stream: it waits for the blocking streams of its device, and each of them for it.
    pub(super) fn add_null_stream_edges(&self, stream: &Stream, waits: &mut Waits) {
        let other = match stream.role {
            Role::NonBlocking => return,
            Role::Null => Role::Blocking,
            Role::Blocking => Role::Null,
        };
        let queues = self.queues.values().filter(|queue| {
            queue.stream.device == stream.device && queue.stream.role == other && !queue.is_drained()
        });
        waits.extend(queues.map(Queue::tail));
    }

    /// The streams on which something can go on.
    pub(super) fn ready_streams(&self) -> SmallVec<[u64; 16]> {
        self.queues.values().filter(|queue| queue.is_ready()).map(|queue| queue.stream.id).collect()
    }

    /// Takes the next item of a stream, to be run.
    pub(super) fn take(&mut self, id: u64) -> Option<(Arc<Stream>, Item)> {
        let queue = self.queues.get_mut(&id)?;
        let item = queue.items.pop_front()?;
        queue.running = Running::OnThread;
        Some((queue.stream.clone(), item))
    }

    /// The item that was taken goes on by steps.
    pub(super) fn set_stepped(&mut self, id: u64) {
        if let Some(queue) = self.queues.get_mut(&id) {
            queue.running = Running::BySteps;
        }
    }

    /// The item that was taken is done. True if this was the last that there will be of the stream.
    pub(super) fn finish(&mut self, stream: &Stream, number: u64) -> bool {
        stream.finish(number);
        let Some(queue) = self.queues.get_mut(&stream.id) else { return true };
        queue.running = Running::No;
        let gone = stream.is_destroyed() && queue.is_drained();
        if gone {
            self.queues.remove(&stream.id);
        }
        gone
    }
}

impl Queue {
    fn append(&mut self, waits: Waits, work: Work) -> Point {
        self.queued += 1;
        self.items.push_back(Item { number: self.queued, waits, work });
        self.tail()
    }

    fn is_drained(&self) -> bool {
        self.items.is_empty() && self.running == Running::No
    }

    fn is_ready(&self) -> bool {
        match self.running {
            Running::No => self.items.front().is_some_and(|item| item.waits.iter().all(Point::is_reached)),
            Running::OnThread => false,
            Running::BySteps => true,
        }
    }

    fn tail(&self) -> Point {
        Point { stream: self.stream.clone(), number: self.queued }
    }
}
