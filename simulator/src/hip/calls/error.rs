// SPDX-License-Identifier: MIT OR Apache-2.0
//! Initialisation, versions, errors.

use std::ffi::{c_char, c_int, c_uint};

use windlass_hip_sys::bindings::hipError_t;

use crate::hip::words::code::Code;

pub(in crate::hip) unsafe extern "C" fn hipInit(flags: c_uint) -> hipError_t {
    hip!(hipInit, |call| match flags {
        0 if call.runtime.machine.devices.is_empty() => Err(Code::NO_DEVICE),
        0 => Ok(()),
        _ => Err(Code::INVALID_VALUE),
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDriverGetVersion(version: *mut c_int) -> hipError_t {
    hip!(hipDriverGetVersion, |call| call.put(version, call.runtime.options.hip_version()))
}

pub(in crate::hip) unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> hipError_t {
    hip!(hipRuntimeGetVersion, |call| call.put(version, call.runtime.options.hip_version()))
}

pub(in crate::hip) unsafe extern "C" fn hipGetErrorName(error: hipError_t) -> *const c_char {
    Code(error.0).name().as_ptr()
}

pub(in crate::hip) unsafe extern "C" fn hipGetErrorString(error: hipError_t) -> *const c_char {
    Code(error.0).text().as_ptr()
}

pub(in crate::hip) unsafe extern "C" fn hipDrvGetErrorName(
    error: hipError_t,
    name: *mut *const c_char,
) -> hipError_t {
    hip!(hipDrvGetErrorName, |call| {
        call.put(name, Code(error.0).name().as_ptr())?;
        Code(error.0).is_known().then_some(()).ok_or(Code::INVALID_VALUE)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDrvGetErrorString(
    error: hipError_t,
    text: *mut *const c_char,
) -> hipError_t {
    hip!(hipDrvGetErrorString, |call| {
        call.put(text, Code(error.0).text().as_ptr())?;
        Code(error.0).is_known().then_some(()).ok_or(Code::INVALID_VALUE)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGetLastError() -> hipError_t {
    hip!(hipGetLastError, |call| {
        // A failure of the device stays; the call does not clear it.
        call.any_device()?.check()?;
        let error = call.thread.last_error.replace(Code::SUCCESS);
        if error == Code::SUCCESS { Ok(()) } else { Err(error) }
    })
}

pub(in crate::hip) unsafe extern "C" fn hipPeekAtLastError() -> hipError_t {
    hip!(hipPeekAtLastError, |call| {
        call.any_device()?.check()?;
        let error = call.thread.last_error.get();
        if error == Code::SUCCESS { Ok(()) } else { Err(error) }
    })
}

pub(in crate::hip) unsafe extern "C" fn hipExtGetLastError() -> hipError_t {
    hip!(hipExtGetLastError, |call| {
        let status = call.thread.last_status.replace(Code::SUCCESS);
        if status == Code::SUCCESS { Ok(()) } else { Err(status) }
    })
}
