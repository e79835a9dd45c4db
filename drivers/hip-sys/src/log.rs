// SPDX-License-Identifier: MIT OR Apache-2.0
//! Logging in calls of HIP, which other threads may wait for, and which destructors make while a thread ends.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Lives no longer than the thread's own variables, on which subscribers depend.
struct Variables;

impl Drop for Variables {
    fn drop(&mut self) {}
}

thread_local! {
    static VARIABLES: Variables = const { Variables };
    /// Whether the thread has logged. It has no destructor, so it outlives `VARIABLES`.
    static HAS_TOLD: Cell<bool> = const { Cell::new(false) };
}

/// Logs an event by `log`. The subscriber is the program's own and may panic, as when it cannot write. Such a panic
/// must not end a thread that others wait for, or reach C. Where a thread's variables are gone, as in
/// destructors at its end and in handlers of `exit`, nothing is logged.
pub fn tell(log: impl FnOnce()) {
    let has_told = HAS_TOLD.get();
    if has_told && VARIABLES.try_with(|_| ()).is_err() {
        return;
    }
    let _ = catch_unwind(AssertUnwindSafe(log));
    if !has_told {
        // Variables are destroyed in the reverse order of their first use, so this one goes before the subscriber's.
        HAS_TOLD.set(true);
        let _ = VARIABLES.try_with(|_| ());
    }
}
