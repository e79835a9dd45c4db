// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host calls: functions of the C program in the order of a queue.

use std::{
    ffi::c_void,
    mem::MaybeUninit,
    ptr::NonNull,
    sync::{Arc, Mutex, PoisonError},
};

use facade::{Completion, Error, HostCallFlags, Result};

use crate::{
    boundary::{fallible, infallible},
    callback::UserData,
    error::windlass_error_t,
    exception::{contained, guarded},
    handle::{self, Shell, object, used},
    memory::give,
    queue::windlass_queue_t,
    semaphore::{Points, lists_of, windlass_point_t},
};

/// A host call in progress. It belongs to the library, and ends with the call.
pub struct windlass_host_call_t(Shell<Settling>);
object!(windlass_host_call_t, Settling, "host call");

/// The signal list of a host call that completes later. Releasing it before windlass_completion_complete fails the
/// list with ABORTED.
pub struct windlass_completion_t(Shell<Settling>);
object!(windlass_completion_t, Settling, "completion");

/// The signal list of a host call until it is settled or taken.
pub(crate) type Settling = Mutex<Option<Completion>>;

pub(crate) fn take(settling: &Settling) -> Option<Completion> {
    settling.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The signals are reached when the call begins instead of when it returns.
pub const WINDLASS_HOST_CALL_NON_BLOCKING: u64 = 1 << 0;
/// Waiting threads may spin, because the call is short.
pub const WINDLASS_HOST_CALL_WAIT_ACTIVE: u64 = 1 << 1;
/// The call accesses no memory of the device.
pub const WINDLASS_HOST_CALL_RELAXED: u64 = 1 << 2;

/// Called on a thread of Windlass, which it may block, when the waits of its submission are reached. NULL reaches the
/// signals; an error fails them. The error passes to the library: return windlass_error_create(...), or retain an
/// error of another owner. An exception fails the signals with ABORTED.
pub type windlass_host_call_callback_t = Option<
    unsafe extern "C-unwind" fn(
        user_data: *mut c_void,
        call: Option<NonNull<windlass_host_call_t>>,
    ) -> Option<NonNull<windlass_error_t>>,
>;

/// Called exactly once when the library no longer needs the user data of a host call, on any thread. `error` is NULL
/// after the call, and otherwise says why there was no call: the failure of a wait, CANCELLED, or the error that
/// windlass_queue_host_call returns. It belongs to the library and lasts as long as this call. The function must not
/// block.
pub type windlass_host_call_destroy_t =
    Option<unsafe extern "C-unwind" fn(user_data: *mut c_void, error: Option<NonNull<windlass_error_t>>)>;

/// The end of a host call's user data.
struct Ending {
    data: UserData,
    destroy: windlass_host_call_destroy_t,
    state: Mutex<State>,
}

enum State {
    /// The submission may still be refused. The result of the call is known if the function is gone already.
    Submitting(Option<Result<()>>),
    Accepted,
    Ended,
}

impl Ending {
    /// The submission was accepted or refused.
    fn submitted(&self, result: &Result<()>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let end = match &mut *state {
            State::Submitting(end) => end.take(),
            State::Accepted | State::Ended => return,
        };
        let end = if result.is_err() { Some(result.clone()) } else { end };
        *state = if end.is_some() { State::Ended } else { State::Accepted };
        drop(state);
        end.into_iter().for_each(|end| self.destroy(end));
    }

    /// The function was called, or never will be.
    fn over(&self, result: Result<()>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *state {
            State::Submitting(end) => {
                *end = Some(result);
                return;
            }
            State::Ended => return,
            State::Accepted => *state = State::Ended,
        }
        drop(state);
        self.destroy(result);
    }

    fn destroy(&self, result: Result<()>) {
        let Some(destroy) = self.destroy else { return };
        let error = result.err().map(windlass_error_t::create);
        // SAFETY: the caller gave the function for this purpose, and it is called once.
        contained("the function that ends the user data of a host call", || unsafe {
            destroy(self.data.0, error);
        });
        handle::release(error);
    }
}

/// Ends the user data when the function goes.
struct Guard {
    ending: Arc<Ending>,
    waits: Points,
    called: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let failed = || self.waits.iter().find_map(|wait| wait.semaphore.query().err());
        let cancelled = || Error::cancelled("the host call was cancelled before its waits were reached");
        self.ending.over(if self.called { Ok(()) } else { Err(failed().unwrap_or_else(cancelled)) });
    }
}

