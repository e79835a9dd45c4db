// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions that a library under AMD's name calls: HIP's functions for the process's own simulator.

use std::sync::OnceLock;

use windlass_hip_sys::EntryPoints;

use super::boundary::call;
use super::calls::{lookup, table};
use super::instance::process;
use super::words::code::Code;
use super::words::explanation;
use crate::options::Options;

/// HIP's functions without a binding. On threads that selected no simulator they use the process's own, which the first
/// call sets up from `WINDLASS_SIM`. If that variable is wrong, the calls answer `hipErrorNoDevice`.
pub fn process_entries() -> EntryPoints {
    table::entries(&Options::from_environment().unwrap_or_default())
}

/// As [`process_entries`], with the functions of all versions of HIP: for a name that the version in use has for a function
/// that got its present name later.
pub fn process_entries_of_all_versions() -> EntryPoints {
    table::ALL
}

/// Whether the process's machine has a function, of the table or of those that
/// [`process_export`](super::process_export) adds.
pub fn process_has(name: &str) -> bool {
    static OPTIONS: OnceLock<Options> = OnceLock::new();
    let options = OPTIONS.get_or_init(|| Options::from_environment().unwrap_or_default());
    lookup::find(options, name).is_some()
}

/// Why the latest call of the calling thread failed, if more than its status is known. After a call that did not fail, the
/// same as [`Simulator::last_fault`](super::Simulator::last_fault) for the simulator of the thread's calls.
pub fn process_fault() -> Option<String> {
    explanation::latest().or_else(|| {
        let (runtime, thread) = process::current().ok()?;
        // An older fault must not be blamed for an unrelated failure.
        let went_well = matches!(thread.last_status.get(), Code::SUCCESS | Code::NOT_READY);
        runtime.machine.last_fault().filter(|_| went_well)
    })
}

/// Refuses a call that the library exports and the simulator lacks: `hipErrorNotSupported`, as the thread's last error too.
pub fn process_refuse(name: &'static str) {
    call::refuse(name, "the simulated GPU");
}

/// Refuses a call that AMD's HIP refuses too, as [`process_refuse`] does.
pub fn process_refuse_as_amd(name: &'static str) {
    call::refuse(name, "AMD's HIP");
}
