// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions by name, for clients that ask at run time.
//!
//! AMD's runtime asks the dynamic linker for the symbol in its own library. Here the table of the simulated version
//! answers, and for what a library composes from the table, that library.

use std::ffi::c_void;
use std::sync::OnceLock;

use windlass_hip_sys::EntryPoints;

use crate::options::Options;

use super::table;

/// A function as a library exports it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Exported {
    /// Its address.
    pub address: *const c_void,
    /// The first version of HIP, major and minor, that has it. Not asked of functions of the table, which knows.
    pub since: (u32, u32),
}

impl Exported {
    /// A function at an address, in HIP since a version.
    pub fn new(address: *const c_void, since: (u32, u32)) -> Self {
        Self { address, since }
    }
}

/// Whom to ask for what the library of this process exports.
static LIBRARY: OnceLock<fn(&str) -> Option<Exported>> = OnceLock::new();

/// Has `hipGetProcAddress` give out the functions that `find` knows, in the place of the table's own and beside them.
/// `find` is asked for every name that somebody looks for. The first call decides.
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
    // A function for the thread's own stream is nothing without the one that it stands for.
    let whole = name.strip_suffix("_spt").is_none_or(|plain| find(options, plain).is_some());
    whole.then_some(exported.address)
}
