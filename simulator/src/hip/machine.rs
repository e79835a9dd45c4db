// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hardware of a simulator: devices, memory and the engine. It runs one item of work at a time per stream.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::{Choose, Engine};
use crate::memory::Memory;
use crate::options::{Faults, Lds, Options};
use crate::packet::{Clock, CopyCall, Fill, FillCall, Misfit, Transfer};
use crate::tally::{self, Count};
use crate::trace::tell;

use super::code::{Code, Outcome};
use super::device::Device;
use super::failure::Failure;
use super::ledger::Ledger;
use super::stream::Stream;
use super::work::{Rest, Work};

/// What streams run on.
pub(crate) struct Machine {
    pub(crate) memory: Arc<Memory>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) devices: Vec<Device>,
    /// Who holds which memory.
    pub(crate) ledger: Ledger,
    /// What events tell the time by.
    pub(crate) clock: Arc<Clock>,
    faults: Faults,
    /// What an access behind the end of LDS is.
    pub(crate) lds: Lds,
    /// The version of HIP, major and minor.
    pub(crate) hip: (u32, u32),
    last_fault: Mutex<Option<String>>,
}

impl Machine {
    pub(crate) fn new(
        memory: Arc<Memory>,
        engine: Arc<Engine>,
        devices: Vec<Device>,
        options: &Options,
    ) -> Self {
        Self {
            memory,
            engine,
            devices,
            ledger: Ledger::default(),
            clock: Arc::new(Clock::new(options.seed.is_some() || options.replay.is_some())),
            faults: options.faults,
            lds: options.lds,
            hip: options.hip,
            last_fault: Mutex::new(None),
        }
    }

    pub(crate) fn device(&self, index: usize) -> Outcome<&Device> {
        self.devices.get(index).ok_or(Code::INVALID_DEVICE)
    }

    /// Makes a copy ready. Its addresses may be those of either side.
    pub(crate) fn transfer(&self, copy: &CopyCall) -> Result<Transfer, Misfit> {
        let seen = |(address, rows)| (self.ledger.device_address(address), rows);
        Transfer::new(&self.memory, &CopyCall { to: seen(copy.to), from: seen(copy.from), ..*copy })
    }

    /// Makes a fill ready, as [`transfer`](Self::transfer) does a copy.
    pub(crate) fn fill(&self, fill: &FillCall) -> Result<Fill, Misfit> {
        let address = self.ledger.device_address(fill.address);
        Fill::new(&self.memory, &FillCall { address, ..*fill })
    }

    /// Does an item of work of a stream. On a device that has failed it is passed over.
    pub(crate) fn run(&self, device: usize, stream: &Stream, work: Work) {
        let Some(device) = self.devices.get(device) else { return };
        // A defect of the simulator must fail the device, not leave its streams waiting for ever.
        let done = catch_unwind(AssertUnwindSafe(|| work.run(self, device, stream)));
        if let Err(failure) = done.unwrap_or_else(|_| Err(Failure::defect())) {
            self.report(device, stream, failure);
        }
    }

    /// Does an item of work of a stream if it is one step, otherwise begins it. The rest, if something is left.
    pub(crate) fn begin(
        &self,
        device: usize,
        stream: &Stream,
        work: Work,
        choices: &mut dyn Choose,
    ) -> Option<Rest> {
        let device = self.devices.get(device)?;
        let begun = catch_unwind(AssertUnwindSafe(|| work.begin(self, device, stream, choices)));
        begun.unwrap_or_else(|_| Err(Failure::defect())).unwrap_or_else(|failure| {
            self.report(device, stream, failure);
            None
        })
    }

    /// Notes that work of a stream has failed.
    pub(crate) fn fail(&self, device: usize, stream: &Stream, failure: Failure) {
        if let Some(device) = self.devices.get(device) {
            self.report(device, stream, failure);
        }
    }

    /// What the latest failed work had to say for itself.
    pub(crate) fn last_fault(&self) -> Option<String> {
        self.last_fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn report(&self, device: &Device, stream: &Stream, failure: Failure) {
        let code = failure.code;
        tell(|| tracing::error!(target: "windlass::sim", device = device.index, ?code, "{}", failure.report));
        tally::count(Count::Fault);
        let failure = Arc::new(failure);
        let mut last_fault = self.last_fault.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = if failure.contained && self.faults == Faults::Submission {
            stream.fail(&failure);
            device.unreported.note(&failure);
            true
        } else {
            // What fails after the first time says nothing about its cause.
            device.fail(&failure)
        };
        if is_news {
            *last_fault = Some(failure.report.clone());
        }
    }
}
