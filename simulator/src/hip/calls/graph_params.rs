// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters of graph nodes, given back to the client.

use std::ffi::c_void;

use windlass_hip_sys::bindings::{
    HIP_MEMCPY3D, hipError_t, hipEvent_t, hipExtent, hipGraph_t, hipGraphNode_t, hipHostNodeParams,
    hipKernelNodeParams, hipMemcpy3DParms, hipMemcpyKind, hipMemoryType, hipMemsetParams, hipPitchedPtr,
};

use super::graph::node;
use super::launch::dimensions;
use crate::hip::boundary::call::Call;
use crate::hip::graphs::operation::{CopyWords, Operation};
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::host_function::HostCall;
use crate::packet::{CopyCall, Direction, FillCall, Rows};

pub(in crate::hip) unsafe extern "C" fn hipGraphKernelNodeGetParams(
    handle: hipGraphNode_t,
    parameters: *mut hipKernelNodeParams,
) -> hipError_t {
    hip!(hipGraphKernelNodeGetParams, |call| {
        let (node, _) = node(call, handle)?;
        let Operation::Launch(launch, _) = node.operation() else { return Err(Code::INVALID_VALUE) };
        let (each, block) = node.lend(&launch);
        let told = hipKernelNodeParams {
            blockDim: dimensions(launch.shape.block),
            extra: block as *mut *mut c_void,
            func: launch.named as *mut c_void,
            gridDim: dimensions(launch.shape.grid),
            kernelParams: each as *mut *mut c_void,
            sharedMemBytes: launch.shape.dynamic_lds,
        };
        call.put(parameters, told)
    })
}

/// `hipMemcpyKind`.
fn kind(direction: Direction) -> hipMemcpyKind {
    match direction {
        Direction::HostToHost => hipMemcpyKind::hipMemcpyHostToHost,
        Direction::HostToDevice => hipMemcpyKind::hipMemcpyHostToDevice,
        Direction::DeviceToHost => hipMemcpyKind::hipMemcpyDeviceToHost,
        Direction::DeviceToDevice => hipMemcpyKind::hipMemcpyDeviceToDevice,
        Direction::Any => hipMemcpyKind::hipMemcpyDefault,
    }
}

/// The pitch of one side of a copy, and its rows from plane to plane. One row has neither.
fn pitch_and_height(rows: Rows) -> (usize, usize) {
    match (rows.extents(), rows.pitches()) {
        ([_, 1, 1], _) => (0, 0),
        (_, [pitch, plane_pitch]) => (pitch as usize, plane_pitch.checked_div(pitch).unwrap_or(0) as usize),
    }
}

/// The struct of the runtime API for a copy that was described otherwise.
fn in_runtime_words(copy: &CopyCall) -> hipMemcpy3DParms {
    let [width, rows, planes] = copy.to.1.extents().map(|extent| extent as usize);
    let side = |(address, rows): (u64, Rows)| {
        let (pitch, ysize) = pitch_and_height(rows);
        let xsize = if pitch == 0 { 0 } else { width };
        hipPitchedPtr { ptr: address as *mut c_void, pitch, xsize, ysize }
    };
    hipMemcpy3DParms {
        srcPtr: side(copy.from),
        dstPtr: side(copy.to),
        extent: hipExtent { width, height: rows, depth: planes },
        kind: kind(copy.direction),
        ..Default::default()
    }
}

/// The struct of the driver API for a copy that was described otherwise.
fn in_driver_words(copy: &CopyCall) -> HIP_MEMCPY3D {
    let [width, rows, planes] = copy.to.1.extents().map(|extent| extent as usize);
    let (host, device) = (hipMemoryType::hipMemoryTypeHost, hipMemoryType::hipMemoryTypeDevice);
    let any = hipMemoryType::hipMemoryTypeUnified;
    let (from, to) = match copy.direction {
        Direction::HostToHost => (host, host),
        Direction::HostToDevice => (host, device),
        Direction::DeviceToHost => (device, host),
        Direction::DeviceToDevice => (device, device),
        Direction::Any => (any, any),
    };
    let (from_pitch, from_height) = pitch_and_height(copy.from.1);
    let (to_pitch, to_height) = pitch_and_height(copy.to.1);
    let at = |kind, wanted, address: u64| {
        if kind == wanted { address as *mut c_void } else { std::ptr::null_mut() }
    };
    let on_device =
        |kind, address: u64| if kind == host { std::ptr::null_mut() } else { address as *mut c_void };
    HIP_MEMCPY3D {
        srcMemoryType: from,
        srcHost: at(from, host, copy.from.0),
        srcDevice: on_device(from, copy.from.0),
        srcPitch: from_pitch,
        srcHeight: from_height,
        dstMemoryType: to,
        dstHost: at(to, host, copy.to.0),
        dstDevice: on_device(to, copy.to.0),
        dstPitch: to_pitch,
        dstHeight: to_height,
        WidthInBytes: width,
        Height: rows,
        Depth: planes,
        ..Default::default()
    }
}

