// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of kernels, and calls for profilers.

use std::ffi::{c_char, c_void};
use std::ptr::null;

use windlass_hip_sys::bindings::{hipError_t, hipFunction_t, hipStream_t};

use super::module::{function, function_of_symbol};
use crate::hip::words::api_numbers;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;

/// The name stays valid as long as the module of the function.
pub(in crate::hip) unsafe extern "C" fn hipKernelNameRef(handle: hipFunction_t) -> *const c_char {
    let mut name = null();
    let _ = hip!(hipKernelNameRef, |call| {
        if !handle.is_null() {
            name = function(call, handle)?.name.as_ptr();
        }
        Ok(())
    });
    name
}

pub(in crate::hip) unsafe extern "C" fn hipKernelNameRefByPtr(
    symbol: *const c_void,
    _stream: hipStream_t,
) -> *const c_char {
    let mut name = null();
    let _ = hip!(hipKernelNameRefByPtr, |call| {
        if !symbol.is_null() {
            name = function_of_symbol(call, symbol)?.name.as_ptr();
        }
        Ok(())
    });
    name
}

/// AMD's HIP has no profiler of its own to start.
fn refuse_profiler() -> Outcome<()> {
    explain("AMD's HIP does not support this call: start a profiler from outside".to_owned());
    Err(Code::NOT_SUPPORTED)
}

pub(in crate::hip) unsafe extern "C" fn hipProfilerStart() -> hipError_t {
    hip!(hipProfilerStart, |_| refuse_profiler())
}

pub(in crate::hip) unsafe extern "C" fn hipProfilerStop() -> hipError_t {
    hip!(hipProfilerStop, |_| refuse_profiler())
}

/// The name of the function with a number that AMD's HIP tells tracers.
pub(in crate::hip) unsafe extern "C" fn hipApiName(number: u32) -> *const c_char {
    api_numbers::name(number).as_ptr()
}
