// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `_spt` functions, which programs built with `HIP_API_PER_THREAD_DEFAULT_STREAM` call: like the plain
//! ones, but without a stream they use the thread's own.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

use windlass_hip_sys::bindings::*;

use crate::absent::Absent;
use crate::composed::{composed, hipMemset3DAsync};
use crate::declared::*;
use crate::versions::versioned;

/// `hipStreamPerThread`.
const OWN: hipStream_t = 2 as hipStream_t;

/// The caller's stream; the thread's own for no stream or the null stream.
fn own(stream: hipStream_t) -> hipStream_t {
    if stream as usize <= 1 { OWN } else { stream }
}

/// Waits for the thread's own stream after a call that queued work on it.
fn finish(status: hipError_t) -> hipError_t {
    if status != hipError_t::hipSuccess {
        return status;
    }
    // SAFETY: every thread has this stream.
    unsafe { hipStreamSynchronize(OWN) }
}

composed! {
    "hip_5.2" {
        hipMemcpy_spt(to: *mut c_void, from: *const c_void, size: usize, kind: hipMemcpyKind)
            => hipMemcpyWithStream(to, from, size, kind, OWN);
        hipMemcpyAsync_spt(
            to: *mut c_void, from: *const c_void, size: usize, kind: hipMemcpyKind, stream: hipStream_t,
        ) => hipMemcpyAsync(to, from, size, kind, own(stream));
        hipMemcpyToSymbol_spt(
            symbol: *const c_void, from: *const c_void, size: usize, offset: usize, kind: hipMemcpyKind,
        ) => finish(hipMemcpyToSymbolAsync(symbol, from, size, offset, kind, OWN));
        hipMemcpyFromSymbol_spt(
            to: *mut c_void, symbol: *const c_void, size: usize, offset: usize, kind: hipMemcpyKind,
        ) => finish(hipMemcpyFromSymbolAsync(to, symbol, size, offset, kind, OWN));
        hipMemcpy2D_spt(
            to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize,
            kind: hipMemcpyKind,
        ) => finish(hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, OWN));
        hipMemcpy3D_spt(copy: *const hipMemcpy3DParms) => finish(hipMemcpy3DAsync(copy, OWN));
        hipMemset_spt(to: *mut c_void, value: c_int, size: usize)
            => finish(hipMemsetAsync(to, value, size, OWN));
        hipMemset2D_spt(to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize)
            => finish(hipMemset2DAsync(to, pitch, value, width, height, OWN));
        hipMemset3D_spt(memory: hipPitchedPtr, value: c_int, extent: hipExtent)
            => finish(hipMemset3DAsync(memory, value, extent, OWN));
        hipStreamSynchronize_spt(stream: hipStream_t) => hipStreamSynchronize(own(stream));
        hipStreamQuery_spt(stream: hipStream_t) => hipStreamQuery(own(stream));
        hipStreamGetFlags_spt(stream: hipStream_t, flags: *mut c_uint) => hipStreamGetFlags(own(stream), flags);
        hipStreamGetPriority_spt(stream: hipStream_t, priority: *mut c_int)
            => hipStreamGetPriority(own(stream), priority);
        hipStreamWaitEvent_spt(stream: hipStream_t, event: hipEvent_t, flags: c_uint)
            => hipStreamWaitEvent(own(stream), event, flags);
        hipEventRecord_spt(event: hipEvent_t, stream: hipStream_t) => hipEventRecord(event, own(stream));
        hipLaunchKernel_spt(
            function: *const c_void, grid: dim3, block: dim3, arguments: *mut *mut c_void, dynamic_lds: usize,
            stream: hipStream_t,
        ) => hipLaunchKernel(function, grid, block, arguments, dynamic_lds, own(stream));
        hipLaunchCooperativeKernel_spt(
            function: *const c_void, grid: dim3, block: dim3, arguments: *mut *mut c_void, dynamic_lds: c_uint,
            stream: hipStream_t,
        ) => hipLaunchCooperativeKernel(function, grid, block, arguments, dynamic_lds, own(stream));
    }
    "hip_5.3" {
        hipMemsetAsync_spt(to: *mut c_void, value: c_int, size: usize, stream: hipStream_t)
            => hipMemsetAsync(to, value, size, own(stream));
        hipMemset2DAsync_spt(
            to: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize, stream: hipStream_t,
        ) => hipMemset2DAsync(to, pitch, value, width, height, own(stream));
        hipMemset3DAsync_spt(memory: hipPitchedPtr, value: c_int, extent: hipExtent, stream: hipStream_t)
            => hipMemset3DAsync(memory, value, extent, own(stream));
        hipMemcpy2DAsync_spt(
            to: *mut c_void, to_pitch: usize, from: *const c_void, from_pitch: usize, width: usize, height: usize,
            kind: hipMemcpyKind, stream: hipStream_t,
        ) => hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, own(stream));
        hipMemcpy3DAsync_spt(copy: *const hipMemcpy3DParms, stream: hipStream_t)
            => hipMemcpy3DAsync(copy, own(stream));
        hipMemcpyToSymbolAsync_spt(
            symbol: *const c_void, from: *const c_void, size: usize, offset: usize, kind: hipMemcpyKind,
            stream: hipStream_t,
        ) => hipMemcpyToSymbolAsync(symbol, from, size, offset, kind, own(stream));
        hipMemcpyFromSymbolAsync_spt(
            to: *mut c_void, symbol: *const c_void, size: usize, offset: usize, kind: hipMemcpyKind,
            stream: hipStream_t,
        ) => hipMemcpyFromSymbolAsync(to, symbol, size, offset, kind, own(stream));
        hipStreamAddCallback_spt(
            stream: hipStream_t, callback: hipStreamCallback_t, data: *mut c_void, flags: c_uint,
        ) => hipStreamAddCallback(own(stream), callback, data, flags);
        hipLaunchHostFunc_spt(stream: hipStream_t, function: hipHostFn_t, data: *mut c_void)
            => hipLaunchHostFunc(own(stream), function, data);
        hipGraphLaunch_spt(graph: hipGraphExec_t, stream: hipStream_t) => hipGraphLaunch(graph, own(stream));
        hipStreamBeginCapture_spt(stream: hipStream_t, mode: hipStreamCaptureMode)
            => hipStreamBeginCapture(own(stream), mode);
        hipStreamEndCapture_spt(stream: hipStream_t, graph: *mut hipGraph_t)
            => hipStreamEndCapture(own(stream), graph);
        hipStreamIsCapturing_spt(stream: hipStream_t, status: *mut hipStreamCaptureStatus)
            => hipStreamIsCapturing(own(stream), status);
        hipStreamGetCaptureInfo_spt(
            stream: hipStream_t, status: *mut hipStreamCaptureStatus, id: *mut c_ulonglong,
        ) => hipStreamGetCaptureInfo(own(stream), status, id);
        hipStreamGetCaptureInfo_v2_spt(
            stream: hipStream_t, status: *mut hipStreamCaptureStatus, id: *mut c_ulonglong, graph: *mut hipGraph_t,
            dependencies: *mut *const hipGraphNode_t, count: *mut usize,
        ) => hipStreamGetCaptureInfo_v2(own(stream), status, id, graph, dependencies, count);
    }
}
