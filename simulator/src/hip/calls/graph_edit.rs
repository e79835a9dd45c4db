// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of graphs: removal of edges and nodes, and new operations for nodes of graphs and of instantiated graphs.

use std::ffi::c_void;

use windlass_hip_sys::bindings::{
    HIP_MEMCPY3D, hipCtx_t, hipError_t, hipEvent_t, hipGraph_t, hipGraphExec_t, hipGraphNode_t,
    hipHostNodeParams, hipMemcpy3DParms, hipMemcpyKind, hipMemsetParams,
};

use super::graph::{give, graph, handles, node};
use super::graph_exec::find;
use super::graph_node::{copy_line, driver_copy, driver_fill, fill, host, record, runtime_copy, wait};
use crate::hip::boundary::call::Call;
use crate::hip::graphs::operation::Operation;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;

/// The version of HIP since which graphs keep their nodes of memory, and have no copies with them.
pub(super) const MEMORY_STAYS_SINCE: (u32, u32) = (6, 3);

pub(in crate::hip) unsafe extern "C" fn hipGraphRemoveDependencies(
    handle: hipGraph_t,
    from: *const hipGraphNode_t,
    to: *const hipGraphNode_t,
    count: usize,
) -> hipError_t {
    hip!(hipGraphRemoveDependencies, |call| {
        let (from, to) = (handles(call, from, count)?, handles(call, to, count)?);
        let edges: Vec<(u64, u64)> = from.into_iter().zip(to).collect();
        graph(call, handle)?.disconnect(&edges)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphDestroyNode(handle: hipGraphNode_t) -> hipError_t {
    hip!(hipGraphDestroyNode, |call| {
        let (node, graph) = node(call, handle)?;
        let operation = node.operation();
        if operation.is_of_memory() && call.runtime.options.hip >= MEMORY_STAYS_SINCE {
            explain("a node that gives or frees memory stays in its graph".to_owned());
            return Err(Code::NOT_SUPPORTED);
        }
        if let Operation::Free { pool, .. } = operation {
            pool.release_claim();
        }
        call.runtime.graphs.remove(&graph, handle as u64)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphGetRootNodes(
    handle: hipGraph_t,
    roots: *mut hipGraphNode_t,
    count: *mut usize,
) -> hipError_t {
    hip!(hipGraphGetRootNodes, |call| give(call, roots, count, &graph(call, handle)?.roots()))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphNodeGetDependencies(
    handle: hipGraphNode_t,
    nodes: *mut hipGraphNode_t,
    count: *mut usize,
) -> hipError_t {
    hip!(hipGraphNodeGetDependencies, |call| {
        let (_, graph) = node(call, handle)?;
        let edges = graph.edges().into_iter().filter(|(_, to)| *to == handle as u64);
        give(call, nodes, count, &edges.map(|(from, _)| from).collect::<Vec<_>>())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphNodeGetDependentNodes(
    handle: hipGraphNode_t,
    nodes: *mut hipGraphNode_t,
    count: *mut usize,
) -> hipError_t {
    hip!(hipGraphNodeGetDependentNodes, |call| {
        let (_, graph) = node(call, handle)?;
        let edges = graph.edges().into_iter().filter(|(from, _)| *from == handle as u64);
        give(call, nodes, count, &edges.map(|(_, to)| to).collect::<Vec<_>>())
    })
}

/// Gives a node of an instantiated graph another operation. Before HIP 6 copies may turn.
pub(super) fn set_in_exec(
    call: &Call,
    exec: hipGraphExec_t,
    handle: hipGraphNode_t,
    operation: Operation,
) -> Outcome<()> {
    find(call, exec)?.set(handle as u64, operation, !call.is_since(6))
}

/// Functions that give a node another operation, in a graph and in an instantiated graph: the name of each, its parameters,
/// and the operation.
macro_rules! setters {
    ($($plain:ident, $instantiated:ident($($parameter:ident: $ty:ty),*) => |$call:ident| $operation:expr;)*) => {
        $(
            pub(in crate::hip) unsafe extern "C" fn $plain(handle: hipGraphNode_t, $($parameter: $ty),*) -> hipError_t {
                hip!($plain, |$call| {
                    let (node, _) = node($call, handle)?;
                    node.set($operation)
                })
            }

            pub(in crate::hip) unsafe extern "C" fn $instantiated(
                exec: hipGraphExec_t,
                handle: hipGraphNode_t,
                $($parameter: $ty),*
            ) -> hipError_t {
                hip!($instantiated, |$call| set_in_exec($call, exec, handle, $operation))
            }
        )*
    };
}

setters! {
    hipGraphMemcpyNodeSetParams1D, hipGraphExecMemcpyNodeSetParams1D(
        to: *mut c_void, from: *const c_void, size: usize, kind: hipMemcpyKind
    ) => |call| copy_line(call, to, from, size, kind)?;
    hipGraphMemsetNodeSetParams, hipGraphExecMemsetNodeSetParams(parameters: *const hipMemsetParams)
        => |call| fill(call, parameters)?;
    hipGraphHostNodeSetParams, hipGraphExecHostNodeSetParams(parameters: *const hipHostNodeParams)
        => |call| host(call, parameters)?;
    hipGraphEventRecordNodeSetEvent, hipGraphExecEventRecordNodeSetEvent(recorded: hipEvent_t)
        => |call| record(call, recorded)?;
    hipGraphEventWaitNodeSetEvent, hipGraphExecEventWaitNodeSetEvent(awaited: hipEvent_t)
        => |call| wait(call, awaited)?;
}

pub(in crate::hip) unsafe extern "C" fn hipGraphMemcpyNodeSetParams(
    handle: hipGraphNode_t,
    parameters: *const hipMemcpy3DParms,
) -> hipError_t {
    hip!(hipGraphMemcpyNodeSetParams, |call| {
        let (node, _) = node(call, handle)?;
        node.set(runtime_copy(call, parameters)?)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphExecMemcpyNodeSetParams(
    exec: hipGraphExec_t,
    handle: hipGraphNode_t,
    parameters: *mut hipMemcpy3DParms,
) -> hipError_t {
    hip!(hipGraphExecMemcpyNodeSetParams, |call| {
        set_in_exec(call, exec, handle, runtime_copy(call, parameters)?)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDrvGraphMemcpyNodeSetParams(
    handle: hipGraphNode_t,
    parameters: *const HIP_MEMCPY3D,
) -> hipError_t {
    hip!(hipDrvGraphMemcpyNodeSetParams, |call| {
        let (node, _) = node(call, handle)?;
        node.set(driver_copy(call, parameters)?)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDrvGraphExecMemcpyNodeSetParams(
    exec: hipGraphExec_t,
    handle: hipGraphNode_t,
    parameters: *const HIP_MEMCPY3D,
    _context: hipCtx_t,
) -> hipError_t {
    hip!(hipDrvGraphExecMemcpyNodeSetParams, |call| {
        let copy = driver_copy(call, parameters).map_err(|_| Code::INVALID_VALUE)?;
        // HIP compares no directions here.
        find(call, exec)?.set(handle as u64, copy, true)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDrvGraphExecMemsetNodeSetParams(
    exec: hipGraphExec_t,
    handle: hipGraphNode_t,
    parameters: *const hipMemsetParams,
    _context: hipCtx_t,
) -> hipError_t {
    hip!(hipDrvGraphExecMemsetNodeSetParams, |call| {
        set_in_exec(call, exec, handle, driver_fill(call, parameters)?)
    })
}
