// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of HIP, which comes with that of the process.
//!
//! AMD's library destroys its objects in handlers that it registers with the system when it is loaded and when it is
//! first used, and these run in the reverse order of registration. A call that comes later, or has not returned by
//! then, is a use of destroyed objects: a segmentation fault, often, and on any thread. Here it is the end of the
//! process as well, always, and in words.

use std::cell::Cell;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// As AMD's, the end takes its time: a thread that goes on calling is caught.
const DURATION: Duration = Duration::from_millis(10);

static ENDED: AtomicBool = AtomicBool::new(false);

/// The process whose end it is. Its children by `fork` end without a word.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// The calls of each function.
static CALLS: OnceLock<&[&Calls]> = OnceLock::new();

/// The calls of a function that have not returned.
pub(crate) struct Calls {
    name: &'static str,
    inside: AtomicUsize,
}

thread_local! {
    /// The calls of this thread that have not returned. Without a destructor: calls come from those of others.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

/// A call, until it returns.
pub(crate) struct Inside(&'static Calls);

impl Calls {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, inside: AtomicUsize::new(0) }
    }

    /// A call begins.
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

/// Compiled programs call this behind their `main`, and AMD's library bears it.
const LATE: &str = "__hipUnregisterFatBinary";

/// A function is called.
pub(crate) fn check(name: &str) {
    if ENDED.load(Ordering::SeqCst) && name != LATE {
        abort(&format!("{name} was called after the end of HIP"));
    }
}

/// Registers the end, with the calls of each function: it aborts the process where one of them is at work.
pub(crate) fn register(calls: &'static [&'static Calls]) {
    let _ = CALLS.set(calls);
    register_anew();
}

/// Registers the end again, so that it comes before the handlers that are registered by now.
pub(crate) fn register_anew() {
    #[cfg(unix)]
    {
        PROCESS.store(std::process::id(), Ordering::Relaxed);
        // SAFETY: the handler may run at any time; the library is never unloaded.
        let status = unsafe { libc::atexit(end) };
        if status != 0 {
            tracing::warn!("atexit takes no handler: HIP has no end in this process");
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
    // A thread that ends the process from inside HIP has its own calls there.
    if count > OWN.with(Cell::get) {
        let names: Vec<_> = calls.iter().filter(inside).map(|calls| calls.name).collect();
        abort(&format!("{} had not returned when the end of HIP came", names.join(", ")));
    }
    std::thread::sleep(DURATION);
}

/// Says why on standard error, as the log may be gone by now.
fn abort(what: &str) -> ! {
    let _ = writeln!(
        std::io::stderr(),
        "windlass simulator: {what}. AMD's HIP destroys its objects when the process ends, and crashes then. Finish \
         all work and join all threads that use HIP before main returns or exit is called"
    );
    std::process::abort()
}
