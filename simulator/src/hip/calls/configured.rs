// SPDX-License-Identifier: MIT OR Apache-2.0
//! Launches in three steps, as compilers before `<<<>>>` of today made them: the shape, each argument, the launch.

use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};

use windlass_hip_sys::bindings::{dim3, hipError_t, hipStream_t};

use super::launch::{Arguments, extents, function_for, launch};
use crate::hip::instance::thread::CallConfiguration;
use crate::hip::words::code::Code;
use crate::hip::words::explanation::explain;
use crate::hip::work::launch::Shape;

/// More bytes of arguments than any kernel takes.
const MOST: usize = 1 << 16;

pub(in crate::hip) unsafe extern "C" fn hipConfigureCall(
    grid: dim3,
    block: dim3,
    dynamic: usize,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipConfigureCall, |call| {
        let shape = Shape::new(extents(grid), extents(block), super::launch::lds(dynamic));
        let configuration = CallConfiguration { shape, stream: stream as u64, arguments: Vec::new() };
        call.thread.configurations.borrow_mut().push(configuration);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipSetupArgument(
    argument: *const c_void,
    size: usize,
    offset: usize,
) -> hipError_t {
    hip!(hipSetupArgument, |call| {
        let mut configurations = call.thread.configurations.borrow_mut();
        let Some(configuration) = configurations.last_mut() else {
            explain("hipSetupArgument: call hipConfigureCall first".to_owned());
            return Err(Code::MISSING_CONFIGURATION);
        };
        let end = offset.checked_add(size).filter(|end| *end <= MOST).ok_or(Code::INVALID_VALUE)?;
        let value = call.get_bytes(argument, size)?;
        let arguments = &mut configuration.arguments;
        arguments.resize(arguments.len().max(end), 0);
        arguments.get_mut(offset..end).ok_or(Code::INVALID_VALUE)?.copy_from_slice(&value);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipLaunchByPtr(symbol: *const c_void) -> hipError_t {
    hip!(hipLaunchByPtr, |call| {
        let configuration = call.thread.configurations.borrow_mut().pop();
        let Some(CallConfiguration { shape, stream, mut arguments }) = configuration else {
            explain("hipLaunchByPtr: call hipConfigureCall first".to_owned());
            return Err(Code::MISSING_CONFIGURATION);
        };
        let stream = stream as hipStream_t;
        let function = function_for(call, symbol, stream).map_err(|_| Code::INVALID_DEVICE_FUNCTION)?;
        // The keys for the block, its size, and the end.
        let mut size = arguments.len();
        let mut extra = [
            without_provenance_mut(1),
            arguments.as_mut_ptr().cast(),
            without_provenance_mut(2),
            (&raw mut size).cast(),
            without_provenance_mut(3),
        ];
        let arguments = Arguments { each: null_mut(), block: extra.as_mut_ptr() };
        launch(call, (&function, symbol as u64), shape, arguments, stream)
    })
}
