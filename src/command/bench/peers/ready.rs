// SPDX-License-Identifier: MIT OR Apache-2.0
//! A peer that is ready to do the work of a row.

use std::time::Duration;

use crate::command::bench::stop::Work;

/// A library that is ready to do the work of a row.
pub(super) trait Ready {
    /// The name in reports.
    fn name(&self) -> String;
    /// Nanoseconds for each item of the row, in a run of about this time.
    fn sample(&self, time: Duration) -> Work<f64>;
}
