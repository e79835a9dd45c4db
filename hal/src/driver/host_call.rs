// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host calls: functions of the host in the order of a queue.

use std::{
    cell::Cell,
    fmt, mem,
    sync::{Arc, Mutex},
};

use slab::Slab;

use crate::{
    order::{
        callback_pool,
        deadline::Deadline,
        pending,
        point::{Point, Points},
        semaphore::Semaphore,
    },
    words::{
        error::{Error, Result},
        flags::flags,
        panics::{caught, contain},
        sync::lock_std,
    },
};

flags! {
    /// How a host call takes part in its queue, with IREE's numeric values.
    pub struct HostCallFlags: u64 {
        /// The signals are reached when the call begins instead of when it returns.
        NON_BLOCKING = 1 << 0;
        /// The call is short, so waiters may spin.
        WAIT_ACTIVE = 1 << 1;
        /// The call needs to see no writes of the device.
        RELAXED = 1 << 2;
    }
}

type Function = dyn FnOnce(&mut HostCallContext) -> Result<()> + Send;

type Start = dyn FnOnce(Ending) + Send;

/// A function to call when the waits of its submission are reached.
pub struct HostCall {
    work: Work,
    flags: HostCallFlags,
}

enum Work {
    /// Occupies a thread until it returns.
    Call(Box<Function>),
    /// Returns at once. The work continues without a thread until its [`Ending`] completes.
    Start(Box<Start>),
}

impl HostCall {
    /// A host call with flags.
    pub fn new(
        flags: HostCallFlags,
        call: impl FnOnce(&mut HostCallContext) -> Result<()> + Send + 'static,
    ) -> Self {
        Self { work: Work::Call(Box::new(call)), flags }
    }

    /// Work of this crate that needs no thread of the callback pool. `start` must not block.
    pub(crate) fn unattended(start: impl FnOnce(Ending) + Send + 'static) -> Self {
        Self { work: Work::Start(Box::new(start)), flags: HostCallFlags::NONE }
    }

    /// The flags.
    pub fn flags(&self) -> HostCallFlags {
        self.flags
    }

    /// Calls the function without settling a signal list. For a wrapper that makes another call around this one.
    pub fn call(self, context: &mut HostCallContext) -> Result<()> {
        match self.work {
            Work::Call(call) => call(context),
            Work::Start(start) => {
                let done = Semaphore::new(0);
                start(Ending::new(Points::from(&[done.at(1)][..]), None));
                done.wait_blocking(1, Deadline::NEVER)
            }
        }
    }

    /// Runs the call on this thread and settles `signals` with its result. A panic is `ABORTED`. The call may block, so
    /// a driver uses [`HostCalls::spawn`] instead.
    pub fn run(self, signals: Points) {
        let early = self.flags.contains(HostCallFlags::NON_BLOCKING);
        let mut context = HostCallContext { signals: Some(Completion::new(signals.clone())) };
        if early {
            context.signals.take().into_iter().for_each(|completion| completion.complete(Ok(())));
        }
        let result = caught(|| self.call(&mut context))
            .unwrap_or_else(|text| Err(Error::aborted(format!("a host call panicked: {text}"))));
        match (context.signals.take(), result) {
            (Some(completion), result) => completion.complete(result),
            // The call deferred or settled its signals early. The error still reaches waits for values that are not
            // reached yet.
            (None, Err(error)) => pending::fail(&signals, &error),
            (None, Ok(())) => {}
        }
    }
}

/// The host calls of a device that may still run. A driver starts calls through this, and drains them.
#[derive(Clone, Default)]
pub struct HostCalls(Arc<Mutex<Calls>>);

/// For each call, the semaphore that drains wait for. It reaches 1 when the call ends or begins a drain of its own.
type Calls = Slab<Semaphore>;

impl HostCalls {
    /// Runs a call on the callback pool and settles `signals` with its result. Returns at once.
    pub fn spawn(&self, call: HostCall, signals: Points) {
        let running = RunningCall { key: lock_std(&self.0).insert(Semaphore::new(0)), calls: self.0.clone() };
        if let Work::Start(start) = call.work {
            contain("starting work of the host", || start(Ending::new(signals, Some(running))));
            return;
        }
        callback_pool::spawn(Box::new(move || running.while_running(|| call.run(signals))));
    }

