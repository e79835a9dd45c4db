// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes of graphs: their addition, and the operations that parameters describe.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use windlass_hip_sys::bindings::{
    HIP_MEMCPY3D, hipCtx_t, hipError_t, hipEvent_t, hipGraph_t, hipGraphNode_t, hipHostNodeParams,
    hipKernelNodeParams, hipMemcpy3DParms, hipMemcpyKind, hipMemsetParams,
};

use super::copy::direction;
use super::graph::{graph, handles, node};
use super::launch::{Arguments, extents, prepare};
use super::module::function_of_symbol;
use super::volume::{of_driver, of_runtime};
use crate::hip::boundary::call::Call;
use crate::hip::graphs::given::Given;
use crate::hip::graphs::operation::{CopyWords, Operation};
use crate::hip::objects::event::Event;
use crate::hip::words::answers;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::work::host_function::{HostCall, HostFunction};
use crate::hip::work::launch::Shape;
use crate::packet::{CopyCall, FillCall, Misfit, Pattern, Rows};

/// The place of a new node: its graph, and the nodes of it that run before.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) graph: hipGraph_t,
    pub(super) after: *const hipGraphNode_t,
    pub(super) count: usize,
}

/// Adds a node and gives its handle to the client.
pub(super) fn add(call: &Call, made: *mut hipGraphNode_t, place: Place, operation: Operation) -> Outcome<()> {
    if made.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let graph = graph(call, place.graph)?;
    let after = handles(call, place.after, place.count)?;
    let node = call.runtime.graphs.add(&graph, operation, after)?;
    call.put(made, node as hipGraphNode_t)
}

/// Adds a node with a copy of a graph.
pub(super) fn add_child(
    call: &Call,
    made: *mut hipGraphNode_t,
    place: Place,
    child: hipGraph_t,
) -> Outcome<()> {
    let (original, level) = (graph(call, child)?, graph(call, place.graph)?.level + 1);
    let (copy, handle) = call.runtime.graphs.copy(&original, child as u64, level)?;
    add(call, made, place, Operation::Child(copy, handle)).inspect_err(|_| {
        call.runtime.graphs.discard(handle);
    })
}

/// A launch. The arguments are copied now.
pub(super) fn launch(call: &Call, parameters: *const hipKernelNodeParams) -> Outcome<Operation> {
    let parameters = call.get(parameters)?;
    let named = parameters.func as u64;
    let (grid, block) = (extents(parameters.gridDim), extents(parameters.blockDim));
    let shape = Shape::new(grid, block, parameters.sharedMemBytes);
    let arguments = Arguments { each: parameters.kernelParams, block: parameters.extra };
    // Nodes took handles of functions before launches did.
    let function = match call.runtime.functions.get(named) {
        Some(function) => function,
        None => function_of_symbol(call, parameters.func)?,
    };
    Ok(Operation::Launch(Arc::new(prepare(call, (function, named), shape, arguments)?), None))
}

/// A copy. It must be possible now; host memory is read or written when the graph runs.
pub(super) fn copy(call: &Call, copy: CopyCall, words: CopyWords) -> Outcome<Operation> {
    if copy.to.1.is_empty() {
        if answers::refuses_nothing(call.runtime.options.hip, call.name) {
            return Err(Code::INVALID_VALUE);
        }
        return Ok(Operation::Copy(copy, words));
    }
    call.runtime.machine.transfer(&copy)?;
    Ok(Operation::Copy(copy, words))
}

/// The copy that the runtime API's struct describes.
pub(super) fn runtime_copy(call: &Call, parameters: *const hipMemcpy3DParms) -> Outcome<Operation> {
    let words = CopyWords::Runtime(Arc::new(Given(call.get(parameters)?)));
    copy(call, of_runtime(call, parameters)?, words)
}

/// The copy that the driver API's struct describes.
pub(super) fn driver_copy(call: &Call, parameters: *const HIP_MEMCPY3D) -> Outcome<Operation> {
    let words = CopyWords::Driver(Arc::new(Given(call.get(parameters)?)));
    copy(call, of_driver(call, parameters)?, words)
}

pub(super) fn fill(call: &Call, parameters: *const hipMemsetParams) -> Outcome<Operation> {
    fill_with(call, call.get(parameters)?)
}

/// `HIP_MEMSET_NODE_PARAMS`: hipDrvGraphAddMemsetNode of HIP 6 takes a pointer to it, that of HIP 7 to `hipMemsetParams`.
#[repr(C)]
#[derive(Clone, Copy)]
struct DriverMemset {
    dst: *mut c_void,
    pitch: usize,
    value: c_uint,
    element_size: c_uint,
    width: usize,
    height: usize,
}

/// The fill that the driver API's struct describes, in the layout of the version.
pub(super) fn driver_fill(call: &Call, parameters: *const hipMemsetParams) -> Outcome<Operation> {
    if call.is_since(7) {
        return fill(call, parameters);
    }
    let DriverMemset { dst, pitch, value, element_size, width, height } =
        call.get(parameters.cast::<DriverMemset>())?;
    fill_with(call, hipMemsetParams { dst, elementSize: element_size, height, pitch, value, width })
}

