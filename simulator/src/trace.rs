// SPDX-License-Identifier: MIT OR Apache-2.0
//! Logging from threads that others wait for.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Logs something. The subscriber is the program's own and may panic, as when it cannot write. Such a panic must not
/// take along a thread that others wait for, or reach C.
pub(crate) fn tell(log: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(log));
}
