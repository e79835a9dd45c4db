// SPDX-License-Identifier: MIT OR Apache-2.0
//! The macro that defines entry points with counting and faults, and the ways to return a result.

use std::sync::atomic::Ordering;

use crate::bindings::{c_char, c_int, hipError_t};
use crate::null::call::Call;
use crate::null::memory::Memory;

/// The result of a function's body.
pub(super) type Outcome = Result<(), hipError_t>;

pub(super) const INVALID_VALUE: hipError_t = hipError_t::hipErrorInvalidValue;

/// Defines entry points that count themselves, fail on request, and record the thread's last error, and a function
/// that puts them into a table.
macro_rules! entry_points {
    ($fill:ident: $(fn $name:ident($call:ident $(, $parameter:ident: $ty:ty)* $(,)?) $body:block)*) => {
        pub(super) fn $fill(table: &mut $crate::table::EntryPoints) {
            $({
                #[allow(non_snake_case, clippy::too_many_arguments)]
                unsafe extern "C" fn $name($($parameter: $ty),*) -> hipError_t {
                    // SAFETY: callers reach these functions through a table whose binding has entered its instance.
                    let begun = unsafe { Call::begin(Function::$name) };
                    let $call = match begun {
                        Ok(call) => call,
                        Err(status) => return status,
                    };
                    // A closure, so that early returns of the block are recorded.
                    #[allow(clippy::redundant_closure_call)]
                    let outcome: Outcome = (|| $body)();
                    finish(&$call, outcome)
                }
                table.$name = Some($name);
            })*
        }
    };
}
pub(super) use entry_points;

#[inline]
pub(super) fn finish(call: &Call<'_>, outcome: Outcome) -> hipError_t {
    match outcome {
        Ok(()) => hipError_t::hipSuccess,
        Err(status) => {
            call.place.last_error.store(status.0, Ordering::Relaxed);
            status
        }
    }
}

/// Writes a result through a caller's pointer.
///
/// # Safety
///
/// Null, or valid for a write.
pub(super) unsafe fn put<T>(pointer: *mut T, value: T) -> Outcome {
    if pointer.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Writes a string, cut to the buffer, with its NUL.
///
/// # Safety
///
/// `pointer` is null, or valid for writes of `length` bytes.
pub(super) unsafe fn put_text(pointer: *mut c_char, length: usize, text: &str) -> Outcome {
    if pointer.is_null() || length == 0 {
        return Err(INVALID_VALUE);
    }
    let count = text.len().min(length - 1);
    // SAFETY: count + 1 is at most length, which the caller vouches for; the text does not overlap.
    unsafe {
        pointer.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), count);
        pointer.add(count).write(0);
    }
    Ok(())
}

/// The number of the calling thread's device.
pub(super) fn current_device(call: &Call<'_>) -> c_int {
    call.place.device.load(Ordering::Relaxed)
}

pub(super) fn memory<'a>(call: &Call<'a>) -> &'a Memory {
    &call.instance.memory
}
