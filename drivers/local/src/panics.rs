// SPDX-License-Identifier: MIT OR Apache-2.0
//! Panics of foreign code: kernels, and whatever runs when what they captured is dropped. They end here.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// What `foreign` returns, or the text of its panic.
pub(crate) fn caught<T>(foreign: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(foreign)).map_err(text)
}

fn text(panic: Box<dyn Any + Send>) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "with something that is no text".to_owned());
    // A payload may panic in its turn when it is dropped.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
    text
}
