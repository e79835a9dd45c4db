// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every HSA function does around its body: finds the runtime, takes turns under a seed, keeps panics in, traces.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use crate::trace::tell;

use super::runtime::{self, Runtime};
use super::status::{Outcome, Status};

/// An HSA function at work.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    /// Which call of the runtime's it is, counted from 1.
    number: u64,
    pub(crate) runtime: Arc<Runtime>,
}

thread_local! {
    /// The thread's number in the schedule of a runtime, and the number of that runtime, once it has one.
    static NUMBER: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

/// Says why the call at work on this thread is refused.
pub(crate) fn explain(explanation: &str) {
    tell(|| tracing::error!(target: "windlass::sim", "{explanation}"));
}

/// Runs the body of the HSA function `name`, which returns a status.
///
/// # Safety
/// This is called from that function alone, whose caller vouches for every pointer that `body` gives to the methods of
/// [`Call`]: null, or valid for the type and length that HSA documents, and not in use elsewhere.
pub(crate) unsafe fn enter(name: &'static str, body: impl FnOnce(&Call) -> Outcome<()>) -> Status {
    let status =
        at_work(name, |call| match call.runtime.injections.strike(name, |time| call.be_late(time)) {
            Some((status, why)) => {
                explain(&why);
                Err(Status::of_failure(status))
            }
            None => body(call),
        });
    let status = status.err().unwrap_or(Status::SUCCESS);
    tell(|| tracing::trace!(target: "windlass::sim", call = name, ?status));
    status
}

/// Runs the body of the HSA function `name`, which returns a value, or `otherwise` where the body fails.
///
/// # Safety
/// As [`enter`].
pub(crate) unsafe fn ask<T>(name: &'static str, otherwise: T, body: impl FnOnce(&Call) -> Outcome<T>) -> T {
    at_work(name, body).unwrap_or_else(|status| {
        if status == Status::NOT_INITIALIZED {
            tell_once(
                &ENDED,
                name,
                "was called before hsa_init or after the last hsa_shut_down: it does nothing",
            );
            return otherwise;
        }
        explain(&format!("{name} was called with what it cannot take: {status:?}; it does nothing"));
        otherwise
    })
}

fn at_work<T>(name: &'static str, body: impl FnOnce(&Call) -> Outcome<T>) -> Outcome<T> {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let runtime = runtime::current()?;
        let number = runtime.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let call = Call { name, number, runtime };
        if call.runtime.scheduler.schedule.is_none() {
            return body(&call);
        }
        let epoch = call.runtime.epoch;
        let known = NUMBER.try_with(Cell::get).ok().flatten();
        let thread = Cell::new(known.filter(|(of, _)| *of == epoch).map(|(_, number)| number));
        let _turn = call.runtime.scheduler.turn(&thread, name);
        if let Some(number) = thread.get() {
            let _ = NUMBER.try_with(|known| known.set(Some((epoch, number))));
        }
        body(&call)
    }));
    outcome.unwrap_or_else(|_| {
        explain(&format!("{name} ran into a defect of the simulator"));
        Err(Status::ERROR)
    })
}

/// Names of functions of which something was told.
type Told = Mutex<BTreeSet<&'static str>>;

static LACKING: Told = Mutex::new(BTreeSet::new());
static ENDED: Told = Mutex::new(BTreeSet::new());

/// Says, the first time, that the simulator lacks a function.
pub(crate) fn tell_of_lack(name: &'static str) {
    tell_once(&LACKING, name, "is not supported by the simulated GPU");
}

/// Says something of a function the first time.
fn tell_once(told: &Told, name: &'static str, what: &str) {
    if told.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
        explain(&format!("{name} {what} (told once)"));
    }
}

impl Call {
    /// The call, by name and number, and who made it: for reports on what came of it.
    pub(crate) fn describe(&self) -> Arc<str> {
        let thread = std::thread::current();
        let thread = thread.name().map_or_else(|| format!("{:?}", thread.id()), |name| format!("{name:?}"));
        format!("{}, call {}, thread {thread}", self.name, self.number).into()
    }

    /// Says why the call is refused.
    pub(crate) fn refuse<T>(&self, status: Status, why: &str) -> Outcome<T> {
        explain(&format!("{}: {why}", self.name));
        Err(status)
    }

    /// Writes a result to where the client wants it.
    pub(crate) fn put<T>(&self, to: *mut T, value: T) -> Outcome<()> {
        if to.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: not null, and the caller of the function vouches for it; see `enter`.
        unsafe { to.write_unaligned(value) };
        Ok(())
    }

    /// Reads an argument.
    pub(crate) fn take<T: Copy>(&self, from: *const T) -> Outcome<T> {
        if from.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: not null, and the caller of the function vouches for it; see `enter`.
        Ok(unsafe { from.read_unaligned() })
    }

    /// Reads a list of arguments.
    pub(crate) fn list<T: Copy>(&self, from: *const T, count: u32) -> Outcome<Vec<T>> {
        if from.is_null() && count > 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: not null where anything is read, and the caller of the function vouches for it; see `enter`.
        Ok((0..count as usize).map(|index| unsafe { from.add(index).read_unaligned() }).collect())
    }

    /// Lets the call come late. Under a seed no clock counts: everything else that can run has run then.
    fn be_late(&self, time: std::time::Duration) {
        if self.runtime.scheduler.schedule.is_none() {
            std::thread::sleep(time);
        } else {
            self.runtime.scheduler.let_all_run();
        }
    }
}

/// Declares the body of a function that returns a status.
macro_rules! hsa {
    ($name:ident, |$call:ident| $body:expr) => {{
        let body = |$call: &$crate::hsa::call::Call| -> $crate::hsa::status::Outcome<()> { $body };
        // SAFETY: the caller vouches for the arguments, as HSA documents the function.
        unsafe { $crate::hsa::call::enter(stringify!($name), body) }
    }};
}

/// Declares the body of a function that returns a value.
macro_rules! hsa_value {
    ($name:ident, $otherwise:expr, |$call:ident| $body:expr) => {{
        let body = |$call: &$crate::hsa::call::Call| $body;
        // SAFETY: the caller vouches for the arguments, as HSA documents the function.
        unsafe { $crate::hsa::call::ask(stringify!($name), $otherwise, body) }
    }};
}

pub(crate) use {hsa, hsa_value};
