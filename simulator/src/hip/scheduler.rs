// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs what is queued on streams: in order on each stream, side by side on different ones.
//!
//! One lock guards the queues. An item is ready when it is first in its stream, nothing of that stream runs, and each
//! point that it waits for is reached. Points are captured when an item is queued and lie in the past, so waiting
//! cannot go in circles. Threads are started when ready work outnumbers idle threads, and end with the simulator.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use smallvec::SmallVec;

use super::code::{Code, Outcome};
use super::machine::Machine;
use super::runtime::Runtime;
use super::stream::{Point, Role, Stream};
use super::work::Work;

/// The queues of one simulator and the threads that empty them.
pub(crate) struct Scheduler {
    machine: Arc<Machine>,
    /// Whom a host function that calls HIP is talking to.
    runtime: Weak<Runtime>,
    state: Mutex<State>,
    /// Rung when an item becomes ready.
    ready: Condvar,
    /// Rung when an item has finished.
    finished: Condvar,
}

struct State {
    /// By stream id. The order is fixed, so that a seed draws from the same list each time.
    queues: BTreeMap<u64, Queue>,
    next_stream: u64,
    threads: usize,
    idle: usize,
    /// Items other than host functions that run at the moment.
    running: usize,
    order: Order,
    closed: bool,
}

struct Queue {
    stream: Arc<Stream>,
    /// Number of the item that was queued last.
    queued: u64,
    items: VecDeque<Item>,
    running: bool,
}

struct Item {
    number: u64,
    waits: SmallVec<[Point; 2]>,
    work: Work,
}

/// Which ready stream goes next.
enum Order {
    /// All at once.
    Free,
    /// One at a time, drawn by a xorshift generator.
    Drawn(u64),
}

impl Scheduler {
    /// A scheduler without streams and threads.
    pub(crate) fn new(machine: Arc<Machine>, runtime: Weak<Runtime>, seed: Option<u64>) -> Self {
        let order = match seed {
            // Xorshift stays at zero for ever: any other number does.
            Some(seed) => Order::Drawn(seed ^ 0x9e37_79b9_7f4a_7c15).normalised(),
            None => Order::Free,
        };
        let state = State {
            queues: BTreeMap::new(),
            next_stream: 0,
            threads: 0,
            idle: 0,
            running: 0,
            order,
            closed: false,
        };
        Self { machine, runtime, state: Mutex::new(state), ready: Condvar::new(), finished: Condvar::new() }
    }

    /// Adds a stream.
    pub(crate) fn create_stream(&self, device: usize, role: Role, priority: i32) -> Arc<Stream> {
        let mut state = self.lock();
        state.next_stream += 1;
        let stream = Arc::new(Stream::new(state.next_stream, device, role, priority));
        let queue = Queue { stream: stream.clone(), queued: 0, items: VecDeque::new(), running: false };
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
        if state.closed {
            return Err(Code::DEINITIALIZED);
        }
        let mut waits: SmallVec<[Point; 2]> =
            waits.iter().filter(|point| !point.is_reached()).cloned().collect();
        state.add_null_stream_edges(stream, &mut waits);
        let queue = state.queues.get_mut(&stream.id).ok_or(Code::CONTEXT_IS_DESTROYED)?;
        if stream.is_destroyed() {
            return Err(Code::CONTEXT_IS_DESTROYED);
        }
        queue.queued += 1;
        let point = Point { stream: queue.stream.clone(), number: queue.queued };
        queue.items.push_back(Item { number: queue.queued, waits, work });
        let ready = state.count_ready();
        self.call_threads(&mut state, ready)?;
        Ok(point)
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
    pub(crate) fn wait(&self, points: &[Point]) -> Outcome<()> {
        if points.iter().all(Point::is_reached) {
            return Ok(());
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
        drop(dropped);
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
                    tracing::error!(target: "windlass::sim", %error, "no thread to run streams on");
                    return Err(Code::OUT_OF_MEMORY);
                }
            }
        }
        Ok(())
    }

    /// What each thread does.
    fn work(self: Arc<Self>) {
        super::current::enter_thread(&self.runtime);
        let mut state = self.lock();
        loop {
            if state.closed {
                return;
            }
            let Some((stream, item)) = state.take_ready() else {
                state.idle += 1;
                state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            let others = state.count_ready();
            // Without another thread this one gets to them later.
            let _ = self.call_threads(&mut state, others);
            drop(state);
            let counted = !item.work.is_host_function();
            self.machine.run(&stream, item.work);
            state = self.lock();
            state.finish(&stream, item.number, counted);
            self.finished.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Legacy default stream: it waits for the blocking streams of its device, and each of them for it.
    fn add_null_stream_edges(&self, stream: &Stream, waits: &mut SmallVec<[Point; 2]>) {
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

    fn count_ready(&self) -> usize {
        let ready = self.queues.values().filter(|queue| self.may_run(queue)).count();
        match self.order {
            Order::Free => ready,
            Order::Drawn(_) => ready.min(1),
        }
    }

    fn may_run(&self, queue: &Queue) -> bool {
        let Some(item) = queue.items.front() else { return false };
        let turn = match self.order {
            Order::Free => true,
            // A host function may wait for anything, even for other streams.
            Order::Drawn(_) => self.running == 0 || item.work.is_host_function(),
        };
        turn && !queue.running && item.waits.iter().all(Point::is_reached)
    }

    fn take_ready(&mut self) -> Option<(Arc<Stream>, Item)> {
        let ready: SmallVec<[u64; 16]> =
            self.queues.values().filter(|queue| self.may_run(queue)).map(|queue| queue.stream.id).collect();
        let id = match &mut self.order {
            Order::Free => *ready.first()?,
            Order::Drawn(state) => {
                let count = u64::try_from(ready.len()).ok().filter(|count| *count > 0)?;
                *ready.get(usize::try_from(draw(state) % count).ok()?)?
            }
        };
        let queue = self.queues.get_mut(&id)?;
        let item = queue.items.pop_front()?;
        queue.running = true;
        self.running += usize::from(!item.work.is_host_function());
        Some((queue.stream.clone(), item))
    }

    fn finish(&mut self, stream: &Stream, number: u64, counted: bool) {
        self.running -= usize::from(counted);
        stream.finish(number);
        let Some(queue) = self.queues.get_mut(&stream.id) else { return };
        queue.running = false;
        if stream.is_destroyed() && queue.is_drained() {
            self.queues.remove(&stream.id);
        }
    }
}

impl Queue {
    fn is_drained(&self) -> bool {
        self.items.is_empty() && !self.running
    }

    fn tail(&self) -> Point {
        Point { stream: self.stream.clone(), number: self.queued }
    }
}

impl Order {
    fn normalised(self) -> Self {
        match self {
            Self::Drawn(0) => Self::Drawn(1),
            order => order,
        }
    }
}

/// Marsaglia's xorshift64.
fn draw(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}
