// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instantiated graphs.

use std::ffi::{c_char, c_uint, c_ulonglong};
use std::sync::Arc;

use windlass_hip_sys::bindings::{
    hipError_t, hipGraph_t, hipGraphExec_t, hipGraphExecUpdateResult, hipGraphInstantiateParams,
    hipGraphInstantiateResult, hipGraphNode_t, hipKernelNodeParams, hipStream_t,
};

use super::graph::{graph, node};
use super::graph_node;
use crate::hip::boundary::call::Call;
use crate::hip::boundary::target::Target;
use crate::hip::graphs::graph_exec::{AUTO_FREE, Difference, GraphExec};
use crate::hip::graphs::operation::Operation;
use crate::hip::hardware::machine::Machine;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::words::failure::Failure;
use crate::hip::work::item::{Errand, Work};
use crate::hip::work::packet::Queued;
use crate::packet::Edge;

/// hipGraphInstantiateFlagUpload, since HIP 7.
const UPLOAD: c_ulonglong = 2;
/// hipGraphInstantiateFlagDeviceLaunch.
const FROM_THE_DEVICE: c_ulonglong = 4;
/// hipGraphInstantiateFlagUseNodePriority, since HIP 6. Nodes have no priorities.
const PRIORITIES: c_ulonglong = 8;

pub(super) fn find(call: &Call, exec: hipGraphExec_t) -> Outcome<Arc<GraphExec>> {
    call.runtime.graph_execs.get(exec as u64).ok_or(Code::INVALID_VALUE)
}

/// Instantiates a graph with `hipGraphInstantiateFlags`.
pub(super) fn instantiate(
    call: &Call,
    made: *mut hipGraphExec_t,
    handle: hipGraph_t,
    flags: u64,
) -> Outcome<()> {
    if made.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let graph = graph(call, handle)?;
    if graph.is_captured_into() {
        return Err(Code::INVALID_VALUE);
    }
    let exec =
        Arc::new(GraphExec::new(&graph, &call.runtime.graphs.objects, call.thread.device.get(), flags)?);
    if graph.note_instantiation() && graph.has_memory_nodes() {
        explain("a graph that gives or frees memory is instantiated once".to_owned());
        return Err(Code::NOT_SUPPORTED);
    }
    let handle = call.runtime.graph_execs.insert(exec).ok_or(Code::OUT_OF_MEMORY)?;
    call.put(made, handle.get() as hipGraphExec_t)
}

