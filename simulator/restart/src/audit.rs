// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions that the loader calls (`rtld-audit(7)`).

use std::{
    ffi::{CStr, c_char, c_uint},
    io::Write,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use crate::{plan::Plan, program};

static PLAN: OnceLock<Plan> = OnceLock::new();
/// Whether the program's own code runs.
static RUNS: AtomicBool = AtomicBool::new(false);
static TOLD: AtomicBool = AtomicBool::new(false);

/// Of `la_objsearch`: the name as the program gave it.
const AS_ASKED: c_uint = 1;

/// The loader asks for the interface version before it loads anything: 0 ends the audit.
#[unsafe(no_mangle)]
pub extern "C" fn la_version(version: c_uint) -> c_uint {
    let Some(plan) = Plan::new() else { return 0 };
    // A program that cannot be read may still be linked with HIP.
    if program::is_python(&plan.program) || program::names_hip(&plan.program).unwrap_or_default() {
        restart(&plan);
        return 0;
    }
    let _ = PLAN.set(plan);
    version
}

/// The loader looks for a library.
///
/// # Safety
/// The name is a string with a zero at its end, as the loader passes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_objsearch(
    name: *const c_char,
    _cookie: *mut usize,
    flag: c_uint,
) -> *const c_char {
    // SAFETY: the caller guarantees the string.
    let is_hip =
        flag == AS_ASKED && !name.is_null() && program::is_hip(unsafe { CStr::from_ptr(name) }.to_bytes());
    if let Some(plan) = PLAN.get().filter(|_| is_hip && !TOLD.swap(true, Relaxed)) {
        match RUNS.load(Relaxed) {
            // The program is not running yet, so it is linked with HIP.
            false => restart(plan),
            true => tell(&format!(
                "{} looks for HIP and gets none of AMD's, as the machine's loader began it: name it as the program of `windlass exec --hip amd`",
                plan.program.display()
            )),
        }
    }
    name
}

/// The loader has loaded everything, and the program begins.
#[unsafe(no_mangle)]
pub extern "C" fn la_preinit(_cookie: *mut usize) {
    RUNS.store(true, Relaxed);
}

fn restart(plan: &Plan) {
    let error = plan.restart();
    tell(&format!("{} gets no HIP of AMD's: its loader cannot be started: {error}", plan.program.display()));
}

/// Without a standard error the message is lost.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "windlass exec: {text}");
}
