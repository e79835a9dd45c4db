// SPDX-License-Identifier: MIT OR Apache-2.0
//! The clock that events read: the host's, or one that counts turns.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time that one turn takes on a clock that counts turns.
const TURN: Duration = Duration::from_micros(1);

/// A clock of one machine.
#[derive(Debug)]
pub(crate) enum Clock {
    /// The host's clock, counted from the start of the machine.
    Host(Instant),
    /// The clock of a schedule: each call and each step of work takes a microsecond, so that a repeated run
    /// reads the same times.
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

    /// Advances a clock that counts turns: a call or a step begins.
    pub(crate) fn turn(&self) {
        if let Self::Turns(turns) = self {
            turns.fetch_add(1, Ordering::Relaxed);
        }
    }
}
