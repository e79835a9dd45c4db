// SPDX-License-Identifier: MIT OR Apache-2.0
//! Graphs: their creation, nodes and edges.

use std::ffi::c_uint;
use std::sync::Arc;

use windlass_hip_sys::bindings::{hipError_t, hipGraph_t, hipGraphNode_t, hipGraphNodeType};

use crate::hip::boundary::call::Call;
use crate::hip::graphs::graph::{Graph, Node};
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;

/// A graph by its handle.
pub(super) fn graph(call: &Call, handle: hipGraph_t) -> Outcome<Arc<Graph>> {
    call.runtime.graphs.graph(handle as u64).ok_or(Code::INVALID_VALUE)
}

/// A node by its handle, with its graph.
pub(super) fn node(call: &Call, handle: hipGraphNode_t) -> Outcome<(Arc<Node>, Arc<Graph>)> {
    let node = call.runtime.graphs.node(handle as u64).ok_or(Code::INVALID_VALUE)?;
    let graph = node.graph.upgrade().ok_or(Code::INVALID_VALUE)?;
    Ok((node, graph))
}

/// Reads a list of handles of the client's.
pub(super) fn handles(call: &Call, list: *const hipGraphNode_t, count: usize) -> Outcome<Vec<u64>> {
    if count > 0 && list.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    (0..count).map(|index| call.get(list.wrapping_add(index)).map(|handle| handle as u64)).collect()
}

/// Writes a list into the client's, which has room for `*count`, and clears the rest of it. Without a list of the client's,
/// writes the length.
pub(super) fn give(call: &Call, list: *mut hipGraphNode_t, count: *mut usize, found: &[u64]) -> Outcome<()> {
    if list.is_null() {
        return call.put(count, found.len());
    }
    let room = call.get(count)?;
    for index in 0..room {
        let handle = found.get(index).copied().unwrap_or(0);
        call.put(list.wrapping_add(index), handle as hipGraphNode_t)?;
    }
    call.put(count, room.min(found.len()))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphCreate(graph: *mut hipGraph_t, flags: c_uint) -> hipError_t {
    hip!(hipGraphCreate, |call| {
        if graph.is_null() || flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let made = Arc::new(Graph::new(call.device()?.index));
        call.put(graph, call.runtime.graphs.insert(made)? as hipGraph_t)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphDestroy(handle: hipGraph_t) -> hipError_t {
    hip!(hipGraphDestroy, |call| {
        if !handle.is_null() && call.runtime.graphs.graph(handle as u64).is_none() {
            return Err(Code::ILLEGAL_STATE);
        }
        let graph = graph(call, handle)?;
        if graph.level > 0 {
            explain("the graph belongs to a child graph node, which ends it".to_owned());
            return Err(Code::INVALID_VALUE);
        }
        // The client does not own the graph of a capture before the capture ends.
        if graph.is_captured_into() || !call.runtime.graphs.discard(handle as u64) {
            return Err(Code::INVALID_VALUE);
        }
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddDependencies(
    handle: hipGraph_t,
    from: *const hipGraphNode_t,
    to: *const hipGraphNode_t,
    count: usize,
) -> hipError_t {
    hip!(hipGraphAddDependencies, |call| {
        let (from, to) = (handles(call, from, count)?, handles(call, to, count)?);
        let edges: Vec<(u64, u64)> = from.into_iter().zip(to).collect();
        graph(call, handle)?.connect(&edges)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphGetNodes(
    handle: hipGraph_t,
    nodes: *mut hipGraphNode_t,
    count: *mut usize,
) -> hipError_t {
    hip!(hipGraphGetNodes, |call| give(call, nodes, count, &graph(call, handle)?.nodes()))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphGetEdges(
    handle: hipGraph_t,
    from: *mut hipGraphNode_t,
    to: *mut hipGraphNode_t,
    count: *mut usize,
) -> hipError_t {
    hip!(hipGraphGetEdges, |call| {
        if from.is_null() != to.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let (sources, targets): (Vec<u64>, Vec<u64>) = graph(call, handle)?.edges().into_iter().unzip();
        let room = call.get(count)?;
        give(call, from, count, &sources)?;
        if !to.is_null() {
            call.put(count, room)?;
            give(call, to, count, &targets)?;
        }
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphNodeGetType(
    handle: hipGraphNode_t,
    kind: *mut hipGraphNodeType,
) -> hipError_t {
    hip!(hipGraphNodeGetType, |call| {
        let (node, _) = node(call, handle)?;
        // HIP 5 counted from 1.
        let first = u32::from(!call.is_since(6));
        call.put(kind, hipGraphNodeType(first + node.operation().number()))
    })
}
