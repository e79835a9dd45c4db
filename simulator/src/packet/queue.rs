// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues, and points on them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The relation of a queue to the null queue of its device, which HIP alone has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The null queue: it waits for every blocking queue, and they wait for it.
    Null,
    /// Ordered against the null queue both ways.
    Blocking,
    /// Not ordered against the null queue.
    NonBlocking,
}

/// Packets that run in order. The scheduler keeps those that have not run.
#[derive(Debug)]
pub(crate) struct Queue {
    /// Unique in its scheduler.
    pub(crate) id: u64,
    pub(crate) device: usize,
    pub(crate) role: Role,
    /// Queues of different priorities share no hardware queue.
    pub(crate) priority: i32,
    /// The queue whose graph this queue runs a branch of.
    graph_of: Option<Arc<Queue>>,
    /// The handle that its client has for it; zero if there is none.
    name: AtomicU64,
    /// Packets that have finished. Packet number `n` (from 1) has finished once this is at least `n`.
    finished: AtomicU64,
    /// Set when the queue takes no more packets. Those that it has still run.
    closed: AtomicBool,
}

impl Queue {
    pub(super) fn new(id: u64, device: usize, role: Role, priority: i32) -> Self {
        let [name, finished] = [(); 2].map(|()| AtomicU64::new(0));
        Self { id, device, role, priority, graph_of: None, name, finished, closed: AtomicBool::new(false) }
    }

    /// A queue that runs a branch of a graph of `stream`, on any device.
    pub(super) fn branch(id: u64, device: usize, stream: Arc<Self>) -> Self {
        Self { graph_of: Some(stream), ..Self::new(id, device, Role::NonBlocking, 0) }
    }

    /// Sets the handle that its client has for it, for messages.
    pub(crate) fn set_name(&self, handle: u64) {
        self.name.store(handle, Ordering::Relaxed);
    }

    pub(super) fn finished(&self) -> u64 {
        self.finished.load(Ordering::Acquire)
    }

    /// Only the scheduler calls this, under its lock.
    pub(super) fn finish(&self, number: u64) {
        self.finished.store(number, Ordering::Release);
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Whether the queue takes no more packets.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(stream) = &self.graph_of {
            return write!(f, "a graph in {stream}");
        }
        match (self.role, self.name.load(Ordering::Relaxed)) {
            (Role::Null, _) => f.write_str("the null stream"),
            (_, 0) => write!(f, "a thread's own stream (number {})", self.id),
            (_, handle) => write!(f, "stream {handle:#x}"),
        }
    }
}

/// The end of one packet of a queue.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) queue: Arc<Queue>,
    pub(crate) number: u64,
}

impl Point {
    pub(crate) fn is_reached(&self) -> bool {
        self.queue.finished() >= self.number
    }
}
