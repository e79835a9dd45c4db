// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wake-ups: they are collected while locks are held, and carried out afterwards.

use std::{fmt, sync::Arc, task::Waker};

use crate::{
    order::{
        edge::{Domain, Edge},
        observer::Watch,
    },
    words::{error::Error, panics::contain},
};

/// The receiver that a registered wait notifies.
pub(crate) enum Target {
    /// The waker of a future.
    Waker(Waker),
    /// Any other receiver: a sleeping thread, a pending operation.
    Timepoint {
        /// Called once, with no lock of the semaphore held.
        sink: Arc<dyn Timepoint>,
        /// Passed back to the sink, so that one sink can wait for several values.
        token: u32,
        /// If set, an edge of this domain also ends the wait.
        accepts: Option<Domain>,
    },
    /// An observer, whose registration only the failure ends.
    Observer(Arc<Watch>),
}

impl Target {
    /// The domain whose edges end this wait, if there is one.
    pub(super) fn accepts(&self) -> Option<Domain> {
        match self {
            Self::Waker(_) | Self::Observer(_) => None,
            Self::Timepoint { accepts, .. } => *accepts,
        }
    }

    /// The notification to send when the wait ends with `resolution`.
    pub(super) fn over(self, resolution: Resolution) -> Notification {
        match self {
            Self::Waker(waker) => Notification::Wake(waker),
            Self::Timepoint { sink, token, .. } => Notification::Resolve { sink, token, resolution },
            Self::Observer(watch) => match resolution {
                Resolution::Failed(error) => Notification::Failed(watch, error),
                // The payloads are told by themselves.
                Resolution::Reached | Resolution::Edge(_) => Notification::Advanced(watch, 0),
            },
        }
    }
}

/// A receiver that waits for values and is not a future.
pub(crate) trait Timepoint: Send + Sync {
    /// Called when the wait that was registered with `token` has ended.
    fn resolved(&self, token: u32, resolution: Resolution);
}

/// A profile whose records wait for its sink.
pub(crate) trait Deliver: Send + Sync {
    /// Hands them on. Called with no lock held.
    fn deliver(&self);
}

/// How a wait ended.
#[derive(Clone, Debug)]
pub(crate) enum Resolution {
    /// The payload reached the value.
    Reached,
    /// The semaphore failed first.
    Failed(Error),
    /// A device of the accepted domain has enqueued work that will signal the value.
    Edge(Edge),
}

/// Wake-ups that were collected while locks were held. [`fire`](Self::fire) carries them out, and so does dropping
/// this.
///
/// A driver that advances several semaphores under a lock of its own collects the wake-ups here. The payloads then
/// change in order, and the wakers run with no lock held.
#[derive(Default)]
#[must_use = "wake-ups are carried out when this is dropped"]
pub struct Notifications {
    /// Dropping an edge may drop a device, which must not happen under a lock.
    released: Option<Edge>,
    due: Option<Notification>,
    /// All others. As a rule there are none, and nothing is allocated.
    more: Option<Box<More>>,
}

#[derive(Default)]
struct More {
    released: Vec<Edge>,
    due: Vec<Notification>,
}

pub(super) enum Notification {
    Wake(Waker),
    Resolve { sink: Arc<dyn Timepoint>, token: u32, resolution: Resolution },
    Demand(Edge),
    Advanced(Arc<Watch>, u64),
    Failed(Arc<Watch>, Error),
    Deliver(Arc<dyn Deliver>),
}

impl Notification {
    /// Whether it calls foreign code, which may take long.
    fn is_foreign(&self) -> bool {
        matches!(self, Self::Wake(_) | Self::Advanced(..) | Self::Failed(..) | Self::Deliver(_))
    }
}

impl Notifications {
    /// No wake-ups.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is a waker or an observer among the wake-ups. Both are foreign code and may take long.
    pub fn has_wakers(&self) -> bool {
        let more = self.more.iter().flat_map(|more| &more.due);
        self.due.iter().chain(more).any(Notification::is_foreign)
    }

    /// Carries the wake-ups out. Call it with no lock held.
    #[inline]
    pub fn fire(self) {}

    /// Adds a wake-up.
    pub(super) fn push(&mut self, notification: Notification) {
        match &self.due {
            None => self.due = Some(notification),
            Some(_) => self.more.get_or_insert_default().due.push(notification),
        }
    }

    /// Adds a call of a profile's sink.
    pub(super) fn deliver(&mut self, profiler: Arc<dyn Deliver>) {
        self.push(Notification::Deliver(profiler));
    }

    /// Takes an edge, to drop it later.
    #[inline]
    pub(super) fn release(&mut self, edge: Edge) {
        match &self.released {
            None => self.released = Some(edge),
            Some(_) => self.more.get_or_insert_default().released.push(edge),
        }
    }

    #[inline(never)]
    fn carry_out(&mut self) {
        self.due.take().into_iter().for_each(Notification::carry_out);
        self.more.iter_mut().flat_map(|more| more.due.drain(..)).for_each(Notification::carry_out);
    }
}

impl Notification {
    /// Carries one wake-up out. A waker that panics does not stop the signalling thread, which may be a driver's own,
    /// nor the other wake-ups.
    fn carry_out(self) {
        let act = move || match self {
            Self::Wake(waker) => waker.wake(),
            Self::Resolve { sink, token, resolution } => sink.resolved(token, resolution),
            Self::Demand(edge) => edge.source.demand(edge.lane, edge.epoch),
            Self::Advanced(watch, payload) => watch.advanced(payload),
            Self::Failed(watch, error) => watch.failed(error),
            Self::Deliver(profiler) => profiler.deliver(),
        };
        contain("a waker", act);
    }
}

impl Drop for Notifications {
    #[inline]
    fn drop(&mut self) {
        if self.due.is_some() {
            self.carry_out();
        }
    }
}

impl fmt::Debug for Notifications {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = self.more.as_ref().map_or(0, |more| more.due.len());
        write!(f, "Notifications({})", usize::from(self.due.is_some()) + more)
    }
}