/// The copy of a node.
fn copy_of(call: &Call, handle: hipGraphNode_t) -> Outcome<(CopyCall, CopyWords)> {
    match node(call, handle)?.0.operation() {
        Operation::Copy(copy, words) => Ok((copy, words)),
        _ => Err(Code::INVALID_VALUE),
    }
}

pub(in crate::hip) unsafe extern "C" fn hipGraphMemcpyNodeGetParams(
    handle: hipGraphNode_t,
    parameters: *mut hipMemcpy3DParms,
) -> hipError_t {
    hip!(hipGraphMemcpyNodeGetParams, |call| {
        let told = match copy_of(call, handle)? {
            (_, CopyWords::Runtime(given)) => given.0,
            (copy, _) => in_runtime_words(&copy),
        };
        call.put(parameters, told)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDrvGraphMemcpyNodeGetParams(
    handle: hipGraphNode_t,
    parameters: *mut HIP_MEMCPY3D,
) -> hipError_t {
    hip!(hipDrvGraphMemcpyNodeGetParams, |call| {
        let told = match copy_of(call, handle)? {
            (_, CopyWords::Driver(given)) => given.0,
            (copy, _) => in_driver_words(&copy),
        };
        call.put(parameters, told)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphMemsetNodeGetParams(
    handle: hipGraphNode_t,
    parameters: *mut hipMemsetParams,
) -> hipError_t {
    hip!(hipGraphMemsetNodeGetParams, |call| {
        let (node, _) = node(call, handle)?;
        let Operation::Fill(fill, pitch) = node.operation() else { return Err(Code::INVALID_VALUE) };
        let FillCall { address, rows, pattern } = fill;
        let [width, height, _] = rows.extents().map(|extent| extent as usize);
        let told = hipMemsetParams {
            dst: address as *mut c_void,
            elementSize: pattern.size as u32,
            height,
            pitch: pitch as usize,
            value: pattern.value,
            width: width / pattern.size.max(1),
        };
        call.put(parameters, told)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphHostNodeGetParams(
    handle: hipGraphNode_t,
    parameters: *mut hipHostNodeParams,
) -> hipError_t {
    hip!(hipGraphHostNodeGetParams, |call| {
        let (node, _) = node(call, handle)?;
        let Operation::Host(function) = node.operation() else { return Err(Code::INVALID_VALUE) };
        match function.call {
            HostCall::Plain(plain) => {
                call.put(parameters, hipHostNodeParams { fn_: Some(plain), userData: function.data })
            }
            HostCall::WithStatus(..) => {
                explain(
                    "the node calls a callback of hipStreamAddCallback, which is no hipHostFn_t".to_owned(),
                );
                Err(Code::INVALID_VALUE)
            }
        }
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphChildGraphNodeGetGraph(
    handle: hipGraphNode_t,
    graph: *mut hipGraph_t,
) -> hipError_t {
    hip!(hipGraphChildGraphNodeGetGraph, |call| match node(call, handle)?.0.operation() {
        Operation::Child(_, child) => call.put(graph, child as hipGraph_t),
        _ => {
            call.put_if(graph, std::ptr::null_mut());
            Err(Code::INVALID_VALUE)
        }
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphEventRecordNodeGetEvent(
    handle: hipGraphNode_t,
    event: *mut hipEvent_t,
) -> hipError_t {
    hip!(hipGraphEventRecordNodeGetEvent, |call| match node(call, handle)?.0.operation() {
        Operation::Record(_, own) => call.put(event, own as hipEvent_t),
        _ => Err(Code::INVALID_VALUE),
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphEventWaitNodeGetEvent(
    handle: hipGraphNode_t,
    event: *mut hipEvent_t,
) -> hipError_t {
    hip!(hipGraphEventWaitNodeGetEvent, |call| match node(call, handle)?.0.operation() {
        Operation::Wait(_, own) => call.put(event, own as hipEvent_t),
        _ => Err(Code::INVALID_VALUE),
    })
}
