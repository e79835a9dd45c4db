// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deadlines of blocking waits.

use std::time::{Duration, Instant};

/// The moment at which a blocking wait gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// Waits without a limit.
    pub const NEVER: Self = Self(None);

    /// Looks once and does not wait.
    pub fn now() -> Self {
        Self(Some(Instant::now()))
    }

    /// Gives up after `span`. A span that the clock cannot represent means [`NEVER`](Self::NEVER).
    pub fn after(span: Duration) -> Self {
        Self(Instant::now().checked_add(span))
    }

    /// The time that is left; `None` for [`NEVER`](Self::NEVER).
    pub(crate) fn remaining(self) -> Option<Duration> {
        self.0.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Whether the deadline has passed.
    pub fn passed(self) -> bool {
        self.0.is_some_and(|at| Instant::now() >= at)
    }
}

impl From<Duration> for Deadline {
    fn from(span: Duration) -> Self {
        Self::after(span)
    }
}

impl From<Instant> for Deadline {
    fn from(at: Instant) -> Self {
        Self(Some(at))
    }
}
