// SPDX-License-Identifier: MIT OR Apache-2.0
//! Log lines about calls.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::trace::tell;

/// Logs why the current call of this thread is refused.
pub(crate) fn explain(explanation: &str) {
    tell(|| tracing::error!(target: "windlass::sim", "{explanation}"));
}

/// The functions for which a message was logged.
type Told = Mutex<BTreeSet<&'static str>>;

static LACKING: Told = Mutex::new(BTreeSet::new());
static NOT_INITIALIZED: Told = Mutex::new(BTreeSet::new());

/// Logs, for each function once, that the simulator lacks it.
pub(crate) fn tell_of_lack(name: &'static str) {
    tell_once(&LACKING, name, "is not supported by the simulated GPU");
}

/// Logs, for each function once, that it was called while there is no runtime.
pub(crate) fn tell_of_no_runtime(name: &'static str) {
    tell_once(
        &NOT_INITIALIZED,
        name,
        "was called before hsa_init or after the last hsa_shut_down: it does nothing",
    );
}

/// Logs a message about a function, unless `told` has it.
fn tell_once(told: &Told, name: &'static str, what: &str) {
    if told.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
        explain(&format!("{name} {what} (logged once)"));
    }
}
