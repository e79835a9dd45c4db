// SPDX-License-Identifier: MIT OR Apache-2.0
//! Batches of waits for words of memory, and writes of them, on streams and as nodes of graphs.

use std::ffi::c_uint;
use std::sync::Arc;

use windlass_hip_sys::bindings::{
    hipBatchMemOpNodeParams, hipCtx_t, hipError_t, hipGraph_t, hipGraphExec_t, hipGraphNode_t, hipStream_t,
    hipStreamBatchMemOpParams, hipStreamBatchMemOpType,
};

use super::graph::node;
use super::graph_edit::set_in_exec;
use super::graph_node::{Place, add};
use super::stream_value::word_at;
use crate::hip::boundary::call::Call;
use crate::hip::graphs::operation::Operation;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::batch::{Batch, WordOperation};
use crate::hip::work::word::{Comparison, Until};

/// The most operations of a batch.
const MOST: c_uint = 256;

/// One operation of a client's list.
fn operation(call: &Call, parameters: &hipStreamBatchMemOpParams) -> Outcome<WordOperation> {
    // SAFETY: each member begins with the number of the operation.
    let kind = unsafe { parameters.operation };
    let size = match kind {
        hipStreamBatchMemOpType::hipStreamMemOpWaitValue32
        | hipStreamBatchMemOpType::hipStreamMemOpWriteValue32 => 4,
        hipStreamBatchMemOpType::hipStreamMemOpWaitValue64
        | hipStreamBatchMemOpType::hipStreamMemOpWriteValue64 => 8,
        _ => {
            explain(format!("{}: a batch has waits and writes, and {kind:?} is neither", call.name));
            return Err(Code::INVALID_VALUE);
        }
    };
    // SAFETY: waits and writes have the same members at the same places, and any bits are numbers.
    let (told, value) = unsafe { (parameters.waitValue, parameters.waitValue.__bindgen_anon_1.value64) };
    let value = if size == 4 { value & u64::from(u32::MAX) } else { value };
    let word = word_at(call, told.address, size)?;
    match kind {
        hipStreamBatchMemOpType::hipStreamMemOpWaitValue32
        | hipStreamBatchMemOpType::hipStreamMemOpWaitValue64 => {
            let comparison = Comparison::from_flags(told.flags).ok_or(Code::INVALID_VALUE)?;
            let mask = if size == 4 { u32::MAX.into() } else { u64::MAX };
            Ok(WordOperation::Wait(word, Until { comparison, value, mask }))
        }
        _ => Ok(WordOperation::Write(word, value)),
    }
}

/// A client's list as words, and as operations.
fn operations(
    call: &Call,
    list: *const hipStreamBatchMemOpParams,
    count: c_uint,
    flags: c_uint,
) -> Outcome<(Vec<[u64; 6]>, Vec<WordOperation>)> {
    if list.is_null() || flags != 0 || count == 0 || count > MOST {
        return Err(Code::INVALID_VALUE);
    }
    let (mut words, mut operations) = (Vec::new(), Vec::new());
    for index in 0..count as usize {
        let parameters = call.get(list.wrapping_add(index))?;
        operations.push(operation(call, &parameters)?);
        words.push(call.get(list.wrapping_add(index).cast::<[u64; 6]>())?);
    }
    Ok((words, operations))
}

fn batch(call: &Call, parameters: *const hipBatchMemOpNodeParams) -> Outcome<Operation> {
    let hipBatchMemOpNodeParams { ctx, count, paramArray, flags } = call.get(parameters)?;
    if ctx.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let (words, operations) = operations(call, paramArray, count, flags)?;
    Ok(Operation::Batch(Arc::new(Batch::new(operations, ctx as u64, words))))
}

pub(in crate::hip) unsafe extern "C" fn hipStreamBatchMemOp(
    stream: hipStream_t,
    count: c_uint,
    list: *mut hipStreamBatchMemOpParams,
    flags: c_uint,
) -> hipError_t {
    hip!(hipStreamBatchMemOp, |call| {
        let stream = call.working_stream(stream)?;
        let (_, operations) = operations(call, list, count, flags)?;
        for operation in operations {
            let (work, edge) = operation.prepare(&call.runtime.machine, stream.device);
            call.runtime.enqueue(&stream, work, edge.as_slice())?;
        }
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddBatchMemOpNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    parameters: *const hipBatchMemOpNodeParams,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipGraphAddBatchMemOpNode, |call| add(call, made, place, batch(call, parameters)?))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphBatchMemOpNodeGetParams(
    handle: hipGraphNode_t,
    parameters: *mut hipBatchMemOpNodeParams,
) -> hipError_t {
    hip!(hipGraphBatchMemOpNodeGetParams, |call| {
        let Operation::Batch(batch) = node(call, handle)?.0.operation() else {
            return Err(Code::INVALID_VALUE);
        };
        let told = hipBatchMemOpNodeParams {
            ctx: batch.context as hipCtx_t,
            count: batch.operations.len() as c_uint,
            paramArray: batch.list() as *mut hipStreamBatchMemOpParams,
            flags: 0,
        };
        call.put(parameters, told)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphBatchMemOpNodeSetParams(
    handle: hipGraphNode_t,
    parameters: *mut hipBatchMemOpNodeParams,
) -> hipError_t {
    hip!(hipGraphBatchMemOpNodeSetParams, |call| {
        let (node, _) = node(call, handle)?;
        node.set(batch(call, parameters)?)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphExecBatchMemOpNodeSetParams(
    exec: hipGraphExec_t,
    handle: hipGraphNode_t,
    parameters: *const hipBatchMemOpNodeParams,
) -> hipError_t {
    hip!(hipGraphExecBatchMemOpNodeSetParams, |call| {
        node(call, handle)?;
        set_in_exec(call, exec, handle, batch(call, parameters)?)
    })
}
