// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device edges: a device promises that its enqueued work will bring a semaphore to a value. Other work of the same
//! device can wait for the promise without the host.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Identifies the queues that understand each other's [`Edge`]s. As a rule these are the queues of one opened device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Domain(u64);

impl Domain {
    /// A domain that equals no other domain of this process.
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The device behind an edge. It makes progress on its lanes, which are in-order streams.
///
/// No method may block on other work. This crate calls them with no lock held.
pub trait EdgeSource: Send + Sync + 'static {
    /// The domain whose drivers can turn the edges of this source into device waits.
    fn domain(&self) -> Domain;

    /// Retires finished work, unless another thread is doing so.
    fn poll(&self);

    /// Asks the source to make progress by itself until `epoch` of `lane` has retired, because a waiter that does not
    /// poll depends on it.
    fn demand(&self, lane: u32, epoch: u64);
}

/// The promise of one value of a semaphore: the value follows when `epoch` of `lane` has completed. The work is already
/// enqueued.
#[derive(Clone)]
pub struct Edge {
    /// The device that promises.
    pub source: Arc<dyn EdgeSource>,
    /// The in-order stream, numbered by the device.
    pub lane: u32,
    /// The position in the stream. The positions of one lane complete in ascending order.
    pub epoch: u64,
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Edge({:?} lane {} epoch {})", self.source.domain(), self.lane, self.epoch)
    }
}
