// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device edges: the promise of a device that a semaphore will reach a value, which the same device can wait
//! for without the host.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Names the set of queues that understand each other's [`Edge`]s: one opened device, as a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Domain(u64);

impl Domain {
    /// A domain that no other is equal to.
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// What stands behind an edge: a device that makes progress on its lanes.
///
/// No method may block on other work, and none is called with a lock of this crate held.
pub trait EdgeSource: Send + Sync + 'static {
    /// The domain whose drivers can turn this source's edges into device waits.
    fn domain(&self) -> Domain;

    /// Retires whatever has finished, if nobody else is doing so.
    fn poll(&self);

    /// From now on, until `epoch` of `lane` has retired, the source must make progress by itself: somebody who
    /// does not poll depends on it.
    fn demand(&self, lane: u32, epoch: u64);
}

/// A value of a semaphore is promised by work that a device has already enqueued: it follows once `epoch` of
/// `lane` (an in-order stream of the device) has completed.
#[derive(Clone)]
pub struct Edge {
    /// The device.
    pub source: Arc<dyn EdgeSource>,
    /// The in-order stream, as the device numbers its streams.
    pub lane: u32,
    /// The position in the stream. Positions of one lane complete in order.
    pub epoch: u64,
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Edge({:?} lane {} epoch {})", self.source.domain(), self.lane, self.epoch)
    }
}
