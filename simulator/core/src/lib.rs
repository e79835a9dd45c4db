// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator as `libwindlass_simulator_core.so`, which the drop-in libraries load.
//!
//! The drop-in libraries have AMD's names, and a process may load AMD's library of the same name beside one of them.
//! For example, AMD's HIP runs over the simulated HSA. So the simulator is in a library whose name and symbols nobody
//! else has. It exports no function of HIP or HSA. It exports one table, [`Core`], with the addresses of the functions
//! that the drop-in libraries call.
//!
//! The symbol `windlass_simulator_marker` distinguishes this library from others.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Once, OnceLock};

use windlass_hip_sys::EntryPoints;
use windlass_simulator::drop_in::{self, Core, FindExported, Text};
use windlass_simulator::hip::{self, Exported};
use windlass_simulator::hsa::{self, Status};

mod link;

/// Distinguishes this library from others; the value has no meaning.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's spelling")]
pub static windlass_simulator_marker: c_int = 1;

static CORE: Core = Core {
    set_up,
    warn,
    hip: hip_function,
    hip_of_all_versions,
    rccl: rccl_function,
    hsa: hsa_function,
    rtc: rtc_function,
    has,
    export,
    refuse,
    refuse_as_amd,
    refuse_hsa,
    fault,
};

/// The functions of this library; null for a caller that was built with other ones.
///
/// # Safety
/// `version` is null or a string that ends in zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_simulator_core(version: *const c_char, size: usize) -> *const Core {
    if version.is_null() || size != size_of::<Core>() {
        return std::ptr::null();
    }
    // SAFETY: the caller guarantees the string.
    let version = unsafe { CStr::from_ptr(version) };
    if version == drop_in::VERSION { &CORE } else { std::ptr::null() }
}

extern "C" fn set_up() {
    static FIRST: Once = Once::new();
    FIRST.call_once(drop_in::set_up);
}

unsafe extern "C" fn warn(text: Text) {
    // SAFETY: the caller guarantees the text.
    tracing::warn!(target: "windlass::sim", "{}", unsafe { text.get() });
}

unsafe extern "C" fn hip_function(name: Text) -> *const c_void {
    static ENTRIES: OnceLock<EntryPoints> = OnceLock::new();
    let entries = ENTRIES.get_or_init(hip::process_entries);
    // SAFETY: the caller guarantees the text.
    entries.address(unsafe { name.get() }).unwrap_or(std::ptr::null())
}

unsafe extern "C" fn hip_of_all_versions(name: Text) -> *const c_void {
    // SAFETY: the caller guarantees the text.
    hip::process_entries_of_all_versions().address(unsafe { name.get() }).unwrap_or(std::ptr::null())
}

unsafe extern "C" fn rccl_function(name: Text) -> *const c_void {
    // SAFETY: the caller guarantees the text.
    hip::process_rccl().address(unsafe { name.get() }).unwrap_or(std::ptr::null())
}

/// Finds functions of a module by their names.
macro_rules! find {
    ($(fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) -> $result:ty;)*) => {
        fn address(name: &str) -> *const c_void {
            match name {
                $(stringify!($name) => $name as *const c_void,)*
                _ => std::ptr::null(),
            }
        }
    };
}

unsafe extern "C" fn hsa_function(name: Text) -> *const c_void {
    use hsa::calls::*;
    windlass_simulator::for_each_hsa_function!(find);
    // SAFETY: the caller guarantees the text.
    address(unsafe { name.get() })
}

/// A function of hipRTC, or of HIP's own linker.
unsafe extern "C" fn rtc_function(name: Text) -> *const c_void {
    use windlass_simulator_rtc::abi::*;
    windlass_simulator_rtc::for_each_function!(find);
    // SAFETY: the caller guarantees the text.
    let name = unsafe { name.get() };
    link::address(name).unwrap_or_else(|| address(name))
}

unsafe extern "C" fn has(name: Text) -> bool {
    // SAFETY: the caller guarantees the text.
    hip::process_has(unsafe { name.get() })
}

extern "C" fn export(find: FindExported) {
    static FIND: OnceLock<FindExported> = OnceLock::new();
    let _ = FIND.set(find);
    hip::process_export(|name: &str| {
        let mut since = [0; 2];
        // SAFETY: a text and a local. The library stays loaded.
        let address = unsafe { (FIND.get()?)(Text::new(name), &mut since) };
        (!address.is_null()).then(|| Exported::new(address, (since[0], since[1])))
    });
}

unsafe extern "C" fn refuse(name: Text) {
    // SAFETY: the caller guarantees the text, which stays.
    hip::process_refuse(unsafe { name.get() });
}

unsafe extern "C" fn refuse_as_amd(name: Text) {
    // SAFETY: the caller guarantees the text, which stays.
    hip::process_refuse_as_amd(unsafe { name.get() });
}

unsafe extern "C" fn refuse_hsa(name: Text, status: Status) -> Status {
    // SAFETY: the caller guarantees the text, which stays.
    hsa::calls::refused(unsafe { name.get() }, status)
}

unsafe extern "C" fn fault(buffer: *mut c_char, capacity: usize) -> usize {
    let report = hip::process_fault().unwrap_or_default();
    if let Some(room) = capacity.checked_sub(1).filter(|_| !buffer.is_null()) {
        let length = report.len().min(room);
        // SAFETY: the caller guarantees the buffer, and `length` leaves space for the zero.
        unsafe {
            std::ptr::copy_nonoverlapping(report.as_ptr(), buffer.cast::<u8>(), length);
            buffer.add(length).write(0);
        }
    }
    report.len()
}
