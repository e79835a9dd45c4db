// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of the log about calls.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::trace::tell;

/// Says why the call at work on this thread is refused.
pub(crate) fn explain(explanation: &str) {
    tell(|| tracing::error!(target: "windlass::sim", "{explanation}"));
}

/// Names of functions of which something was told.
type Told = Mutex<BTreeSet<&'static str>>;

static LACKING: Told = Mutex::new(BTreeSet::new());
static NOT_INITIALIZED: Told = Mutex::new(BTreeSet::new());

/// Says, the first time, that the simulator lacks a function.
pub(crate) fn tell_of_lack(name: &'static str) {
    tell_once(&LACKING, name, "is not supported by the simulated GPU");
}

/// Says, the first time, that a function was called while there is no runtime.
pub(crate) fn tell_of_no_runtime(name: &'static str) {
    tell_once(
        &NOT_INITIALIZED,
        name,
        "was called before hsa_init or after the last hsa_shut_down: it does nothing",
    );
}

/// Says something of a function the first time.
fn tell_once(told: &Told, name: &'static str, what: &str) {
    if told.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
        explain(&format!("{name} {what} (told once)"));
    }
}
