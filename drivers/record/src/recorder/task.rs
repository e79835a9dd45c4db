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
pub(super) struct Task(Mutex<State>);

#[derive(Default)]
struct State {
    /// Taken while a thread polls, because polling may wake this task on the same thread.
    waiting: Option<(Wait, Action)>,
    polling: bool,
    /// Whether the task was woken while a thread was polling.
    woken: bool,
    cancelled: bool,
}

impl Task {
    /// Makes a task that waits for nothing until [`begin`](Self::begin).
    pub(super) fn new(point: &Point, action: impl FnOnce(Result<()>) + Send + 'static) -> Arc<Self> {
        let waiting: (Wait, Action) = (point.semaphore.wait(point.value), Box::new(action));
        Arc::new(Self(Mutex::new(State { waiting: Some(waiting), ..State::default() })))
    }

    /// Waits from now on. If the point is reached or failed already, the action runs before this returns.
    pub(super) fn begin(self: &Arc<Self>) {
        self.clone().wake();
    }

    /// Forgets the action, unless it has begun.
    pub(super) fn cancel(&self) {
        let mut state = self.lock();
        state.cancelled = true;
        let waiting = state.waiting.take();
        drop(state);
        drop(waiting);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(self.clone());
        let mut state = self.lock();
        if state.polling {
            state.woken = true;
            return;
        }
        let Some((mut wait, action)) = state.waiting.take() else { return };
        state.polling = true;
        loop {
            state.woken = false;
            drop(state);
            let polled = Pin::new(&mut wait).poll(&mut Context::from_waker(&waker));
            state = self.lock();
            if state.cancelled {
                drop(state);
                return;
            }
            if let Poll::Ready(result) = polled {
                drop(state);
                drop(wait);
                action(result);
                return;
            }
            if !state.woken {
                state.waiting = Some((wait, action));
                state.polling = false;
                return;
            }
        }
    }
}
