// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hipRTC of the simulated GPU as a drop-in `libhiprtc.so`.
//!
//! Since HIP 7 programs are linked with this library for hipRTC's functions, which `libamdhip64.so` had before and still has.
//! Both compile by the compiler that is installed. `WINDLASS_LOG` selects the messages on standard error, as for the simulated HIP.
//!
//! The symbol `windlass_simulator_marker` distinguishes this library from AMD's.

use std::ffi::{c_char, c_int, c_uint, c_void};

use windlass_simulator_rtc::Code;
use windlass_simulator_rtc::abi::{self, Handle};

/// Distinguishes this library from AMD's; the value has no meaning.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's spelling")]
pub static windlass_simulator_marker: c_int = 1;

mod log;

macro_rules! export {
    ($(fn $name:ident($($parameter:ident: $ty:ty),*) -> $result:ty;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of the simulated GPU.")]
            ///
            /// # Safety
            /// As hipRTC documents the function.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, unused_unsafe, clippy::too_many_arguments)]
            pub unsafe extern "C" fn $name($($parameter: $ty),*) -> $result {
                log::set_up();
                // SAFETY: the caller guarantees the arguments.
                unsafe { abi::$name($($parameter),*) }
            }
        )*
    };
}

windlass_simulator_rtc::for_each_function!(export);
