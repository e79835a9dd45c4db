// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compatibility: the possible uses of a buffer with given parameters on a device.

use std::{mem::MaybeUninit, ptr::NonNull};

use crate::{
    boundary::fallible,
    buffer::{params_of, windlass_buffer_params_t},
    device::windlass_device_t,
    error::windlass_error_t,
    handle::used,
    memory::out,
};

/// The possible uses of buffers with given parameters: a set of WINDLASS_COMPATIBILITY_*, with IREE's numeric values.
pub type windlass_compatibility_t = u32;

/// The device can allocate them.
pub const WINDLASS_COMPATIBILITY_ALLOCATABLE: windlass_compatibility_t = 1 << 0;
/// Foreign host or device memory can be imported as such a buffer.
pub const WINDLASS_COMPATIBILITY_IMPORTABLE: windlass_compatibility_t = 1 << 1;
/// Their addresses can be exported.
pub const WINDLASS_COMPATIBILITY_EXPORTABLE: windlass_compatibility_t = 1 << 2;
/// Queues can fill, update and copy them.
pub const WINDLASS_COMPATIBILITY_QUEUE_TRANSFER: windlass_compatibility_t = 1 << 10;
/// Dispatches can use them.
pub const WINDLASS_COMPATIBILITY_QUEUE_DISPATCH: windlass_compatibility_t = 1 << 11;
/// They are in another memory than the parameters prefer.
pub const WINDLASS_COMPATIBILITY_LOW_PERFORMANCE: windlass_compatibility_t = 1 << 20;

/// The possible uses of a buffer of `size` bytes; 0 if the device cannot have it. Allocates nothing, and does not tell
/// whether there is memory now. NULL parameters mean those of windlass_buffer_params_device.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_compatibility(
    device: Option<NonNull<windlass_device_t>>,
    params: *const windlass_buffer_params_t,
    size: u64,
    compatibility: Option<&mut MaybeUninit<windlass_compatibility_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let compatibility = out("compatibility", compatibility)?;
        // SAFETY: the contract in the header covers that of `params_of`.
        let params = unsafe { params_of(params) }?;
        compatibility.write(used(device)?.device.compatibility(&params, size).0);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use facade::Compatibility;

    use super::*;

    #[test]
    fn bits_are_the_hals() {
        for (ours, theirs) in [
            (WINDLASS_COMPATIBILITY_ALLOCATABLE, Compatibility::ALLOCATABLE),
            (WINDLASS_COMPATIBILITY_IMPORTABLE, Compatibility::IMPORTABLE),
            (WINDLASS_COMPATIBILITY_EXPORTABLE, Compatibility::EXPORTABLE),
            (WINDLASS_COMPATIBILITY_QUEUE_TRANSFER, Compatibility::QUEUE_TRANSFER),
            (WINDLASS_COMPATIBILITY_QUEUE_DISPATCH, Compatibility::QUEUE_DISPATCH),
            (WINDLASS_COMPATIBILITY_LOW_PERFORMANCE, Compatibility::LOW_PERFORMANCE),
        ] {
            assert_eq!(Compatibility(ours), theirs);
        }
    }
}
