// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stream capture: there is none, which clients that never capture still ask about.

use std::ffi::c_ulonglong;

use windlass_hip_sys::bindings::{
    hipError_t, hipGraph_t, hipGraphNode_t, hipStream_t, hipStreamCaptureMode, hipStreamCaptureStatus,
};

use crate::hip::call::Call;
use crate::hip::code::{Code, Outcome};

fn not_capturing(call: &Call, stream: hipStream_t, status: *mut hipStreamCaptureStatus) -> Outcome<()> {
    call.stream(stream)?;
    call.put(status, hipStreamCaptureStatus::hipStreamCaptureStatusNone)
}

pub(in crate::hip) unsafe extern "C" fn hipStreamIsCapturing(
    stream: hipStream_t,
    status: *mut hipStreamCaptureStatus,
) -> hipError_t {
    hip!(hipStreamIsCapturing, |call| not_capturing(call, stream, status))
}

pub(in crate::hip) unsafe extern "C" fn hipStreamGetCaptureInfo(
    stream: hipStream_t,
    status: *mut hipStreamCaptureStatus,
    id: *mut c_ulonglong,
) -> hipError_t {
    hip!(hipStreamGetCaptureInfo, |call| {
        not_capturing(call, stream, status)?;
        call.put_if(id, 0);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamGetCaptureInfo_v2(
    stream: hipStream_t,
    status: *mut hipStreamCaptureStatus,
    id: *mut c_ulonglong,
    graph: *mut hipGraph_t,
    dependencies: *mut *const hipGraphNode_t,
    count: *mut usize,
) -> hipError_t {
    hip!(hipStreamGetCaptureInfo_v2, |call| {
        not_capturing(call, stream, status)?;
        call.put_if(id, 0);
        call.put_if(graph, std::ptr::null_mut());
        call.put_if(dependencies, std::ptr::null());
        call.put_if(count, 0);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipThreadExchangeStreamCaptureMode(
    mode: *mut hipStreamCaptureMode,
) -> hipError_t {
    hip!(hipThreadExchangeStreamCaptureMode, |call| {
        let wanted = call.get(mode)?;
        // Global, thread-local, relaxed.
        if wanted.0 > 2 {
            return Err(Code::INVALID_VALUE);
        }
        let before = call.thread.capture_mode.replace(wanted.0);
        call.put(mode, hipStreamCaptureMode(before))
    })
}
