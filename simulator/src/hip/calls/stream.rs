// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams, and host functions on them.

use std::ffi::{c_int, c_uint, c_void};

use windlass_hip_sys::bindings::{
    hipDevice_t, hipError_t, hipEvent_t, hipHostFn_t, hipStream_t, hipStreamCallback_t,
};

use crate::hip::boundary::call::Call;
use crate::hip::boundary::target::Target;
use crate::hip::graphs::operation::Operation;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::work::host_function::{HostCall, HostFunction};
use crate::hip::work::item::Work;
use crate::packet::{Point, Role};

/// The greatest priority, which is the least number.
const GREATEST_PRIORITY: i32 = -1;
const LEAST_PRIORITY: i32 = 1;

fn create(call: &Call, stream: *mut hipStream_t, flags: c_uint, priority: c_int) -> Outcome<()> {
    let role = match flags {
        0 => Role::Blocking,
        1 => Role::NonBlocking,
        _ => return Err(Code::INVALID_VALUE),
    };
    if stream.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let device = call.device()?.index;
    let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
    let made = call.runtime.create_stream(device, role, priority);
    let Some(handle) = call.runtime.streams.insert(made.clone()) else {
        call.runtime.scheduler.close_queue(&made);
        return Err(Code::OUT_OF_MEMORY);
    };
    made.set_name(handle.get());
    call.put(stream, handle.get() as hipStream_t)
}

pub(in crate::hip) unsafe extern "C" fn hipStreamCreate(stream: *mut hipStream_t) -> hipError_t {
    hip!(hipStreamCreate, |call| create(call, stream, 0, 0))
}

pub(in crate::hip) unsafe extern "C" fn hipStreamCreateWithFlags(
    stream: *mut hipStream_t,
    flags: c_uint,
) -> hipError_t {
    hip!(hipStreamCreateWithFlags, |call| create(call, stream, flags, 0))
}

pub(in crate::hip) unsafe extern "C" fn hipStreamCreateWithPriority(
    stream: *mut hipStream_t,
    flags: c_uint,
    priority: c_int,
) -> hipError_t {
    hip!(hipStreamCreateWithPriority, |call| create(call, stream, flags, priority))
}

