// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator that a whole process shares, for libraries that export HIP's functions.

use windlass_hip_sys::EntryPoints;

use crate::options::Options;

use super::current;
use super::table;

/// HIP's functions without a binding: on threads that selected no simulator they lead to the process's own, which is
/// made from `WINDLASS_SIM` by the first call. Where that variable makes no sense, the calls answer `hipErrorNoDevice`.
pub fn process_entries() -> EntryPoints {
    table::entries(&Options::from_environment().unwrap_or_default())
}

/// As [`Simulator::last_fault`](super::Simulator::last_fault), of the simulator that the calling thread's calls lead to.
pub fn process_fault() -> Option<String> {
    current::current().ok().and_then(|(runtime, _)| runtime.machine.last_fault())
}
