// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rounds: one operation with the ranks that take part. The rank that comes last does the operation.
//!
//! A rank that is aborted goes on at once, unless the operation runs at that moment: its memory may be freed then. The
//! thread that runs the operation first says so and then looks for aborted ranks; a rank that is aborted first says so
//! and then looks for a running operation. So one of them sees the other.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_hip_sys::rccl::ncclResult_t;

use super::member::{Factor, Member, Trouble};
use super::moves::{self, Wrong};
use super::operation::Operation;
use crate::hip::hardware::machine::Machine;
use crate::hip::words::code::Code;
use crate::hip::words::failure::Failure;

/// A rank that has come, with its side of the operation.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) operation: Operation,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// For a scaled sum.
    pub(crate) factor: Option<Factor>,
    pub(crate) member: Arc<Member>,
    pub(crate) rank: usize,
    /// The function that was called.
    pub(crate) call: &'static str,
}

#[derive(Debug)]
pub(crate) struct Round {
    state: AtomicU8,
    slots: Mutex<Slots>,
}

#[derive(Debug)]
struct Slots {
    entries: Vec<Option<Entry>>,
    /// The report of a failure, and the slot of the rank that caused it, if one did.
    failure: Option<(String, Option<usize>)>,
}

mod state {
    /// Not every rank has come, or one that had come was aborted.
    pub(super) const OPEN: u8 = 0;
    pub(super) const RUNS: u8 = 1;
    pub(super) const OVER: u8 = 2;
}

impl Round {
    pub(super) fn new(slots: usize) -> Self {
        let entries = (0..slots).map(|_| None).collect();
        Self { state: AtomicU8::new(state::OPEN), slots: Mutex::new(Slots { entries, failure: None }) }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state.load(Ordering::SeqCst) == state::OVER
    }

    pub(crate) fn runs(&self) -> bool {
        self.state.load(Ordering::SeqCst) == state::RUNS
    }

    /// Notes that a rank has come. The last one does the operation, in the calling thread.
    pub(crate) fn arrive(&self, machine: &Machine, slot: usize, entry: Entry) {
        let mut slots = self.lock();
        if let Some(place) = slots.entries.get_mut(slot) {
            *place = Some(entry);
        }
        if slots.entries.iter().any(Option::is_none) {
            return;
        }
        self.state.store(state::RUNS, Ordering::SeqCst);
        let entries: Vec<Entry> = slots.entries.iter_mut().filter_map(Option::take).collect();
        if entries.iter().any(|entry| entry.member.is_aborted()) {
            // The others wait until they are aborted too, as on hardware.
            self.state.store(state::OPEN, Ordering::SeqCst);
            return;
        }
        if let Err(wrong) = moves::run(machine, &entries) {
            slots.failure = Some(fail(&entries, wrong));
        }
        self.state.store(state::OVER, Ordering::SeqCst);
    }

    /// The failure of the work of the rank in a slot.
    pub(crate) fn failure(&self, slot: usize) -> Option<Failure> {
        let slots = self.lock();
        let (report, culprit) = slots.failure.as_ref()?;
        let own = culprit.is_none_or(|culprit| culprit == slot);
        let code = if own && culprit.is_some() { Code::ILLEGAL_ADDRESS } else { Code::LAUNCH_FAILURE };
        Some(Failure::new(code, report.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells all ranks about a failure.
fn fail(entries: &[Entry], wrong: Wrong) -> (String, Option<usize>) {
    let (report, culprit) = match wrong {
        Wrong::Memory { slot, words } => {
            let of = entries.get(slot).map(|entry| format!("{} of rank {}", entry.call, entry.rank));
            (format!("{} went wrong: {words}", of.unwrap_or_default()), Some(slot))
        }
        Wrong::Mismatch(words) => (words, None),
    };
    for (slot, entry) in entries.iter().enumerate() {
        let result = match culprit {
            None => ncclResult_t::ncclInvalidUsage,
            Some(culprit) if culprit == slot => ncclResult_t::ncclUnhandledCudaError,
            Some(_) => ncclResult_t::ncclRemoteError,
        };
        entry.member.note(Trouble::new(result, report.clone()));
    }
    (report, culprit)
}
