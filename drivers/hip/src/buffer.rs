// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory allocated from HIP, and its return to HIP.

use std::{
    any::Any,
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

use windlass_hal::{
    Accounts, Location, MemoryType, callback_pool,
    driver::{self, HostPointer},
    edge::Domain,
    growable::GrownBuffer,
};

use crate::{call::HostMemory, growable::HipSpace, hip::Hip, import::Imported, sync::lock};

/// The location of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MemoryLocation {
    /// A GPU's own memory. Its address is the same on all GPUs of the device.
    Device {
        gpu: usize,
        address: u64,
    },
    Host(HostMemory),
}

impl MemoryLocation {
    fn memory_type(self) -> MemoryType {
        match self {
            Self::Device { .. } => MemoryType::DEVICE_LOCAL,
            Self::Host(_) => MemoryType::HOST_LOCAL,
        }
    }
}

/// One allocation, in which pools place buffers. It does not keep the device open, so the device's own pools can hold it.
pub(crate) struct Block {
    domain: Domain,
    place: MemoryLocation,
    /// Bytes that were asked of HIP.
    size: u64,
    returns: Arc<Returns>,
}

impl Block {
    pub(crate) fn new(domain: Domain, place: MemoryLocation, size: u64, returns: Arc<Returns>) -> Self {
        returns.accounts.reserve(place.memory_type(), size);
        Self { domain, place, size, returns }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        Returns::take_back(&self.returns, self.place, self.size);
    }
}

// SAFETY: size, address and pointer are those of one allocation, which HIP keeps until this object is dropped; none of
// them changes.
unsafe impl driver::RawBuffer for Block {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn device_address(&self) -> u64 {
        match self.place {
            MemoryLocation::Device { address, .. } => address,
            MemoryLocation::Host(memory) => memory.device,
        }
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        match self.place {
            // SAFETY: `size` bytes of pinned memory, which HIP keeps as long as this object lives; the driver holds no
            // reference into it.
            MemoryLocation::Host(memory) => Some(unsafe { HostPointer::new(memory.host) }),
            MemoryLocation::Device { .. } => None,
        }
    }

    fn location(&self) -> Option<Location> {
        Some(match self.place {
            MemoryLocation::Device { .. } => Location::Rocm(self.returns.hip.ordinal()),
            MemoryLocation::Host(_) => Location::RocmHost,
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The GPU whose own memory holds a buffer, by its number within the device.
pub(crate) fn gpu_of(buffer: &windlass_hal::Buffer) -> Option<usize> {
    let memory = buffer.backing().0.as_any();
    if let Some(imported) = memory.downcast_ref::<Imported>() {
        return imported.gpu;
    }
    if let Some(grown) = memory.downcast_ref::<GrownBuffer<HipSpace>>() {
        return Some(grown.space().gpu());
    }
    match memory.downcast_ref::<Block>()?.place {
        MemoryLocation::Device { gpu, .. } => Some(gpu),
        MemoryLocation::Host(_) => None,
    }
}

/// How long an allocation waits for memory on its way back. A device that runs one kernel for longer frees nothing
/// meanwhile, and the allocation fails rather than wait for the kernel.
const PATIENCE: Duration = Duration::from_secs(2);

/// Memory of one GPU on its way back to HIP. `hipFree` and `hipHostFree` synchronise the device, so only a thread of the
/// callback pool makes these calls.
pub(crate) struct Returns {
    hip: Hip,
    accounts: Arc<Accounts>,
    ledger: Mutex<Ledger>,
    /// Notified when `finished` grows.
    changed: Condvar,
    /// Held by the thread that frees memory.
    freeing: Mutex<()>,
}

#[derive(Default)]
struct Ledger {
    waiting: Vec<MemoryLocation>,
    /// Whether a thread was called to free the waiting memory.
    called: bool,
    /// The number of allocations that were taken back.
    taken: u64,
    /// The number of them that were freed, or abandoned because the device is lost.
    finished: u64,
    /// Allocations that wait for one of them.
    waiters: usize,
}

impl Returns {
    pub(crate) fn new(hip: Hip, accounts: Arc<Accounts>) -> Self {
        Self { hip, accounts, ledger: Mutex::default(), changed: Condvar::new(), freeing: Mutex::default() }
    }

    /// Frees memory on another thread. Never frees that of a lost device, which may still be written, and frees nothing when
    /// the process ends.
    fn take_back(self: &Arc<Self>, place: MemoryLocation, size: u64) {
        if self.hip.keeps_all() {
            return;
        }
        self.accounts.unreserve(place.memory_type(), size);
        let mut ledger = lock(&self.ledger);
        ledger.waiting.push(place);
        ledger.taken += 1;
        let called = std::mem::replace(&mut ledger.called, true);
        drop(ledger);
        if !called {
            let this = self.clone();
            callback_pool::spawn(Box::new(move || this.free()));
        }
    }

    /// Counts memory that its owner gives back to HIP itself, until [`end`](Self::end).
    pub(crate) fn begin(&self) {
        lock(&self.ledger).taken += 1;
    }

    pub(crate) fn end(&self) {
        self.count_finished(1);
    }

    fn count_finished(&self, count: u64) {
        let mut ledger = lock(&self.ledger);
        ledger.finished += count;
        if ledger.waiters > 0 {
            self.changed.notify_all();
        }
    }

    /// The number of allocations that were freed or abandoned.
    pub(crate) fn finished(&self) -> u64 {
        lock(&self.ledger).finished
    }

    /// Waits until everything that was taken back before this call is freed, but not for longer than [`PATIENCE`]. Returns
    /// whether anything was freed since `before`, a count of [`finished`](Self::finished).
    pub(crate) fn wait(&self, before: u64) -> bool {
        let mut ledger = lock(&self.ledger);
        let taken = ledger.taken;
        let open = |ledger: &mut Ledger| ledger.finished < taken;
        ledger.waiters += 1;
        let waited = self.changed.wait_timeout_while(ledger, PATIENCE, open);
        let mut ledger = waited.unwrap_or_else(PoisonError::into_inner).0;
        ledger.waiters -= 1;
        ledger.finished > before
    }

    fn free(&self) {
        let _one_at_a_time = lock(&self.freeing);
        let mut ledger = lock(&self.ledger);
        ledger.called = false;
        let waiting = std::mem::take(&mut ledger.waiting);
        drop(ledger);
        let mut abandoned = waiting.len() as u64;
        self.hip.give_back(|hip| {
            for place in waiting {
                match place {
                    MemoryLocation::Device { address, .. } => hip.free(address),
                    MemoryLocation::Host(memory) => hip.free_host(memory),
                }
                abandoned -= 1;
                self.end();
            }
        });
        self.count_finished(abandoned);
    }
}
