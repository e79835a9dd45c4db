// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frame of every function of RCCL: that of HIP's functions, with RCCL's results and words.

use std::sync::Arc;

use windlass_hip_sys::bindings::hipError_t;
use windlass_hip_sys::rccl::{ncclComm_t, ncclResult_t};

use super::words;
use crate::hip::boundary::call::{self, Call};
use crate::hip::collectives::member::{Member, Seat, Trouble};
use crate::hip::words::code::Code;
use crate::hip::words::explanation::{self, explain};

/// The outcome of a body: a value, or the result and the words of a refusal.
pub(super) type Answer<T = ()> = Result<T, Trouble>;

/// Runs the body of the RCCL function `name`.
///
/// # Safety
/// As for [`call::enter`].
pub(super) unsafe fn enter(name: &'static str, body: impl FnOnce(&Call) -> Answer) -> ncclResult_t {
    let mut answer = None;
    // SAFETY: the caller is the function of that name, and vouches for its pointers.
    let status = unsafe {
        call::enter(name, |call| {
            let outcome = body(call);
            if let Err(trouble) = &outcome {
                // It is no error, but a result that asks the client to come back.
                if trouble.result != ncclResult_t::ncclInProgress {
                    let mut group = call.thread.group.borrow_mut();
                    if group.depth > 0 {
                        group.error.get_or_insert(trouble.result);
                    }
                    explain(format!("{name}: {}", trouble.words));
                }
            }
            answer = Some(outcome);
            Ok(())
        })
    };
    match answer {
        Some(Ok(())) => ncclResult_t::ncclSuccess,
        Some(Err(trouble)) => {
            if trouble.result != ncclResult_t::ncclInProgress {
                words::note(format!("{name}: {}", trouble.words));
            }
            trouble.result
        }
        // HIP itself refused the call.
        None => {
            let why = explanation::latest();
            words::note(format!("{name}: {}", why.unwrap_or_else(|| of_status(status))));
            ncclResult_t::ncclUnhandledCudaError
        }
    }
}

fn of_status(status: hipError_t) -> String {
    format!("HIP answers {status}")
}

/// A refusal because of an argument.
pub(super) fn wrong<T>(words: impl Into<String>) -> Answer<T> {
    Err(Trouble::new(ncclResult_t::ncclInvalidArgument, words))
}

/// A refusal because the call does not fit those before it.
pub(super) fn misuse<T>(words: impl Into<String>) -> Answer<T> {
    Err(Trouble::new(ncclResult_t::ncclInvalidUsage, words))
}

/// A refusal by HIP.
pub(super) fn hip(code: Code) -> Trouble {
    let words = explanation::latest().unwrap_or_else(|| of_status(hipError_t(code.0)));
    Trouble::new(ncclResult_t::ncclUnhandledCudaError, words)
}

/// Writes a value for the client. The text names the parameter.
pub(super) fn put<T>(call: &Call, to: *mut T, value: T, name: &str) -> Answer {
    call.put(to, value).or_else(|_| wrong(format!("the pointer {name} is null")))
}

/// The member behind a handle.
pub(super) fn member(call: &Call, comm: ncclComm_t) -> Answer<Arc<Member>> {
    match call.runtime.collectives.members.get(comm as u64) {
        Some(member) => Ok(member),
        None => wrong(format!("{comm:?} is no communicator, or was destroyed")),
    }
}

/// The place of a member that can be used.
pub(super) fn seat(member: &Member) -> Answer<&Seat> {
    if let Some(trouble) = member.trouble() {
        return Err(trouble.clone());
    }
    match member.seat() {
        Some(seat) => Ok(seat),
        None => wrong(
            "the communicator is not ready, because other ranks have not come; wait until ncclCommGetAsyncError gives \
             ncclSuccess",
        ),
    }
}

/// The body of a function of RCCL: `rccl!(name, |call| ...)` gives its result.
macro_rules! rccl {
    ($name:ident, $body:expr) => {{
        let body = $crate::hip::rccl::frame::body($body);
        // SAFETY: this is the body of the function, whose caller vouches for its pointers.
        unsafe { $crate::hip::rccl::frame::enter(stringify!($name), body) }
    }};
}

pub(super) use rccl;

/// Lets a body be written outside the unsafe block that runs it.
pub(super) fn body<F: FnOnce(&Call) -> Answer>(body: F) -> F {
    body
}
