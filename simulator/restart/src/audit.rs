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
/// The program's own code runs.
static RUNS: AtomicBool = AtomicBool::new(false);
static TOLD: AtomicBool = AtomicBool::new(false);

/// Of `la_objsearch`: the name as it was asked for.
const AS_ASKED: c_uint = 1;

/// Asks whether this library wants to be told of what is loaded, before anything is: 0 is no.
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

/// Tells that a library is looked for.
///
/// # Safety
/// The name is a string with a zero at its end, as the loader gives it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_objsearch(
    name: *const c_char,
    _cookie: *mut usize,
    flag: c_uint,
) -> *const c_char {
    // SAFETY: the caller vouches for it.
    let is_hip =
        flag == AS_ASKED && !name.is_null() && program::is_hip(unsafe { CStr::from_ptr(name) }.to_bytes());
    if let Some(plan) = PLAN.get().filter(|_| is_hip && !TOLD.swap(true, Relaxed)) {
        match RUNS.load(Relaxed) {
            // A library that the program is linked with is linked with HIP.
            false => restart(plan),
            true => tell(&format!(
                "{} looks for HIP and gets none of AMD's, as the machine's loader began it: name it as the program of `windlass exec --hip amd`",
                plan.program.display()
            )),
        }
    }
    name
}

/// Tells that everything is loaded and the program begins.
#[unsafe(no_mangle)]
pub extern "C" fn la_preinit(_cookie: *mut usize) {
    RUNS.store(true, Relaxed);
}

fn restart(plan: &Plan) {
    let error = plan.restart();
    tell(&format!("{} gets no HIP of AMD's: its loader cannot be started: {error}", plan.program.display()));
}

/// Where nothing can be written there is nobody to tell.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "windlass exec: {text}");
}
