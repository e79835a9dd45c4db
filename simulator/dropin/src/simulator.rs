// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator, which is in a library of its own beside this one.

use std::ffi::c_void;
use std::sync::OnceLock;

use windlass_hip_sys::EntryPoints;
use windlass_simulator::drop_in::{self, Core, Find, FindExported, Text};

/// Finds the functions that this library exports.
static EXPORTS: OnceLock<FindExported> = OnceLock::new();

/// Notes this library's place and its functions, without loading the simulator.
pub(crate) fn prepare(find: FindExported) {
    drop_in::note_folder();
    let _ = EXPORTS.set(find);
}

/// The simulator's functions; `None`, with a line on standard error, if there is no simulator. The first call of the process
/// sets up the log.
pub(crate) fn core() -> Option<&'static Core> {
    static CORE: OnceLock<Option<&'static Core>> = OnceLock::new();
    *CORE.get_or_init(|| {
        let core = drop_in::core()?;
        if let Some(find) = EXPORTS.get() {
            (core.export)(*find);
        }
        (core.set_up)();
        Some(core)
    })
}

/// HIP's functions, as the simulator finds them.
pub(crate) fn entries(choose: impl FnOnce(&Core) -> Find) -> EntryPoints {
    let Some(core) = core() else { return EntryPoints::none() };
    let find = choose(core);
    // SAFETY: the simulator gives addresses of functions with HIP's signatures, and its library stays loaded.
    unsafe { EntryPoints::resolve(|name| find(Text::new(name.to_str().unwrap_or_default()))) }
}

/// The address of a function of hipRTC or of HIP's linker.
pub(crate) fn rtc(name: &str) -> Option<*const c_void> {
    // SAFETY: a text.
    let address = unsafe { (core()?.rtc)(Text::new(name)) };
    (!address.is_null()).then_some(address)
}

/// Writes a warning to the log.
pub(crate) fn warn(text: &str) {
    if let Some(core) = core() {
        // SAFETY: a text.
        unsafe { (core.warn)(Text::new(text)) };
    }
}
