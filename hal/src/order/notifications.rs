// SPDX-License-Identifier: MIT OR Apache-2.0
//! What ends a wait, and the wake-ups that are collected under a lock and carried out without it.

use std::{fmt, sync::Arc, task::Waker};

use smallvec::SmallVec;

use crate::{
    order::edge::{Domain, Edge},
    words::{error::Error, panics::contain},
};

/// Whom to tell that a wait is over.
pub(crate) enum Target {
    /// A future's waker.
    Waker(Waker),
    /// Anything else: a sleeping thread, a pending operation.
    Timepoint {
        /// Called once, with no lock of the semaphore held.
        sink: Arc<dyn Timepoint>,
        /// Passed back, so that one sink can wait for several values.
        token: u32,
        /// If set, an edge of this domain ends the wait as well as the value itself.
        accepts: Option<Domain>,
    },
}

impl Target {
    /// The domain whose edges end this wait.
    pub(super) fn accepts(&self) -> Option<Domain> {
        match self {
            Self::Waker(_) => None,
            Self::Timepoint { accepts, .. } => *accepts,
        }
    }

    /// Whom to tell, and what, once this wait is over.
    pub(super) fn over(self, resolution: Resolution) -> Notification {
        match self {
            Self::Waker(waker) => Notification::Wake(waker),
            Self::Timepoint { sink, token, .. } => Notification::Resolve { sink, token, resolution },
        }
    }
}

/// Something that waits for values without being a future.
pub(crate) trait Timepoint: Send + Sync {
    /// The wait registered with `token` is over.
    fn resolved(&self, token: u32, resolution: Resolution);
}

/// How a wait ended.
#[derive(Clone, Debug)]
pub(crate) enum Resolution {
    /// The payload reached the value.
    Reached,
    /// The semaphore failed first.
    Failed(Error),
    /// A device of the accepted domain has enqueued the work that will signal the value.
    Edge(Edge),
}

/// Wake-ups collected while locks are held, to be carried out when they are not: on [`fire`](Self::fire) or on
/// drop.
///
/// Drivers that advance several semaphores under a lock of their own collect into one of these, so that payloads
/// change in order and wakers run with no lock held.
#[derive(Default)]
#[must_use = "wake-ups are carried out when this is dropped"]
pub struct Notifications(pub(super) SmallVec<[Notification; 4]>);

pub(super) enum Notification {
    Wake(Waker),
    Resolve {
        sink: Arc<dyn Timepoint>,
        token: u32,
        resolution: Resolution,
    },
    Demand(Edge),
    /// Dropping an edge may drop a device: not under a lock.
    Release(#[allow(dead_code)] Edge),
}

impl Notifications {
    /// Nothing to carry out yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a waker is among them: code that is nobody's of this crate, and that may take its time.
    pub fn has_wakers(&self) -> bool {
        self.0.iter().any(|notification| matches!(notification, Notification::Wake(_)))
    }

    /// Carries everything out. Call it with no lock held.
    #[inline]
    pub fn fire(self) {
        drop(self);
    }
}

impl Notification {
    /// Carries it out. A foreign waker that panics harms nobody but itself: the signaller, which may be a driver's
    /// own thread, goes on, and so do the other wake-ups.
    fn carry_out(self) {
        let act = move || match self {
            Self::Wake(waker) => waker.wake(),
            Self::Resolve { sink, token, resolution } => sink.resolved(token, resolution),
            Self::Demand(edge) => edge.source.demand(edge.lane, edge.epoch),
            Self::Release(edge) => drop(edge),
        };
        contain("a waker", act);
    }
}

impl Drop for Notifications {
    fn drop(&mut self) {
        self.0.drain(..).for_each(Notification::carry_out);
    }
}

impl fmt::Debug for Notifications {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Notifications({})", self.0.len())
    }
}
