// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers: receivers that hear every advance of a semaphore, without a change of threads.

use std::sync::{Arc, OnceLock};

use crate::words::{
    error::Error,
    panics::contain,
    sync::{AtomicU64, Ordering},
};

/// Hears what a semaphore does. See [`Semaphore::observe`](crate::Semaphore::observe).
///
/// The calls run on the stacks of threads that raise or fail the semaphore, one at a time, with no lock held. Such a
/// thread may be a driver's own, which other work depends on, so a call must not block. It may use any semaphore, this
/// one included, and any device.
pub trait Observer: Send + Sync {
    /// The payload has grown to `payload`, which is greater than in the calls before. Advances that happen during a
    /// call are told together in the next one.
    fn advanced(&self, payload: u64);

    /// The semaphore has failed. This is the last call.
    fn failed(&self, error: &Error);
}

/// An observer, and the news for it. One thread at a time delivers.
pub(crate) struct Watch {
    observer: Arc<dyn Observer>,
    payload: AtomicU64,
    /// The greatest payload that the observer was told; [`FAILURE`] after the failure.
    told: AtomicU64,
    failure: OnceLock<Error>,
    /// News that no thread has delivered yet. The thread that raises it from zero delivers.
    due: AtomicU64,
}

/// Greater than any payload.
const FAILURE: u64 = u64::MAX;

impl Watch {
    pub(super) fn new(observer: Arc<dyn Observer>) -> Self {
        let [payload, told, due] = [(); 3].map(|()| AtomicU64::new(0));
        Self { observer, payload, told, failure: OnceLock::new(), due }
    }

    /// Sets the payload from which on advances are told.
    pub(super) fn begin_at(&self, payload: u64) {
        self.told.store(payload, Ordering::Release);
    }

    pub(super) fn advanced(&self, payload: u64) {
        self.payload.fetch_max(payload, Ordering::AcqRel);
        self.deliver();
    }

    /// The payloads before the failure must be told before this.
    pub(super) fn failed(&self, error: Error) {
        let _ = self.failure.set(error);
        self.deliver();
    }

    fn deliver(&self) {
        if self.due.fetch_add(1, Ordering::AcqRel) > 0 {
            return;
        }
        loop {
            let due = self.due.load(Ordering::Acquire);
            let failure = self.failure.get();
            let payload = self.payload.load(Ordering::Acquire);
            let told = self.told.load(Ordering::Acquire);
            if payload > told {
                self.told.store(payload, Ordering::Release);
                contain("an observer", || self.observer.advanced(payload));
            }
            if let Some(error) = failure.filter(|_| told != FAILURE) {
                self.told.store(FAILURE, Ordering::Release);
                contain("an observer", || self.observer.failed(error));
            }
            if self.due.fetch_sub(due, Ordering::AcqRel) == due {
                return;
            }
        }
    }
}
