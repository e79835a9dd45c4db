// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several copies by one call, in the order of a stream.

use std::ffi::{c_ulonglong, c_void};

use windlass_hip_sys::bindings::{
    hipError_t, hipMemcpy3DBatchOp, hipMemcpy3DOperand, hipMemcpy3DOperandType, hipMemcpyAttributes,
    hipMemcpySrcAccessOrder, hipStream_t,
};

use super::copy::{Return, queue};
use super::volume::{Side, refuse_arrays};
use crate::hip::boundary::call::Call;
use crate::hip::words::code::{Code, Outcome};
use crate::packet::{CopyCall, Direction, Rows};

/// The place that tells a client that no single copy failed.
const NONE: usize = usize::MAX;

/// Refuses a handle of no stream, and a stream that is captured: AMD's HIP puts no batch into a graph.
fn check_stream(call: &Call, stream: hipStream_t) -> Outcome<()> {
    call.working_stream(stream).map(|_| ()).map_err(|code| match code {
        Code::CONTEXT_IS_DESTROYED => Code::INVALID_HANDLE,
        code => code,
    })
}

/// Checks the attributes of a batch: each begins at a copy, the first at the first, and names an order of accesses. All
/// orders allow the simulator's, the order of the stream.
fn check_attributes(
    call: &Call,
    attributes: *const hipMemcpyAttributes,
    firsts: *const usize,
    count: usize,
    copies: usize,
) -> Outcome<()> {
    if count == 0 {
        return Ok(());
    }
    if attributes.is_null() || firsts.is_null() || count > copies {
        return Err(Code::INVALID_VALUE);
    }
    let mut before = None;
    for index in 0..count {
        let first = call.get(firsts.wrapping_add(index))?;
        let order = call.get(attributes.wrapping_add(index))?.srcAccessOrder;
        let follows = before.map_or(first == 0, |before| first > before && first < copies);
        let known = hipMemcpySrcAccessOrder::hipMemcpySrcAccessOrderStream.0
            ..=hipMemcpySrcAccessOrder::hipMemcpySrcAccessOrderAny.0;
        if !follows || !known.contains(&order.0) {
            return Err(Code::INVALID_VALUE);
        }
        before = Some(first);
    }
    Ok(())
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpyBatchAsync(
    to: *mut *mut c_void,
    from: *mut *mut c_void,
    sizes: *mut usize,
    count: usize,
    attributes: *mut hipMemcpyAttributes,
    firsts: *mut usize,
    attribute_count: usize,
    failed: *mut usize,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemcpyBatchAsync, |call| {
        check_stream(call, stream)?;
        if to.is_null() || from.is_null() || sizes.is_null() || count == 0 {
            return Err(Code::INVALID_VALUE);
        }
        check_attributes(call, attributes, firsts, attribute_count, count)?;
        let copy_at = |index: usize| {
            let size = call.get(sizes.wrapping_add(index))?;
            if size == 0 {
                return Err(Code::INVALID_VALUE);
            }
            let (to, from) = (call.get(to.wrapping_add(index))?, call.get(from.wrapping_add(index))?);
            let rows = Rows::line(size as u64);
            let direction = Direction::Any;
            Ok(CopyCall { to: (to as u64, rows), from: (from as u64, rows), direction })
        };
        // No copy is queued unless all of them can be.
        for index in 0..count {
            let checked = copy_at(index).and_then(|copy| {
                call.runtime.machine.transfer(&copy)?;
                Ok(())
            });
            checked.inspect_err(|_| call.put_if(failed, index))?;
        }
        call.put_if(failed, NONE);
        (0..count).try_for_each(|index| queue(call, stream, copy_at(index)?, Return::WhenQueued))
    })
}

/// One side of a copy of a batch. Without arrays its elements are bytes.
fn side(call: &Call, operand: &hipMemcpy3DOperand) -> Outcome<Side> {
    match operand.type_ {
        hipMemcpy3DOperandType::hipMemcpyOperandTypePointer => {
            // SAFETY: the type says which field the client has filled, and every bit pattern is a value of it.
            let place = unsafe { operand.op.ptr };
            Ok(Side { base: place.ptr as u64, at: [0; 3], pitch: place.rowLength, height: place.layerHeight })
        }
        hipMemcpy3DOperandType::hipMemcpyOperandTypeArray => refuse_arrays(call),
        _ => Err(Code::INVALID_VALUE),
    }
}

fn box_of(call: &Call, operation: &hipMemcpy3DBatchOp) -> Outcome<CopyCall> {
    let extent = [operation.extent.width, operation.extent.height, operation.extent.depth];
    Ok(CopyCall {
        to: side(call, &operation.dst)?.place(extent)?,
        from: side(call, &operation.src)?.place(extent)?,
        direction: Direction::Any,
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpy3DBatchAsync(
    count: usize,
    operations: *mut hipMemcpy3DBatchOp,
    failed: *mut usize,
    flags: c_ulonglong,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemcpy3DBatchAsync, |call| {
        if flags != 0 || operations.is_null() || count == 0 {
            return Err(Code::INVALID_VALUE);
        }
        check_stream(call, stream)?;
        call.put_if(failed, NONE);
        // As in AMD's HIP, the copies before a wrong one are done.
        for index in 0..count {
            let operation = call.get(operations.wrapping_add(index))?;
            let queued =
                box_of(call, &operation).and_then(|copy| queue(call, stream, copy, Return::WhenQueued));
            queued.inspect_err(|_| call.put_if(failed, index))?;
        }
        Ok(())
    })
}
