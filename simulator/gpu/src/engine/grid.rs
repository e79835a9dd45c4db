// SPDX-License-Identifier: MIT OR Apache-2.0
//! The grid of a dispatch in flight: the data that its workgroups share.

use super::fault::Fault;
use super::kernel::Kernel;
use super::scene::Scene;
use super::start::Start;
use crate::exec::{Cause, Position};
use crate::memory::Memory;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The grid of a dispatch in flight.
pub(super) struct Grid {
    pub(super) memory: Arc<Memory>,
    pub(super) kernel: Kernel,
    pub(super) start: Start,
    /// The kernel's first instruction.
    pub(super) entry: Position,
    /// Set to stop all of its waves.
    pub(super) stop: Arc<AtomicBool>,
    /// Faults that stopped no wave, by the offset of the instruction.
    findings: Mutex<BTreeMap<Option<i64>, Box<Fault>>>,
}

impl Grid {
    /// The grid of a dispatch whose arguments are in place.
    pub(super) fn new(
        memory: Arc<Memory>,
        kernel: Kernel,
        start: Start,
        entry: Position,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Self { memory, kernel, start, entry, stop, findings: Mutex::default() }
    }

    /// The words for faults in a workgroup.
    pub(super) fn scene(&self, workgroup: [u32; 3]) -> Scene<'_> {
        Scene { memory: &self.memory, kernel: &self.kernel, start: &self.start, workgroup }
    }

    /// Keeps a fault that stopped no wave, the first of each instruction.
    pub(super) fn note(&self, finding: Box<Fault>) {
        // Overruns that are let pass are reported once for a kernel, whatever the number of its launches.
        if finding.cause == Cause::Overrun && self.kernel.record.has_overrun.swap(true, Ordering::Relaxed) {
            return;
        }
        let instruction = finding.location.as_ref().map(|location| location.offset);
        let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        findings.entry(instruction).or_insert(finding);
    }

    /// Takes the faults that were kept.
    pub(super) fn findings(&self) -> Vec<Fault> {
        let mut findings = self.findings.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *findings).into_values().map(|finding| *finding).collect()
    }
}
