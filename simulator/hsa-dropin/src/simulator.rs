// SPDX-License-Identifier: MIT OR Apache-2.0
//! HSA's functions in the simulator, which is in a library of its own beside this one.

use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use windlass_simulator::drop_in::{self, Core, Text};
use windlass_simulator::hsa::Status;
use windlass_simulator::hsa::abi::*;

/// The answer of a function without a simulator.
pub(crate) trait Absent {
    const ABSENT: Self;
}

impl Absent for Status {
    const ABSENT: Self = Self::ERROR;
}

impl Absent for () {
    const ABSENT: Self = ();
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Absent for $number {
            const ABSENT: Self = 0;
        })*
    };
}

numbers! { u32 u64 i64 }

/// The simulator; `None`, with a line on standard error, if there is none. The first call of the process sets up the log.
pub(crate) fn core() -> Option<&'static Core> {
    static CORE: OnceLock<Option<&'static Core>> = OnceLock::new();
    *CORE.get_or_init(|| drop_in::core().inspect(|core| (core.set_up)()))
}

macro_rules! table {
    ($(fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) -> $result:ty;)*) => {
        /// HSA's functions.
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($ty),*) -> $result,)*
        }

        impl Functions {
            fn find(core: &Core) -> Option<Self> {
                Some(Self {
                    $(
                        $name: {
                            type Function = unsafe extern "C" fn($($ty),*) -> $result;
                            // SAFETY: a text.
                            let address = unsafe { (core.hsa)(Text::new(stringify!($name))) };
                            // SAFETY: an optional function pointer is null or an address, as this pointer is, and the
                            // simulator's function of this name has this signature.
                            unsafe { std::mem::transmute::<*const c_void, Option<Function>>(address) }?
                        },
                    )*
                })
            }
        }
    };
}

windlass_simulator::for_each_hsa_function!(table);

/// The functions; `None` without a simulator.
pub(crate) fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| Functions::find(core()?)).as_ref()
}
