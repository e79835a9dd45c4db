// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time points: a callback when a semaphore reaches a value or fails.

use std::{
    ffi::c_void,
    mem::MaybeUninit,
    pin::Pin,
    ptr::NonNull,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use facade::{Error, Result, Wait, callback_pool};

use crate::{
    boundary::{fallible, infallible},
    callback::UserData,
    error::windlass_error_t,
    exception::contained,
    handle::{self, Shell, object, used},
    memory::give,
    semaphore::windlass_semaphore_t,
};

/// A callback that waits for a semaphore.
pub struct windlass_timepoint_t(Shell<Arc<Timepoint>>);
object!(windlass_timepoint_t, Arc<Timepoint>, "time point");

/// Called with NULL when a semaphore has reached a value, or with the error why it never will: the semaphore's
/// failure, or CANCELLED. The error belongs to the library and lasts as long as the call; retain it to keep it. The
/// function runs on a thread of Windlass, which it may block.
pub type windlass_timepoint_callback_t =
    Option<unsafe extern "C-unwind" fn(user_data: *mut c_void, error: Option<NonNull<windlass_error_t>>)>;

/// A small executor for one future. Wake-ups send the future to the callback pool.
pub(crate) struct Timepoint {
    /// Taken by the thread that ends the wait, which then makes the call.
    wait: Mutex<Option<Wait>>,
    /// Wake-ups that no poll has answered yet. The thread that raises it from zero polls, so only one thread polls at
    /// a time.
    wakes: AtomicU32,
    cancelled: AtomicBool,
    call: unsafe extern "C-unwind" fn(*mut c_void, Option<NonNull<windlass_error_t>>),
    user_data: UserData,
}

impl Wake for Timepoint {
    /// Runs on the stack of a signalling thread, so it does not poll.
    fn wake(self: Arc<Self>) {
        callback_pool::spawn(Box::new(move || {
            if let Some(result) = self.advance() {
                self.call_back(result);
            }
        }));
    }
}

impl Timepoint {
    /// Polls until there are no more wake-ups. Returns the result to the one caller that ends the wait.
    fn advance(self: &Arc<Self>) -> Option<Result<()>> {
        if self.wakes.fetch_add(1, Ordering::AcqRel) > 0 {
            return None;
        }
        loop {
            let answered = self.wakes.load(Ordering::Acquire);
            if let Some(result) = self.poll() {
                // The count stays above zero, so no thread polls again.
                return Some(result);
            }
            if self.wakes.fetch_sub(answered, Ordering::AcqRel) == answered {
                return None;
            }
        }
    }

    fn poll(self: &Arc<Self>) -> Option<Result<()>> {
        let mut wait = self.wait.lock().unwrap_or_else(PoisonError::into_inner);
        let waker = Waker::from(self.clone());
        let polled = Pin::new(wait.as_mut()?).poll(&mut Context::from_waker(&waker));
        let result = match polled {
            Poll::Ready(result) => result,
            Poll::Pending if self.cancelled.load(Ordering::Acquire) => {
                Err(Error::cancelled("the wait for a semaphore's value was cancelled"))
            }
            Poll::Pending => return None,
        };
        let over = wait.take();
        drop(wait);
        // The waker refers back to this time point. Dropping the future breaks the cycle.
        drop(over);
        Some(result)
    }

    fn call_back(&self, result: Result<()>) {
        let error = result.err().map(windlass_error_t::create);
        // SAFETY: the caller gave the function for this call, once, on any thread.
        contained("the function of a time point", || unsafe { (self.call)(self.user_data.0, error) });
        handle::release(error);
    }
}

/// Calls a function when the payload reaches a value or the semaphore fails: exactly once, on a thread of Windlass,
/// possibly before this returns; never if this returns an error. `timepoint` may be NULL for a callback that is never
/// cancelled; otherwise the caller owns the handle, whose release cancels nothing. A value that is neither reached nor
/// failed keeps the semaphore and the user data forever: cancel it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_semaphore_add_timepoint(
    semaphore: Option<NonNull<windlass_semaphore_t>>,
    value: u64,
    callback: windlass_timepoint_callback_t,
    user_data: *mut c_void,
    timepoint: Option<&mut MaybeUninit<Option<NonNull<windlass_timepoint_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let start = || {
            let call =
                callback.ok_or_else(|| Error::invalid_argument("the callback of a time point is NULL"))?;
            let made = Arc::new(Timepoint {
                wait: Mutex::new(Some(used(semaphore)?.wait(value))),
                wakes: AtomicU32::new(0),
                cancelled: AtomicBool::new(false),
                call,
                user_data: UserData(user_data),
            });
            if let Some(result) = made.advance() {
                let over = made.clone();
                callback_pool::spawn(Box::new(move || over.call_back(result)));
            }
            Ok(made)
        };
        match timepoint {
            Some(_) => give(timepoint, start),
            None => start().map(drop),
        }
    })
}

/// Ends the wait of a time point: the callback is called with CANCELLED unless its call has begun.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_timepoint_cancel(
    timepoint: Option<NonNull<windlass_timepoint_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let timepoint = used(timepoint)?.clone();
        timepoint.cancelled.store(true, Ordering::Release);
        timepoint.wake();
        Ok(())
    })
}

/// Adds a reference and returns the time point. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_timepoint_retain(
    timepoint: Option<NonNull<windlass_timepoint_t>>,
) -> Option<NonNull<windlass_timepoint_t>> {
    infallible(None, || handle::retain(timepoint).map(|()| timepoint))
}

/// Releases a reference. NULL is allowed. Cancels nothing.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_timepoint_release(timepoint: Option<NonNull<windlass_timepoint_t>>) {
    infallible((), || {
        handle::release(timepoint);
        Ok(())
    });
}
