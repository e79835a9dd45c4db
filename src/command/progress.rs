// SPDX-License-Identifier: MIT OR Apache-2.0
//! Progress on the terminal during long work. Nothing is shown if standard error is no terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::escape;

/// A spinner with the elapsed time, or a bar over many repetitions.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Starts to show an action that is done `times` times.
    pub(crate) fn new(what: &str, repetitions: u64) -> Self {
        let bar = match repetitions {
            1 => ProgressBar::new_spinner(),
            repetitions => ProgressBar::new(repetitions),
        };
        bar.set_draw_target(ProgressDrawTarget::stderr());
        let template = match repetitions {
            1 => "{spinner} {msg} {elapsed}",
            _ => "{spinner} {msg} {pos}/{len} {elapsed}, {eta} left",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Shows another action.
    pub(crate) fn say(&self, what: String) {
        self.0.set_message(escape::line(&what).into_owned());
    }

    /// Runs an action that writes to the terminal, without the progress in between.
    pub(crate) fn aside<T>(&self, action: impl FnOnce() -> T) -> T {
        self.0.suspend(action)
    }

    /// Counts one finished repetition.
    pub(crate) fn advance(&self) {
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
