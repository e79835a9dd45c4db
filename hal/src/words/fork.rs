// SPDX-License-Identifier: MIT OR Apache-2.0
//! Children that a process makes by `fork`. Of its threads only the one that called goes on there: those that run host
//! calls, move files and work off what devices took in are gone, and locks that they held stay held. HIP does not live on
//! there either. So a child of a process that has opened a device is refused, with what to do: by what would have submitted,
//! allocated, loaded, opened, signalled or waited. What it lets go of stays as it is, for the sake of the locks.
//!
//! A process that forks first and opens devices in its children is served; so is a program that a child starts.
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

/// A device was opened: children of this process are told apart from here on.
pub(crate) fn opened() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        #[cfg(all(unix, not(miri)))]
        {
            // SAFETY: the handler does nothing but store to an atomic, which is allowed in the child of a process with
            // several threads. It is called as long as this code is there: glibc drops the handlers of libraries that it
            // unloads, musl unloads none, macOS none that has thread-local variables.
            let status = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
            if status != 0 {
                tracing::warn!(target: "windlass::device", status, "children by fork will not be told apart");
            }
        }
    });
}

#[cfg(all(unix, not(miri)))]
extern "C" fn in_child() {
    IS_CHILD.store(true, Ordering::Relaxed);
}

/// Whether devices that were opened before were left behind in another process.
pub(crate) fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

/// `FAILED_PRECONDITION` in a child of a process that has opened a device.
pub(crate) fn check() -> Result<()> {
    if is_child() { Err(refusal()) } else { Ok(()) }
}

#[cold]
fn refusal() -> Error {
    Error::failed_precondition(
        "this process was forked from one that had a device open, whose threads stayed behind there: fork before the first \
         device is opened, or start the child as a program of its own (Python: multiprocessing's start method \"spawn\")",
    )
}

/// A handle of something that a child leaves alone: giving it back may take locks, or wait for threads, of the parent.
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
