// SPDX-License-Identifier: MIT OR Apache-2.0
//! RCCL's words: what each result means, and the latest error of the process.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::sync::{Mutex, PoisonError};

use windlass_hip_sys::rccl::{ncclComm_t, ncclResult_t};

static LATEST: Mutex<String> = Mutex::new(String::new());

thread_local! {
    /// The text that this thread asked for last, which stays in place until it asks again.
    static ANSWERED: RefCell<CString> = RefCell::default();
}

/// Notes an error.
pub(super) fn note(words: String) {
    *LATEST.lock().unwrap_or_else(PoisonError::into_inner) = words;
}

/// As RCCL does, it ignores the communicator.
pub(super) unsafe extern "C" fn ncclGetLastError(_comm: ncclComm_t) -> *const c_char {
    let words = LATEST.lock().unwrap_or_else(PoisonError::into_inner).replace('\0', " ");
    let words = CString::new(words).unwrap_or_default();
    let answer = ANSWERED.try_with(|answered| {
        *answered.borrow_mut() = words;
        answered.borrow().as_ptr()
    });
    // A thread that ends keeps no text.
    answer.unwrap_or(c"".as_ptr())
}

pub(super) unsafe extern "C" fn ncclGetErrorString(result: ncclResult_t) -> *const c_char {
    let words: &CStr = match result {
        ncclResult_t::ncclSuccess => c"no error",
        ncclResult_t::ncclUnhandledCudaError => c"a call of HIP failed",
        ncclResult_t::ncclSystemError => c"a call of the system failed",
        ncclResult_t::ncclInternalError => c"an internal error",
        ncclResult_t::ncclInvalidArgument => c"an invalid argument",
        ncclResult_t::ncclInvalidUsage => c"a call that does not fit those before it",
        ncclResult_t::ncclRemoteError => c"another rank has ended or aborted",
        ncclResult_t::ncclInProgress => c"the operation is in progress",
        _ => c"an unknown result",
    };
    words.as_ptr()
}
