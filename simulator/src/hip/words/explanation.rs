// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why the latest call of a thread was refused, in words: a status code alone leaves the client guessing.

use std::cell::RefCell;

use crate::trace::tell;

thread_local! {
    static LATEST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Explains why the current call of this thread is refused. The log gets the text too.
pub(crate) fn explain(explanation: String) {
    tell(|| tracing::error!(target: "windlass::sim", "{explanation}"));
    let _ = LATEST.try_with(|latest| *latest.borrow_mut() = Some(explanation));
}

/// As [`explain`], for a reason that is in the log already.
pub(crate) fn remind(explanation: &str) {
    let _ = LATEST.try_with(|latest| *latest.borrow_mut() = Some(explanation.to_owned()));
}

/// Forgets the explanation of the previous call.
pub(crate) fn clear() {
    let _ = LATEST.try_with(|latest| latest.borrow_mut().take());
}

/// The explanation of this thread's latest call.
pub(crate) fn latest() -> Option<String> {
    LATEST.try_with(|latest| latest.borrow().clone()).ok().flatten()
}
