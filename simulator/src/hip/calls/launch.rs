// SPDX-License-Identifier: MIT OR Apache-2.0
//! Launches.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use windlass_hip_sys::bindings::{dim3, hipError_t, hipEvent_t, hipFunction_t, hipStream_t};

use super::module::{check_symbol, function, function_on};
use crate::engine::{Cause, Kernel};
use crate::hip::boundary::call::Call;
use crate::hip::boundary::target::Target;
use crate::hip::graphs::operation::{KernelCall, Operation, Passed};
use crate::hip::programs::program::Function;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::item::Work;
use crate::hip::work::launch::{Launch, Launched, Shape};
use crate::hip::work::occupancy::Occupancy;
use crate::tally::{self, Count};

/// The places of the arguments of a launch.
#[derive(Clone, Copy)]
pub(super) struct Arguments {
    /// A pointer for each explicit parameter.
    pub(super) each: *mut *mut c_void,
    /// Pairs of key and value that name one block for all parameters.
    pub(super) block: *mut *mut c_void,
}

impl Arguments {
    pub(super) fn each(each: *mut *mut c_void) -> Self {
        Self { each, block: std::ptr::null_mut() }
    }

    fn passed(self) -> Passed {
        match (self.each.is_null(), self.block.is_null()) {
            (false, _) => Passed::Each,
            (true, false) => Passed::Block,
            (true, true) => Passed::Nothing,
        }
    }

    /// Copies the arguments into the kernel's layout.
    fn pack(self, call: &Call, kernel: &Kernel) -> Outcome<Vec<u8>> {
        match (self.each.is_null(), self.block.is_null()) {
            (false, false) => Err(Code::INVALID_VALUE),
            (false, true) => pack_each(call, kernel, self.each),
            (true, false) => copy_block(call, kernel, self.block),
            (true, true) if kernel.parameters().is_empty() => Ok(Vec::new()),
            (true, true) => Err(Code::INVALID_VALUE),
        }
    }
}

fn pack_each(call: &Call, kernel: &Kernel, each: *mut *mut c_void) -> Outcome<Vec<u8>> {
    let mut bytes = vec![0; kernel.explicit_argument_size() as usize];
    for (index, parameter) in kernel.parameters().iter().enumerate() {
        let argument = call.get(each.wrapping_add(index))?;
        let (start, size) = (parameter.offset as usize, parameter.size as usize);
        let value = call.get_bytes(argument, size)?;
        let end = start.checked_add(size).ok_or(Code::INVALID_IMAGE)?;
        bytes.get_mut(start..end).ok_or(Code::INVALID_IMAGE)?.copy_from_slice(&value);
    }
    Ok(bytes)
}

fn copy_block(call: &Call, kernel: &Kernel, extra: *mut *mut c_void) -> Outcome<Vec<u8>> {
    /// HIP_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE and _END.
    const POINTER: usize = 1;
    const SIZE: usize = 2;
    const END: usize = 3;
    /// A list with more pairs than keys exist has no end.
    const MOST: usize = 8;
    let (mut pointer, mut size) = (None, None::<usize>);
    for pair in 0..MOST {
        let key = call.get(extra.wrapping_add(2 * pair))? as usize;
        if key == END {
            let (Some(pointer), Some(size)) = (pointer, size) else { return Err(Code::INVALID_VALUE) };
            // Bytes behind the explicit arguments are hidden arguments, which the engine fills itself.
            return call.get_bytes::<c_void>(pointer, size.min(kernel.explicit_argument_size() as usize));
        }
        let value = call.get(extra.wrapping_add(2 * pair + 1))?;
        match key {
            POINTER => pointer = Some(value.cast_const()),
            SIZE => size = Some(call.get(value.cast::<usize>())?),
            _ if !call.is_since(6) => return Err(Code::NOT_INITIALIZED),
            _ => return Err(Code::INVALID_VALUE),
        }
    }
    Err(Code::INVALID_VALUE)
}

