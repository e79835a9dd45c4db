// SPDX-License-Identifier: MIT OR Apache-2.0
//! Watchers of a queue: semaphores that are signalled when the queue has retired.
//! [`drain`](windlass_hal::Device::drain) needs them, because it may neither enqueue anything nor wait for a thread that is
//! inside HIP.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

use windlass_hal::{Notifications, Semaphore};

use crate::sync::lock;

/// Semaphores to signal with 1 once an epoch of the queue has retired.
#[derive(Default)]
pub(crate) struct Watchers {
    any: AtomicBool,
    list: Mutex<Vec<(u64, Semaphore)>>,
}

impl Watchers {
    /// Signals `semaphore` once `epoch` has retired. The epoch may have retired before the watcher was added: the caller
    /// must check afterwards, and call [`tell`](Self::tell) if so.
    pub(crate) fn add(&self, epoch: u64, semaphore: Semaphore) {
        let mut list = lock(&self.list);
        list.push((epoch, semaphore));
        // The retired epoch is stored and loaded in the same total order: either the caller sees it, or the retiring thread
        // sees the watcher.
        self.any.store(true, Ordering::SeqCst);
        drop(list);
    }

    /// Signals the watchers of all epochs up to `retired`. Costs one load when there are none.
    #[inline]
    pub(crate) fn tell(&self, retired: u64, notifications: &mut Notifications) {
        if self.any.load(Ordering::SeqCst) {
            self.tell_all(retired, notifications);
        }
    }

    fn tell_all(&self, retired: u64, notifications: &mut Notifications) {
        let mut list = lock(&self.list);
        list.retain(|(epoch, semaphore)| {
            let open = *epoch > retired;
            if !open {
                semaphore.advance(1, notifications);
            }
            open
        });
        self.any.store(!list.is_empty(), Ordering::Relaxed);
    }

    /// Removes a watcher that gave up.
    pub(crate) fn forget(&self, semaphore: &Semaphore) {
        lock(&self.list).retain(|(_, known)| !known.same(semaphore));
    }
}
