// SPDX-License-Identifier: MIT OR Apache-2.0
//! The moment at which a blocking wait gives up.

use std::time::{Duration, Instant};

/// The moment at which a blocking wait gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// Wait as long as it takes.
    pub const NEVER: Self = Self(None);

    /// Look once and do not wait.
    pub fn now() -> Self {
        Self(Some(Instant::now()))
    }

    /// Give up after this time. A span that no clock can hold means [`NEVER`](Self::NEVER).
    pub fn after(span: Duration) -> Self {
        Self(Instant::now().checked_add(span))
    }

    /// The time that is left, `None` for ever.
    pub(crate) fn remaining(self) -> Option<Duration> {
        self.0.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Whether the moment has passed.
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
