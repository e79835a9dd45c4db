// SPDX-License-Identifier: MIT OR Apache-2.0
//! Panics of foreign code (host calls, wakers, kernels, dropped captures) are caught here, so that the caller
//! continues. For drivers and other callers of foreign code.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// The result of `foreign`, or the text of its panic.
///
/// No panic escapes. A payload that panics again when it is dropped is leaked.
pub fn caught<T>(foreign: impl FnOnce() -> T) -> Result<T, String> {
    if cfg!(loom) {
        // The assertions of a model must escape.
        return Ok(foreign());
    }
    catch_unwind(AssertUnwindSafe(foreign)).map_err(text)
}

/// Runs foreign code. A panic is logged and has no other effect. Returns whether the code returned normally.
pub fn contain(what: &str, foreign: impl FnOnce()) -> bool {
    match caught(foreign) {
        Ok(()) => true,
        Err(text) => {
            tracing::error!(target: "windlass::queue", panic = text, "{what} panicked");
            false
        }
    }
}

fn text(panic: Box<dyn Any + Send>) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "with a value that is not text".to_owned());
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
    text
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any(Bomb);
        }
    }

    #[test]
    fn a_payload_that_panics_forever_is_let_go() {
        assert!(!contain("a bomb", || std::panic::panic_any(Bomb)));
        assert_eq!(caught(|| std::panic::panic_any(Bomb)), Err("with a value that is not text".to_owned()));
        assert_eq!(caught(|| panic!("{}", "text")), Err("text".to_owned()));
        assert_eq!(caught(|| 3), Ok(3));
    }
}