pub(in crate::hip) unsafe extern "C" fn hipStreamDestroy(stream: hipStream_t) -> hipError_t {
    hip!(hipStreamDestroy, |call| {
        // The null stream, hipStreamLegacy (since HIP 6) and hipStreamPerThread.
        if (stream as u64) <= 2 && (call.is_since(6) || stream as u64 != 1) {
            return Err(Code::INVALID_HANDLE);
        }
        let gone = call.runtime.streams.remove(stream as u64).ok_or(Code::CONTEXT_IS_DESTROYED)?;
        call.runtime.captures.leave(&gone);
        call.runtime.scheduler.close_queue(&gone);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamQuery(stream: hipStream_t) -> hipError_t {
    hip!(hipStreamQuery, |call| {
        let stream = call.working_stream(stream)?;
        if stream.role != Role::Null && call.is_since(6) {
            call.outside_captures()?;
        }
        let reached = match stream.role {
            // It waits for the work of blocking streams, which counts as its own.
            Role::Null => call.runtime.scheduler.null_tails(stream.device).iter().all(Point::is_reached),
            _ => call.runtime.scheduler.tail(&stream).is_reached(),
        };
        // A failure in the meantime counts.
        call.runtime.machine.device(stream.device)?.check()?;
        if reached { stream.report() } else { Err(Code::NOT_READY) }
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamSynchronize(stream: hipStream_t) -> hipError_t {
    hip!(hipStreamSynchronize, |call| {
        let stream = call.stream(stream)?;
        if let Some(capture) = call.runtime.captures.of_stream(&stream) {
            return capture.refuse(call.name);
        }
        if stream.role == Role::Null {
            call.check_null_stream(stream.device)?;
        } else if call.is_since(6) {
            call.outside_captures()?;
        }
        // The null stream is done when the earlier work of blocking streams is.
        let tail = match stream.role {
            Role::Null => call.runtime.enqueue(&stream, Work::Nothing, &[])?,
            _ => call.runtime.scheduler.tail(&stream),
        };
        call.runtime.scheduler.wait(&[tail])?;
        call.runtime.release_pools(stream.device);
        call.runtime.machine.device(stream.device)?.check()?;
        stream.report()
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamWaitEvent(
    stream: hipStream_t,
    event: hipEvent_t,
    flags: c_uint,
) -> hipError_t {
    hip!(hipStreamWaitEvent, |call| {
        let target = call.target(stream)?;
        let handle = event as u64;
        let event = call.runtime.events.get(handle).ok_or(Code::INVALID_HANDLE)?;
        // 1 is hipEventWaitExternal, since HIP 6.
        if flags > u32::from(call.is_since(6)) {
            return Err(Code::INVALID_VALUE);
        }
        let (captured, captures) = (event.captured(), &call.runtime.captures);
        let capture = captured.as_ref().and_then(|place| captures.under_way(place.capture));
        let stream = match (target, captured, capture) {
            (Target::Record(capture, stream), ..) if flags == 1 => {
                return capture.add(&stream, Operation::Wait(event, handle));
            }
            (Target::Run(stream) | Target::Record(_, stream), Some(place), Some(capture)) => {
                return captures.join(&capture, &stream, &place.nodes);
            }
            (Target::Record(capture, _), ..) => return capture.refuse_isolated(),
            (Target::Run(_), Some(_), None) => return Err(Code::CAPTURED_EVENT),
            (Target::Run(stream), None, _) => stream,
        };
        // No wait is needed for an event that was never recorded or is reached.
        let Some(edge) = event.edge() else { return Ok(()) };
        call.runtime.enqueue(&stream, Work::Nothing, &[edge]).map(|_| ())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamGetFlags(
    stream: hipStream_t,
    flags: *mut c_uint,
) -> hipError_t {
    hip!(hipStreamGetFlags, |call| match stream.is_null() {
        true => Err(Code::INVALID_VALUE),
        false => call.put(flags, call.stream(stream)?.flags()),
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamGetPriority(
    stream: hipStream_t,
    priority: *mut c_int,
) -> hipError_t {
    hip!(hipStreamGetPriority, |call| call.put(priority, call.stream(stream)?.priority))
}

pub(in crate::hip) unsafe extern "C" fn hipStreamGetDevice(
    stream: hipStream_t,
    device: *mut hipDevice_t,
) -> hipError_t {
    hip!(hipStreamGetDevice, |call| call.put(device, call.stream(stream)?.device as hipDevice_t))
}

pub(in crate::hip) unsafe extern "C" fn hipGetStreamDeviceId(stream: hipStream_t) -> c_int {
    let mut device = -1;
    let _ = hip!(hipGetStreamDeviceId, |call| {
        device = call.stream(stream)?.device as c_int;
        Ok(())
    });
    device
}

pub(in crate::hip) unsafe extern "C" fn hipLaunchHostFunc(
    stream: hipStream_t,
    function: hipHostFn_t,
    data: *mut c_void,
) -> hipError_t {
    hip!(hipLaunchHostFunc, |call| {
        let target = call.target(stream)?;
        let function = function.ok_or(Code::INVALID_VALUE)?;
        let function = HostFunction { call: HostCall::Plain(function), data };
        match target {
            Target::Record(capture, stream) => capture.add(&stream, Operation::Host(function)),
            Target::Run(stream) => {
                let work = Work::HostFunction(function);
                call.runtime.enqueue(&stream, work, &[]).map(|_| ())
            }
        }
    })
}

pub(in crate::hip) unsafe extern "C" fn hipStreamAddCallback(
    stream: hipStream_t,
    callback: hipStreamCallback_t,
    data: *mut c_void,
    flags: c_uint,
) -> hipError_t {
    hip!(hipStreamAddCallback, |call| {
        // HIP 7 allows no callbacks in captures.
        let target = match call.runtime.options.hip >= (7, 0) {
            true => Target::Run(call.working_stream(stream)?),
            false => call.target(stream)?,
        };
        let callback = callback.ok_or(Code::INVALID_VALUE)?;
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let function = HostCall::WithStatus(callback, stream as u64);
        let function = HostFunction { call: function, data };
        match target {
            Target::Record(capture, stream) => capture.add(&stream, Operation::Host(function)),
            Target::Run(queue) => call.runtime.enqueue(&queue, Work::HostFunction(function), &[]).map(|_| ()),
        }
    })
}
