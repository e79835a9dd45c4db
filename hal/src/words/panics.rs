// SPDX-License-Identifier: MIT OR Apache-2.0
//! Panics of foreign code (host calls, wakers, kernels, whatever runs when their captures are dropped) end here, and what
//! was to happen next still happens. For drivers and for whoever else calls what is not theirs.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// What `foreign` returns, or the text of its panic.
///
/// No panic gets out: a payload that panics in its turn when it is dropped is leaked.
pub fn caught<T>(foreign: impl FnOnce() -> T) -> Result<T, String> {
    if cfg!(loom) {
        // A model's assertions must get through.
        return Ok(foreign());
    }
    catch_unwind(AssertUnwindSafe(foreign)).map_err(text)
}

/// Runs foreign code whose panic concerns nobody but itself: it is logged. Whether it returned.
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
        .unwrap_or_else(|| "with something that is no text".to_owned());
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
        assert_eq!(caught(|| std::panic::panic_any(Bomb)), Err("with something that is no text".to_owned()));
        assert_eq!(caught(|| panic!("{}", "text")), Err("text".to_owned()));
        assert_eq!(caught(|| 3), Ok(3));
    }
}
