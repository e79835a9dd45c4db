// SPDX-License-Identifier: MIT OR Apache-2.0
//! Child processes made by `fork`. A child of a process that has opened a device is refused.
//!
//! Only the calling thread continues in the child. The threads that run host calls, move files and retire work do not
//! exist there, and locks that they held stay locked. HIP does not work there either. So calls that submit, allocate,
//! load, open, signal or wait fail with advice. Objects that the child drops are leaked, because dropping them may take
//! those locks.
//!
//! A process may fork first and open devices in its children. A program that a child starts may use devices too.
#![allow(unsafe_code)]

use std::{
    mem,
    ops::Deref,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::words::error::{Error, Result};

/// Whether this process was forked from one that had opened a device.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Notes that a device is being opened. Children that are forked from now on can be told.
pub(crate) fn opened() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        #[cfg(all(unix, not(miri)))]
        {
            // SAFETY: the handler only stores to an atomic, which is allowed in the child of a process with several
            // threads. It is callable as long as it is registered: glibc drops the handlers of libraries that it
            // unloads, musl unloads none, and macOS unloads none that has thread-local variables.
            let status = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
            if status != 0 {
                tracing::warn!(target: "windlass::device", status, "forked children will not be detected");
            }
        }
    });
}

#[cfg(all(unix, not(miri)))]
extern "C" fn in_child() {
    IS_CHILD.store(true, Ordering::Relaxed);
}

/// Whether this process is a child of one that had opened a device.
#[inline]
pub(crate) fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

/// `FAILED_PRECONDITION` in a child of a process that has opened a device. For code around the HAL, such as a binding for
/// another language, before it takes locks of its own: another thread of the parent may have held them.
#[inline]
pub fn check() -> Result<()> {
    if is_child() { Err(refusal()) } else { Ok(()) }
}

#[cold]
fn refusal() -> Error {
    Error::failed_precondition(
        "this process was forked from one that had a device open, whose threads stayed behind there: fork before the first \
         device is opened, or start the child as a program of its own (Python: multiprocessing's start method \"spawn\")",
    )
}

/// A handle that a child leaks instead of dropping, because the drop may take locks of the parent or wait for its
/// threads.
#[derive(Clone)]
pub(crate) struct Kept<T: Clone>(T);

impl<T: Clone> From<T> for Kept<T> {
    fn from(handle: T) -> Self {
        Self(handle)
    }
}

impl<T: Clone> Deref for Kept<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> Drop for Kept<T> {
    fn drop(&mut self) {
        if is_child() {
            mem::forget(self.0.clone());
        }
    }
}
