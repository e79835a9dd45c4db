// SPDX-License-Identifier: MIT OR Apache-2.0
//! Who wants to know when a queue has retired: [`drain`](windlass_hal::Device::drain), which may neither enqueue
//! anything nor wait for a thread that is inside HIP.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering, fence},
};

use windlass_hal::{Notifications, Semaphore};

use crate::device::lock;

/// Semaphores to signal with 1 once an epoch of the queue has retired.
#[derive(Default)]
pub(crate) struct Watchers {
    any: AtomicBool,
    list: Mutex<Vec<(u64, Semaphore)>>,
}

impl Watchers {
    /// Signals `semaphore` once `epoch` has retired. It may have by now: look afterwards, and [`tell`](Self::tell).
    pub(crate) fn add(&self, epoch: u64, semaphore: Semaphore) {
        let mut list = lock(&self.list);
        list.push((epoch, semaphore));
        self.any.store(true, Ordering::Relaxed);
        drop(list);
        // Either the caller sees what has retired, or whoever retires sees the watcher.
        fence(Ordering::SeqCst);
    }

    /// Everything up to `retired` has retired. A load where nobody watches.
    pub(crate) fn tell(&self, retired: u64, notifications: &mut Notifications) {
        fence(Ordering::SeqCst);
        if !self.any.load(Ordering::Relaxed) {
            return;
        }
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

    /// Forgets a watcher that gave up.
    pub(crate) fn forget(&self, semaphore: &Semaphore) {
        lock(&self.list).retain(|(_, known)| !known.same(semaphore));
    }
}
