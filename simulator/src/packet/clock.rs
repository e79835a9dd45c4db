// SPDX-License-Identifier: MIT OR Apache-2.0
//! The time that events tell.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a turn takes on a clock that counts turns.
const TURN: Duration = Duration::from_micros(1);

/// A clock of one machine.
#[derive(Debug)]
pub(crate) enum Clock {
    /// The host's, from the start of the machine.
    Host(Instant),
    /// Of a schedule: each call and each step of work takes a microsecond, so that a run tells the same times again.
    Turns(AtomicU64),
}

impl Clock {
    pub(crate) fn new(has_schedule: bool) -> Self {
        if has_schedule { Self::Turns(AtomicU64::new(0)) } else { Self::Host(Instant::now()) }
    }

    /// Time since the start.
    pub(crate) fn now(&self) -> Duration {
        match self {
            Self::Host(start) => start.elapsed(),
            Self::Turns(turns) => {
                TURN.saturating_mul(turns.load(Ordering::Relaxed).try_into().unwrap_or(u32::MAX))
            }
        }
    }

    /// A call or a step begins.
    pub(crate) fn turn(&self) {
        if let Self::Turns(turns) = self {
            turns.fetch_add(1, Ordering::Relaxed);
        }
    }
}
