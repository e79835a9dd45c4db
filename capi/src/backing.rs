// SPDX-License-Identifier: MIT OR Apache-2.0
//! The objects of a driver of the program behind buffers and executables: the raw objects of the HAL lead to these.

use std::{
    ffi::c_void,
    ptr::{self, NonNull},
    sync::Arc,
};

use facade::{
    Buffer, BufferParams, Error, Result,
    driver::{HostPointer, RawBuffer, RawExecutable},
    edge::Domain,
    host_memory::{HostBuffer, HostMemory},
};

/// The driver's memory behind a buffer.
pub(crate) struct Backing {
    /// The driver's own object.
    memory: *mut c_void,
    host_pointer: *mut u8,
    /// The bytes as the host sees them.
    host: Option<Arc<HostBuffer>>,
}

// SAFETY: the driver's object is only passed back to it, on any thread, which its contract allows. The host's bytes are
// reached by atomics.
unsafe impl Send for Backing {}
// SAFETY: as above.
unsafe impl Sync for Backing {}

impl Backing {
    /// The driver's object, and its bytes where the pointer is not NULL.
    ///
    /// # Safety
    /// The host may read and write `size` bytes at the pointer, by atomics, as long as the object lives.
    pub(crate) unsafe fn new(
        domain: Domain,
        memory: *mut c_void,
        host_pointer: *mut c_void,
        size: u64,
    ) -> Self {
        let host = NonNull::new(host_pointer.cast::<u8>()).map(|start| {
            // SAFETY: the same contract.
            let memory = unsafe { HostMemory::foreign(start, size as usize) };
            Arc::new(HostBuffer::new(domain, Arc::new(memory)).host_visible())
        });
        Self { memory, host_pointer: host_pointer.cast(), host }
    }

    /// The backing of a buffer, and the offset in it; `None` for memory of the library's own drivers.
    pub(crate) fn of(range: &Buffer) -> Option<(&Self, u64)> {
        let (raw, offset) = range.backing();
        Some((raw.as_any().downcast_ref()?, offset))
    }

    /// The driver's own object.
    pub(crate) fn memory(&self) -> *mut c_void {
        self.memory
    }

    /// The byte of the host at an offset; NULL if the host cannot reach the memory.
    pub(crate) fn host_at(&self, offset: u64) -> *mut c_void {
        match self.host_pointer.is_null() {
            true => ptr::null_mut(),
            false => self.host_pointer.wrapping_add(offset as usize).cast(),
        }
    }

    pub(crate) fn host_pointer(&self) -> Option<HostPointer> {
        self.host.as_deref().and_then(RawBuffer::host_pointer)
    }

    /// A range of a driver's memory as one of host memory. UNIMPLEMENTED without a host pointer.
    pub(crate) fn on_host(range: &Buffer) -> Result<Buffer> {
        let found = Self::of(range).and_then(|(own, offset)| Some((own.host.clone()?, offset)));
        let (host, offset) = found.ok_or_else(|| {
            Error::unimplemented(format!("{range:?} has no host pointer, so only the driver can access it"))
        })?;
        Buffer::from_driver(host, BufferParams::host()).subspan(offset, range.len())
    }
}

/// The driver's object for loaded code.
pub(crate) struct Code(pub(crate) *mut c_void);

// SAFETY: as for `Backing`.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    /// The driver's own object; NULL for code of the library's own drivers.
    pub(crate) fn of(raw: &dyn RawExecutable) -> *mut c_void {
        raw.as_any().downcast_ref::<Self>().map_or(ptr::null_mut(), |own| own.0)
    }
}
