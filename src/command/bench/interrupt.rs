// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ctrl-C ends the run after the sample that is being taken. The rows before it are reported; a second one ends at once.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use super::stop::{Stop, Work};

/// Whether the user wants the run to end.
#[derive(Clone, Default)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches for Ctrl-C. Elsewhere than on Linux it ends the process at once, as is usual.
    pub(super) fn new() -> Self {
        let interrupt = Self::default();
        #[cfg(target_os = "linux")]
        {
            use signal_hook::{consts::SIGINT, flag};
            // In this order: the first one finds the flag unset, and only sets it. Where it cannot be watched, Ctrl-C
            // ends the process.
            let _ = flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&interrupt.0));
            let _ = flag::register(SIGINT, Arc::clone(&interrupt.0));
        }
        interrupt
    }

    pub(super) fn has_come(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends a row in the middle.
    pub(super) fn check(&self) -> Work {
        if self.has_come() { Err(Stop::Interrupted) } else { Ok(()) }
    }
}