pub(in crate::hip) unsafe extern "C" fn hipGraphInstantiate(
    made: *mut hipGraphExec_t,
    graph: hipGraph_t,
    failed: *mut hipGraphNode_t,
    log: *mut c_char,
    size: usize,
) -> hipError_t {
    hip!(hipGraphInstantiate, |call| {
        if made.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        call.put_if(failed, std::ptr::null_mut());
        if size > 0 {
            call.put_if(log, 0);
        }
        instantiate(call, made, graph, 0)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphInstantiateWithFlags(
    made: *mut hipGraphExec_t,
    graph: hipGraph_t,
    flags: c_ulonglong,
) -> hipError_t {
    hip!(hipGraphInstantiateWithFlags, |call| {
        if flags & FROM_THE_DEVICE != 0 {
            explain("HIP launches no graphs from kernels".to_owned());
            return Err(Code::INVALID_VALUE);
        }
        let upload = if call.is_since(7) { UPLOAD } else { 0 };
        let priorities = if call.is_since(6) { PRIORITIES } else { 0 };
        if flags & !(AUTO_FREE | upload | priorities) != 0 {
            return Err(Code::INVALID_VALUE);
        }
        instantiate(call, made, graph, flags)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphInstantiateWithParams(
    made: *mut hipGraphExec_t,
    graph: hipGraph_t,
    parameters: *mut hipGraphInstantiateParams,
) -> hipError_t {
    hip!(hipGraphInstantiateWithParams, |call| {
        if made.is_null() || graph.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let mut told = call.get(parameters)?;
        let outcome = match told.flags {
            0 | AUTO_FREE | UPLOAD | FROM_THE_DEVICE | PRIORITIES => {
                instantiate(call, made, graph, told.flags)
            }
            _ => Err(Code::INVALID_VALUE),
        };
        told.result_out = hipGraphInstantiateResult::hipGraphInstantiateError;
        if outcome.is_ok() {
            told.result_out = hipGraphInstantiateResult::hipGraphInstantiateSuccess;
            told.errNode_out = std::ptr::null_mut();
        }
        call.put(parameters, told)?;
        outcome?;
        if told.flags == UPLOAD { upload(call, call.get(made)?, told.uploadStream) } else { Ok(()) }
    })
}

/// The simulator needs no upload.
fn upload(call: &Call, exec: hipGraphExec_t, stream: hipStream_t) -> Outcome<()> {
    find(call, exec)?;
    call.working_stream(stream).map(|_| ())
}

pub(in crate::hip) unsafe extern "C" fn hipGraphUpload(
    exec: hipGraphExec_t,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipGraphUpload, |call| upload(call, exec, stream))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphExecGetFlags(
    exec: hipGraphExec_t,
    flags: *mut c_ulonglong,
) -> hipError_t {
    hip!(hipGraphExecGetFlags, |call| call.put(flags, find(call, exec)?.flags))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphNodeSetEnabled(
    exec: hipGraphExec_t,
    handle: hipGraphNode_t,
    is_enabled: c_uint,
) -> hipError_t {
    hip!(hipGraphNodeSetEnabled, |call| {
        let exec = find(call, exec)?;
        node(call, handle)?;
        exec.enable(handle as u64, is_enabled != 0)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphNodeGetEnabled(
    exec: hipGraphExec_t,
    handle: hipGraphNode_t,
    is_enabled: *mut c_uint,
) -> hipError_t {
    hip!(hipGraphNodeGetEnabled, |call| {
        let exec = find(call, exec)?;
        node(call, handle)?;
        call.put(is_enabled, exec.is_enabled(handle as u64)?.into())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphLaunch(
    exec: hipGraphExec_t,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipGraphLaunch, |call| {
        let exec = find(call, exec)?;
        match call.target(stream)? {
            Target::Run(stream) => exec.launch(&call.runtime.machine, &call.runtime.scheduler, &stream),
            Target::Record(capture, stream) => {
                let graphs = &call.runtime.graphs;
                let (child, handle) = graphs.of_steps(&exec.steps(), exec.device, capture.level() + 1)?;
                capture.add(&stream, Operation::Child(child, handle)).inspect_err(|_| {
                    graphs.discard(handle);
                })
            }
        }
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphExecKernelNodeSetParams(
    exec: hipGraphExec_t,
    node: hipGraphNode_t,
    parameters: *const hipKernelNodeParams,
) -> hipError_t {
    hip!(hipGraphExecKernelNodeSetParams, |call| {
        find(call, exec)?.set(node as u64, graph_node::launch(call, parameters)?, true)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphExecUpdate(
    exec: hipGraphExec_t,
    handle: hipGraph_t,
    failed: *mut hipGraphNode_t,
    result: *mut hipGraphExecUpdateResult,
) -> hipError_t {
    hip!(hipGraphExecUpdate, |call| {
        if failed.is_null() || result.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let (node, found) = match find(call, exec)?.update(&*graph(call, handle)?)? {
            Ok(()) => (0, hipGraphExecUpdateResult::hipGraphExecUpdateSuccess),
            Err((node, difference)) => {
                let result = match difference {
                    Difference::Topology => hipGraphExecUpdateResult::hipGraphExecUpdateErrorTopologyChanged,
                    Difference::NodeType => hipGraphExecUpdateResult::hipGraphExecUpdateErrorNodeTypeChanged,
                    Difference::Function => hipGraphExecUpdateResult::hipGraphExecUpdateErrorFunctionChanged,
                    Difference::Parameters => {
                        hipGraphExecUpdateResult::hipGraphExecUpdateErrorParametersChanged
                    }
                };
                (node, result)
            }
        };
        call.put_if(failed, node as hipGraphNode_t);
        call.put_if(result, found);
        match found {
            hipGraphExecUpdateResult::hipGraphExecUpdateSuccess => Ok(()),
            _ => Err(Code::GRAPH_EXEC_UPDATE_FAILURE),
        }
    })
}

/// Keeps a destroyed graph until its launches have run.
struct Farewell(Arc<GraphExec>);

impl Errand for Farewell {
    fn run(self: Box<Self>, _machine: &Machine) -> Result<(), Failure> {
        drop(self.0);
        Ok(())
    }
}

pub(in crate::hip) unsafe extern "C" fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t {
    // Launches of the graph still run, and its user objects last as long.
    hip!(hipGraphExecDestroy, |call| {
        let exec = call.runtime.graph_execs.remove(exec as u64).ok_or(Code::INVALID_VALUE)?;
        if let Some((end, stream)) = exec.outlived_by() {
            let farewell = Work::Errand(Box::new(Farewell(exec)));
            let packet = Queued::new(&call.runtime.machine, &stream, None, farewell);
            let edges = std::iter::once(Edge::Point(end)).collect();
            call.runtime.scheduler.enqueue_alone(stream.device, packet, edges)?;
        }
        Ok(())
    })
}
