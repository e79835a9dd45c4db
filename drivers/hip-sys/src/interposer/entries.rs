// SPDX-License-Identifier: MIT OR Apache-2.0
//! One function in front of each of HIP's.

use super::{CURRENT, Interposer};
use crate::bindings::*;
use crate::table::{EntryPoints, Function};

/// What a function returns, as far as an interposer cares.
trait Answer: Sized {
    /// Whether an interposer may answer a status instead.
    const IS_STATUS: bool;
    /// The answer of a call that an interposer does not let through, or that has no interposer to go to.
    fn of(status: hipError_t) -> Self;
    /// The answer of the HIP behind, which `note` may want to see.
    fn noted(self, note: impl FnOnce(hipError_t) -> hipError_t) -> Self;
}

impl Answer for hipError_t {
    const IS_STATUS: bool = true;
    fn of(status: hipError_t) -> Self {
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
            fn of(_: hipError_t) -> Self {
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

/// Makes a call of the interposer that this thread entered.
fn pass<A: Answer>(index: usize, make: impl FnOnce(&Interposer) -> A) -> A {
    let current = CURRENT.try_with(core::cell::Cell::get).unwrap_or(core::ptr::null());
    // SAFETY: null, or what the table's binding entered on this thread just now and keeps alive.
    let Some(interposer) = (unsafe { current.as_ref() }) else {
        return A::of(hipError_t::hipErrorNotInitialized);
    };
    let (call, answer) = interposer.begin(index, A::IS_STATUS);
    match answer {
        Some(status) => A::of(status),
        None => make(interposer).noted(|status| interposer.end(call, index, status)),
    }
}

macro_rules! define_entries {
    ($(fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) -> $result:ty;)*) => {
        /// The functions in front of those that `behind` has.
        pub(super) fn in_front_of(behind: &EntryPoints) -> EntryPoints {
            let mut table = EntryPoints::none();
            $(
                if behind.$name.is_some() {
                    #[allow(non_snake_case, clippy::too_many_arguments)]
                    unsafe extern "C" fn $name($($parameter: $ty),*) -> $result {
                        pass(Function::$name as usize, |interposer| {
                            // SAFETY: the caller's promise about the same function.
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
