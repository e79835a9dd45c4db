// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of a device of the program's driver.

use std::{any::Any, fmt, sync::Arc};

use facade::{
    Accounts, MemoryType, Release, Result, callback_pool,
    driver::{HostPointer, RawBuffer, RawExecutable},
    edge::Domain,
    pool::{SlabRequest, SlabSource},
};

use super::{link::Link, table::windlass_driver_memory_t};
use crate::backing::Backing;

/// The memory of a device. It holds no device, because buffers and pools may outlive it.
#[derive(Clone)]
pub(crate) struct Memory {
    pub(crate) domain: Domain,
    pub(crate) link: Arc<Link>,
    pub(crate) accounts: Arc<Accounts>,
    /// All addresses are multiples of this many bytes.
    pub(crate) alignment: u64,
}

impl SlabSource for Memory {
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Arc<dyn RawBuffer>> {
        let (size, kind) = (request.size, request.params.memory_type);
        let given = self.link.allocate(kind, size, self.alignment)?;
        let slab = Allocation::new(self, given, size, Freeing::Slab(self.accounts.clone(), kind));
        self.accounts.reserve(kind, size);
        let visible = kind.contains(MemoryType::HOST_VISIBLE);
        if given.device_address == 0 || !given.device_address.is_multiple_of(self.alignment) {
            return Err(self.link.mistake(format!(
                "`allocate` gave the address {:#x} for {size} bytes; it is 0, or no multiple of {}",
                given.device_address, self.alignment
            )));
        }
        if visible && given.host_pointer.is_null() {
            return Err(self.link.mistake(format!("`allocate` gave no host pointer for {kind:?}")));
        }
        Ok(Arc::new(slab))
    }

    /// A dealloca releases memory when all users of it have ended, so there are no lanes.
    fn has_retired(&self, _lane: u32, _epoch: u64) -> bool {
        true
    }

    fn poll(&self) {}

    fn usable(&self) -> Result<()> {
        Ok(())
    }

    fn accounts(&self) -> &Accounts {
        &self.accounts
    }
}

/// Memory that the driver allocated or imported, or a variable of its code.
pub(crate) struct Allocation {
    domain: Domain,
    size: u64,
    device_address: u64,
    backing: Backing,
    link: Arc<Link>,
    freeing: Freeing,
}

/// The owner of memory.
pub(crate) enum Freeing {
    /// The driver, which allocated it. The accounts count it.
    Slab(Arc<Accounts>, MemoryType),
    /// The program, which gets it back.
    Import(Option<Release>),
    /// The executable.
    Variable(#[allow(dead_code, reason = "it is kept")] Arc<dyn RawExecutable>),
}

impl Allocation {
    pub(crate) fn new(of: &Memory, given: windlass_driver_memory_t, size: u64, freeing: Freeing) -> Self {
        // SAFETY: the driver vouches for `size` bytes at its pointer until it frees the memory, which this object does
        // when it is dropped. Other code of this process reaches them by atomics.
        let backing = unsafe { Backing::new(of.domain, given.memory, given.host_pointer, size) };
        let (domain, device_address, link) = (of.domain, given.device_address, of.link.clone());
        Self { domain, size, device_address, backing, link, freeing }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        match &mut self.freeing {
            Freeing::Slab(accounts, kind) => {
                self.link.free(self.backing.memory());
                accounts.unreserve(*kind, self.size);
            }
            Freeing::Import(release) => {
                self.link.free(self.backing.memory());
                if let Some(release) = release.take() {
                    callback_pool::spawn(Box::new(move || release.run()));
                }
            }
            Freeing::Variable(_) => {}
        }
    }
}

// SAFETY: size, address and pointer are those that the driver gave for the one allocation that this object keeps.
unsafe impl RawBuffer for Allocation {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn device_address(&self) -> u64 {
        self.device_address
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        self.backing.host_pointer()
    }

    /// All that a driver or a wrapper asks of memory.
    fn as_any(&self) -> &dyn Any {
        &self.backing
    }
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Allocation({:#x}, {} bytes)", self.device_address, self.size)
    }
}
