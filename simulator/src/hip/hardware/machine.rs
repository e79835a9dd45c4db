// SPDX-License-Identifier: MIT OR Apache-2.0
//! The hardware of a simulator: devices, memory and the engine that runs kernels.

use std::sync::{Arc, Mutex, PoisonError};

use super::device::Device;
use super::imports::Imports;
use super::keepers::Keepers;
use super::ledger::Ledger;
use crate::engine::Engine;
use crate::hip::objects::stream::Stream;
use crate::hip::services::attendance::Services;
use crate::hip::services::heap::Heap;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::failure::Failure;
use crate::memory::{self, Memory};
use crate::options::{Faults, Lds, Options};
use crate::packet::{Clock, CopyCall, Fill, FillCall, Misfit, Transfer};
use crate::tally;
use crate::trace::tell;

/// Devices, memory and engine.
pub(crate) struct Machine {
    pub(crate) memory: Arc<Memory>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) devices: Vec<Device>,
    /// The services of each device for its kernels.
    pub(crate) services: Vec<Arc<Services>>,
    /// The allocations that clients asked for.
    pub(crate) ledger: Ledger,
    /// The pools that may keep memory.
    pub(crate) keepers: Keepers,
    /// Memory of other processes that clients have opened.
    pub(crate) imports: Imports,
    /// The clock of events.
    pub(crate) clock: Arc<Clock>,
    faults: Faults,
    /// The effect of an access behind the end of LDS.
    pub(crate) lds: Lds,
    /// Whether hot code is translated.
    pub(crate) translates: bool,
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
        let clock = Arc::new(Clock::new(options.seed.is_some() || options.replay.is_some()));
        let services = devices.iter().map(|device| {
            let heap = Heap::new(memory.clone(), device.budget.clone(), device.index);
            Arc::new(Services::new(memory.clone(), clock.clone(), heap, options.hip.0 >= 6))
        });
        Self {
            services: services.collect(),
            memory,
            engine,
            devices,
            ledger: Ledger::default(),
            keepers: Keepers::default(),
            imports: Imports::default(),
            clock,
            faults: options.faults,
            lds: options.lds,
            translates: options.translate,
            hip: options.hip,
            last_fault: Mutex::new(None),
        }
    }

    pub(crate) fn device(&self, index: usize) -> Outcome<&Device> {
        self.devices.get(index).ok_or(Code::INVALID_DEVICE)
    }

    /// Prepares a copy. Its addresses are those of the host or of the device.
    pub(crate) fn transfer(&self, copy: &CopyCall) -> Result<Transfer, Misfit> {
        let seen = |(address, rows)| (self.ledger.device_address(address), rows);
        Transfer::new(&self.memory, &CopyCall { to: seen(copy.to), from: seen(copy.from), ..*copy })
    }

    /// Prepares a fill, as [`transfer`](Self::transfer) does a copy.
    pub(crate) fn fill(&self, fill: &FillCall) -> Result<Fill, Misfit> {
        let address = self.ledger.device_address(fill.address);
        Fill::new(&self.memory, &FillCall { address, ..*fill })
    }

    /// Whether HIP's calls that wait do not wait for work on memory at these addresses: AMD's 6.4 waits for no work that
    /// touches only memory of devices (measured; 5.2 waits).
    pub(crate) fn stays_on_devices(&self, addresses: &[u64]) -> bool {
        let is_devices = |address: &u64| {
            let kind = self.memory.lookup(*address).map(|allocation| allocation.kind);
            matches!(
                kind,
                Some(
                    memory::AllocationKind::Device
                        | memory::AllocationKind::Code
                        | memory::AllocationKind::Mapped
                )
            )
        };
        self.hip >= (6, 0) && addresses.iter().all(is_devices)
    }

    /// The report of the latest failure.
    pub(crate) fn last_fault(&self) -> Option<String> {
        self.last_fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes that work of a stream has failed.
    pub(crate) fn fail(&self, device: &Device, stream: &Stream, failure: Failure) {
        let code = failure.code;
        tell(|| tracing::error!(target: "windlass::sim", device = device.index, ?code, "{}", failure.report));
        tally::fault(&failure.report);
        let failure = Arc::new(failure);
        let mut last_fault = self.last_fault.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = if failure.contained && self.faults == Faults::Submission {
            stream.fail(&failure);
            device.unreported.note(&failure);
            true
        } else {
            // Only the first failure of a device tells its cause.
            device.fail(&failure)
        };
        if is_news {
            *last_fault = Some(failure.report.clone());
        }
    }
}
