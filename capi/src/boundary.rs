// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boundary: every entry point runs its body through one of two functions here, so that no panic leaves the
//! library.

use std::ptr::NonNull;

use facade::{Error, Result, panics::caught};

use crate::error::windlass_error_t;

/// Runs the body of an entry point that can fail. NULL is success.
pub(crate) fn fallible(body: impl FnOnce() -> Result<()>) -> Option<NonNull<windlass_error_t>> {
    contain(body).unwrap_or_else(Err).err().map(windlass_error_t::create)
}

/// Runs the body of an entry point that reports no failure. `otherwise` is the result after a failure.
pub(crate) fn infallible<T>(otherwise: T, body: impl FnOnce() -> Result<T>) -> T {
    contain(body).and_then(|result| result).unwrap_or(otherwise)
}

/// A panic is a defect of the library: `INTERNAL`, with its text.
fn contain<T>(body: impl FnOnce() -> T) -> Result<T> {
    caught(body).map_err(|text| Error::internal(format!("Windlass panicked: {text}")))
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
