// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP's calls for virtual memory: reserved addresses, memory without addresses, and mappings of one to the other.
//!
//! They are sound for the reasons that `call.rs` states. HIP follows none of these addresses, and this file makes the
//! handles.

use std::ptr;

use windlass_hal::Result;
use windlass_hip_sys::{
    Feature,
    bindings::{
        hipDeviceAttribute_t, hipMemAccessDesc, hipMemAccessFlags, hipMemAllocationGranularity_flags,
        hipMemAllocationProp, hipMemAllocationType, hipMemGenericAllocationHandle_t, hipMemLocation,
        hipMemLocationType,
    },
};

use crate::hip::Hip;

/// Memory of a GPU without an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Physical(hipMemGenericAllocationHandle_t);

// SAFETY: HIP's handles may be used from any thread.
unsafe impl Send for Physical {}
// SAFETY: HIP locks inside; using a handle from several threads at once is legal.
unsafe impl Sync for Physical {}

impl Hip {
    /// Why the library or this GPU has no virtual memory, if so.
    pub(crate) fn lacks_virtual_memory(&self) -> Option<&'static str> {
        if !self.api.has(Feature::VirtualMemory) {
            return Some("the HIP library does not export all functions of virtual memory");
        }
        if self.api.origin().version.is_some_and(|version| version.major < 6) {
            return Some("HIP before 6.0 has virtual memory on Windows only");
        }
        let supported = hipDeviceAttribute_t::hipDeviceAttributeVirtualMemoryManagementSupported;
        match self.attribute(supported) {
            Some(1..) => None,
            _ => Some("HIP does not support virtual memory on this GPU"),
        }
    }

    fn location(&self) -> hipMemLocation {
        hipMemLocation { type_: hipMemLocationType::hipMemLocationTypeDevice, id: self.ordinal() }
    }

    fn properties_of_memory(&self) -> hipMemAllocationProp {
        hipMemAllocationProp {
            type_: hipMemAllocationType::hipMemAllocationTypePinned,
            location: self.location(),
            ..hipMemAllocationProp::default()
        }
    }

    /// The bytes of the pages that HIP recommends for memory of this GPU.
    pub(crate) fn granularity(&self) -> Result<u64> {
        let (properties, mut bytes) = (self.properties_of_memory(), 0);
        let recommended = hipMemAllocationGranularity_flags::hipMemAllocationGranularityRecommended;
        // SAFETY: pointers to locals.
        let status = unsafe { self.api.hipMemGetAllocationGranularity(&mut bytes, &properties, recommended) };
        self.check("hipMemGetAllocationGranularity", status)?;
        Ok(bytes as u64)
    }

    /// Reserves addresses for all GPUs.
    pub(crate) fn reserve_addresses(&self, size: u64) -> Result<u64> {
        let _current = self.current()?;
        let mut pointer = ptr::null_mut();
        // SAFETY: a pointer to a local. HIP chooses the addresses.
        let status =
            unsafe { self.api.hipMemAddressReserve(&mut pointer, size as usize, 0, ptr::null_mut(), 0) };
        self.check("hipMemAddressReserve", status)?;
        Ok(pointer as u64)
    }

    /// Releases a reservation without mappings.
    pub(crate) fn free_addresses(&self, address: u64, size: u64) {
        // SAFETY: the owner gives the addresses up.
        self.succeeded(unsafe { self.api.hipMemAddressFree(address as *mut _, size as usize) });
    }

    /// Memory of this GPU. `size` is a multiple of the granularity.
    pub(crate) fn create_memory(&self, size: u64) -> Result<Physical> {
        let _current = self.current()?;
        let (properties, mut handle) = (self.properties_of_memory(), ptr::null_mut());
        // SAFETY: pointers to locals.
        let status = unsafe { self.api.hipMemCreate(&mut handle, size as usize, &properties, 0) };
        self.check("hipMemCreate", status)?;
        Ok(Physical(handle))
    }

    /// Gives memory back once it has no mapping.
    pub(crate) fn release_memory(&self, memory: Physical) {
        // SAFETY: the owner gives the handle up.
        self.succeeded(unsafe { self.api.hipMemRelease(memory.0) });
    }

    /// Maps all of the memory to reserved addresses. No GPU may use them yet.
    pub(crate) fn map_memory(&self, address: u64, size: u64, memory: Physical) -> Result<()> {
        let _current = self.current()?;
        // SAFETY: reserved addresses, and a live handle.
        let status = unsafe { self.api.hipMemMap(address as *mut _, size as usize, 0, memory.0, 0) };
        self.check("hipMemMap", status)
    }

    /// Lets GPUs read and write a mapping.
    pub(crate) fn open_memory<'a>(
        &self,
        address: u64,
        size: u64,
        gpus: impl Iterator<Item = &'a Self>,
    ) -> Result<()> {
        let flags = hipMemAccessFlags::hipMemAccessFlagsProtReadWrite;
        let access: Vec<_> = gpus.map(|hip| hipMemAccessDesc { location: hip.location(), flags }).collect();
        let _current = self.current()?;
        // SAFETY: a mapping, and a list with its length.
        let status = unsafe {
            self.api.hipMemSetAccess(address as *mut _, size as usize, access.as_ptr(), access.len())
        };
        self.check("hipMemSetAccess", status)
    }

    /// Ends a mapping. Whether HIP did. Waits for HIP: not on a caller's thread.
    pub(crate) fn unmap_memory(&self, address: u64, size: u64) -> bool {
        // SAFETY: the owner gives the mapping up.
        self.succeeded(unsafe { self.api.hipMemUnmap(address as *mut _, size as usize) })
    }
}
