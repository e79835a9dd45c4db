// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transfers between the host's memory and buffers that the host cannot map.

use std::{ffi::c_void, ptr::NonNull};

use facade::{Buffer, BufferParams, Error, HostCallFlags, Result, Semaphore};

use crate::{
    boundary::fallible,
    buffer::{range_of, windlass_buffer_ref_t},
    callback::UserData,
    error::windlass_error_t,
    handle::used,
    memory::{bytes, check_list, write_bytes},
    queue::windlass_queue_t,
    semaphore::{lists_of, points_of, windlass_point_t},
    wait::deadline,
};

/// Copies `source` to `size` bytes of the host's memory at `target`; the sizes must be equal. The bytes are complete
/// when the signals are reached. Until the signals are reached or failed, the memory belongs to the library.
/// windlass_queue_update is the opposite direction.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_download(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    source: windlass_buffer_ref_t,
    target: *mut c_void,
    size: usize,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `lists_of`.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        let source = range_of("source", &source)?;
        check_target(&source, size, target)?;
        let queue = used(queue)?;
        let staging = queue.device().allocate(&BufferParams::host(), size.max(1) as u64)?;
        let staging = staging.subspan(0, size as u64)?;
        let mapping = staging.map()?;
        let copied = Semaphore::new(0);
        let target = UserData(target);
        queue.copy(&lists.waits, &[copied.at(1)], &source, &staging)?;
        queue.host_call(&[copied.at(1)], &lists.signals, HostCallFlags::NONE, move |_| {
            let target = target;
            // SAFETY: the header leaves `size` bytes at `target` to the library until the signals, which this call
            // settles.
            unsafe { write_bytes("target", &mapping.to_vec(), target.0) }
        })
    })
}

/// Writes `size` bytes of the host to `target` when the waits are reached, and blocks until they are written.
/// DEADLINE_EXCEEDED if the timeout expires first: the bytes were captured, and may still be written.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_upload_blocking(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    source: *const c_void,
    size: usize,
    target: windlass_buffer_ref_t,
    timeout_ns: u64,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let until = deadline(timeout_ns);
        // SAFETY: the contract in the header covers that of `points_of`.
        let waits = unsafe { points_of("waits", wait_count, waits) }?;
        // SAFETY: the contract in the header covers that of `bytes`.
        let source = unsafe { bytes("source", size, source) }?;
        let target = range_of("target", &target)?;
        let done = Semaphore::new(0);
        used(queue)?.update(&waits, &[done.at(1)], source, &target)?;
        done.wait_blocking(1, until)
    })
}

/// Copies `source` to `size` bytes of the host's memory at `target` when the waits are reached, and blocks until the
/// copy is complete; the sizes must be equal. After a failure, DEADLINE_EXCEEDED included, the memory is unchanged and
/// stays so.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_download_blocking(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    source: windlass_buffer_ref_t,
    target: *mut c_void,
    size: usize,
    timeout_ns: u64,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let until = deadline(timeout_ns);
        // SAFETY: the contract in the header covers that of `points_of`.
        let waits = unsafe { points_of("waits", wait_count, waits) }?;
        let source = range_of("source", &source)?;
        check_target(&source, size, target)?;
        let bytes = used(queue)?.download(&waits, &source)?.wait(until)?;
        // SAFETY: the contract in the header covers that of `write_bytes`.
        unsafe { write_bytes("target", &bytes, target) }
    })
}

/// Fails unless the host's memory has exactly the size of the source.
fn check_target(source: &Buffer, size: usize, target: *mut c_void) -> Result<()> {
    let length = source.len();
    if length != size as u64 {
        return Err(Error::invalid_argument(format!(
            "a download of {length} bytes to {size}: source and target must have the same length"
        )));
    }
    check_list("target", size, target.cast::<u8>())
}
