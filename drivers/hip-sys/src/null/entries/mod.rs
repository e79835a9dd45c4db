// SPDX-License-Identifier: MIT OR Apache-2.0
//! The null HIP's functions, by HIP's themes.

mod device;
mod memory;
mod module;
mod stream;

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use super::calls::{Call, Function};
use super::memory::Memory;
use crate::bindings::{c_char, c_int, hipError_t};
use crate::table::EntryPoints;

/// The result of one function's body.
type Outcome = Result<(), hipError_t>;

const INVALID_VALUE: hipError_t = hipError_t::hipErrorInvalidValue;

/// Defines entry points that count themselves, fail where they are to, and note the thread's last error, and a function
/// that puts them into a table.
macro_rules! entry_points {
    ($fill:ident: $(fn $name:ident($call:ident $(, $parameter:ident: $ty:ty)* $(,)?) $body:block)*) => {
        pub(super) fn $fill(table: &mut $crate::table::EntryPoints) {
            $({
                #[allow(non_snake_case, clippy::too_many_arguments)]
                unsafe extern "C" fn $name($($parameter: $ty),*) -> hipError_t {
                    // SAFETY: these functions are reached through a table whose binding has entered its instance.
                    let begun = unsafe { Call::begin(Function::$name) };
                    let $call = match begun {
                        Ok(call) => call,
                        Err(status) => return status,
                    };
                    // The block is a closure, so that its early returns come by here.
                    #[allow(clippy::redundant_closure_call)]
                    let outcome: Outcome = (|| $body)();
                    finish(&$call, outcome)
                }
                table.$name = Some($name);
            })*
        }
    };
}
use entry_points;

#[inline]
fn finish(call: &Call<'_>, outcome: Outcome) -> hipError_t {
    match outcome {
        Ok(()) => hipError_t::hipSuccess,
        Err(status) => {
            call.place.last_error.store(status.0, Ordering::Relaxed);
            status
        }
    }
}

/// The whole table.
pub(super) fn table() -> EntryPoints {
    let mut table = EntryPoints::none();
    device::fill(&mut table);
    memory::fill(&mut table);
    module::fill(&mut table);
    stream::fill(&mut table);
    table.hipGetLastError = Some(hipGetLastError);
    table.hipGetErrorName = Some(hipGetErrorName);
    table.hipGetErrorString = Some(hipGetErrorName);
    table
}

/// Whether a function is in the table and returns a status.
pub(super) fn can_fail(name: &str) -> bool {
    static TABLE: OnceLock<EntryPoints> = OnceLock::new();
    !matches!(name, "hipGetErrorName" | "hipGetErrorString")
        && TABLE.get_or_init(table).address(name).is_some()
}

/// Writes a result through a caller's pointer.
///
/// # Safety
///
/// Null, or valid for a write.
unsafe fn put<T>(pointer: *mut T, value: T) -> Outcome {
    if pointer.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Writes a string, cut to what fits, with its NUL.
///
/// # Safety
///
/// `pointer` is null, or valid for writes of `length` bytes.
unsafe fn put_text(pointer: *mut c_char, length: usize, text: &str) -> Outcome {
    if pointer.is_null() || length == 0 {
        return Err(INVALID_VALUE);
    }
    let count = text.len().min(length - 1);
    // SAFETY: count + 1 is at most length, which the caller vouches for; the text is elsewhere.
    unsafe {
        pointer.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), count);
        pointer.add(count).write(0);
    }
    Ok(())
}

/// The number of the calling thread's device.
fn current_device(call: &Call<'_>) -> c_int {
    call.place.device.load(Ordering::Relaxed)
}

fn memory<'a>(call: &Call<'a>) -> &'a Memory {
    &call.instance.memory
}

/// By hand, as what it returns is not a failure of its own.
#[allow(non_snake_case)]
unsafe extern "C" fn hipGetLastError() -> hipError_t {
    // SAFETY: reached through a table whose binding has entered its instance.
    match unsafe { Call::begin(Function::hipGetLastError) } {
        Ok(call) => hipError_t(call.place.last_error.swap(0, Ordering::Relaxed)),
        Err(status) => status,
    }
}

/// The name as a C string, which lives forever. Not counted: whoever asks is about to report an error.
#[allow(non_snake_case)]
unsafe extern "C" fn hipGetErrorName(status: hipError_t) -> *const c_char {
    status.c_name().as_ptr()
}
