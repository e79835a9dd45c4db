// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes of any kind, whose parameters are in one struct.

use windlass_hip_sys::bindings::{
    hipError_t, hipGraph_t, hipGraphExec_t, hipGraphNode_t, hipGraphNodeParams, hipGraphNodeType,
    hipMemAllocNodeParams,
};

use super::graph::{graph, node};
use super::graph_clone::check_child;
use super::graph_edit::set_in_exec;
use super::graph_exec::find;
use super::graph_memory::{add_allocation, free};
use super::graph_node::{Place, add, add_child, fill, host, launch, record, runtime_copy, wait};
use crate::hip::boundary::call::Call;
use crate::hip::graphs::operation::Operation;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;

/// The parameters of a node.
enum Wanted {
    Operation(Operation),
    Child(hipGraph_t),
    Allocation(hipMemAllocNodeParams),
    /// Frees the memory at an address.
    Free(u64),
}

fn wanted(call: &Call, parameters: &hipGraphNodeParams) -> Outcome<Wanted> {
    let each = &parameters.__bindgen_anon_1;
    // SAFETY: the type says which member the client filled; any bits are a value of its numbers and pointers.
    let operation = unsafe {
        match parameters.type_ {
            hipGraphNodeType::hipGraphNodeTypeKernel => launch(call, &each.kernel),
            hipGraphNodeType::hipGraphNodeTypeMemcpy => runtime_copy(call, &each.memcpy.copyParams),
            hipGraphNodeType::hipGraphNodeTypeMemset => fill(call, &each.memset),
            hipGraphNodeType::hipGraphNodeTypeHost => host(call, &each.host),
            hipGraphNodeType::hipGraphNodeTypeWaitEvent => wait(call, each.eventWait.event),
            hipGraphNodeType::hipGraphNodeTypeEventRecord => record(call, each.eventRecord.event),
            hipGraphNodeType::hipGraphNodeTypeGraph => return Ok(Wanted::Child(each.graph.graph)),
            hipGraphNodeType::hipGraphNodeTypeMemAlloc => return Ok(Wanted::Allocation(each.alloc)),
            hipGraphNodeType::hipGraphNodeTypeMemFree => return Ok(Wanted::Free(each.free.dptr as u64)),
            hipGraphNodeType::hipGraphNodeTypeExtSemaphoreSignal
            | hipGraphNodeType::hipGraphNodeTypeExtSemaphoreWait => {
                explain("the simulated GPU has no semaphores of other APIs".to_owned());
                Err(Code::NOT_SUPPORTED)
            }
            _ => Err(Code::INVALID_VALUE),
        }
    };
    operation.map(Wanted::Operation)
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    parameters: *mut hipGraphNodeParams,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipGraphAddNode, |call| {
        let mut told = call.get(parameters)?;
        match wanted(call, &told)? {
            Wanted::Operation(operation) => add(call, made, place, operation),
            Wanted::Child(child) => add_child(call, made, place, child),
            Wanted::Free(address) => {
                let (operation, memory) = free(call, address)?;
                add(call, made, place, operation).inspect_err(|_| memory.release())
            }
            Wanted::Allocation(allocation) => {
                let (address, outcome) = add_allocation(call, made, place, allocation);
                told.__bindgen_anon_1.alloc =
                    hipMemAllocNodeParams { dptr: address as *mut std::ffi::c_void, ..allocation };
                call.put(parameters, told)?;
                outcome
            }
        }
    })
}

/// The parameters for a node that exists.
fn for_node(call: &Call, parameters: *const hipGraphNodeParams) -> Outcome<Wanted> {
    let wanted = wanted(call, &call.get(parameters)?)?;
    match wanted {
        Wanted::Allocation(_) | Wanted::Free(_) => {
            explain("nodes that give and free memory keep their parameters".to_owned());
            Err(Code::NOT_SUPPORTED)
        }
        // HIP 6 takes a host function without data here.
        Wanted::Operation(Operation::Host(function)) if function.data.is_null() && call.is_since(7) => {
            Err(Code::INVALID_VALUE)
        }
        wanted => Ok(wanted),
    }
}

pub(in crate::hip) unsafe extern "C" fn hipGraphNodeSetParams(
    handle: hipGraphNode_t,
    parameters: *mut hipGraphNodeParams,
) -> hipError_t {
    hip!(hipGraphNodeSetParams, |call| {
        let (node, parent) = node(call, handle)?;
        match for_node(call, parameters)? {
            Wanted::Operation(operation) => node.set(operation),
            Wanted::Child(child) => {
                let (new, Operation::Child(own, _)) = (graph(call, child)?, node.operation()) else {
                    return Err(Code::INVALID_VALUE);
                };
                check_child(&new, child, &parent)?;
                own.adopt(&new)
            }
            Wanted::Allocation(_) | Wanted::Free(_) => Err(Code::NOT_SUPPORTED),
        }
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphExecNodeSetParams(
    exec: hipGraphExec_t,
    handle: hipGraphNode_t,
    parameters: *mut hipGraphNodeParams,
) -> hipError_t {
    hip!(hipGraphExecNodeSetParams, |call| {
        let (node, parent) = node(call, handle)?;
        match for_node(call, parameters)? {
            Wanted::Operation(operation) => set_in_exec(call, exec, handle, operation),
            Wanted::Child(child) => {
                let new = graph(call, child)?;
                if !matches!(node.operation(), Operation::Child(..)) {
                    return Err(Code::INVALID_VALUE);
                }
                check_child(&new, child, &parent)?;
                find(call, exec)?.set_child(handle as u64, &new)
            }
            Wanted::Allocation(_) | Wanted::Free(_) => Err(Code::NOT_SUPPORTED),
        }
    })
}
