// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions that allocate and free memory.

use std::{ffi::c_void, ptr, sync::Mutex};

use facade::{Buffer, BufferParams, Code, Deadline, Point, Result, Semaphore};

use crate::{
    boundary::call,
    device::{self, device},
    memory::{self, Memory, Origin},
    order::stream_of,
    stream::{all_tails, lock},
};

/// The releases of memory that wait for work.
static RELEASES: Mutex<Vec<Point>> = Mutex::new(Vec::new());

/// Allocates memory, which all streams may use at once. The host may use it too if `is_host_shared`. Null for no bytes.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemAlloc(size: u64, stream: *mut c_void, is_host_shared: u8) -> *mut c_void {
    let is_host_shared = is_host_shared != 0;
    let attempt = || format!("mgpuMemAlloc({size} bytes, {stream:p}, host shared: {is_host_shared})");
    call(ptr::null_mut(), attempt, || {
        stream_of(stream)?;
        if size == 0 {
            return Ok(ptr::null_mut());
        }
        let buffer = allocate(size, is_host_shared)?;
        let (address, origin) = if is_host_shared {
            let mapping = buffer.map()?;
            mapping.as_ptr().expose_provenance();
            (mapping.as_ptr().addr() as u64, Origin::Shared { _mapping: mapping })
        } else {
            (buffer.device_address(), Origin::Device)
        };
        memory::add(address, Memory { buffer, origin })?;
        Ok(ptr::with_exposed_provenance_mut(address as usize))
    })
}

fn allocate(size: u64, is_host_shared: bool) -> Result<Buffer> {
    let params = if is_host_shared { BufferParams::host() } else { BufferParams::device() };
    let params = params.with_queue_affinity(device::affinity()?);
    let attempt = || device()?.allocate(&params, size);
    attempt().or_else(|error| {
        // Memory that was freed returns when the work so far is done. MLIR's own runtime waits for that when it frees.
        let releases = match error.code() {
            Code::ResourceExhausted => std::mem::take(&mut *lock(&RELEASES)),
            _ => Vec::new(),
        };
        for point in &releases {
            let _ = point.semaphore.wait_blocking(point.value, Deadline::NEVER);
        }
        if releases.is_empty() { Err(error) } else { attempt() }
    })
}

/// Frees memory when the work that all streams have now is done. Nothing waits for that.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemFree(pointer: *mut c_void, stream: *mut c_void) {
    call(
        (),
        || format!("mgpuMemFree({pointer:p}, {stream:p})"),
        || {
            stream_of(stream)?;
            if pointer.is_null() {
                return Ok(());
            }
            let is_allocation = |origin: &Origin| matches!(origin, Origin::Device | Origin::Shared { .. });
            let memory = memory::remove(pointer.addr() as u64, is_allocation, "an allocation")?;
            let queue = device()?.queue_of(device::affinity()?)?;
            let freed = Semaphore::new(0).at(1);
            queue.dealloca(&all_tails()?, std::slice::from_ref(&freed), &memory.buffer)?;
            let mut releases = lock(&RELEASES);
            releases.retain(|point| matches!(point.semaphore.query(), Ok(value) if value < point.value));
            releases.push(freed);
            Ok(())
        },
    );
}
