// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of HIP at the end of the process.
//!
//! AMD's library destroys its objects in exit handlers. It registers them when it is loaded and when it is
//! first used, and they run in reverse order. A call that comes later, or has not returned by then, uses
//! destroyed objects, on any thread; it often ends in a segmentation fault. Here such a call always aborts
//! the process, with a message.

use std::cell::Cell;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// The end takes this long, as AMD's takes its time: it catches a thread that keeps calling.
const DURATION: Duration = Duration::from_millis(10);

static ENDED: AtomicBool = AtomicBool::new(false);

/// The process whose end it is. Forked children end without a message.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// The counts of calls in progress, one for each function.
static CALLS: OnceLock<&[&Calls]> = OnceLock::new();

/// The number of calls of one function that have not returned.
pub(crate) struct Calls {
    name: &'static str,
    inside: AtomicUsize,
}

thread_local! {
    /// The number of this thread's calls that have not returned. It needs no destructor, so other destructors
    /// may call.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

/// A call in progress; it ends when dropped.
pub(crate) struct Inside(&'static Calls);

impl Calls {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, inside: AtomicUsize::new(0) }
    }

    /// Begins a call.
    pub(crate) fn enter(&'static self) -> Inside {
        OWN.with(|own| own.set(own.get() + 1));
        // Either the end sees this call, or this call sees the end.
        self.inside.fetch_add(1, Ordering::SeqCst);
        check(self.name);
        Inside(self)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        OWN.with(|own| own.set(own.get() - 1));
        self.0.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Compiled programs call this function after `main`, and AMD's library accepts it.
const LATE: &str = "__hipUnregisterFatBinary";

/// Checks that a call comes before the end.
pub(crate) fn check(name: &str) {
    if ENDED.load(Ordering::SeqCst) && name != LATE {
        abort(&format!("{name} was called after the end of HIP"));
    }
}

/// Registers the end, which aborts the process if a function is in a call.
pub(crate) fn register(calls: &'static [&'static Calls]) {
    let _ = CALLS.set(calls);
    register_anew();
}

/// Registers the end again, so that it runs before the handlers that are registered by now.
pub(crate) fn register_anew() {
    #[cfg(unix)]
    {
        PROCESS.store(std::process::id(), Ordering::Relaxed);
        // SAFETY: the handler may run at any time; the library is never unloaded.
        let status = unsafe { libc::atexit(end) };
        if status != 0 {
            crate::simulator::warn("atexit takes no handler: HIP has no end in this process");
        }
    }
}

#[cfg(unix)]
extern "C" fn end() {
    if PROCESS.load(Ordering::Relaxed) != std::process::id() || ENDED.swap(true, Ordering::SeqCst) {
        return;
    }
    let inside = |calls: &&&Calls| calls.inside.load(Ordering::SeqCst) > 0;
    let calls = CALLS.get().copied().unwrap_or_default();
    let count: usize = calls.iter().map(|calls| calls.inside.load(Ordering::SeqCst)).sum();
    // A thread that ends the process from inside HIP has its own calls in progress.
    if count > OWN.with(Cell::get) {
        let names: Vec<_> = calls.iter().filter(inside).map(|calls| calls.name).collect();
        abort(&format!("{} had not returned when the end of HIP came", names.join(", ")));
    }
    std::thread::sleep(DURATION);
}

/// Writes the reason to standard error, as the log may be gone by now.
fn abort(what: &str) -> ! {
    let _ = writeln!(
        std::io::stderr(),
        "windlass simulator: {what}. AMD's HIP destroys its objects when the process ends, and crashes then. Finish \
         all work and join all threads that use HIP before main returns or exit is called"
    );
    std::process::abort()
}
