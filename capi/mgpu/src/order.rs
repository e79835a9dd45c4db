// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions of streams.

use std::{ffi::c_void, ptr, sync::Arc};

use facade::Result;

use crate::{
    boundary::call,
    handles::Kind,
    stream::{Stream, all_tails},
};

/// The stream of a handle; the null stream for null.
pub(crate) fn stream_of(handle: *mut c_void) -> Result<Arc<Stream>> {
    if handle.is_null() { Stream::null().cloned() } else { Stream::table().get(handle) }
}

/// Makes a stream on a queue of this thread's GPU.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuStreamCreate() -> *mut c_void {
    call(ptr::null_mut(), || "mgpuStreamCreate()", || Ok(Stream::table().insert(Stream::create()?)))
}

/// Ends a stream without waiting. Its work continues.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuStreamDestroy(stream: *mut c_void) {
    call((), || format!("mgpuStreamDestroy({stream:p})"), || Stream::destroy(stream));
}

/// Blocks until the work of a stream is done; for null, that of all streams.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuStreamSynchronize(stream: *mut c_void) {
    call((), || format!("mgpuStreamSynchronize({stream:p})"), || stream_of(stream)?.synchronize());
}

/// Blocks until the work that all streams have now is done. A failure is told by the stream that it belongs to.
pub(crate) fn synchronize_all() -> Result<()> {
    for point in all_tails()?.iter() {
        let _ = point.semaphore.wait_blocking(point.value, facade::Deadline::NEVER);
    }
    Ok(())
}
