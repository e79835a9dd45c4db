// SPDX-License-Identifier: MIT OR Apache-2.0
//! Launches that a structure describes, with attributes.

use std::ffi::c_void;

use windlass_hip_sys::bindings::{
    HIP_LAUNCH_CONFIG, hipError_t, hipFunction_t, hipLaunchAttribute, hipLaunchAttributeID, hipLaunchConfig_t,
};

use super::launch::{Arguments, check_cooperative, check_shape, extents, function_for, launch, lds};
use super::module::function;
use crate::hip::boundary::call::Call;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::launch::Shape;

/// The shape with what the attributes ask for. AMD's HIP knows one attribute that these GPUs can fulfil: all workgroups are in
/// flight together.
fn with_attributes(
    call: &Call,
    shape: Shape,
    attributes: *const hipLaunchAttribute,
    count: u32,
) -> Outcome<Shape> {
    for index in 0..count as usize {
        let attribute = call.get(attributes.wrapping_add(index))?;
        if attribute.id != hipLaunchAttributeID::hipLaunchAttributeCooperative {
            explain(format!(
                "{}: the simulated GPU has no launch attribute {} but hipLaunchAttributeCooperative alone",
                call.name, attribute.id.0
            ));
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: every bit pattern is an int, and the whole attribute was read.
        if unsafe { attribute.__bindgen_anon_1.val.cooperative } != 0 {
            return Ok(shape.cooperative());
        }
    }
    Ok(shape)
}

pub(in crate::hip) unsafe extern "C" fn hipDrvLaunchKernelEx(
    config: *const HIP_LAUNCH_CONFIG,
    handle: hipFunction_t,
    each: *mut *mut c_void,
    block: *mut *mut c_void,
) -> hipError_t {
    hip!(hipDrvLaunchKernelEx, |call| {
        let function = function(call, handle)?;
        let config = call.get(config)?;
        call.stream(config.hStream)?;
        let shape = Shape::new(
            [config.gridDimX, config.gridDimY, config.gridDimZ],
            [config.blockDimX, config.blockDimY, config.blockDimZ],
            config.sharedMemBytes,
        );
        check_shape(call, &shape, &function.kernel)?;
        let shape = with_attributes(call, shape, config.attrs, config.numAttrs)?;
        if shape.cooperative {
            check_cooperative(call, &function, &shape)?;
        }
        launch(call, (&function, handle as u64), shape, Arguments { each, block }, config.hStream)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipLaunchKernelExC(
    config: *const hipLaunchConfig_t,
    symbol: *const c_void,
    each: *mut *mut c_void,
) -> hipError_t {
    hip!(hipLaunchKernelExC, |call| {
        if symbol.is_null() {
            return Err(Code::INVALID_DEVICE_FUNCTION);
        }
        let config = call.get(config).map_err(|_| Code::INVALID_CONFIGURATION)?;
        let shape =
            Shape::new(extents(config.gridDim), extents(config.blockDim), lds(config.dynamicSmemBytes));
        let shape = with_attributes(call, shape, config.attrs, config.numAttrs)?;
        let function = function_for(call, symbol, config.stream)?;
        check_shape(call, &shape, &function.kernel)?;
        if shape.cooperative {
            check_cooperative(call, &function, &shape)?;
        }
        launch(call, (&function, symbol as u64), shape, Arguments::each(each), config.stream)
    })
}
