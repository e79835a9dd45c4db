// SPDX-License-Identifier: MIT OR Apache-2.0
//! A call in progress: its instance and the state of its thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use super::calls::{Function, ThreadPlace};
use super::instance::Instance;
use crate::bindings::hipError_t;

/// The state of a thread between its calls.
struct Caller {
    /// The instance of the next call.
    instance: Cell<*const Instance>,
    /// The thread's number; 0 before its first call.
    number: Cell<u64>,
    /// The serial number of the instance to which `place` belongs.
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

impl Caller {
    /// The thread's number, assigned at its first call.
    fn number(&self) -> u64 {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        if self.number.get() == 0 {
            self.number.set(NUMBERS.fetch_add(1, Ordering::Relaxed) + 1);
        }
        self.number.get()
    }
}

/// The `enter` of a null table's binding.
///
/// # Safety
///
/// `context` points to an [`Instance`] that outlives this thread's calls up to its next `enter`.
pub(super) unsafe fn enter(context: *const ()) {
    // A thread whose thread-locals are destroyed makes no more calls.
    let _ = CALLER.try_with(|caller| caller.instance.set(context.cast()));
}

/// A call in progress.
pub(super) struct Call<'a> {
    pub(super) instance: &'a Instance,
    pub(super) place: &'a ThreadPlace,
}

impl Call<'_> {
    /// Counts the call.
    ///
    /// # Safety
    ///
    /// The context that this thread last gave to [`enter`] is alive.
    #[inline]
    pub(super) unsafe fn begin<'a>(function: Function) -> Result<Call<'a>, hipError_t> {
        let entered = CALLER.try_with(|caller| {
            let instance = caller.instance.get();
            // SAFETY: null or alive, as the caller of this function and of `enter` promised.
            let instance = unsafe { instance.as_ref() }?;
            let calls = &instance.calls;
            if caller.serial.get() != calls.serial {
                caller.place.set(calls.claim(caller.number()));
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
        if let Some(count) = place.counts.get(function as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Call { instance, place })
    }
}