fn fill_with(call: &Call, parameters: hipMemsetParams) -> Outcome<Operation> {
    let size = match parameters.elementSize {
        1 | 2 | 4 => parameters.elementSize as usize,
        _ => return Err(Code::INVALID_VALUE),
    };
    let width = parameters.width.checked_mul(size).ok_or(Code::INVALID_VALUE)?;
    let rows = match parameters.height {
        0 => return Err(Code::INVALID_VALUE),
        1 => Rows::line(width as u64),
        height => {
            Rows::new(width as u64, height as u64, parameters.pitch as u64).map_err(
                |misfit| match misfit {
                    Misfit::Pitch => Code::INVALID_VALUE,
                    misfit => misfit.into(),
                },
            )?
        }
    };
    let pattern = Pattern { value: parameters.value, size };
    let wanted = FillCall { address: parameters.dst as u64, rows, pattern };
    if rows.is_empty() {
        return Err(Code::INVALID_VALUE);
    }
    call.runtime.machine.fill(&wanted)?;
    Ok(Operation::Fill(wanted, parameters.pitch as u64))
}

/// A copy of one range of bytes.
pub(super) fn copy_line(
    call: &Call,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
) -> Outcome<Operation> {
    let rows = Rows::line(size as u64);
    let direction = direction(kind.0)?;
    copy(call, CopyCall { to: (to as u64, rows), from: (from as u64, rows), direction }, CopyWords::Addresses)
}

pub(super) fn host(call: &Call, parameters: *const hipHostNodeParams) -> Outcome<Operation> {
    let parameters = call.get(parameters)?;
    let function = parameters.fn_.ok_or(Code::INVALID_VALUE)?;
    Ok(Operation::Host(HostFunction { call: HostCall::Plain(function), data: parameters.userData }))
}

fn event(call: &Call, event: hipEvent_t) -> Outcome<Arc<Event>> {
    super::event::find(call, event).map_err(|_| Code::INVALID_VALUE)
}

pub(super) fn record(call: &Call, recorded: hipEvent_t) -> Outcome<Operation> {
    Ok(Operation::Record(event(call, recorded)?, recorded as u64))
}

pub(super) fn wait(call: &Call, awaited: hipEvent_t) -> Outcome<Operation> {
    Ok(Operation::Wait(event(call, awaited)?, awaited as u64))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddKernelNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    parameters: *const hipKernelNodeParams,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipGraphAddKernelNode, |call| add(call, made, place, launch(call, parameters)?))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddMemcpyNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    parameters: *const hipMemcpy3DParms,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipGraphAddMemcpyNode, |call| add(call, made, place, runtime_copy(call, parameters)?))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddMemcpyNode1D(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipGraphAddMemcpyNode1D, |call| {
        // HIP 5 accepts copies of device memory with a kind that says host memory.
        let is_device = |address| {
            let holding = call.runtime.machine.ledger.find(address);
            holding.is_some_and(|holding| !holding.is_host_accessible())
        };
        let mistold =
            kind == hipMemcpyKind::hipMemcpyHostToHost && (is_device(to as u64) || is_device(from as u64));
        if call.is_since(6) && mistold {
            return Err(Code::INVALID_VALUE);
        }
        add(call, made, place, copy_line(call, to, from, size, kind)?)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDrvGraphAddMemcpyNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    parameters: *const HIP_MEMCPY3D,
    context: hipCtx_t,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipDrvGraphAddMemcpyNode, |call| {
        if context.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        add(call, made, place, driver_copy(call, parameters)?)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddMemsetNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    parameters: *const hipMemsetParams,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipGraphAddMemsetNode, |call| add(call, made, place, fill(call, parameters)?))
}

pub(in crate::hip) unsafe extern "C" fn hipDrvGraphAddMemsetNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    parameters: *const hipMemsetParams,
    _context: hipCtx_t,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipDrvGraphAddMemsetNode, |call| add(call, made, place, driver_fill(call, parameters)?))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddHostNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    parameters: *const hipHostNodeParams,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipGraphAddHostNode, |call| add(call, made, place, host(call, parameters)?))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddChildGraphNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    child: hipGraph_t,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipGraphAddChildGraphNode, |call| add_child(call, made, place, child))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddEmptyNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipGraphAddEmptyNode, |call| add(call, made, place, Operation::Empty))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddEventRecordNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    recorded: hipEvent_t,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipGraphAddEventRecordNode, |call| add(call, made, place, record(call, recorded)?))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphAddEventWaitNode(
    made: *mut hipGraphNode_t,
    graph: hipGraph_t,
    after: *const hipGraphNode_t,
    count: usize,
    awaited: hipEvent_t,
) -> hipError_t {
    let place = Place { graph, after, count };
    hip!(hipGraphAddEventWaitNode, |call| add(call, made, place, wait(call, awaited)?))
}

pub(in crate::hip) unsafe extern "C" fn hipGraphKernelNodeSetParams(
    handle: hipGraphNode_t,
    parameters: *const hipKernelNodeParams,
) -> hipError_t {
    hip!(hipGraphKernelNodeSetParams, |call| {
        let (node, _) = node(call, handle)?;
        node.set(launch(call, parameters)?)
    })
}
