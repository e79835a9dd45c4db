// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory allocated from HIP, and its return to HIP.

use std::{
    any::Any,
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

use windlass_hal::{
    Accounts, MemoryType, callback_pool,
    driver::{self, HostPointer},
    edge::Domain,
};

use crate::{call::HostMemory, hip::Hip, import::Imported, sync::lock};

/// The location of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// A GPU's own memory. Its address is the same on all GPUs of the device.
    Device {
        gpu: usize,
        address: u64,
    },
    Host(HostMemory),
}

impl Place {
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
    place: Place,
    /// Bytes that were asked of HIP.
    size: u64,
    returns: Arc<Returns>,
}

impl Block {
    pub(crate) fn new(domain: Domain, place: Place, size: u64, returns: Arc<Returns>) -> Self {
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
            Place::Device { address, .. } => address,
            Place::Host(memory) => memory.device,
        }
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        match self.place {
            // SAFETY: `size` bytes of pinned memory, which HIP keeps as long as this object lives; the driver holds no
            // reference into it.
            Place::Host(memory) => Some(unsafe { HostPointer::new(memory.host) }),
            Place::Device { .. } => None,
        }
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
    match memory.downcast_ref::<Block>()?.place {
        Place::Device { gpu, .. } => Some(gpu),
        Place::Host(_) => None,
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
    /// `settled` has grown.
    changed: Condvar,
    /// Held while memory is freed.
    freeing: Mutex<()>,
}

#[derive(Default)]
struct Ledger {
    waiting: Vec<Place>,
    /// A thread was called to free the waiting memory.
    called: bool,
    /// How many allocations were taken back so far.
    taken: u64,
    /// How many of them were freed, or given up because the device is lost.
    settled: u64,
}

impl Returns {
    pub(crate) fn new(hip: Hip, accounts: Arc<Accounts>) -> Self {
        Self { hip, accounts, ledger: Mutex::default(), changed: Condvar::new(), freeing: Mutex::default() }
    }

    /// Frees memory on another thread. Never frees that of a lost device, which may still be written, and frees nothing when
    /// the process ends.
    fn take_back(self: &Arc<Self>, place: Place, size: u64) {
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

    /// How many allocations were freed or given up so far.
    pub(crate) fn settled(&self) -> u64 {
        lock(&self.ledger).settled
    }

    /// Waits until everything that was taken back before this call is freed, but not for longer than [`PATIENCE`]. Returns
    /// whether anything was freed since `before`, a count of [`settled`](Self::settled).
    pub(crate) fn wait(&self, before: u64) -> bool {
        let ledger = lock(&self.ledger);
        let taken = ledger.taken;
        let open = |ledger: &mut Ledger| ledger.settled < taken;
        let waited = self.changed.wait_timeout_while(ledger, PATIENCE, open);
        waited.unwrap_or_else(PoisonError::into_inner).0.settled > before
    }

    fn free(&self) {
        let _one_at_a_time = lock(&self.freeing);
        let mut ledger = lock(&self.ledger);
        ledger.called = false;
        let waiting = std::mem::take(&mut ledger.waiting);
        let after = ledger.settled + waiting.len() as u64;
        drop(ledger);
        self.hip.give_back(|hip| {
            for place in waiting {
                match place {
                    Place::Device { address, .. } => hip.free(address),
                    Place::Host(memory) => hip.free_host(memory),
                }
                lock(&self.ledger).settled += 1;
                self.changed.notify_all();
            }
        });
        lock(&self.ledger).settled = after;
        self.changed.notify_all();
    }
}
