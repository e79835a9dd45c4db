// SPDX-License-Identifier: MIT OR Apache-2.0
//! The turn of a pending set on a thread: issuing one operation may resolve waits of other devices on the same thread.
//!
//! The turns of a few devices nest. A turn beyond that follows the deepest one on the same thread, so a chain over any
//! number of devices needs no more stack than a short one.

use std::{cell::RefCell, collections::VecDeque, sync::Arc};

use crate::words::sync::thread_local;

/// A device whose ready operations this thread has to issue.
pub(crate) trait Turn: Send + Sync {
    fn take(self: Arc<Self>);
}

/// The most turns that nest.
const DEEPEST: usize = 8;

#[derive(Default)]
struct Nesting {
    depth: usize,
    /// Turns that follow the deepest one.
    next: VecDeque<Arc<dyn Turn>>,
}

thread_local! {
    // loom's macro takes no constant.
    #[allow(clippy::missing_const_for_thread_local)]
    static NESTING: RefCell<Nesting> = RefCell::default();
}

/// Takes a turn, now or behind the deepest turn of this thread.
pub(crate) fn take(turn: Arc<dyn Turn>) {
    let entered = NESTING.try_with(|nesting| {
        let mut nesting = nesting.borrow_mut();
        if nesting.depth == DEEPEST {
            nesting.next.push_back(turn.clone());
            return None;
        }
        nesting.depth += 1;
        Some(Level { deepest: nesting.depth == DEEPEST })
    });
    match entered {
        Ok(None) => {}
        Ok(Some(level)) => {
            turn.take();
            while let Some(next) = level.next() {
                next.take();
            }
        }
        // The thread is ending.
        Err(_) => turn.take(),
    }
}

/// A turn that has begun. Dropping it ends the turn, also when a driver panics.
struct Level {
    deepest: bool,
}

impl Level {
    fn next(&self) -> Option<Arc<dyn Turn>> {
        self.deepest
            .then(|| NESTING.try_with(|nesting| nesting.borrow_mut().next.pop_front()).ok())
            .flatten()
            .flatten()
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        let _ = NESTING.try_with(|nesting| nesting.borrow_mut().depth -= 1);
    }
}
