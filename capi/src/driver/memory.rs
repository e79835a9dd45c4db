// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of a device of the program's driver.

use std::{
    any::Any,
    ffi::c_void,
    fmt,
    ptr::{self, NonNull},
    sync::Arc,
};

use facade::{
    Accounts, Buffer, BufferParams, Error, MemoryType, Release, Result, callback_pool,
    driver::{self, HostPointer, RawBuffer},
    edge::Domain,
    host_memory::{HostBuffer, HostMemory},
    pool::{SlabRequest, SlabSource},
};

use super::{executable::Executable, link::Link, windlass_driver_memory_t};

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
    given: windlass_driver_memory_t,
    /// The bytes as the host sees them.
    host: Option<Arc<HostBuffer>>,
    link: Arc<Link>,
    freeing: Freeing,
}

// SAFETY: the driver's object is only passed back to it, on any thread, which its contract allows. The host's bytes are
// reached by atomics.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

/// The owner of memory.
pub(crate) enum Freeing {
    /// The driver, which allocated it. The accounts count it.
    Slab(Arc<Accounts>, MemoryType),
    /// The program, which gets it back.
    Import(Option<Release>),
    /// The executable.
    Variable(#[allow(dead_code, reason = "it is kept")] Arc<Executable>),
}

impl Allocation {
    pub(crate) fn new(of: &Memory, given: windlass_driver_memory_t, size: u64, freeing: Freeing) -> Self {
        let host = NonNull::new(given.host_pointer.cast::<u8>()).map(|start| {
            // SAFETY: the driver vouches for `size` bytes at its pointer until it frees the memory, which this object
            // does last. Other code of this process reaches them by atomics.
            let memory = unsafe { HostMemory::foreign(start, size as usize) };
            Arc::new(HostBuffer::new(of.domain, Arc::new(memory)).host_visible())
        });
        Self { domain: of.domain, size, given, host, link: of.link.clone(), freeing }
    }

    /// The driver's own object.
    pub(crate) fn memory(&self) -> *mut c_void {
        self.given.memory
    }

    /// The byte of the host at an offset; NULL if the host cannot reach the memory.
    pub(crate) fn host_at(&self, offset: u64) -> *mut u8 {
        match self.given.host_pointer.is_null() {
            true => ptr::null_mut(),
            false => self.given.host_pointer.cast::<u8>().wrapping_add(offset as usize),
        }
    }

    /// A range of a driver's memory as one of host memory. UNIMPLEMENTED without a host pointer.
    pub(crate) fn on_host(range: &Buffer) -> Result<Buffer> {
        let (raw, offset) = range.backing();
        let host = raw.as_any().downcast_ref::<Self>().and_then(|own| own.host.clone());
        let host = host.ok_or_else(|| {
            Error::unimplemented(format!("{range:?} has no host pointer, so only the driver can access it"))
        })?;
        Buffer::from_driver(host, BufferParams::host()).subspan(offset, range.len())
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        match &mut self.freeing {
            Freeing::Slab(accounts, kind) => {
                self.link.free(self.given.memory);
                accounts.unreserve(*kind, self.size);
            }
            Freeing::Import(release) => {
                self.link.free(self.given.memory);
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
        self.given.device_address
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        self.host.as_deref().and_then(driver::RawBuffer::host_pointer)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Allocation({:#x}, {} bytes)", self.given.device_address, self.size)
    }
}
