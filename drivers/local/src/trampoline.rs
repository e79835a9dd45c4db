// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running ready work as a loop, on the thread that made it ready.
//!
//! Work that completes reaches semaphores; that makes further work ready, and runs wakers that may submit more. All of
//! it is appended to the list of the thread that runs already, and none is nested: a chain of any length, over any number
//! of devices, uses no more stack than one operation. Threads have lists of their own, so that independent work of two
//! threads runs at the same time.

use std::{cell::RefCell, collections::VecDeque};

use windlass_hal::panics::contain;

use crate::work::Ready;

#[derive(Default)]
struct List {
    ready: VecDeque<Box<Ready>>,
    /// This thread is in [`run`] and will see what is appended.
    running: bool,
}

thread_local! {
    static LIST: RefCell<List> = RefCell::default();
}

/// Appends work to this thread's list.
pub(crate) fn push(ready: Box<Ready>) {
    let mut ready = Some(ready);
    let pushed = LIST.try_with(|list| list.borrow_mut().ready.extend(ready.take()));
    if pushed.is_err()
        && let Some(ready) = ready
    {
        // A thread that submits while it ends has no list any more.
        ready.run();
    }
}

/// Runs this thread's list until it is empty, unless the thread is doing so already.
pub(crate) fn run() {
    let entered = LIST.try_with(|list| !std::mem::replace(&mut list.borrow_mut().running, true));
    if entered != Ok(true) {
        return;
    }
    while let Some(ready) = next() {
        // Whatever it is, what stands behind it on the list must still run.
        contain("an operation", || ready.run());
    }
}

fn next() -> Option<Box<Ready>> {
    LIST.with(|list| {
        let mut list = list.borrow_mut();
        let next = list.ready.pop_front();
        list.running = next.is_some();
        next
    })
}

/// Whether the calling code runs inside an operation of this thread, or inside a waker that one calls.
pub(crate) fn is_running() -> bool {
    LIST.try_with(|list| list.borrow().running).unwrap_or(false)
}
