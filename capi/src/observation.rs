// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observations: a callback that hears every advance of a semaphore.

use std::{ffi::c_void, mem::MaybeUninit, ptr::NonNull, sync::Arc};

use facade::{Error, Observation, Observer};

use crate::{
    boundary::{fallible, infallible},
    callback::{OwnedUserData, UserData, windlass_destroy_t},
    error::windlass_error_t,
    exception::contained,
    handle::{self, Shell, object, used},
    memory::give,
    semaphore::windlass_semaphore_t,
};

/// A callback that hears what a semaphore does. Releasing the last reference ends it.
pub struct windlass_observation_t(Shell<Observation>);
object!(windlass_observation_t, Observation, "observation");

/// Called with NULL and the new payload when a semaphore has advanced, and with the error when it has failed, which is
/// the last call. Payloads grow from call to call; advances that happen during a call are told together in the next
/// one. The error belongs to the library and lasts as long as the call; retain it to keep it.
///
/// Unlike other callbacks it runs on the thread that signals, which may be a thread of a driver. It must not block. It
/// may call every function without a timeout, also for the same semaphore. Calls for one observation do not overlap.
/// A signal inside a call reaches the observers of another semaphore before it returns, on the same stack: a chain of a
/// thousand semaphores, each signalled by an observer of the one before, may exhaust the stack.
pub type windlass_observer_callback_t = Option<
    unsafe extern "C-unwind" fn(
        user_data: *mut c_void,
        payload: u64,
        error: Option<NonNull<windlass_error_t>>,
    ),
>;

struct Callback {
    call: unsafe extern "C-unwind" fn(*mut c_void, u64, Option<NonNull<windlass_error_t>>),
    user_data: OwnedUserData,
}

impl Callback {
    fn call(&self, payload: u64, error: Option<NonNull<windlass_error_t>>) {
        // SAFETY: the caller gave the function for these calls, on any thread, one at a time.
        contained("the observer of a semaphore", || unsafe {
            (self.call)(self.user_data.data.0, payload, error);
        });
    }
}

impl Observer for Callback {
    fn advanced(&self, payload: u64) {
        self.call(payload, None);
    }

    fn failed(&self, error: &Error) {
        let error = Some(windlass_error_t::create(error.clone()));
        self.call(0, error);
        handle::release(error);
    }
}

/// Calls a function for every advance of the semaphore from now on, and for its failure. A semaphore that has failed
/// calls it before this returns. Advances before this call are not told: query the semaphore behind it. The observation
/// ends with its last reference; a call that has begun on another thread may outlast it. `destroy`, which may be NULL,
/// is called with the user data exactly once: after the last call, and if this function returns an error. The caller
/// owns the observation.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_semaphore_observe(
    semaphore: Option<NonNull<windlass_semaphore_t>>,
    callback: windlass_observer_callback_t,
    user_data: *mut c_void,
    destroy: windlass_destroy_t,
    observation: Option<&mut MaybeUninit<Option<NonNull<windlass_observation_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let user_data = OwnedUserData { data: UserData(user_data), destroy };
        give(observation, || {
            let call =
                callback.ok_or_else(|| Error::invalid_argument("the callback of an observation is NULL"))?;
            Ok(used(semaphore)?.observe(Arc::new(Callback { call, user_data })))
        })
    })
}

/// Adds a reference and returns the observation. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_observation_retain(
    observation: Option<NonNull<windlass_observation_t>>,
) -> Option<NonNull<windlass_observation_t>> {
    infallible(None, || handle::retain(observation).map(|()| observation))
}

/// Releases a reference. NULL is allowed. The last one ends the observation.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_observation_release(observation: Option<NonNull<windlass_observation_t>>) {
    infallible((), || {
        handle::release(observation);
        Ok(())
    });
}
