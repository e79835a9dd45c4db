// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers: allocations of the library.

use std::{any::Any, ffi::c_void, ptr::NonNull};

use windlass_hal::{
    Buffer, BufferParams, Error, External, RecordedRange, Release, Result,
    driver::{self, HostPointer},
    edge::Domain,
};

use crate::{
    api::{self, Handle, api, check, sized},
    bindings::*,
};

/// An allocation of the library.
pub(crate) struct Allocation {
    domain: Domain,
    size: u64,
    address: u64,
    host: Option<HostPointer>,
    handle: Handle<windlass_buffer_t>,
    /// Runs once, when the allocation is dropped.
    freed: Option<Box<dyn FnOnce() + Send + Sync>>,
}

// SAFETY: the pointer is to memory of the library, which any thread may reach by atomics.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

pub(crate) fn params_of(params: &BufferParams) -> windlass_buffer_params_t {
    windlass_buffer_params_t {
        memory_type: params.memory_type.0,
        usage: params.usage.0,
        min_alignment: params.min_alignment,
        queue_affinity: params.queue_affinity.bits(),
        ..sized!(windlass_buffer_params_t)
    }
}

impl Allocation {
    pub(crate) fn new(domain: Domain, size: u64, handle: Handle<windlass_buffer_t>) -> Result<Self> {
        let mut pointer = std::ptr::null_mut();
        // SAFETY: a handle.
        let address = unsafe { api().windlass_buffer_device_address(handle.get()) };
        // SAFETY: as above. Memory that the host cannot map has no pointer.
        let host = check(unsafe { api().windlass_buffer_host_pointer(handle.get(), &mut pointer) }).ok();
        // SAFETY: the library's memory does not move, lives as long as the handle, and is reached by atomics here.
        let host = host
            .and_then(|()| NonNull::new(pointer.cast()))
            .map(|pointer| unsafe { HostPointer::new(pointer) });
        Ok(Self { domain, size, address, host, handle, freed: None })
    }

    pub(crate) fn allocate(
        domain: Domain,
        device: &Handle<windlass_device_t>,
        params: &BufferParams,
        size: u64,
    ) -> Result<Self> {
        let params = params_of(params);
        // SAFETY: the struct states its size.
        let handle = Handle::from(api::buffer, |buffer| unsafe {
            api().windlass_buffer_allocate(device.get(), &params, size, buffer)
        })?;
        Self::new(domain, size, handle)
    }

    pub(crate) fn freeing(mut self, freed: impl FnOnce() + Send + Sync + 'static) -> Self {
        self.freed = Some(Box::new(freed));
        self
    }

    pub(crate) fn import(
        domain: Domain,
        device: &Handle<windlass_device_t>,
        params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Self> {
        unsafe extern "C" fn run(user_data: *mut c_void) {
            // SAFETY: the library calls this once, with the box below.
            unsafe { Box::from_raw(user_data.cast::<Release>()) }.run();
        }
        let params = params_of(params);
        let user_data = Box::into_raw(Box::new(release)).cast();
        let size = memory.size();
        let handle = Handle::from(api::buffer, |buffer| {
            // SAFETY: the caller vouches for the memory, and the library calls `run` in each case.
            unsafe {
                match memory {
                    External::Host { pointer, .. } => api().windlass_buffer_import_host(
                        device.get(),
                        &params,
                        pointer.as_ptr().cast(),
                        size,
                        user_data,
                        Some(run),
                        buffer,
                    ),
                    other => api().windlass_buffer_import_device_address(
                        device.get(),
                        &params,
                        other.address(),
                        size,
                        user_data,
                        Some(run),
                        buffer,
                    ),
                }
            }
        })?;
        Self::new(domain, size, handle)
    }

    pub(crate) fn handle(&self) -> *mut windlass_buffer_t {
        self.handle.get()
    }
}

// SAFETY: size, address and pointer are those of the library's allocation, which this object keeps.
unsafe impl driver::RawBuffer for Allocation {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn device_address(&self) -> u64 {
        self.address
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        self.host
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.freed.take().into_iter().for_each(|freed| freed());
    }
}

/// A range for the library.
pub(crate) fn range_of(range: &Buffer) -> Result<windlass_buffer_ref_t> {
    let (raw, offset) = range.backing();
    let allocation: Option<&Allocation> = raw.as_any().downcast_ref();
    let allocation =
        allocation.ok_or_else(|| Error::internal(format!("{range:?} is no memory of the library")))?;
    Ok(windlass_buffer_ref_t {
        kind: WINDLASS_REF_BUFFER,
        buffer: allocation.handle(),
        offset,
        length: range.len(),
        ..windlass_buffer_ref_t::default()
    })
}

/// A recorded range for the library.
pub(crate) fn recorded(range: &RecordedRange<'_>) -> Result<windlass_buffer_ref_t> {
    match *range {
        RecordedRange::Slot { slot, offset, length } => Ok(slot_of(slot, offset, length)),
        _ => range_of(&range.resolve(&[])?),
    }
}

pub(crate) fn slot_of(slot: u32, offset: u64, length: u64) -> windlass_buffer_ref_t {
    windlass_buffer_ref_t {
        kind: WINDLASS_REF_SLOT,
        slot,
        offset,
        length,
        ..windlass_buffer_ref_t::default()
    }
}
