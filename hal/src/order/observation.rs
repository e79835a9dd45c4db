// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registration of an observer with a semaphore.

use std::{fmt, sync::Arc};

use crate::order::{
    notifications::Notifications,
    observer::{Observer, Watch},
    semaphore::{Registration, Semaphore},
};

/// An observer's registration. Dropping it ends the observation; a call that has begun on another thread may outlast
/// it.
#[must_use = "dropping an observation ends it"]
pub struct Observation {
    semaphore: Semaphore,
    registration: Option<Registration>,
}

impl Semaphore {
    /// Tells `observer` of every advance and of the failure from now on, until the result is dropped. A semaphore that
    /// has failed tells it before this returns. Advances before this call are not told: a [`query`](Self::query) after
    /// it gives the payload.
    ///
    /// A device that owes values of an observed semaphore makes progress by itself, as for a future. A signal of an
    /// observed semaphore takes a lock.
    pub fn observe(&self, observer: Arc<dyn Observer>) -> Observation {
        let mut notifications = Notifications::new();
        let registration = self.add_watch(Arc::new(Watch::new(observer)), &mut notifications);
        notifications.fire();
        Observation { semaphore: self.clone(), registration }
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        if let Some(registration) = &self.registration {
            self.semaphore.cancel(registration);
        }
    }
}

impl fmt::Debug for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observation").field("semaphore", &self.semaphore).finish_non_exhaustive()
    }
}
