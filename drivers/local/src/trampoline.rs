// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs ready submissions as a loop, on the thread that made them ready.
//!
//! A submission that ends reaches semaphores. That makes further submissions ready and runs wakers, which may submit
//! more. All of them are appended to the list of the running thread, and none is nested. So a chain of any length,
//! over any number of devices, uses the stack of one operation. Each thread has its own list, so independent work of
//! two threads runs at the same time.

use std::{cell::RefCell, collections::VecDeque};

use windlass_hal::panics::contain;

use crate::submission::Submission;

#[derive(Default)]
struct List {
    ready: VecDeque<Box<Submission>>,
    /// The thread is in [`run`], which will see appended submissions.
    running: bool,
}

thread_local! {
    static LIST: RefCell<List> = RefCell::default();
}

/// Appends work to this thread's list.
pub(crate) fn push(ready: Box<Submission>) {
    let mut ready = Some(ready);
    let pushed = LIST.try_with(|list| list.borrow_mut().ready.extend(ready.take()));
    if pushed.is_err()
        && let Some(ready) = ready
    {
        // The thread is ending and its list is gone already.
        ready.run();
    }
}

/// Runs this thread's list until it is empty. Does nothing if the thread is doing so already.
pub(crate) fn run() {
    drop(enter());
}

/// Begins work on this thread. What it makes ready runs when the returned object is dropped. `None` if the thread is
/// running work already.
pub(crate) fn enter() -> Option<Running> {
    let entered = LIST.try_with(|list| !std::mem::replace(&mut list.borrow_mut().running, true));
    (entered == Ok(true)).then(|| Running)
}

/// A thread that runs work.
pub(crate) struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        while let Some(ready) = next() {
            // A panic must not keep the rest of the list from running.
            contain("an operation", || ready.run());
        }
    }
}

fn next() -> Option<Box<Submission>> {
    LIST.with(|list| {
        let mut list = list.borrow_mut();
        let next = list.ready.pop_front();
        list.running = next.is_some();
        next
    })
}

/// Whether the caller runs inside an operation of this thread, or inside a waker that an operation calls.
pub(crate) fn is_running() -> bool {
    LIST.try_with(|list| list.borrow().running).unwrap_or(false)
}
