// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shows the progress of a run on standard error, if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A line with the running case and the number of cases that have ended.
pub(super) struct ProgressLine(ProgressBar);

impl ProgressLine {
    pub(super) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    pub(super) fn new(shown: bool, cases: usize) -> Self {
        if !shown {
            return Self::hidden();
        }
        let bar = ProgressBar::new(cases as u64);
        if let Ok(style) = ProgressStyle::with_template("{elapsed:>6} {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
        // The clock of the line must advance while a case takes long.
        bar.enable_steady_tick(Duration::from_secs(1));
        Self(bar)
    }

    pub(super) fn running(&self, case: &'static str) {
        self.0.set_message(case);
    }

    pub(super) fn ended(&self) {
        self.0.inc(1);
    }

    /// Writes other text while the line is hidden.
    pub(super) fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.0.suspend(write)
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
