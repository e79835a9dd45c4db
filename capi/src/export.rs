// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exports: the address of a buffer for another library in this process, with a handle that keeps the memory.

use std::{
    ffi::c_void,
    mem::MaybeUninit,
    ptr::{self, NonNull},
};

use facade::{Exported, External};

use crate::{
    boundary::{fallible, infallible},
    buffer::windlass_buffer_t,
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::give,
};

/// The exported address of a buffer's memory. While the export lives, the memory stays allocated, even when the device
/// is closed. The exception is a windlass_queue_dealloca of the buffer. Semaphores must order all accesses through the
/// address with the work of Windlass.
pub struct windlass_export_t(Shell<Exported>);
object!(windlass_export_t, Exported, "export");

/// Exports the device address of a buffer, for another library that uses the same device in this process. The other
/// library must not free the memory. INVALID_ARGUMENT for an empty buffer. The caller owns the export.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_buffer_export_device_address(
    buffer: Option<NonNull<windlass_buffer_t>>,
    exported: Option<&mut MaybeUninit<Option<NonNull<windlass_export_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(exported, || used(buffer)?.export_device_address()))
}

/// Exports the host's pointer to a mappable buffer. INVALID_ARGUMENT for an empty buffer; otherwise fails like
/// windlass_buffer_read. The caller owns the export.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_buffer_export_host_pointer(
    buffer: Option<NonNull<windlass_buffer_t>>,
    exported: Option<&mut MaybeUninit<Option<NonNull<windlass_export_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(exported, || used(buffer)?.export_host_pointer()))
}

/// The address as a number, for the device or for the host, as it was exported; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_export_address(exported: Option<NonNull<windlass_export_t>>) -> u64 {
    infallible(0, || Ok(used(exported)?.address()))
}

/// The host's pointer, valid as long as the export; NULL for NULL and for the export of a device address.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_export_host_pointer(exported: Option<NonNull<windlass_export_t>>) -> *mut c_void {
    infallible(ptr::null_mut(), || {
        Ok(match used(exported)?.memory() {
            External::Host { pointer, .. } => pointer.as_ptr().cast(),
            _ => ptr::null_mut(),
        })
    })
}

/// The number of bytes; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_export_size(exported: Option<NonNull<windlass_export_t>>) -> u64 {
    infallible(0, || Ok(used(exported)?.memory().size()))
}

/// Adds a reference and returns the export. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_export_retain(
    exported: Option<NonNull<windlass_export_t>>,
) -> Option<NonNull<windlass_export_t>> {
    infallible(None, || handle::retain(exported).map(|()| exported))
}

/// Releases a reference. NULL is allowed. The last one ends the validity of the address, unless the buffer lives on.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_export_release(exported: Option<NonNull<windlass_export_t>>) {
    infallible((), || {
        handle::release(exported);
        Ok(())
    });
}