/// Launches a function, which the client named by its symbol or its handle.
pub(super) fn launch(
    call: &Call,
    (function, named): (&Arc<Function>, u64),
    shape: Shape,
    arguments: Arguments,
    stream: hipStream_t,
) -> Outcome<()> {
    let target = call.target(stream)?;
    let (Target::Run(stream) | Target::Record(_, stream)) = &target;
    if stream.device != function.program.device {
        return Err(Code::INVALID_DEVICE);
    }
    let kernel = prepare(call, (function.clone(), named), shape, arguments)?;
    match &target {
        Target::Record(capture, stream) => capture.add(stream, Operation::Launch(Arc::new(kernel), None)),
        Target::Run(stream) => {
            let KernelCall { function, shape, arguments, .. } = kernel;
            let by = Launched(call.name, Some(call.number));
            let launch = Launch::new(function.kernel.clone(), shape, arguments, by);
            call.runtime.enqueue(stream, Work::Launch(Box::new(launch)), &[]).map(|_| ())
        }
    }
}

/// Checks the shape of a launch. The answers to no work-items and to too much LDS depend on function and version.
pub(super) fn check_shape(call: &Call, shape: &Shape, kernel: &Kernel) -> Outcome<()> {
    shape.check(kernel).map_err(|code| match (code, call.name) {
        (
            Code::INVALID_VALUE,
            "hipLaunchKernel"
            | "hipLaunchKernelExC"
            | "hipDrvLaunchKernelEx"
            | "hipLaunchCooperativeKernel"
            | "hipExtLaunchKernel",
        ) if shape.is_empty() && call.is_since(7) => Code::INVALID_CONFIGURATION,
        (Code::INVALID_CONFIGURATION, "hipExtModuleLaunchKernel") if !call.is_since(7) => Code::INVALID_VALUE,
        (
            Code::INVALID_CONFIGURATION,
            "hipGraphAddKernelNode" | "hipGraphKernelNodeSetParams" | "hipGraphExecKernelNodeSetParams",
        ) if shape.has_too_large_blocks() => Code::INVALID_VALUE,
        (Code::LAUNCH_OUT_OF_RESOURCES, "hipLaunchCooperativeKernel") => Code::COOPERATIVE_LAUNCH_TOO_LARGE,
        (
            Code::LAUNCH_OUT_OF_RESOURCES,
            "hipExtLaunchKernel" | "hipExtModuleLaunchKernel" | "hipLaunchKernel" | "hipModuleLaunchKernel",
        ) if !call.is_since(6) => Code::OUT_OF_MEMORY,
        (Code::LAUNCH_OUT_OF_RESOURCES, _) => Code::INVALID_VALUE,
        (code, _) => code,
    })
}

/// Checks a launch and copies its arguments.
pub(super) fn prepare(
    call: &Call,
    (function, named): (Arc<Function>, u64),
    shape: Shape,
    arguments: Arguments,
) -> Outcome<KernelCall> {
    // A node of a graph with such a kernel is a refused launch too.
    let refused = |_: &Code| {
        if !call.is_launch() {
            tally::count(Count::Refusal);
        }
    };
    check_shape(call, &shape, &function.kernel).inspect_err(refused)?;
    check_instructions(&function.kernel).inspect_err(refused)?;
    let passed = arguments.passed();
    let arguments = arguments.pack(call, &function.kernel)?;
    Ok(KernelCall { function, named, shape, arguments, passed })
}

/// Refuses a kernel with an instruction that the simulator does not execute, before work is queued.
fn check_instructions(kernel: &Kernel) -> Outcome<()> {
    kernel.verify().map_err(|fault| {
        explain(fault.to_string());
        match fault.cause {
            Cause::Unsupported { .. } => Code::NOT_SUPPORTED,
            _ => Code::INVALID_IMAGE,
        }
    })
}

pub(super) fn extents(extents: dim3) -> [u32; 3] {
    [extents.x, extents.y, extents.z]
}

pub(super) fn dimensions([x, y, z]: [u32; 3]) -> dim3 {
    dim3 { x, y, z }
}

