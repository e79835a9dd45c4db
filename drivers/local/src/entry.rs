// SPDX-License-Identifier: MIT OR Apache-2.0
//! The code of a kernel: a function in Rust, or a symbol of a shared object.

use std::{ffi::c_void, sync::Arc};

use crate::kernel::Code;

/// The code of one kernel.
#[derive(Clone)]
pub(crate) enum Entry {
    /// A kernel of a Rust library.
    Rust(Arc<Code>),
    /// A kernel of a shared object. The holder of the entry keeps the object loaded.
    Native(NativeKernel),
}

/// `windlass_kernel_t` of `include/windlass_kernel.h`.
pub(crate) type NativeKernel = unsafe extern "C" fn(*const c_void, *const WorkgroupRecord) -> i32;

/// `windlass_workgroup_t` of `include/windlass_kernel.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkgroupRecord {
    pub(crate) record_size: u32,
    pub(crate) local_memory_size: u32,
    pub(crate) workgroup_id: [u32; 3],
    pub(crate) workgroup_count: [u32; 3],
    pub(crate) workgroup_size: [u32; 3],
    pub(crate) reserved: u32,
    pub(crate) local_memory: *mut c_void,
}

// SAFETY: a record holds numbers and one address. Only the kernel that receives the record follows the address.
unsafe impl Send for WorkgroupRecord {}
// SAFETY: as above.
unsafe impl Sync for WorkgroupRecord {}

impl WorkgroupRecord {
    /// The first workgroup of a grid, without local memory.
    pub(crate) fn new(workgroup_count: [u32; 3], workgroup_size: [u32; 3]) -> Self {
        Self {
            record_size: size_of::<Self>() as u32,
            local_memory_size: 0,
            workgroup_id: [0; 3],
            workgroup_count,
            workgroup_size,
            reserved: 0,
            local_memory: std::ptr::null_mut(),
        }
    }

    /// Sets the local memory: its address and length, or null for no bytes.
    pub(crate) fn set_local_memory(&mut self, bytes: &mut [u8]) {
        if !bytes.is_empty() {
            self.local_memory_size = bytes.len() as u32;
            self.local_memory = bytes.as_mut_ptr().cast();
        }
    }
}
