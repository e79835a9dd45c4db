// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that fail at a test's request.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::calls::{FUNCTIONS, index_of};
use crate::bindings::hipError_t;
use crate::table::EntryPoints;

/// For each function, the call that is to fail.
pub(super) struct Faults(Box<[Fault]>);

#[derive(Default)]
struct Fault {
    /// The number of calls up to the failing one; 0 if none is to fail, [`ALWAYS`] if all are.
    countdown: AtomicU64,
    status: AtomicU32,
}

const ALWAYS: u64 = u64::MAX;

/// No function with this name returns a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFunction(pub(super) String);

impl fmt::Display for UnknownFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the null HIP has no function {} that could fail", self.0)
    }
}

impl std::error::Error for UnknownFunction {}

impl Faults {
    pub(super) fn new() -> Self {
        Self((0..FUNCTIONS).map(|_| Fault::default()).collect())
    }

    pub(super) fn arm(&self, name: &str, kth_call: u64, status: hipError_t) -> Result<(), UnknownFunction> {
        self.set(name, kth_call.clamp(1, ALWAYS - 1), status)
    }

    pub(super) fn arm_always(&self, name: &str, status: hipError_t) -> Result<(), UnknownFunction> {
        self.set(name, if status == hipError_t::hipSuccess { 0 } else { ALWAYS }, status)
    }

    fn set(&self, name: &str, countdown: u64, status: hipError_t) -> Result<(), UnknownFunction> {
        let fault = index_of(name).and_then(|index| self.0.get(index));
        let fault = fault.ok_or_else(|| UnknownFunction(name.to_owned()))?;
        fault.countdown.store(0, Ordering::Relaxed);
        fault.status.store(status.0, Ordering::Relaxed);
        // Release: a thread that sees the countdown also sees its status.
        fault.countdown.store(countdown, Ordering::Release);
        Ok(())
    }

    #[inline]
    pub(super) fn take(&self, function: usize) -> Option<hipError_t> {
        let fault = self.0.get(function)?;
        if fault.countdown.load(Ordering::Relaxed) == 0 { None } else { fault.count_down() }
    }
}

impl Fault {
    #[cold]
    fn count_down(&self) -> Option<hipError_t> {
        let step = |countdown| match countdown {
            0 | ALWAYS => None,
            more => Some(more - 1),
        };
        match self.countdown.fetch_update(Ordering::Acquire, Ordering::Acquire, step) {
            Ok(1) | Err(ALWAYS) => Some(hipError_t(self.status.load(Ordering::Relaxed))),
            _ => None,
        }
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let armed = self
            .0
            .iter()
            .zip(EntryPoints::NAMES)
            .filter(|(fault, _)| fault.countdown.load(Ordering::Relaxed) != 0);
        f.debug_set().entries(armed.map(|(_, name)| name)).finish()
    }
}