/// LDS in bytes. No device has as much as the largest `u32`.
pub(super) fn lds(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// A cooperative launch: all workgroups must fit onto the device at once.
pub(super) fn check_cooperative(call: &Call, function: &Function, shape: &Shape) -> Outcome<()> {
    let blocks = shape.grid.iter().fold(1, |product: u64, extent| product.saturating_mul(u64::from(*extent)));
    let threads = u32::try_from(shape.threads()).unwrap_or(u32::MAX);
    let resident = Occupancy::new(&function.kernel, shape.dynamic_lds.into()).blocks(threads);
    let units = call.runtime.machine.device(function.program.device)?.units;
    let most = u64::from(resident).saturating_mul(units.into());
    if blocks > most { Err(Code::COOPERATIVE_LAUNCH_TOO_LARGE) } else { Ok(()) }
}

pub(in crate::hip) unsafe extern "C" fn hipModuleLaunchKernel(
    handle: hipFunction_t,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_lds: c_uint,
    stream: hipStream_t,
    each: *mut *mut c_void,
    block: *mut *mut c_void,
) -> hipError_t {
    hip!(hipModuleLaunchKernel, |call| {
        let shape = Shape::new([grid_x, grid_y, grid_z], [block_x, block_y, block_z], dynamic_lds);
        if !handle.is_null() && !each.is_null() && !block.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        launch(call, (&function(call, handle)?, handle as u64), shape, Arguments { each, block }, stream)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipModuleLaunchCooperativeKernel(
    handle: hipFunction_t,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_lds: c_uint,
    stream: hipStream_t,
    each: *mut *mut c_void,
) -> hipError_t {
    hip!(hipModuleLaunchCooperativeKernel, |call| {
        let shape =
            Shape::new([grid_x, grid_y, grid_z], [block_x, block_y, block_z], dynamic_lds).cooperative();
        let function = function(call, handle)?;
        check_shape(call, &shape, &function.kernel)?;
        check_cooperative(call, &function, &shape)?;
        launch(call, (&function, handle as u64), shape, Arguments::each(each), stream)
    })
}

/// The function that a symbol stands for on the device of a stream, even if another device is current.
pub(super) fn function_for(
    call: &Call,
    symbol: *const c_void,
    stream: hipStream_t,
) -> Outcome<Arc<Function>> {
    // Since HIP 6 the stream is checked first.
    let device = match call.target(stream) {
        Ok(Target::Run(stream)) => stream.device,
        Ok(Target::Record(capture, stream)) => {
            if call.is_since(6) {
                capture.check()?;
            }
            stream.device
        }
        Err(code) if call.is_since(6) => return Err(code),
        Err(_) => call.any_device()?.index,
    };
    function_on(call, symbol, device)
}

pub(in crate::hip) unsafe extern "C" fn hipLaunchKernel(
    symbol: *const c_void,
    grid: dim3,
    block: dim3,
    each: *mut *mut c_void,
    dynamic: usize,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipLaunchKernel, |call| {
        let shape = Shape::new(extents(grid), extents(block), lds(dynamic));
        let function = function_for(call, symbol, stream)?;
        launch(call, (&function, symbol as u64), shape, Arguments::each(each), stream)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipLaunchCooperativeKernel(
    symbol: *const c_void,
    grid: dim3,
    block: dim3,
    each: *mut *mut c_void,
    dynamic_lds: c_uint,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipLaunchCooperativeKernel, |call| {
        let shape = Shape::new(extents(grid), extents(block), dynamic_lds).cooperative();
        call.stream(stream)?;
        check_symbol(symbol)?;
        let function = function_for(call, symbol, stream)?;
        check_shape(call, &shape, &function.kernel)?;
        check_cooperative(call, &function, &shape)?;
        launch(call, (&function, symbol as u64), shape, Arguments::each(each), stream)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipExtLaunchKernel(
    symbol: *const c_void,
    grid: dim3,
    block: dim3,
    each: *mut *mut c_void,
    dynamic: usize,
    stream: hipStream_t,
    start: hipEvent_t,
    stop: hipEvent_t,
    _flags: c_int,
) -> hipError_t {
    hip!(hipExtLaunchKernel, |call| {
        let shape = Shape::new(extents(grid), extents(block), lds(dynamic));
        // An event that is none must not leave the kernel launched.
        for event in [start, stop].into_iter().filter(|event| !event.is_null()) {
            super::event::find(call, event)?;
        }
        let function = function_for(call, symbol, stream)?;
        if !start.is_null() {
            super::event::record(call, start, stream, false)?;
        }
        launch(call, (&function, symbol as u64), shape, Arguments::each(each), stream)?;
        if !stop.is_null() {
            super::event::record(call, stop, stream, false)?;
        }
        Ok(())
    })
}
