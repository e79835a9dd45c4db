// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals that ask the program to end. The run then ends before its next step, and writes its reports.
//!
//! No handler interrupts a wait of the runner, so each of its waits looks here every [`PAUSE`].

use std::time::Duration;

/// The most time for which a wait of the runner does not look.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

#[cfg(unix)]
mod system {
    use std::{
        io,
        mem::MaybeUninit,
        ptr,
        sync::{
            Arc, OnceLock,
            atomic::{AtomicBool, AtomicUsize, Ordering},
        },
    };

    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM},
        flag,
        low_level::{emulate_default_handler, signal_name},
    };

    /// The first signal; 0 before it.
    static FIRST: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

    /// Begins to listen. A second signal ends the process at once. A signal that is ignored, as by `nohup`, stays so.
    pub(crate) fn listen() -> io::Result<()> {
        let first = FIRST.get_or_init(Arc::default);
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal)) {
            flag::register_conditional_default(signal, Arc::clone(&asked))?;
            flag::register(signal, Arc::clone(&asked))?;
            flag::register_usize(signal, Arc::clone(first), signal as usize)?;
        }
        Ok(())
    }

    fn is_ignored(signal: i32) -> bool {
        let mut present = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: with a null pointer the call changes nothing. The present action is there if the call succeeds.
        unsafe {
            libc::sigaction(signal, ptr::null(), present.as_mut_ptr()) == 0
                && present.assume_init().sa_sigaction == libc::SIG_IGN
        }
    }

    fn number() -> Option<i32> {
        let number = FIRST.get()?.load(Ordering::SeqCst);
        i32::try_from(number).ok().filter(|number| *number != 0)
    }

    /// The name of the signal that has asked for the end.
    pub(crate) fn signal() -> Option<&'static str> {
        number().map(|number| signal_name(number).unwrap_or("a signal"))
    }

    /// Ends this process by the signal that has asked for it, as if nobody had listened.
    pub(crate) fn end() {
        if let Some(number) = number() {
            // It returns only if the system refuses, and the caller then ends with an exit code.
            let _ = emulate_default_handler(number);
        }
    }
}

#[cfg(not(unix))]
mod system {
    pub(crate) fn listen() -> std::io::Result<()> {
        Ok(())
    }

    pub(crate) fn signal() -> Option<&'static str> {
        None
    }

    pub(crate) fn end() {}
}

pub(crate) use system::{end, listen, signal};
