// SPDX-License-Identifier: MIT OR Apache-2.0
//! The standing of a member of a communicator: its device, its first trouble, and whether it was aborted.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass_hip_sys::rccl::ncclResult_t;

/// The reason why a communicator cannot be used, and the result that its calls have from then on.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    pub(crate) result: ncclResult_t,
    pub(crate) words: String,
}

impl Trouble {
    pub(crate) fn new(result: ncclResult_t, words: impl Into<String>) -> Self {
        Self { result, words: words.into() }
    }
}

/// The part of a member that operations in flight need.
#[derive(Debug)]
pub(crate) struct Standing {
    /// The index of its device.
    pub(crate) device: usize,
    aborted: AtomicBool,
    /// The first trouble.
    trouble: OnceLock<Trouble>,
}

impl Standing {
    pub(super) fn new(device: usize) -> Self {
        Self { device, aborted: AtomicBool::new(false), trouble: OnceLock::new() }
    }

    pub(crate) fn is_aborted(&self) -> bool {
        // Ordered against the state of rounds: see `round.rs`.
        self.aborted.load(Ordering::SeqCst)
    }

    pub(super) fn set_aborted(&self) {
        self.aborted.store(true, Ordering::SeqCst);
    }

    pub(crate) fn trouble(&self) -> Option<&Trouble> {
        self.trouble.get()
    }

    /// Notes a trouble, unless there is one.
    pub(crate) fn note(&self, trouble: Trouble) {
        let _ = self.trouble.set(trouble);
    }
}
