// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors: the result of a failed call.

use std::{
    ffi::{CString, c_char},
    ptr::{self, NonNull},
};

use facade::{Code, Error, Result};

use crate::{
    boundary::infallible,
    handle::{self, Shell, object, used},
    memory::{c_string, text},
};

/// The kind of a failure: one of WINDLASS_CODE_*, with the numeric values of gRPC and IREE. Later versions may add
/// codes.
pub type windlass_code_t = u32;

/// No failure: the code of a NULL error.
pub const WINDLASS_CODE_OK: windlass_code_t = 0;
/// The work was cancelled before it was issued, usually because its device was closed.
pub const WINDLASS_CODE_CANCELLED: windlass_code_t = 1;
/// A failure that fits no other code.
pub const WINDLASS_CODE_UNKNOWN: windlass_code_t = 2;
/// An argument that is invalid in every state.
pub const WINDLASS_CODE_INVALID_ARGUMENT: windlass_code_t = 3;
/// The timeout of a wait expired. The awaited event may still happen.
pub const WINDLASS_CODE_DEADLINE_EXCEEDED: windlass_code_t = 4;
/// A named thing (function, device, file) does not exist.
pub const WINDLASS_CODE_NOT_FOUND: windlass_code_t = 5;
/// An object that must be new already exists.
pub const WINDLASS_CODE_ALREADY_EXISTS: windlass_code_t = 6;
/// The system denies access, for example to /dev/kfd.
pub const WINDLASS_CODE_PERMISSION_DENIED: windlass_code_t = 7;
/// Memory or another limited resource is exhausted.
pub const WINDLASS_CODE_RESOURCE_EXHAUSTED: windlass_code_t = 8;
/// The call is valid, but not in this state of the object.
pub const WINDLASS_CODE_FAILED_PRECONDITION: windlass_code_t = 9;
/// Work failed while it ran, or work that it depends on failed.
pub const WINDLASS_CODE_ABORTED: windlass_code_t = 10;
/// An offset, a length or a count is outside of the object.
pub const WINDLASS_CODE_OUT_OF_RANGE: windlass_code_t = 11;
/// The driver does not support this.
pub const WINDLASS_CODE_UNIMPLEMENTED: windlass_code_t = 12;
/// A defect of Windlass or of the vendor's library.
pub const WINDLASS_CODE_INTERNAL: windlass_code_t = 13;
/// The device or the library is not available now.
pub const WINDLASS_CODE_UNAVAILABLE: windlass_code_t = 14;
/// The device was lost, or data cannot be recovered.
pub const WINDLASS_CODE_DATA_LOSS: windlass_code_t = 15;
/// Credentials are missing.
pub const WINDLASS_CODE_UNAUTHENTICATED: windlass_code_t = 16;

/// The codes, by their number minus one.
const CODES: [Code; 16] = [
    Code::Cancelled,
    Code::Unknown,
    Code::InvalidArgument,
    Code::DeadlineExceeded,
    Code::NotFound,
    Code::AlreadyExists,
    Code::PermissionDenied,
    Code::ResourceExhausted,
    Code::FailedPrecondition,
    Code::Aborted,
    Code::OutOfRange,
    Code::Unimplemented,
    Code::Internal,
    Code::Unavailable,
    Code::DataLoss,
    Code::Unauthenticated,
];

/// The reason for a failed call: a code, and a message with the attempt and a remedy.
pub struct windlass_error_t(Shell<Failure>);
object!(windlass_error_t, Failure, "error");

pub(crate) struct Failure {
    error: Error,
    message: CString,
}

impl windlass_error_t {
    pub(crate) fn create(error: Error) -> NonNull<Self> {
        let message = c_string(&error.to_string());
        handle::create(Failure { error, message })
    }

    /// The error behind a handle of the caller.
    pub(crate) fn get(error: Option<NonNull<Self>>) -> Result<Error> {
        Ok(used(error)?.error.clone())
    }

