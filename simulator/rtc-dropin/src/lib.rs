// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hipRTC of the simulated GPU as a drop-in `libhiprtc.so`.
//!
//! Since HIP 7, programs are linked with this library for hipRTC's functions, which `libamdhip64.so` also exports. Both
//! call the functions of `libwindlass_simulator_core.so`, which must lie beside this library. Without that file the
//! functions return `HIPRTC_ERROR_INTERNAL_ERROR`, and the first call writes the reason to standard
//! error. `WINDLASS_LOG` selects the messages on standard error, as for the simulated HIP.
//!
//! The symbol `windlass_simulator_marker` distinguishes this library from AMD's.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use windlass_simulator::drop_in::{self, Core, Text};
use windlass_simulator_rtc::Code;
use windlass_simulator_rtc::abi::Handle;

/// Distinguishes this library from AMD's; the value has no meaning.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's spelling")]
pub static windlass_simulator_marker: c_int = 1;

/// Runs when the library is loaded.
extern "C" fn load() {
    drop_in::note_folder();
}

#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
static LOAD: extern "C" fn() = load;

/// The address of a function; null, with a line on standard error, if there is no simulator. The first call sets up the log.
fn find(name: &str) -> *const c_void {
    static CORE: OnceLock<Option<&'static Core>> = OnceLock::new();
    let core = CORE.get_or_init(|| drop_in::core().inspect(|core| (core.set_up)()));
    // SAFETY: a text.
    core.map_or(std::ptr::null(), |core| unsafe { (core.rtc)(Text::new(name)) })
}

/// The answer of a function without a simulator.
trait Absent {
    const ABSENT: Self;
}

impl Absent for Code {
    const ABSENT: Self = Self::ERROR_INTERNAL_ERROR;
}

impl Absent for *const c_char {
    const ABSENT: Self = c"HIPRTC_ERROR_INTERNAL_ERROR".as_ptr();
}

macro_rules! export {
    ($(fn $name:ident($($parameter:ident: $ty:ty),*) -> $result:ty;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of the simulated GPU.")]
            ///
            /// # Safety
            /// As hipRTC documents the function.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, clippy::too_many_arguments)]
            pub unsafe extern "C" fn $name($($parameter: $ty),*) -> $result {
                type Function = unsafe extern "C" fn($($ty),*) -> $result;
                // SAFETY: an optional function pointer is null or an address, as this pointer is, and the simulator's function
                // of this name has this signature.
                match unsafe { std::mem::transmute::<*const c_void, Option<Function>>(find(stringify!($name))) } {
                    // SAFETY: the caller guarantees the arguments.
                    Some(function) => unsafe { function($($parameter),*) },
                    None => Absent::ABSENT,
                }
            }
        )*
    };
}

windlass_simulator_rtc::for_each_function!(export);
