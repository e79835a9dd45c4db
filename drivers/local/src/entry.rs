// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is called for each workgroup: a function in Rust, or a symbol of a shared object.

use std::{ffi::c_void, sync::Arc};

use crate::kernel::Code;

/// The code of one kernel.
#[derive(Clone)]
pub(crate) enum Entry {
    /// A kernel of a Rust library.
    Rust(Arc<Code>),
    /// A kernel of a shared object, which whoever holds the entry keeps loaded.
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
