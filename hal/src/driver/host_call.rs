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
        /// Signals are reached when the call begins instead of when it returns.
        NON_BLOCKING = 1 << 0;
        /// Whoever waits may spin: the call is short.
        WAIT_ACTIVE = 1 << 1;
        /// The call needs no memory of the device to be visible to it.
        RELAXED = 1 << 2;
    }
}

type Function = dyn FnOnce(&mut HostCallContext) -> Result<()> + Send;

type Start = dyn FnOnce(Ending) + Send;

/// A function to call once the waits of its submission are reached.
pub struct HostCall {
    work: Work,
    flags: HostCallFlags,
}

enum Work {
    /// Occupies a thread until it returns.
    Call(Box<Function>),
    /// Returns at once; the work goes on without a thread until its [`Ending`] is told.
    Start(Box<Start>),
}

impl HostCall {
    /// A call with flags.
    pub fn new(
        flags: HostCallFlags,
        call: impl FnOnce(&mut HostCallContext) -> Result<()> + Send + 'static,
    ) -> Self {
        Self { work: Work::Call(Box::new(call)), flags }
    }

    /// Work of this crate that takes no thread of the callback pool: `start` must not block.
    pub(crate) fn unattended(start: impl FnOnce(Ending) + Send + 'static) -> Self {
        Self { work: Work::Start(Box::new(start)), flags: HostCallFlags::NONE }
    }

    /// The flags.
    pub fn flags(&self) -> HostCallFlags {
        self.flags
    }

    /// Calls the function itself, without a signal list of its own: for a wrapper that makes another call around it.
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

    /// Runs the call on this thread and settles `signals` with its result, a panic as `ABORTED`. A driver starts calls
    /// through [`HostCalls::spawn`] instead, for a call may block.
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
            // Deferred or settled early: an error still reaches who waits for a value that is not reached yet.
            (None, Err(error)) => pending::fail(&signals, &error),
            (None, Ok(())) => {}
        }
    }
}

/// The host calls of a device that may still run: what a driver starts them through, and drains.
#[derive(Clone, Default)]
pub struct HostCalls(Arc<Mutex<Calls>>);

/// For each call what drains wait for: its end, or that it drains in its turn.
type Calls = Slab<Semaphore>;

impl HostCalls {
    /// Runs a call on the callback pool and settles `signals` with its result. Returns at once.
    pub fn spawn(&self, call: HostCall, signals: Points) {
        let place = Place { key: lock_std(&self.0).insert(Semaphore::new(0)), calls: self.0.clone() };
        if let Work::Start(start) = call.work {
            contain("starting work of the host", || start(Ending::new(signals, Some(place))));
            return;
        }
        callback_pool::spawn(Box::new(move || place.while_running(|| call.run(signals))));
    }

    /// Points that are reached when the calls that run now have returned. A call that asks is not among them, and
    /// counts as returned for whoever waits for it: two calls that drain at the same time would wait for each other.
    pub fn ends(&self) -> Vec<Point> {
        /// Stepping aside and looking around is one act among all devices: of calls that wait for each other, the last
        /// to look around has released the others.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let own = RUNNING.try_with(Cell::take).unwrap_or_default();
        let turn = lock_std(&ONE_AT_A_TIME);
        let released = own.as_ref().and_then(Place::step_aside);
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
    /// The host call that this thread runs. None runs on a thread whose storage is gone: it has ended, or the call ends
    /// the process.
    static RUNNING: Cell<Option<Place>> = const { Cell::new(None) };
}

/// A running call's place among the others of its device, until this is dropped.
struct Place {
    calls: Arc<Mutex<Calls>>,
    key: usize,
}

impl Place {
    /// Runs what the place is for, and ends. A drain meanwhile knows whose call it is in.
    fn while_running(self, run: impl FnOnce()) {
        let mut own = Some(self);
        let mut outer = RUNNING.try_with(|running| running.replace(own.take()));
        run();
        if let Ok(outer) = &mut outer {
            own = RUNNING.try_with(|running| running.replace(outer.take())).unwrap_or_default();
        }
        drop(own);
    }

    /// What those wait for who wait for the call until now, and are to wait no longer; who asks from now on waits anew.
    fn step_aside(&self) -> Option<Semaphore> {
        lock_std(&self.calls).get_mut(self.key).map(|ended| mem::replace(ended, Semaphore::new(0)))
    }
}

impl Drop for Place {
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
    fn new(signals: Points) -> Self {
        Self { signals, settled: false }
    }

    /// Reaches the signal list, or fails it.
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

/// What work without a thread owes when it ends: its signals, and then its place among its device's calls. Dropping it
/// fails the signals with `ABORTED`.
pub(crate) struct Ending {
    completion: Completion,
    place: Option<Place>,
}

impl Ending {
    fn new(signals: Points, place: Option<Place>) -> Self {
        Self { completion: Completion::new(signals), place }
    }

    /// Settles the signals: nothing of the work touches memory any more.
    pub(crate) fn complete(self, result: Result<()>) {
        let Self { completion, place } = self;
        let complete = || completion.complete(result);
        // Whoever is told may drain, as a call may.
        match place {
            Some(place) => place.while_running(complete),
            None => complete(),
        }
    }
}
