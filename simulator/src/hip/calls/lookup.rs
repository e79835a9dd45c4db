// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions by name, for clients that ask at run time.
//!
//! AMD's runtime asks the dynamic linker for the symbol in its own library. Here the table of the simulated version
//! answers. A library over the table answers for the functions that it adds.

use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use windlass_hip_sys::EntryPoints;
use windlass_hip_sys::bindings::{hipDriverProcAddressQueryResult, hipError_t};

use super::table;
use crate::hip::words::code::Code;
use crate::hip::words::explanation::explain;
use crate::options::Options;

/// A function as a library exports it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Exported {
    /// Its address.
    pub address: *const c_void,
    /// The first version of HIP, major and minor, that has it. For functions of the table, the table decides instead.
    pub since: (u32, u32),
}

impl Exported {
    /// A function at an address, in HIP since a version.
    pub fn new(address: *const c_void, since: (u32, u32)) -> Self {
        Self { address, since }
    }
}

/// Finds a function that the library of this process exports.
static LIBRARY: OnceLock<fn(&str) -> Option<Exported>> = OnceLock::new();

/// Has `hipGetProcAddress` return the functions that `find` knows, before those of the table. `find` is called for every
/// name that a client looks up. Only the first call of `process_export` counts.
pub fn process_export(find: fn(&str) -> Option<Exported>) {
    let _ = LIBRARY.set(find);
}

/// Whether the process has functions for the thread's own stream (`..._spt`), which only a library exports.
pub(crate) fn has_per_thread() -> bool {
    LIBRARY.get().is_some()
}

/// The address of a function that the machine has.
pub(crate) fn find(options: &Options, name: &str) -> Option<*const c_void> {
    let exported = LIBRARY.get().and_then(|find| find(name));
    if EntryPoints::NAMES.contains(&name) {
        let own = table::entries(options).address(name)?;
        return Some(exported.map_or(own, |exported| exported.address));
    }
    let exported = exported.filter(|exported| exported.since <= options.hip)?;
    // A variant for the thread's own stream exists only where its plain function does.
    let whole = name.strip_suffix("_spt").is_none_or(|plain| find(options, plain).is_some());
    whole.then_some(exported.address)
}

/// HIP_GET_PROC_ADDRESS_DEFAULT, _LEGACY_STREAM.
const PLAIN: [u64; 2] = [0, 1];
/// HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM.
const PER_THREAD: u64 = 2;

pub(in crate::hip) unsafe extern "C" fn hipGetProcAddress(
    symbol: *const c_char,
    function: *mut *mut c_void,
    version: c_int,
    flags: u64,
    found: *mut hipDriverProcAddressQueryResult,
) -> hipError_t {
    hip!(hipGetProcAddress, |call| {
        let name = call.get_string(symbol)?;
        let known = flags == PER_THREAD || PLAIN.contains(&flags);
        if name.is_empty() || function.is_null() || !known {
            return Err(Code::INVALID_VALUE);
        }
        if flags == PER_THREAD && !has_per_thread() {
            explain("functions for the thread's own stream are in the drop-in library alone".to_owned());
            return Err(Code::NOT_SUPPORTED);
        }
        let look_up = |name: &str| find(&call.runtime.options, name);
        // Clients of HIP 6 and newer mean the newer layout by the plain name. Versions come as 600 or as 60000000.
        let major = if version >= 10_000_000 { version / 10_000_000 } else { version / 100 };
        let address = match name.as_str() {
            "hipGetDeviceProperties" if major >= 6 => look_up("hipGetDevicePropertiesR0600"),
            "hipGetDeviceProperties" => look_up(&name),
            // A function without a variant for the thread's own stream is the same for every stream.
            _ if flags == PER_THREAD => look_up(&format!("{name}_spt")).or_else(|| look_up(&name)),
            _ => look_up(&name),
        };
        let result = match address {
            Some(_) => hipDriverProcAddressQueryResult::HIP_GET_PROC_ADDRESS_SUCCESS,
            None => hipDriverProcAddressQueryResult::HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
        };
        call.put_if(found, result);
        call.put(function, address.unwrap_or(std::ptr::null()).cast_mut())?;
        address.map(|_| ()).ok_or(Code::INVALID_VALUE)
    })
}
