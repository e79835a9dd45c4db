// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which instance a call is for, how often each function was called by whom, and which call is to fail.
//!
//! A call takes no lock and allocates nothing, but for a thread's first call into an instance.

use std::cell::Cell;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::thread::ThreadId;

use super::Instance;
use crate::bindings::hipError_t;
use crate::table::EntryPoints;

macro_rules! define_functions {
    ($(fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) -> $result:ty;)*) => {
        /// The index of each function in [`EntryPoints::NAMES`].
        #[allow(non_camel_case_types, dead_code, clippy::enum_variant_names)]
        #[derive(Clone, Copy)]
        pub(super) enum Function {
            $($name),*
        }
    };
}

crate::for_each_entry_point!(define_functions);

const FUNCTIONS: usize = EntryPoints::NAMES.len();
/// Threads that are told apart; those beyond share the last place.
const PLACES: usize = 64;

fn index_of(name: &str) -> Option<usize> {
    EntryPoints::NAMES.iter().position(|known| *known == name)
}

/// What this thread remembers between calls.
struct Caller {
    /// The instance that the next call is for.
    instance: Cell<*const Instance>,
    /// This thread's own number; 0 until it makes its first call.
    number: Cell<u64>,
    /// The serial number of the instance for which `place` holds.
    serial: Cell<u64>,
    place: Cell<usize>,
}

thread_local! {
    static CALLER: Caller = const {
        Caller {
            instance: Cell::new(std::ptr::null()),
            number: Cell::new(0),
            serial: Cell::new(0),
            place: Cell::new(0),
        }
    };
}

/// The `enter` of a null table's binding.
///
/// # Safety
///
/// `context` points to an [`Instance`] that outlives this thread's calls up to its next `enter`.
pub(super) unsafe fn enter(context: *const ()) {
    // A thread that is past its thread-local storage makes calls no more.
    let _ = CALLER.try_with(|caller| caller.instance.set(context.cast()));
}

/// One call that is being made.
pub(super) struct Call<'a> {
    pub(super) instance: &'a Instance,
    pub(super) place: &'a Place,
}

impl Call<'_> {
    /// Counts the call, and makes it fail if it is to.
    ///
    /// # Safety
    ///
    /// What this thread last gave to [`enter`] is alive.
    #[inline]
    pub(super) unsafe fn begin<'a>(function: Function) -> Result<Call<'a>, hipError_t> {
        let entered = CALLER.try_with(|caller| {
            let instance = caller.instance.get();
            // SAFETY: null or alive, as the caller of this function and of `enter` promised.
            let instance = unsafe { instance.as_ref() }?;
            let calls = &instance.calls;
            if caller.serial.get() != calls.serial {
                caller.place.set(calls.claim(caller));
                caller.serial.set(calls.serial);
            }
            Some((instance, caller.place.get()))
        });
        let Ok(Some((instance, index))) = entered else {
            return Err(hipError_t::hipErrorNotInitialized);
        };
        let Some(place) = instance.calls.places.get(index) else {
            return Err(hipError_t::hipErrorUnknown);
        };
        let function = function as usize;
        if let Some(count) = place.counts.get(function) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let call = Call { instance, place };
        match instance.faults.take(function) {
            None => Ok(call),
            Some(status) => {
                call.place.last_error.store(status.0, Ordering::Relaxed);
                Err(status)
            }
        }
    }
}

/// What is kept per thread.
pub(super) struct Place {
    owner: AtomicU64,
    thread: OnceLock<ThreadId>,
    counts: Box<[AtomicU64]>,
    pub(super) device: AtomicI32,
    pub(super) last_error: AtomicU32,
}

/// The counts of one instance.
pub(super) struct Calls {
    serial: u64,
    places: Box<[Place]>,
}

/// The calls that one thread made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadCalls {
    /// The thread; `None` for all those beyond the first 63 together.
    pub thread: Option<ThreadId>,
    /// Every function that it called, with its number of calls, in the order of the declarations.
    pub calls: Vec<(&'static str, u64)>,
}

impl ThreadCalls {
    /// The number of calls of the function called `name`.
    pub fn count(&self, name: &str) -> u64 {
        self.calls.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count)
    }
}

impl Calls {
    pub(super) fn new() -> Self {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let place = || Place {
            owner: AtomicU64::new(0),
            thread: OnceLock::new(),
            counts: (0..FUNCTIONS).map(|_| AtomicU64::new(0)).collect(),
            device: AtomicI32::new(0),
            last_error: AtomicU32::new(0),
        };
        Self {
            serial: SERIAL.fetch_add(1, Ordering::Relaxed) + 1,
            places: (0..PLACES).map(|_| place()).collect(),
        }
    }

    /// The place of the calling thread, taken for good at its first call.
    #[cold]
    fn claim(&self, caller: &Caller) -> usize {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        if caller.number.get() == 0 {
            caller.number.set(NUMBERS.fetch_add(1, Ordering::Relaxed) + 1);
        }
        let number = caller.number.get();
        let shared = PLACES - 1;
        for (index, place) in self.places.iter().enumerate().take(shared) {
            match place.owner.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    let _ = place.thread.set(std::thread::current().id());
                    return index;
                }
                Err(owner) if owner == number => return index,
                Err(_) => {}
            }
        }
        shared
    }

    fn named<'a>(counts: impl Iterator<Item = u64> + 'a) -> Vec<(&'static str, u64)> {
        EntryPoints::NAMES.iter().copied().zip(counts).filter(|(_, count)| *count > 0).collect()
    }

    fn sum(&self, index: usize) -> u64 {
        self.places
            .iter()
            .filter_map(|place| place.counts.get(index))
            .map(|count| count.load(Ordering::Relaxed))
            .sum()
    }

    pub(super) fn total(&self) -> Vec<(&'static str, u64)> {
        Self::named((0..FUNCTIONS).map(|index| self.sum(index)))
    }

    pub(super) fn count(&self, name: &str) -> u64 {
        index_of(name).map_or(0, |index| self.sum(index))
    }

    pub(super) fn by_thread(&self) -> Vec<ThreadCalls> {
        let calls = self.places.iter().map(|place| ThreadCalls {
            thread: place.thread.get().copied(),
            calls: Self::named(place.counts.iter().map(|count| count.load(Ordering::Relaxed))),
        });
        calls.filter(|thread| !thread.calls.is_empty()).collect()
    }

    pub(super) fn reset(&self) {
        for count in self.places.iter().flat_map(|place| &place.counts) {
            count.store(0, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.total()).finish()
    }
}

/// Which call of each function is to fail.
pub(super) struct Faults(Box<[Fault]>);

#[derive(Default)]
struct Fault {
    /// Calls to go, the failing one included; 0 if none is to fail, [`ALWAYS`] if all are.
    countdown: AtomicU64,
    status: AtomicU32,
}

const ALWAYS: u64 = u64::MAX;

/// No function that returns a status has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFunction(String);

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
        let fault = super::entries::can_fail(name)
            .then(|| index_of(name))
            .flatten()
            .and_then(|index| self.0.get(index));
        let fault = fault.ok_or_else(|| UnknownFunction(name.to_owned()))?;
        fault.countdown.store(0, Ordering::Relaxed);
        fault.status.store(status.0, Ordering::Relaxed);
        // Release, so that whoever sees the countdown sees its status.
        fault.countdown.store(countdown, Ordering::Release);
        Ok(())
    }

    #[inline]
    fn take(&self, function: usize) -> Option<hipError_t> {
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
