// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hardware of a simulator: devices, memory and the engine. It runs one item of work at a time per stream.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::Engine;
use crate::memory::Memory;

use super::code::{Code, Outcome};
use super::device::Device;
use super::ledger::Ledger;
use super::work::Work;

/// What streams run on.
pub(crate) struct Machine {
    pub(crate) memory: Arc<Memory>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) devices: Vec<Device>,
    /// Who holds which memory.
    pub(crate) ledger: Ledger,
    last_fault: Mutex<Option<String>>,
}

/// Why an item of work could not be done: the code that the device answers from then on, and a report for people.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) report: String,
}

impl Machine {
    pub(crate) fn new(memory: Arc<Memory>, engine: Arc<Engine>, devices: Vec<Device>) -> Self {
        Self { memory, engine, devices, ledger: Ledger::default(), last_fault: Mutex::new(None) }
    }

    pub(crate) fn device(&self, index: usize) -> Outcome<&Device> {
        self.devices.get(index).ok_or(Code::INVALID_DEVICE)
    }

    /// Does an item of work for a device. On a device that has failed it is passed over.
    pub(crate) fn run(&self, device: usize, work: Work) {
        let Some(device) = self.devices.get(device) else { return };
        // A defect of the simulator must fail the device, not leave its streams waiting for ever.
        let done = catch_unwind(AssertUnwindSafe(|| work.run(self, device)));
        let failure = match done {
            Ok(Ok(())) => return,
            Ok(Err(failure)) => failure,
            Err(_) => Failure { code: Code::UNKNOWN, report: "the simulator itself failed".to_owned() },
        };
        self.report(device, failure);
    }

    /// What the latest failed work had to say for itself.
    pub(crate) fn last_fault(&self) -> Option<String> {
        self.last_fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn report(&self, device: &Device, failure: Failure) {
        let Failure { code, report } = failure;
        tracing::error!(target: "windlass::sim", device = device.index, ?code, "{report}");
        let mut last_fault = self.last_fault.lock().unwrap_or_else(PoisonError::into_inner);
        if device.fail(code) {
            *last_fault = Some(report);
        }
    }
}
