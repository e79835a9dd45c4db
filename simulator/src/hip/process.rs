// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator that a whole process shares, for libraries that export HIP's functions.

use std::sync::{Arc, OnceLock};

use windlass_hip_sys::EntryPoints;

use crate::options::Options;
use crate::visible;

use super::call;
use super::code::{Code, Outcome};
use super::current;
use super::lookup;
use super::runtime::Runtime;
use super::table;

/// HIP's functions without a binding: on threads that selected no simulator they lead to the process's own, which is
/// made from `WINDLASS_SIM` by the first call. Where that variable makes no sense, the calls answer `hipErrorNoDevice`.
pub fn process_entries() -> EntryPoints {
    table::entries(&Options::from_environment().unwrap_or_default())
}

/// Whether the process's machine has a function, of the table or of those that [`process_export`](super::process_export)
/// names.
pub fn process_has(name: &str) -> bool {
    static OPTIONS: OnceLock<Options> = OnceLock::new();
    let options = OPTIONS.get_or_init(|| Options::from_environment().unwrap_or_default());
    lookup::find(options, name).is_some()
}

/// Why the latest call of the calling thread failed, where more than its status is known. Where it did not fail, as
/// [`Simulator::last_fault`](super::Simulator::last_fault), of the simulator that the thread's calls lead to.
pub fn process_fault() -> Option<String> {
    call::explanation().or_else(|| {
        let (runtime, thread) = current::current().ok()?;
        // An older fault would be blamed for a failure that it has nothing to do with.
        let went_well = matches!(thread.last_status.get(), Code::SUCCESS | Code::NOT_READY);
        runtime.machine.last_fault().filter(|_| went_well)
    })
}

/// Refuses a call that the library exports and the simulator lacks: `hipErrorNotSupported`, as the thread's last error too.
pub fn process_refuse(name: &'static str) {
    call::refuse(name);
}

/// The process's own simulator, made when it is first needed.
///
/// # Errors
/// `NO_DEVICE`, with an explanation, where `WINDLASS_SIM` makes no sense or the machine cannot be set up.
pub(crate) fn runtime() -> Outcome<Arc<Runtime>> {
    static RUNTIME: OnceLock<Result<Arc<Runtime>, String>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        make().map_err(|error| {
            // All later calls fail for the same reason, which the log needs once.
            let why = format!("there is no simulated GPU: {error} (WINDLASS_SIM)");
            call::explain(why.clone());
            why
        })
    });
    made.clone().map_err(|why| {
        call::remind(&why);
        Code::NO_DEVICE
    })
}

fn make() -> Result<Arc<Runtime>, String> {
    let options = Options::from_environment().map_err(|error| error.to_string())?;
    let hidden = ["HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"];
    let list = hidden.iter().find_map(|name| std::env::var(name).ok().filter(|list| !list.is_empty()));
    let slots = visible::slots(options.devices as usize, list.as_deref());
    Runtime::new(options, &slots).map_err(|error| error.to_string())
}
