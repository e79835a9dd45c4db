// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frame of every HSA function: finds the runtime, takes turns under a seed, catches panics, traces.

use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::trace::tell;

use super::explain::{explain, tell_of_no_runtime};
use super::info::Info;
use super::runtime::{self, Runtime};
use super::status::{Outcome, Status};

/// An HSA function in progress.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    /// The number of the call in its runtime, from 1 on.
    number: u64,
    pub(crate) runtime: Arc<Runtime>,
}

thread_local! {
    /// The thread's number in the schedule of a runtime, and the number of that runtime, if it has them.
    static NUMBER: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

/// Runs the body of the HSA function `name`, which returns a status.
///
/// # Safety
/// Only that function calls this. Its caller guarantees every pointer that `body` gives to the methods of [`Call`]:
/// null, or valid for the type and length that HSA documents, and not in use elsewhere.
pub(crate) unsafe fn enter(name: &'static str, body: impl FnOnce(&Call) -> Outcome<()>) -> Status {
    let mut body = Some(body);
    answer(name, &mut |call| body.take().map_or(Err(Status::ERROR), |body| body(call)))
}

/// [`enter`] without the type of its body, so that it is compiled once and not for each function of HSA.
fn answer(name: &'static str, body: &mut dyn FnMut(&Call) -> Outcome<()>) -> Status {
    let mut outcome = Err(Status::ERROR);
    let ran = run(name, &mut |call| {
        outcome = match call.runtime.injections.strike(name, &|time| call.be_late(time)) {
            Some((status, why)) => {
                explain(&why);
                Err(Status::of_failure(status))
            }
            None => body(call),
        };
    });
    let status = ran.and(outcome).err().unwrap_or(Status::SUCCESS);
    tell(|| tracing::trace!(target: "windlass::sim", call = name, ?status));
    status
}

/// Runs the body of the HSA function `name`, which returns a value, or `otherwise` where the body fails.
///
/// # Safety
/// As [`enter`].
pub(crate) unsafe fn ask<T>(name: &'static str, otherwise: T, body: impl FnOnce(&Call) -> Outcome<T>) -> T {
    let mut body = Some(body);
    let mut outcome = Err(Status::ERROR);
    let ran = run(name, &mut |call| {
        if let Some(body) = body.take() {
            outcome = body(call);
        }
    });
    ran.and(outcome).unwrap_or_else(|status| {
        tell_of_no_effect(name, status);
        otherwise
    })
}

fn tell_of_no_effect(name: &'static str, status: Status) {
    if status == Status::NOT_INITIALIZED {
        tell_of_no_runtime(name);
    } else {
        explain(&format!("{name} was called with an invalid argument ({status:?}) and has no effect"));
    }
}

/// Runs the body within the frame: the runtime is found, and a panic is an error.
fn run(name: &'static str, body: &mut dyn FnMut(&Call)) -> Outcome<()> {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let runtime = runtime::current()?;
        let number = runtime.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let call = Call { name, number, runtime };
        if call.runtime.scheduler.schedule.is_none() {
            body(&call);
            return Ok(());
        }
        let epoch = call.runtime.epoch;
        let known = NUMBER.try_with(Cell::get).ok().flatten();
        let thread = Cell::new(known.filter(|(of, _)| *of == epoch).map(|(_, number)| number));
        let _turn = call.runtime.scheduler.turn(&thread, name);
        if let Some(number) = thread.get() {
            let _ = NUMBER.try_with(|known| known.set(Some((epoch, number))));
        }
        body(&call);
        Ok(())
    }));
    outcome.unwrap_or_else(|_| {
        explain(&format!("{name} ran into a defect of the simulator"));
        Err(Status::ERROR)
    })
}

impl Call {
    /// The call by name and number, and the calling thread, for messages about its effects.
    pub(crate) fn describe(&self) -> Arc<str> {
        let thread = std::thread::current();
        let thread = thread.name().map_or_else(|| format!("{:?}", thread.id()), |name| format!("{name:?}"));
        format!("{}, call {}, thread {thread}", self.name, self.number).into()
    }

    /// Logs the reason why the call is refused, and returns its status as an error.
    pub(crate) fn refuse<T>(&self, status: Status, why: &str) -> Outcome<T> {
        explain(&format!("{}: {why}", self.name));
        Err(status)
    }

    /// Writes a result to the client's memory.
    pub(crate) fn put<T>(&self, to: *mut T, value: T) -> Outcome<()> {
        if to.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: not null, and the function's caller guarantees it; see `enter`.
        unsafe { to.write_unaligned(value) };
        Ok(())
    }

    /// Reads an argument.
    pub(crate) fn read<T: Copy>(&self, from: *const T) -> Outcome<T> {
        if from.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: not null, and the function's caller guarantees it; see `enter`.
        Ok(unsafe { from.read_unaligned() })
    }

    /// Reads a list of arguments.
    pub(crate) fn list<T: Copy>(&self, from: *const T, count: u32) -> Outcome<Vec<T>> {
        if from.is_null() && count > 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: not null where anything is read, and the function's caller guarantees it; see `enter`.
        Ok((0..count as usize).map(|index| unsafe { from.add(index).read_unaligned() }).collect())
    }

    /// Delays the call. Under a seed no time passes: instead all other work that can run has run.
    fn be_late(&self, time: std::time::Duration) {
        if self.runtime.scheduler.schedule.is_none() {
            std::thread::sleep(time);
        } else {
            self.runtime.scheduler.let_all_run();
        }
    }
}

impl Info {
    /// Writes the value to the client's memory.
    pub(crate) fn put(&self, call: &Call, to: *mut c_void) -> Outcome<()> {
        match self {
            Self::Bool(value) => call.put(to.cast(), *value),
            Self::U16(value) => call.put(to.cast(), *value),
            Self::U32(value) => call.put(to.cast(), *value),
            Self::U64(value) => call.put(to.cast(), *value),
            Self::U16s(values) => each(call, to, values),
            Self::U32s(values) => each(call, to, values),
            Self::U64s(values) => each(call, to, values),
            Self::Bytes(bytes) => each(call, to, bytes),
        }
    }
}

fn each<T: Copy>(call: &Call, to: *mut c_void, values: &[T]) -> Outcome<()> {
    if to.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    for (index, value) in values.iter().enumerate() {
        call.put(to.cast::<T>().wrapping_add(index), *value)?;
    }
    Ok(())
}

/// Declares the body of a function that returns a status.
macro_rules! hsa {
    ($name:ident, |$call:ident| $body:expr) => {{
        let body = |$call: &$crate::hsa::call::Call| -> $crate::hsa::status::Outcome<()> { $body };
        // SAFETY: the caller guarantees the arguments, as HSA documents the function.
        unsafe { $crate::hsa::call::enter(stringify!($name), body) }
    }};
}

/// Declares the body of a function that returns a value.
macro_rules! hsa_value {
    ($name:ident, $otherwise:expr, |$call:ident| $body:expr) => {{
        let body = |$call: &$crate::hsa::call::Call| $body;
        // SAFETY: the caller guarantees the arguments, as HSA documents the function.
        unsafe { $crate::hsa::call::ask(stringify!($name), $otherwise, body) }
    }};
}

pub(crate) use {hsa, hsa_value};
