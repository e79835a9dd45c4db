// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator's functions for the drop-in libraries, which contain no simulator.

use std::ffi::{CStr, c_char, c_void};

use crate::hsa::Status;

/// The version of [`Core`]. A library and its core are of one version.
pub const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// A text for the other library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    start: *const u8,
    length: usize,
}

impl Text {
    /// The text of a string.
    pub const fn new(text: &str) -> Self {
        Self { start: text.as_ptr(), length: text.len() }
    }

    /// The string.
    ///
    /// # Safety
    /// `'text` is at most the lifetime of the string that the text is of.
    pub const unsafe fn get<'text>(self) -> &'text str {
        // SAFETY: the pointer and the length are those of a string, which the caller guarantees to live on.
        unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(self.start, self.length)) }
    }
}

/// The address of the function of a name, null if there is none. The text may go after the call.
pub type Find = unsafe extern "C" fn(name: Text) -> *const c_void;

/// As [`Find`], for a function that a drop-in library exports, with the first version of HIP that has it: major, minor.
pub type FindExported = unsafe extern "C" fn(name: Text, since: &mut [u32; 2]) -> *const c_void;

/// The functions of `libwindlass_simulator_core.so`. They act on the process's own simulator, as those of [`hip`](crate::hip)
/// whose names begin with `process` do.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Core {
    /// Sets up the log and the counts of launches; the first call does.
    pub set_up: extern "C" fn(),
    /// Writes a warning to the log.
    pub warn: unsafe extern "C" fn(text: Text),
    /// HIP's functions, in the version of HIP in use.
    pub hip: Find,
    /// HIP's functions of all versions.
    pub hip_of_all_versions: Find,
    /// RCCL's functions.
    pub rccl: Find,
    /// HSA's functions, of those that [`for_each_hsa_function`](crate::for_each_hsa_function) lists.
    pub hsa: Find,
    /// hipRTC's functions and those of HIP's linker.
    pub rtc: Find,
    /// Whether the machine has a function of HIP.
    pub has: unsafe extern "C" fn(name: Text) -> bool,
    /// Has `hipGetProcAddress` know a library's functions.
    pub export: extern "C" fn(find: FindExported),
    /// Refuses a call of HIP that the simulator lacks. The text is static.
    pub refuse: unsafe extern "C" fn(name: Text),
    /// Refuses a call of HIP that AMD's HIP refuses too. The text is static.
    pub refuse_as_amd: unsafe extern "C" fn(name: Text),
    /// Refuses a call of HSA that the simulator lacks, with a status. The text is static.
    pub refuse_hsa: unsafe extern "C" fn(name: Text, status: Status) -> Status,
    /// Writes the report of the latest fault to a null or valid buffer, cut to its capacity with the closing zero. Returns the
    /// length of the whole report.
    pub fault: unsafe extern "C" fn(buffer: *mut c_char, capacity: usize) -> usize,
}
