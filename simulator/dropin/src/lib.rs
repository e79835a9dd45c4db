// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulated GPU as a drop-in `libamdhip64.so`.
//!
//! Programs that load or link AMD's HIP runtime run on the simulator with this library in its place. The
//! environment variable `WINDLASS_SIM` describes the machine, spelled as in `hip-sim://` URIs
//! (`gfx942?devices=2`). `WINDLASS_LOG` selects the messages on standard error (`windlass::sim=trace` shows
//! every call). The default is errors only.
//!
//! The simulator is not in this library: `libwindlass_simulator_core.so`, which must lie beside it, serves all drop-in libraries.
//! Without it the functions return `hipErrorNotSupported`, and the first call writes the reason to standard error.
//!
//! Every function that AMD's library exports is exported, with HIP's symbol versions. A function that the
//! simulator lacks returns `hipErrorNotSupported`, and the log names it.
//!
//! As with AMD's library, HIP ends when the process begins to exit. A call that is running then, or that comes later,
//! aborts with a message.
//!
//! The symbol `windlass_simulator_marker` distinguishes this library from AMD's. `windlass_simulator_has`
//! reports whether it has a function, and `windlass_simulator_last_fault` the reason why the latest call
//! failed, or the latest fault of a kernel. `windlass_simulator_rccl` gives the functions of RCCL, which the drop-in
//! `librccl.so.1` exports.

use std::ffi::{CStr, c_char, c_int, c_void};

use windlass_simulator::drop_in::Text;

mod absent;
pub mod by_name;
pub mod compiler;
pub mod composed;
pub mod cpp_names;
pub mod declared;
mod end;
pub mod link;
pub mod per_thread;
pub mod refused;
pub mod rtc;
mod simulator;
mod table;
pub mod tracers;
mod versions;

/// Runs when the library is loaded: names its exported functions, and registers the end of HIP, as AMD's
/// library has objects to destroy from then on.
extern "C" fn load() {
    simulator::prepare(find);
    end::register(declared::CALLS);
}

/// The exported function of a name, for `hipGetProcAddress`.
unsafe extern "C" fn find(name: Text, since: &mut [u32; 2]) -> *const c_void {
    // SAFETY: the caller guarantees the text.
    let name = unsafe { name.get() };
    let elsewhere = || {
        composed::find(name)
            .or_else(|| per_thread::find(name))
            .or_else(|| by_name::find(name))
            .or_else(|| cpp_names::find(name))
            .or_else(|| rtc::find(name))
            .or_else(|| link::find(name))
    };
    let by_itself = || compiler::find(name).or_else(|| tracers::find(name));
    let Some(found) = declared::find(name).or_else(elsewhere).or_else(by_itself) else {
        return std::ptr::null();
    };
    *since = [found.since.0, found.since.1];
    found.address
}

#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
static LOAD: extern "C" fn() = load;

/// Distinguishes this library from AMD's; the value has no meaning.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's spelling")]
pub static windlass_simulator_marker: c_int = 1;

/// Whether the simulator has the function with an exported name: 1, or 0 if calls return
/// `hipErrorNotSupported`.
///
/// # Safety
/// `name` is null or a string that ends in zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_simulator_has(name: *const c_char) -> c_int {
    if name.is_null() {
        return 0;
    }
    // SAFETY: the caller guarantees the string.
    let name = unsafe { CStr::from_ptr(name) };
    c_int::from(name.to_str().is_ok_and(table::has))
}

/// The address of a function of RCCL, which the drop-in `librccl.so.1` calls; null if there is no such function.
///
/// # Safety
/// `name` is null or a string that ends in zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_simulator_rccl(name: *const c_char) -> *const c_void {
    if name.is_null() {
        return std::ptr::null();
    }
    // Sets up the end of HIP, as the first call of HIP does.
    table::table();
    // SAFETY: the caller guarantees the string.
    let name = unsafe { CStr::from_ptr(name) };
    match (name.to_str(), simulator::core()) {
        // SAFETY: a text.
        (Ok(name), Some(core)) => unsafe { (core.rccl)(Text::new(name)) },
        _ => std::ptr::null(),
    }
}

/// Writes the reason why the latest call of this thread failed, or else the report of the latest fault, to
/// `buffer`, cut to `capacity` bytes with the closing zero. Returns the length of the whole report; 0 if
/// there is none.
///
/// # Safety
/// `buffer` is null or valid for writes of `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_simulator_last_fault(buffer: *mut c_char, capacity: usize) -> usize {
    // SAFETY: the caller guarantees the buffer.
    simulator::core().map_or(0, |core| unsafe { (core.fault)(buffer, capacity) })
}
