// SPDX-License-Identifier: MIT OR Apache-2.0
//! Actions at points of semaphores, on the threads that reach or fail them.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Wake, Waker},
};

use windlass_hal::{Point, Result, Wait};

type Action = Box<dyn FnOnce(Result<()>) + Send>;

/// A wait, and the action at its end. Nothing is left once the action has begun or was cancelled.
pub(super) struct Task(Mutex<Option<(Wait, Action)>>);

impl Task {
    /// Makes a task that waits for nothing until [`begin`](Self::begin).
    pub(super) fn new(point: &Point, action: impl FnOnce(Result<()>) + Send + 'static) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Some((point.semaphore.wait(point.value), Box::new(action))))))
    }

    /// Waits from now on. If the point is reached or failed already, the action runs before this returns.
    pub(super) fn begin(self: &Arc<Self>) {
        self.clone().wake();
    }

    /// Forgets the action, unless it has begun.
    pub(super) fn cancel(&self) {
        let waiting = self.lock().take();
        drop(waiting);
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Wait, Action)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(self.clone());
        let mut state = self.lock();
        let Some((wait, _)) = state.as_mut() else { return };
        if let Poll::Ready(result) = Pin::new(wait).poll(&mut Context::from_waker(&waker)) {
            let ended = state.take();
            drop(state);
            if let Some((_, action)) = ended {
                action(result);
            }
        }
    }
}
