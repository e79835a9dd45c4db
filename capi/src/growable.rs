// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers that grow in place.

use std::{mem::MaybeUninit, ptr::NonNull};

use facade::{Error, GrowableBuffer};

use crate::{
    boundary::{fallible, infallible},
    buffer::{params_of, windlass_buffer_params_t, windlass_buffer_t},
    device::windlass_device_t,
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::give,
};

/// Memory that grows in place: reserved device addresses with memory behind their first part. The addresses never
/// change, and growing keeps all contents.
pub struct windlass_growable_t(Shell<GrowableBuffer>);
object!(windlass_growable_t, GrowableBuffer, "growable buffer");

/// Reserves `capacity` bytes of device addresses, rounded up to whole granules. They have no memory yet. NULL for
/// `params` is device memory; parameters of memory that the host sees are INVALID_ARGUMENT, and so is a capacity of 0.
/// RESOURCE_EXHAUSTED if the device has no addresses for the capacity, UNIMPLEMENTED where it lacks
/// WINDLASS_FEATURE_VIRTUAL_MEMORY. The caller owns the growable buffer.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_growable_reserve(
    device: Option<NonNull<windlass_device_t>>,
    params: *const windlass_buffer_params_t,
    capacity: u64,
    growable: Option<&mut MaybeUninit<Option<NonNull<windlass_growable_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(growable, || {
            // SAFETY: the contract in the header covers that of `params_of`.
            let params = unsafe { params_of(params) }?;
            used(device)?.device.reserve_growable(&params, capacity)
        })
    })
}

/// Adds a reference and returns the growable buffer. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_growable_retain(
    growable: Option<NonNull<windlass_growable_t>>,
) -> Option<NonNull<windlass_growable_t>> {
    infallible(None, || handle::retain(growable).map(|()| growable))
}

/// Releases a reference. NULL is allowed. Buffers that were made of it keep their memory.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_growable_release(growable: Option<NonNull<windlass_growable_t>>) {
    infallible((), || {
        handle::release(growable);
        Ok(())
    });
}

/// The bytes that have memory, counted from the first address; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_growable_size(growable: Option<NonNull<windlass_growable_t>>) -> u64 {
    infallible(0, || Ok(used(growable)?.size()))
}

/// The reserved bytes: the greatest size; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_growable_capacity(growable: Option<NonNull<windlass_growable_t>>) -> u64 {
    infallible(0, || Ok(used(growable)?.capacity()))
}

/// The bytes of the pages that memory comes in; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_growable_granularity(growable: Option<NonNull<windlass_growable_t>>) -> u64 {
    infallible(0, || Ok(used(growable)?.granularity()))
}

/// The first address for device code, which never changes; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_growable_device_address(growable: Option<NonNull<windlass_growable_t>>) -> u64 {
    infallible(0, || Ok(used(growable)?.device_address()))
}

/// Puts memory behind the first `size` bytes, rounded up to whole granules. The contents of new memory are undefined.
/// OUT_OF_RANGE above the capacity. RESOURCE_EXHAUSTED if memory is short; nothing has changed then.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_growable_grow_to(
    growable: Option<NonNull<windlass_growable_t>>,
    size: u64,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| used(growable)?.clone().grow_to(size))
}

/// Gives memory behind the first `size` bytes back, in the pieces in which it came. A buffer that was made of a piece
/// keeps it until it is released. Never waits for work.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_growable_shrink_to(
    growable: Option<NonNull<windlass_growable_t>>,
    size: u64,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| used(growable)?.shrink_to(size))
}

/// A buffer of `length` bytes from `offset` on. It keeps its memory. OUT_OF_RANGE if a part has no memory. The caller
/// owns the buffer.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_growable_buffer(
    growable: Option<NonNull<windlass_growable_t>>,
    offset: u64,
    length: u64,
    buffer: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(buffer, || {
            let growable = used(growable)?;
            let end = offset.checked_add(length);
            let end = end.ok_or_else(|| {
                Error::out_of_range(format!(
                    "bytes {offset}.. of length {length} are more than an address space has"
                ))
            })?;
            growable.buffer(offset..end)
        })
    })
}