    /// Returns points that are reached when the host calls that run now have returned.
    ///
    /// A call that asks this is not among them. It also counts as returned from now on for the drains of others,
    /// because two calls that drain at the same time would otherwise wait for each other.
    pub fn ends(&self) -> Vec<Point> {
        /// Stepping aside and collecting the others happens under one lock for all devices. So of several calls that
        /// wait for each other, the last one to collect has released the others.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let own = RUNNING.try_with(Cell::take).unwrap_or_default();
        let turn = lock_std(&ONE_AT_A_TIME);
        let released = own.as_ref().and_then(RunningCall::step_aside);
        let calls = lock_std(&self.0);
        let own_key = own.as_ref().filter(|own| Arc::ptr_eq(&own.calls, &self.0)).map(|own| own.key);
        let others = calls.iter().filter(|(key, _)| Some(*key) != own_key);
        let points = others.map(|(_, ended)| ended.at(1)).collect();
        drop(calls);
        drop(turn);
        if own.is_some() {
            let _ = RUNNING.try_with(|running| running.set(own));
        }
        released.iter().for_each(|released| pending::reach(&[released.at(1)]));
        points
    }
}

thread_local! {
    /// The host call that this thread runs. A thread whose thread-local storage is gone runs none: it has ended, or the
    /// call ends the process.
    static RUNNING: Cell<Option<RunningCall>> = const { Cell::new(None) };
}

/// A running call, as an entry among the calls of its device. Dropping it removes the entry.
struct RunningCall {
    calls: Arc<Mutex<Calls>>,
    key: usize,
}

impl RunningCall {
    /// Runs the call, then removes its entry. A drain inside `run` finds the entry in the thread-local storage.
    fn while_running(self, run: impl FnOnce()) {
        let mut own = Some(self);
        let mut outer = RUNNING.try_with(|running| running.replace(own.take()));
        run();
        if let Ok(outer) = &mut outer {
            own = RUNNING.try_with(|running| running.replace(outer.take())).unwrap_or_default();
        }
        drop(own);
    }

    /// Replaces the semaphore of the call and returns the old one, whose waiters are to wait no longer. Later waiters
    /// wait for the new one.
    fn step_aside(&self) -> Option<Semaphore> {
        lock_std(&self.calls).get_mut(self.key).map(|ended| mem::replace(ended, Semaphore::new(0)))
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let ended = lock_std(&self.calls).try_remove(self.key);
        ended.iter().for_each(|ended| pending::reach(&[ended.at(1)]));
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

/// The options of a host call besides returning.
#[derive(Debug)]
pub struct HostCallContext {
    signals: Option<Completion>,
}

impl HostCallContext {
    /// Takes over the signal list. Returning from the call no longer settles it; [`Completion::complete`] does.
    /// `FAILED_PRECONDITION` for a second call, and for a non-blocking host call.
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
    fn new(signals: Points) -> Self {
        Self { signals, settled: false }
    }

    /// Reaches the signal list, or fails it with the error.
    pub fn complete(mut self, result: Result<()>) {
        self.settled = true;
        match result {
            Ok(()) => pending::reach(&self.signals),
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

/// The debts of work that has no thread: its signals, and its entry among the calls of its device. Dropping it fails
/// the signals with `ABORTED`.
pub(crate) struct Ending {
    completion: Completion,
    running: Option<RunningCall>,
}

impl Ending {
    fn new(signals: Points, running: Option<RunningCall>) -> Self {
        Self { completion: Completion::new(signals), running }
    }

    /// Settles the signals. Nothing of the work may touch memory any more.
    pub(crate) fn complete(self, result: Result<()>) {
        let Self { completion, running } = self;
        let complete = || completion.complete(result);
        // A receiver of the signals may drain, as a call may.
        match running {
            Some(running) => running.while_running(complete),
            None => complete(),
        }
    }
}