/// Calls a function of the host when the waits are reached. Independent work of the queue continues meanwhile. `flags`
/// is a set of WINDLASS_HOST_CALL_*. `destroy`, which may be NULL, is called with the user data exactly once in every
/// case: after the call, after a failure that prevents the call, and if this function returns an error.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_host_call(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    flags: u64,
    callback: windlass_host_call_callback_t,
    user_data: *mut c_void,
    destroy: windlass_host_call_destroy_t,
) -> Option<NonNull<windlass_error_t>> {
    let state = Mutex::new(State::Submitting(None));
    let ending = Arc::new(Ending { data: UserData(user_data), destroy, state });
    let submit = || {
        // SAFETY: the contract in the header covers that of `lists_of`.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        let callback =
            callback.ok_or_else(|| Error::invalid_argument("the callback of a host call is NULL"))?;
        let known =
            WINDLASS_HOST_CALL_NON_BLOCKING | WINDLASS_HOST_CALL_WAIT_ACTIVE | WINDLASS_HOST_CALL_RELAXED;
        if flags & !known != 0 {
            let unknown = flags & !known;
            return Err(Error::invalid_argument(format!("a host call with the unknown flags {unknown:#x}")));
        }
        let mut guard = Guard { ending: ending.clone(), waits: lists.waits.clone(), called: false };
        used(queue)?.host_call(&lists.waits, &lists.signals, HostCallFlags(flags), move |context| {
            guard.called = true;
            let call = handle::create::<windlass_host_call_t>(Mutex::new(context.defer().ok()));
            // SAFETY: the caller gave the function for this call, once, on any thread.
            let returned = guarded("the function of a host call", || unsafe {
                callback(guard.ending.data.0, Some(call))
            });
            let result = returned.and_then(windlass_error_t::take);
            let left = used(Some(call)).ok().and_then(|settling| take(&settling));
            handle::release(Some(call));
            drop(guard);
            match left {
                Some(completion) => {
                    completion.complete(result);
                    Ok(())
                }
                None => result,
            }
        })
    };
    fallible(|| {
        let result = submit();
        ending.submitted(&result);
        result
    })
}

/// Takes over the signal list of a running host call: windlass_completion_complete reaches it, instead of the
/// callback's return. FAILED_PRECONDITION the second time, and for a non-blocking call. The caller owns the
/// completion.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_host_call_defer(
    call: Option<NonNull<windlass_host_call_t>>,
    completion: Option<&mut MaybeUninit<Option<NonNull<windlass_completion_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(completion, || {
            let taken = take(&*used(call)?).ok_or_else(|| {
                Error::failed_precondition(
                    "the signal list was taken over before, or the call is non-blocking",
                )
            })?;
            Ok(Mutex::new(Some(taken)))
        })
    })
}

/// Reaches the signal list, or fails it with an error, which the caller keeps. FAILED_PRECONDITION the second time.
/// The handle must still be released.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_completion_complete(
    completion: Option<NonNull<windlass_completion_t>>,
    error: Option<NonNull<windlass_error_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let result = match error {
            None => Ok(()),
            some => Err(windlass_error_t::get(some)?),
        };
        let taken = take(&*used(completion)?)
            .ok_or_else(|| Error::failed_precondition("the completion was completed before"))?;
        taken.complete(result);
        Ok(())
    })
}

/// Adds a reference and returns the completion. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_completion_retain(
    completion: Option<NonNull<windlass_completion_t>>,
) -> Option<NonNull<windlass_completion_t>> {
    infallible(None, || handle::retain(completion).map(|()| completion))
}

/// Releases a reference. NULL is allowed. Releasing the last one fails an uncompleted signal list with ABORTED.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_completion_release(completion: Option<NonNull<windlass_completion_t>>) {
    infallible((), || {
        handle::release(completion);
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_the_hals() {
        assert_eq!(HostCallFlags(WINDLASS_HOST_CALL_NON_BLOCKING), HostCallFlags::NON_BLOCKING);
        assert_eq!(HostCallFlags(WINDLASS_HOST_CALL_WAIT_ACTIVE), HostCallFlags::WAIT_ACTIVE);
        assert_eq!(HostCallFlags(WINDLASS_HOST_CALL_RELAXED), HostCallFlags::RELAXED);
    }
}
