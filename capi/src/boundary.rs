// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boundary: every entry point runs its body through one of two functions here, so that no panic crosses it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::NonNull,
};

use facade::{Error, Result};

use crate::error::windlass_error_t;

/// Runs the body of an entry point that can fail. NULL is success.
pub(crate) fn fallible(body: impl FnOnce() -> Result<()>) -> Option<NonNull<windlass_error_t>> {
    contain(body).unwrap_or_else(Err).err().map(windlass_error_t::create)
}

/// Runs the body of an entry point that says nothing of failure: `otherwise` is what a failure looks like.
pub(crate) fn infallible<T>(otherwise: T, body: impl FnOnce() -> Result<T>) -> T {
    contain(body).and_then(|result| result).unwrap_or(otherwise)
}

/// A panic is a defect of ours: `INTERNAL`, with its text.
fn contain<T>(body: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        // A payload may panic in its turn when it is dropped.
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            std::mem::forget(again);
        }
        Error::internal(format!("Windlass panicked: {text}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::windlass_error_code, handle};

    #[test]
    fn a_panic_becomes_an_error() {
        struct Nasty;
        impl Drop for Nasty {
            fn drop(&mut self) {
                panic!("and again");
            }
        }
        for body in [|| panic!("on purpose"), || std::panic::panic_any(Nasty)] {
            let error = fallible(body);
            assert_eq!(windlass_error_code(error), facade::Code::Internal as u32);
            handle::release(error);
        }
        assert_eq!(infallible(3, || panic!("on purpose")), 3);
    }
}
