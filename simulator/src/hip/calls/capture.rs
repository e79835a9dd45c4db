// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stream capture.

use std::ffi::{c_uint, c_ulonglong};

use windlass_hip_sys::bindings::{
    hipError_t, hipGraph_t, hipGraphEdgeData, hipGraphNode_t, hipStream_t, hipStreamCaptureMode,
    hipStreamCaptureStatus,
};

use super::graph::{graph, handles};
use crate::hip::boundary::call::Call;
use crate::hip::graphs::capture::Given;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::packet::Role;

pub(in crate::hip) unsafe extern "C" fn hipStreamBeginCapture(
    stream: hipStream_t,
    mode: hipStreamCaptureMode,
) -> hipError_t {
    hip!(hipStreamBeginCapture, |call| {
        let stream = call.stream(stream)?;
        call.runtime.machine.device(stream.device)?.check()?;
        call.runtime.captures.begin(&stream, mode.0, None)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamBeginCaptureToGraph(
    stream: hipStream_t,
    handle: hipGraph_t,
    dependencies: *const hipGraphNode_t,
    data: *const hipGraphEdgeData,
    count: usize,
    mode: hipStreamCaptureMode,
) -> hipError_t {
    hip!(hipStreamBeginCaptureToGraph, |call| {
        if !data.is_null() {
            explain("edges of graphs have no data: pass no dependencyData".to_owned());
            return Err(Code::NOT_SUPPORTED);
        }
        let graph = graph(call, handle)?;
        if dependencies.is_null() != (count == 0) {
            return Err(Code::INVALID_VALUE);
        }
        let stream = call.stream(stream)?;
        call.runtime.machine.device(stream.device)?.check()?;
        let given = Given { graph, handle: handle as u64, after: handles(call, dependencies, count)? };
        call.runtime.captures.begin(&stream, mode.0, Some(given))
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamEndCapture(
    stream: hipStream_t,
    graph: *mut hipGraph_t,
) -> hipError_t {
    hip!(hipStreamEndCapture, |call| {
        // HIP 5 refuses the null stream.
        if graph.is_null() || stream.is_null() && !call.is_since(6) {
            return Err(Code::INVALID_VALUE);
        }
        let ended = call.runtime.captures.end(&*call.stream(stream)?);
        if call.is_since(6) || ended != Err(Code::ILLEGAL_STATE) {
            call.put(graph, ended.unwrap_or(0) as hipGraph_t)?;
        }
        ended.map(|_| ())
    })
}

/// Writes whether a stream is being captured, and the number and graph of a capture that goes on, whose frontier it returns.
fn info(
    call: &Call,
    stream: hipStream_t,
    status: *mut hipStreamCaptureStatus,
    id: *mut c_ulonglong,
    graph: *mut hipGraph_t,
) -> Outcome<Option<Vec<u64>>> {
    let stream = call.stream(stream)?;
    if stream.role == Role::Null && !call.is_since(6) {
        // HIP 5 knows only that the null stream is not captured.
        return match call.name {
            "hipStreamIsCapturing" => {
                call.put(status, hipStreamCaptureStatus::hipStreamCaptureStatusNone).map(|()| None)
            }
            _ if status.is_null() => Err(Code::INVALID_VALUE),
            _ => Err(Code::UNKNOWN),
        };
    }
    // The question spoils no capture.
    if stream.role == Role::Null && call.runtime.captures.bar_null_stream(stream.device) {
        return Err(Code::STREAM_CAPTURE_IMPLICIT);
    }
    let capture = call.runtime.captures.of_stream(&stream);
    let found = match &capture {
        None => hipStreamCaptureStatus::hipStreamCaptureStatusNone,
        Some(capture) if capture.is_spoilt() => hipStreamCaptureStatus::hipStreamCaptureStatusInvalidated,
        Some(_) => hipStreamCaptureStatus::hipStreamCaptureStatusActive,
    };
    call.put(status, found)?;
    let active = capture.filter(|_| found == hipStreamCaptureStatus::hipStreamCaptureStatusActive);
    if let Some(capture) = &active {
        call.put_if(id, capture.id);
        call.put_if(graph, capture.graph_handle as hipGraph_t);
    }
    Ok(active.map(|capture| capture.frontier(&stream)))
}

pub(in crate::hip) unsafe extern "C" fn hipStreamIsCapturing(
    stream: hipStream_t,
    status: *mut hipStreamCaptureStatus,
) -> hipError_t {
    let null = std::ptr::null_mut();
    hip!(hipStreamIsCapturing, |call| { info(call, stream, status, null, std::ptr::null_mut()).map(|_| ()) })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamGetCaptureInfo(
    stream: hipStream_t,
    status: *mut hipStreamCaptureStatus,
    id: *mut c_ulonglong,
) -> hipError_t {
    hip!(hipStreamGetCaptureInfo, |call| { info(call, stream, status, id, std::ptr::null_mut()).map(|_| ()) })
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
        let Some(frontier) = info(call, stream, status, id, graph)? else { return Ok(()) };
        call.put_if(count, frontier.len());
        // The runtime owns the list, which lasts until the thread's next call of this function.
        let mut kept = call.thread.capture_frontier.borrow_mut();
        *kept = frontier;
        let list = if kept.is_empty() { std::ptr::null() } else { kept.as_ptr() };
        call.put_if(dependencies, list.cast());
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamUpdateCaptureDependencies(
    stream: hipStream_t,
    dependencies: *mut hipGraphNode_t,
    count: usize,
    flags: c_uint,
) -> hipError_t {
    /// hipStreamAddCaptureDependencies and hipStreamSetCaptureDependencies.
    const ADD: c_uint = 0;
    const SET: c_uint = 1;
    hip!(hipStreamUpdateCaptureDependencies, |call| {
        let stream = call.stream(stream)?;
        let capture = call.runtime.captures.of_stream(&stream).ok_or(Code::ILLEGAL_STATE)?;
        if flags != ADD && flags != SET {
            return Err(Code::INVALID_VALUE);
        }
        capture.set_frontier(&stream, handles(call, dependencies, count)?, flags == ADD)
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
