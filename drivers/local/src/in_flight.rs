// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations that were issued and have not ended, on all threads of a device.

use std::sync::{Mutex, MutexGuard, PoisonError};

use slab::Slab;
use windlass_hal::{Notifications, Point, Semaphore};

/// The operations of one device that are in flight, numbered in the order in which they were issued.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<Flights>);

#[derive(Default)]
struct Flights {
    issued: u64,
    running: Slab<u64>,
    /// Each semaphore is signalled once no operation below its number is left.
    sleepers: Vec<(u64, Semaphore)>,
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
        flights.running.try_remove(key);
        if !flights.sleepers.is_empty() {
            let oldest = flights.running.iter().map(|(_, number)| *number).min().unwrap_or(u64::MAX);
            flights.sleepers.retain(|(bound, semaphore)| {
                let waits = oldest < *bound;
                if !waits {
                    semaphore.advance(1, &mut notifications);
                }
                waits
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
        let (bound, semaphore) = (flights.issued, Semaphore::new(0));
        let end = semaphore.at(1);
        flights.sleepers.push((bound, semaphore));
        Some(end)
    }

    fn lock(&self) -> MutexGuard<'_, Flights> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
