// SPDX-License-Identifier: MIT OR Apache-2.0
//! Failures: each is told on standard error, and then ends the process unless the user says otherwise.

use std::{
    io::Write,
    sync::{Mutex, OnceLock, PoisonError},
};

/// The environment variable that says what follows a failure: `exit`, `continue` or `abort`.
const VARIABLE: &str = "WINDLASS_MGPU_ERRORS";

/// The exit code of a process that a failure ended.
const EXIT_CODE: i32 = 1;

/// The consequence of a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    /// The process exits with [`EXIT_CODE`].
    Exit,
    /// The function returns without effect, as those of MLIR's own runtime do.
    Continue,
    /// The process aborts, for a debugger or a core file.
    Abort,
}

fn policy() -> Policy {
    static POLICY: OnceLock<Policy> = OnceLock::new();
    *POLICY.get_or_init(|| match std::env::var(VARIABLE).as_deref() {
        Ok("continue") => Policy::Continue,
        Ok("abort") => Policy::Abort,
        Ok("exit" | "") | Err(_) => Policy::Exit,
        Ok(other) => {
            note(&format!("{VARIABLE}={other} is none of exit, continue and abort; taking exit"));
            Policy::Exit
        }
    })
}

/// Writes a line to standard error. A line that cannot be written is lost.
pub(crate) fn note(text: &str) {
    let _ = std::io::stderr().write_all(format!("windlass-mgpu: {text}\n").as_bytes());
}

/// Tells a failure and ends the process, or returns under [`Policy::Continue`]. `is_news` is asked under the lock that
/// the end of the process holds: a thread that knows of a failure that another thread is telling does not go on.
pub(crate) fn tell(text: &str, is_news: impl FnOnce() -> bool) {
    static TELLING: Mutex<()> = Mutex::new(());
    let _telling = TELLING.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_news() {
        return;
    }
    note(text);
    match policy() {
        Policy::Continue => {}
        Policy::Abort => std::process::abort(),
        Policy::Exit => exit(),
    }
}

/// Ends the process at once. The exit handlers of a program do not expect to run beside its own threads.
#[cfg(target_os = "linux")]
fn exit() -> ! {
    unsafe extern "C" {
        // The C library's.
        static stdout: *mut libc::FILE;
    }
    // The results that the program printed before the failure are kept. Other files are not flushed, because that may
    // wait for a thread that reads one.
    // SAFETY: `stdout` is the C library's own stream, which any thread may flush; `_exit` runs no code of the program.
    unsafe {
        libc::fflush(stdout);
        libc::_exit(EXIT_CODE)
    }
}

#[cfg(not(target_os = "linux"))]
fn exit() -> ! {
    std::process::exit(EXIT_CODE)
}
