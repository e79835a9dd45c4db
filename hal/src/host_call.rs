// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host calls: functions of the host in the order of a queue.

use std::{
    cell::Cell,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
};

use slab::Slab;

use crate::{
    callback_pool,
    error::{Error, Result},
    flags::flags,
    pending,
    semaphore::{Notifications, Point, Points, Semaphore},
    sync::lock_std,
};

flags! {
    /// How a host call takes part in its queue, with IREE's numeric values.
    pub struct HostCallFlags: u64 {
        /// Signals are reached when the call begins instead of when it returns.
        NON_BLOCKING = 1 << 0;
        /// Whoever waits may spin: the call is short.
        WAIT_ACTIVE = 1 << 1;
        /// The call needs no memory of the device to be visible to it.
        RELAXED = 1 << 2;
    }
}

type Function = dyn FnOnce(&mut HostCallContext) -> Result<()> + Send;

/// A function to call once the waits of its submission are reached.
pub struct HostCall {
    call: Box<Function>,
    flags: HostCallFlags,
}

impl HostCall {
    /// A call with flags.
    pub fn new(
        flags: HostCallFlags,
        call: impl FnOnce(&mut HostCallContext) -> Result<()> + Send + 'static,
    ) -> Self {
        Self { call: Box::new(call), flags }
    }

    /// The flags.
    pub fn flags(&self) -> HostCallFlags {
        self.flags
    }

    /// Calls the function itself, without a signal list of its own: for a wrapper that makes another call around it.
    pub fn call(self, context: &mut HostCallContext) -> Result<()> {
        (self.call)(context)
    }

    /// Runs the call on this thread and settles `signals` with its result, a panic as `ABORTED`. A driver starts calls
    /// through [`HostCalls::spawn`] instead, for a call may block.
    pub fn run(self, signals: Points) {
        let early = self.flags.contains(HostCallFlags::NON_BLOCKING);
        let mut context =
            HostCallContext { signals: Some(Completion { signals: signals.clone(), settled: false }) };
        if early {
            context.signals.take().into_iter().for_each(|completion| completion.complete(Ok(())));
        }
        let result = catch_unwind(AssertUnwindSafe(|| (self.call)(&mut context))).unwrap_or_else(|panic| {
            let text = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_default();
            // A payload may panic in its turn when it is dropped.
            if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
                std::mem::forget(again);
            }
            Err(Error::aborted(format!("a host call panicked: {text}")))
        });
        match (context.signals.take(), result) {
            (Some(completion), result) => completion.complete(result),
            // Deferred or settled early: an error still reaches who waits for a value that is not reached yet.
            (None, Err(error)) => pending::fail(&signals, &error),
            (None, Ok(())) => {}
        }
    }
}

/// The host calls of a device that may still run: what a driver starts them through, and drains.
#[derive(Clone, Default)]
pub struct HostCalls(Arc<Mutex<Slab<Semaphore>>>);

impl HostCalls {
    /// Runs a call on the callback pool and settles `signals` with its result. Returns at once.
    pub fn spawn(&self, call: HostCall, signals: Points) {
        let (running, ended) = (self.clone(), Semaphore::new(0));
        let key = lock_std(&self.0).insert(ended.clone());
        callback_pool::spawn(Box::new(move || {
            let own = RUNNING.replace(Some(ended.clone()));
            let _slot = Slot { running, key, ended };
            call.run(signals);
            RUNNING.set(own);
        }));
    }

    /// Points that are reached when the calls that run now have returned; the one that asks is not among them.
    pub fn ends(&self) -> Vec<Point> {
        let own = RUNNING.take();
        let calls = lock_std(&self.0);
        let others = calls.iter().filter(|(_, ended)| !own.as_ref().is_some_and(|own| own.same(ended)));
        let points = others.map(|(_, ended)| ended.at(1)).collect();
        drop(calls);
        RUNNING.set(own);
        points
    }
}

thread_local! {
    /// The end of the host call that this thread runs.
    static RUNNING: Cell<Option<Semaphore>> = const { Cell::new(None) };
}

/// A running call's place among the others, given back however the call ends.
struct Slot {
    running: HostCalls,
    key: usize,
    ended: Semaphore,
}

impl Drop for Slot {
    fn drop(&mut self) {
        lock_std(&self.running.0).try_remove(self.key);
        self.ended.advance(1, &mut Notifications::new());
    }
}

impl fmt::Debug for HostCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostCalls({})", lock_std(&self.0).len())
    }
}

impl fmt::Debug for HostCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostCall({:?})", self.flags)
    }
}

/// What a host call may do besides returning.
#[derive(Debug)]
pub struct HostCallContext {
    signals: Option<Completion>,
}

impl HostCallContext {
    /// Takes over the signal list: returning does not reach it any more, [`Completion::complete`] does.
    /// `FAILED_PRECONDITION` a second time, and for a non-blocking call.
    pub fn defer(&mut self) -> Result<Completion> {
        self.signals.take().ok_or_else(|| {
            Error::failed_precondition("the signal list was taken over before, or the call is non-blocking")
        })
    }
}

/// The signal list of a host call that completes later. Dropping it fails the list with `ABORTED`.
#[derive(Debug)]
pub struct Completion {
    signals: Points,
    settled: bool,
}

impl Completion {
    /// Reaches the signal list, or fails it.
    pub fn complete(mut self, result: Result<()>) {
        self.settled = true;
        match result {
            Ok(()) => {
                let mut notifications = Notifications::new();
                for signal in self.signals.iter() {
                    signal.semaphore.advance(signal.value, &mut notifications);
                }
                notifications.fire();
            }
            Err(error) => pending::fail(&self.signals, &error),
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        if !self.settled {
            pending::fail(&self.signals, &Error::aborted("a host call's completion was dropped"));
        }
    }
}