    /// Takes an error from the caller; `None` for NULL.
    pub(crate) fn take(error: Option<NonNull<Self>>) -> Result<()> {
        if error.is_none() {
            return Ok(());
        }
        let failure = Self::get(error).unwrap_or_else(|mistake| mistake);
        handle::release(error);
        Err(failure)
    }
}

/// An error with the caller's code and message.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn error_of(code: windlass_code_t, message: *const c_char) -> Result<Error> {
    let index = (code as usize).checked_sub(1);
    let code = index.and_then(|index| CODES.get(index)).copied().unwrap_or(Code::Unknown);
    // SAFETY: the same contract.
    let message = if message.is_null() { "" } else { unsafe { text("message", message) }? };
    Ok(Error::new(code, message))
}

/// Makes an error, for a callback to return and for windlass_semaphore_fail_with. An unknown code becomes UNKNOWN. The
/// message is copied, and may be NULL. A message that is not UTF-8 makes an INVALID_ARGUMENT error that says so. The
/// caller owns the error.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_error_create(
    code: windlass_code_t,
    message: *const c_char,
) -> Option<NonNull<windlass_error_t>> {
    infallible(None, || {
        // SAFETY: the contract in the header covers that of `text`.
        let error = unsafe { error_of(code, message) }.unwrap_or_else(|mistake| mistake);
        Ok(Some(windlass_error_t::create(error)))
    })
}

/// The code of the failure; WINDLASS_CODE_OK for NULL, INVALID_ARGUMENT for an error that was released.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_error_code(error: Option<NonNull<windlass_error_t>>) -> windlass_code_t {
    if error.is_none() {
        return WINDLASS_CODE_OK;
    }
    infallible(WINDLASS_CODE_INVALID_ARGUMENT, || Ok(windlass_error_t::get(error)?.code() as u32))
}

/// The code's name, the message and the failed action, in one line: "NOT_FOUND: no function `add`; the executable has
/// `sum` (while ...)". "OK" for NULL. Valid until the error's last reference is released.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_error_message(error: Option<NonNull<windlass_error_t>>) -> *const c_char {
    if error.is_none() {
        return c"OK".as_ptr();
    }
    infallible(c"the error was released".as_ptr(), || Ok(used(error)?.message.as_ptr()))
}

/// Adds a reference and returns the error. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_error_retain(
    error: Option<NonNull<windlass_error_t>>,
) -> Option<NonNull<windlass_error_t>> {
    infallible(None, || handle::retain(error).map(|()| error))
}

/// Releases a reference. NULL is allowed. The last one frees the error and its message.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_error_release(error: Option<NonNull<windlass_error_t>>) {
    infallible((), || {
        handle::release(error);
        Ok(())
    });
}

/// A code's name, such as "INVALID_ARGUMENT"; "OK" for 0, NULL for an unknown number. The string is valid forever.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_name(code: windlass_code_t) -> *const c_char {
    let name = match code {
        0 => c"OK",
        1 => c"CANCELLED",
        2 => c"UNKNOWN",
        3 => c"INVALID_ARGUMENT",
        4 => c"DEADLINE_EXCEEDED",
        5 => c"NOT_FOUND",
        6 => c"ALREADY_EXISTS",
        7 => c"PERMISSION_DENIED",
        8 => c"RESOURCE_EXHAUSTED",
        9 => c"FAILED_PRECONDITION",
        10 => c"ABORTED",
        11 => c"OUT_OF_RANGE",
        12 => c"UNIMPLEMENTED",
        13 => c"INTERNAL",
        14 => c"UNAVAILABLE",
        15 => c"DATA_LOSS",
        16 => c"UNAUTHENTICATED",
        _ => return ptr::null(),
    };
    name.as_ptr()
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn codes_and_their_names_are_the_hals() {
        for (index, code) in CODES.iter().enumerate() {
            assert_eq!(*code as usize, index + 1);
            // SAFETY: the name of a code is a literal.
            let name = unsafe { CStr::from_ptr(windlass_code_name(*code as u32)) };
            assert_eq!(name.to_str(), Ok(code.name()));
        }
        assert!(windlass_code_name(17).is_null());
    }
}
