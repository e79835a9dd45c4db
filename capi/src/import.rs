// SPDX-License-Identifier: MIT OR Apache-2.0
//! Imports: foreign memory as buffers.

use std::{ffi::c_void, mem::MaybeUninit, ptr::NonNull};

use facade::{BufferParams, Error};

use crate::{
    boundary::fallible,
    buffer::{params_of, windlass_buffer_params_t, windlass_buffer_t},
    callback::{OwnedUserData, UserData, windlass_destroy_t},
    device::windlass_device_t,
    error::windlass_error_t,
    handle::used,
    memory::give,
};

/// Makes a buffer of `size` bytes of the program's memory at `pointer`, without a copy. NULL parameters mean those of
/// windlass_buffer_params_host. UNIMPLEMENTED if the device lacks WINDLASS_FEATURE_IMPORT_HOST, UNAVAILABLE if the
/// system cannot give the device access, ALREADY_EXISTS if the device notices that a part is imported already. The
/// buffer is no allocation of the device: a dealloca of it is a barrier. The caller owns the handle.
///
/// The memory must stay valid until `release` is called, and semaphores must order all other accesses to it. `release`,
/// which may be NULL, is called with the user data exactly once in every case: before this returns an error, else on a
/// thread of Windlass when the last handle is released and the last use has retired. The exception is a lost device,
/// which may write the memory as long as the process runs.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_buffer_import_host(
    device: Option<NonNull<windlass_device_t>>,
    params: *const windlass_buffer_params_t,
    pointer: *mut c_void,
    size: u64,
    user_data: *mut c_void,
    release: windlass_destroy_t,
    buffer: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let lent = OwnedUserData { data: UserData(user_data), destroy: release };
        give(buffer, || {
            let params = match params.is_null() {
                true => BufferParams::host(),
                // SAFETY: the contract in the header covers that of `params_of`.
                false => unsafe { params_of(params) }?,
            };
            let pointer = NonNull::new(pointer.cast::<u8>())
                .ok_or_else(|| Error::invalid_argument("the memory to import is NULL"))?;
            let device = used(device)?;
            // SAFETY: the contract in the header covers that of `import_host_pointer`.
            unsafe { device.device.import_host_pointer(&params, pointer, size, move || drop(lent)) }
        })
    })
}

/// Makes a buffer of `size` bytes at a device address: memory of another library that uses the same device in this
/// process. NULL parameters mean those of windlass_buffer_params_device. UNIMPLEMENTED if the device lacks
/// WINDLASS_FEATURE_IMPORT_DEVICE, INVALID_ARGUMENT if the device can tell that the memory is not its own. The caller
/// owns the handle.
///
/// The memory must stay allocated until `release` is called, as windlass_buffer_import_host calls it. Work of the other
/// library on it must be complete, or semaphores must order it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_buffer_import_device_address(
    device: Option<NonNull<windlass_device_t>>,
    params: *const windlass_buffer_params_t,
    address: u64,
    size: u64,
    user_data: *mut c_void,
    release: windlass_destroy_t,
    buffer: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let lent = OwnedUserData { data: UserData(user_data), destroy: release };
        give(buffer, || {
            // SAFETY: the contract in the header covers that of `params_of`.
            let params = unsafe { params_of(params) }?;
            let device = used(device)?;
            // SAFETY: the contract in the header covers that of `import_device_address`.
            unsafe { device.device.import_device_address(&params, address, size, move || drop(lent)) }
        })
    })
}
