// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies of graphs, and graphs as text.

use std::ffi::{c_char, c_uint};
use std::sync::Arc;

use windlass_hip_sys::bindings::{hipError_t, hipGraph_t, hipGraphExec_t, hipGraphNode_t};

use super::graph::{graph, node};
use super::graph_edit::MEMORY_STAYS_SINCE;
use super::graph_exec::find;
use crate::hip::graphs::dot::{Details, text};
use crate::hip::graphs::graph::Graph;
use crate::hip::graphs::operation::Operation;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;

pub(in crate::hip) unsafe extern "C" fn hipGraphClone(
    made: *mut hipGraph_t,
    original: hipGraph_t,
) -> hipError_t {
    hip!(hipGraphClone, |call| {
        if made.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let graph = graph(call, original)?;
        if graph.has_memory_nodes() && call.runtime.options.hip >= MEMORY_STAYS_SINCE {
            explain("a graph that gives or frees memory has no copies".to_owned());
            return Err(Code::NOT_SUPPORTED);
        }
        let (_, copy) = call.runtime.graphs.copy(&graph, original as u64, 0)?;
        call.put(made, copy as hipGraph_t)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphNodeFindInClone(
    found: *mut hipGraphNode_t,
    original: hipGraphNode_t,
    copy: hipGraph_t,
) -> hipError_t {
    hip!(hipGraphNodeFindInClone, |call| {
        node(call, original)?;
        let twin = graph(call, copy)?.copy_of(original as u64).ok_or(Code::INVALID_VALUE)?;
        call.put(found, twin as hipGraphNode_t)
    })
}

/// Refuses a graph as the child of a node in the same graph, or in a copy of it.
pub(super) fn check_child(new: &Arc<Graph>, handle: hipGraph_t, parent: &Arc<Graph>) -> Outcome<()> {
    if Arc::ptr_eq(new, parent) || parent.origin == handle as u64 {
        explain("a graph is no child of itself".to_owned());
        return Err(Code::UNKNOWN);
    }
    Ok(())
}

pub(in crate::hip) unsafe extern "C" fn hipGraphExecChildGraphNodeSetParams(
    exec: hipGraphExec_t,
    handle: hipGraphNode_t,
    child: hipGraph_t,
) -> hipError_t {
    hip!(hipGraphExecChildGraphNodeSetParams, |call| {
        let exec = find(call, exec)?;
        let (new, (node, parent)) = (graph(call, child)?, node(call, handle)?);
        if !matches!(node.operation(), Operation::Child(..)) {
            return Err(Code::INVALID_VALUE);
        }
        check_child(&new, child, &parent)?;
        exec.set_child(handle as u64, &new)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphDebugDotPrint(
    handle: hipGraph_t,
    path: *const c_char,
    flags: c_uint,
) -> hipError_t {
    hip!(hipGraphDebugDotPrint, |call| {
        let (graph, path) = (graph(call, handle)?, call.get_string(path)?);
        std::fs::write(&path, text(&graph, Details(flags))).map_err(|error| {
            explain(format!("the graph was not written to {path}: {error}"));
            Code::OPERATING_SYSTEM
        })
    })
}
