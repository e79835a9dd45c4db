// SPDX-License-Identifier: MIT OR Apache-2.0
//! Heaps: the kinds of memory that a device allocates.

use std::ptr::NonNull;

use facade::Error;

use crate::{
    boundary::{fallible, infallible},
    buffer::{windlass_buffer_usage_t, windlass_memory_type_t},
    device::windlass_device_t,
    error::windlass_error_t,
    handle::used,
    memory::{Growing, write_struct},
};

/// A kind of memory.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_heap_t {
    /// sizeof this struct, set by the caller: windlass_heap_init does so.
    pub struct_size: usize,
    /// The place of the memory, and its access by host and device.
    pub memory_type: windlass_memory_type_t,
    /// The allowed uses of its buffers.
    pub usage: windlass_buffer_usage_t,
    /// The size in bytes of the largest buffer in an empty heap; UINT64_MAX if it is unknown.
    pub max_size: u64,
    /// All addresses are multiples of this many bytes.
    pub min_alignment: u64,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_heap_t {
    const NAME: &'static str = "windlass_heap_t";
}

/// The number of kinds of memory that the device allocates; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_device_heap_count(device: Option<NonNull<windlass_device_t>>) -> usize {
    infallible(0, || Ok(used(device)?.device.heaps().len()))
}

/// A kind of memory by number, from 0. The best for dispatches comes first. OUT_OF_RANGE if there are fewer.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_heap(
    device: Option<NonNull<windlass_device_t>>,
    index: usize,
    heap: *mut windlass_heap_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let device = used(device)?;
        let heaps = device.device.heaps();
        let of = heaps.get(index).ok_or_else(|| {
            Error::out_of_range(format!("heap {index} of a device that has {}", heaps.len()))
        })?;
        let value = windlass_heap_t {
            struct_size: size_of::<windlass_heap_t>(),
            memory_type: of.memory_type.0,
            usage: of.usage.0,
            max_size: of.max_size,
            min_alignment: of.min_alignment,
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(heap, &value) }
    })
}
