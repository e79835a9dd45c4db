// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes that give and free memory, and the memory that a device keeps for graphs.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use windlass_hip_sys::bindings::{
    hipDeviceptr_t, hipError_t, hipGraph_t, hipGraphMemAttributeType, hipGraphNode_t, hipMemAllocNodeParams,
    hipMemAllocationType, hipMemLocation, hipMemLocationType, hipMemPoolProps,
};

use super::graph::node;
use super::graph_node::{Place, add};
use crate::hip::boundary::call::Call;
use crate::hip::graphs::given::Given;
use crate::hip::graphs::operation::Operation;
use crate::hip::hardware::graph_memory::GraphMemory;
use crate::hip::objects::pool::Pool;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;

/// Adds a node that gives memory. Returns the address too, null if there is none.
pub(super) fn add_allocation(
    call: &Call,
    made: *mut hipGraphNode_t,
    place: Place,
    wanted: hipMemAllocNodeParams,
) -> (u64, Outcome<()>) {
    let pinned = wanted.poolProps.allocType == hipMemAllocationType::hipMemAllocationTypePinned;
    let location = wanted.poolProps.location;
    let on_device = location.type_ == hipMemLocationType::hipMemLocationTypeDevice;
    let device = call.device_at(location.id);
    let (Ok(device), false) = (device, wanted.bytesize == 0 || !pinned || !on_device) else {
        return (0, Err(Code::INVALID_VALUE));
    };
    let memory =
        GraphMemory::new(&call.runtime.machine, device.index, wanted.bytesize as u64, call.describe());
    let added = memory.and_then(|memory| {
        let base = memory.base;
        let told = hipMemAllocNodeParams { dptr: base as *mut c_void, ..wanted };
        add(call, made, place, Operation::Allocate(memory, Some(Arc::new(Given(told))))).map(|()| base)
    });
    (added.unwrap_or(0), added.map(|_| ()))
}

/// The claim of a node to free memory.
pub(super) struct Claim(Arc<Pool>);

impl Claim {
    /// Gives the claim up: no node was added.
    pub(super) fn release(&self) {
        self.0.release_claim();
    }
}

/// The operation that frees memory of a graph, by its address. Only one node may.
pub(super) fn free(call: &Call, address: u64) -> Outcome<(Operation, Claim)> {
    let holding = call.runtime.machine.ledger.find(address).filter(|holding| holding.base == address);
    let pool = holding.and_then(|holding| holding.pool).filter(|pool| pool.claim());
    let Some(pool) = pool else {
        explain(format!(
            "{}: {address:#x} is no memory that a node of a graph gives and that no node frees yet",
            call.name
        ));
        return Err(Code::INVALID_VALUE);
    };
    Ok((Operation::Free { pool: pool.clone(), base: address, by: call.describe() }, Claim(pool)))
}

fn add_free(call: &Call, made: *mut hipGraphNode_t, place: Place, address: *mut c_void) -> Outcome<()> {
    // HIP wants a list of nodes to have some.
    if !place.after.is_null() && place.count == 0 {
        return Err(Code::INVALID_VALUE);
    }
    let (operation, claim) = free(call, address as u64)?;
    add(call, made, place, operation).inspect_err(|_| claim.release())
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddMemAllocNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    parameters: *mut hipMemAllocNodeParams,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipGraphAddMemAllocNode, |call| {
        if made.is_null() || graph.is_null() || count > 0 && after.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let wanted = call.get(parameters)?;
        let (address, outcome) = add_allocation(call, made, place, wanted);
        call.put(parameters, hipMemAllocNodeParams { dptr: address as *mut c_void, ..wanted })?;
        outcome
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphMemAllocNodeGetParams(
    handle: hipGraphNode_t,
    parameters: *mut hipMemAllocNodeParams,
) -> hipError_t {
    hip!(hipGraphMemAllocNodeGetParams, |call| {
        let Operation::Allocate(memory, given) = node(call, handle)?.0.operation() else {
            return Err(Code::INVALID_VALUE);
        };
        let captured = || hipMemAllocNodeParams {
            poolProps: hipMemPoolProps {
                allocType: hipMemAllocationType::hipMemAllocationTypePinned,
                location: hipMemLocation {
                    type_: hipMemLocationType::hipMemLocationTypeDevice,
                    id: memory.device() as c_int,
                },
                ..Default::default()
            },
            bytesize: memory.size as usize,
            dptr: memory.base as *mut c_void,
            ..Default::default()
        };
        call.put(parameters, given.map_or_else(captured, |given| given.0))
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddMemFreeNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    address: *mut c_void,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipGraphAddMemFreeNode, |call| add_free(call, made, place, address))
}

pub(in crate::hip) unsafe extern "C" fn hipDrvGraphAddMemFreeNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    address: hipDeviceptr_t,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipDrvGraphAddMemFreeNode, |call| add_free(call, made, place, address))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphMemFreeNodeGetParams(
    handle: hipGraphNode_t,
    address: *mut c_void,
) -> hipError_t {
    hip!(hipGraphMemFreeNodeGetParams, |call| match node(call, handle)?.0.operation() {
        Operation::Free { base, .. } => call.put(address.cast::<u64>(), base),
        _ => Err(Code::INVALID_VALUE),
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGetGraphMemAttribute(
    device: c_int,
    attribute: hipGraphMemAttributeType,
    value: *mut c_void,
) -> hipError_t {
    hip!(hipDeviceGetGraphMemAttribute, |call| {
        let told = call.device_at(device)?.graph_reserve.attribute(attribute.0);
        call.put(value.cast::<u64>(), told.ok_or(Code::INVALID_VALUE)?)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceSetGraphMemAttribute(
    device: c_int,
    attribute: hipGraphMemAttributeType,
    value: *mut c_void,
) -> hipError_t {
    hip!(hipDeviceSetGraphMemAttribute, |call| {
        let reserve = &call.device_at(device)?.graph_reserve;
        let value = call.get(value.cast_const().cast::<u64>())?;
        reserve.set_attribute(attribute.0, value).ok_or(Code::INVALID_VALUE)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGraphMemTrim(device: c_int) -> hipError_t {
    hip!(hipDeviceGraphMemTrim, |call| {
        let device = call.device_at(device)?;
        device.graph_reserve.trim(&device.budget);
        Ok(())
    })
}
