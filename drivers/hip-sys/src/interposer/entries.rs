// SPDX-License-Identifier: MIT OR Apache-2.0
//! A wrapper for each of HIP's functions.

use super::{CURRENT, Interposer};
use crate::bindings::*;
use crate::table::{EntryPoints, Function};

/// The return type of a function, as far as an interposer distinguishes types.
trait Answer: Sized {
    /// Whether an interposer may return a status instead of calling.
    const IS_STATUS: bool;
    /// The return value of a call that the interposer blocks, or that has no interposer.
    fn from_status(status: hipError_t) -> Self;
    /// The return value of the HIP behind, which `note` may record.
    fn noted(self, note: impl FnOnce(hipError_t) -> hipError_t) -> Self;
}

impl Answer for hipError_t {
    const IS_STATUS: bool = true;
    fn from_status(status: hipError_t) -> Self {
        status
    }
    fn noted(self, note: impl FnOnce(hipError_t) -> hipError_t) -> Self {
        note(self)
    }
}

macro_rules! no_status {
    ($($ty:ty: $absent:expr;)*) => {$(
        impl Answer for $ty {
            const IS_STATUS: bool = false;
            fn from_status(_: hipError_t) -> Self {
                $absent
            }
            fn noted(self, _: impl FnOnce(hipError_t) -> hipError_t) -> Self {
                self
            }
        }
    )*};
}

no_status! {
    (): ();
    c_int: -1;
    *const c_char: core::ptr::null();
    *mut *mut c_void: core::ptr::null_mut();
}

/// Makes a call through the interposer that this thread entered.
fn pass<A: Answer>(index: usize, make: impl FnOnce(&Interposer) -> A) -> A {
    let current = CURRENT.try_with(core::cell::Cell::get).unwrap_or(core::ptr::null());
    // SAFETY: null, or the context that the table's binding entered on this thread just now and keeps alive.
    let Some(interposer) = (unsafe { current.as_ref() }) else {
        return A::from_status(hipError_t::hipErrorNotInitialized);
    };
    let (call, answer) = interposer.begin(index, A::IS_STATUS);
    match answer {
        Some(status) => A::from_status(status),
        None => make(interposer).noted(|status| interposer.end(call, index, status)),
    }
}

macro_rules! define_entries {
    ($(fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) -> $result:ty;)*) => {
        /// The wrappers of the functions that `behind` has.
        pub(super) fn in_front_of(behind: &EntryPoints) -> EntryPoints {
            let mut table = EntryPoints::none();
            $(
                if behind.$name.is_some() {
                    #[allow(non_snake_case, clippy::too_many_arguments)]
                    unsafe extern "C" fn $name($($parameter: $ty),*) -> $result {
                        pass(Function::$name as usize, |interposer| {
                            // SAFETY: the caller makes the same promise for the function behind.
                            unsafe { interposer.behind.$name($($parameter),*) }
                        })
                    }
                    table.$name = Some($name);
                }
            )*
            table
        }
    };
}

crate::for_each_entry_point!(define_entries);
