// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations that were issued and have not ended, on all threads of a device.

use std::sync::{Mutex, MutexGuard, PoisonError};

use slab::Slab;
use windlass_hal::{Notifications, Point, Semaphore};

/// The operations of one device that are in flight, numbered in the order in which they were issued.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<Flights>);

/// The entries whose memory the list keeps after a burst.
const KEPT: usize = 1024;

#[derive(Default)]
struct Flights {
    issued: u64,
    running: Slab<u64>,
    drains: Vec<Drain>,
}

/// The wait for the end of all operations below a number. It counts them, so that no end of an operation looks at the others.
struct Drain {
    below: u64,
    running: usize,
    /// Signalled with 1.
    end: Semaphore,
}

impl InFlight {
    /// Adds an issued operation, and returns the key for [`end`](Self::end).
    pub(crate) fn begin(&self) -> usize {
        let mut flights = self.lock();
        let number = flights.issued;
        flights.issued += 1;
        flights.running.insert(number)
    }

    /// Removes an operation that has reached or failed its signals.
    pub(crate) fn end(&self, key: usize) {
        let mut notifications = Notifications::new();
        let mut flights = self.lock();
        if let Some(number) = flights.running.try_remove(key) {
            if flights.running.is_empty() && flights.running.capacity() > KEPT {
                flights.running = Slab::new();
            }
            flights.drains.retain_mut(|drain| {
                drain.running -= usize::from(number < drain.below);
                if drain.running == 0 {
                    drain.end.advance(1, &mut notifications);
                }
                drain.running > 0
            });
        }
        drop(flights);
        notifications.fire();
    }

    /// A point that is reached when all operations issued so far have ended. `None` if they have ended already.
    pub(crate) fn end_of_all(&self) -> Option<Point> {
        let mut flights = self.lock();
        if flights.running.is_empty() {
            return None;
        }
        let below = flights.issued;
        // A drain that gave up stays in the list, so the next one with the same end shares it.
        if let Some(same) = flights.drains.last().filter(|drain| drain.below == below) {
            return Some(same.end.at(1));
        }
        let end = Semaphore::new(0);
        let point = end.at(1);
        let running = flights.running.len();
        flights.drains.push(Drain { below, running, end });
        Some(point)
    }

    fn lock(&self) -> MutexGuard<'_, Flights> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
