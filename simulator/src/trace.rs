// SPDX-License-Identifier: MIT OR Apache-2.0
//! Logging on threads that other threads wait for.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Lives as long as the thread's own variables, on which subscribers depend.
struct Variables;

impl Drop for Variables {
    fn drop(&mut self) {}
}

thread_local! {
    static VARIABLES: Variables = const { Variables };
}

/// Logs an event. The subscriber is the program's own and may panic, as when it cannot write. Such a panic
/// must not end a thread that others wait for, or reach C. Where a thread's variables are gone, as in
/// handlers of `exit`, nothing is logged.
pub(crate) fn tell(log: impl FnOnce()) {
    if VARIABLES.try_with(|_| ()).is_ok() {
        let _ = catch_unwind(AssertUnwindSafe(log));
    }
}
