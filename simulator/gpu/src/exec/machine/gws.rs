// SPDX-License-Identifier: MIT OR Apache-2.0
//! The global wave sync (GWS) of a queue: barriers of all waves of a dispatch.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Barriers that an instruction can name.
const RESOURCES: usize = 64;

/// The barriers of a queue. They keep their state from one dispatch to the next.
#[derive(Debug)]
pub struct Gws {
    barriers: Mutex<[Barrier; RESOURCES]>,
}

/// One barrier.
#[derive(Clone, Copy, Debug, Default)]
pub struct Barrier {
    /// The waves that must still arrive before the wave that opens it.
    pub missing: u32,
    /// Changes each time the barrier opens.
    pub side: bool,
}

impl Default for Gws {
    fn default() -> Self {
        Self { barriers: Mutex::new([Barrier::default(); RESOURCES]) }
    }
}

impl Gws {
    /// Calls a function with a barrier. Numbers wrap.
    pub fn with<T>(&self, number: usize, f: impl FnOnce(&mut Barrier) -> T) -> T {
        f(&mut self.lock()[number % RESOURCES])
    }

    fn lock(&self) -> MutexGuard<'_, [Barrier; RESOURCES]> {
        self.barriers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
