// SPDX-License-Identifier: MIT OR Apache-2.0
//! Initialisation, versions, errors, looking functions up.

use std::ffi::{c_char, c_int, c_uint, c_void};

use windlass_hip_sys::bindings::{hipDriverProcAddressQueryResult, hipError_t};

use crate::hip::call;
use crate::hip::code::Code;
use crate::hip::lookup;

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
        // The failure of a device stays whoever asks.
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

/// HIP_GET_PROC_ADDRESS_DEFAULT, _LEGACY_STREAM.
const PLAIN: [u64; 2] = [0, 1];
/// HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM.
const PER_THREAD: u64 = 2;

pub(in crate::hip) unsafe extern "C" fn hipGetProcAddress(
    symbol: *const c_char,
    function: *mut *mut c_void,
    version: c_int,
    flags: u64,
    found: *mut hipDriverProcAddressQueryResult,
) -> hipError_t {
    hip!(hipGetProcAddress, |call| {
        let name = call.get_string(symbol)?;
        let known = flags == PER_THREAD || PLAIN.contains(&flags);
        if name.is_empty() || function.is_null() || !known {
            return Err(Code::INVALID_VALUE);
        }
        if flags == PER_THREAD && !lookup::has_per_thread() {
            call::explain(
                "functions for the thread's own stream are in the drop-in library alone".to_owned(),
            );
            return Err(Code::NOT_SUPPORTED);
        }
        let look_up = |name: &str| lookup::find(&call.runtime.options, name);
        // Clients of HIP 6 and newer mean the newer layout by the plain name. Versions come as 600 or as 60000000.
        let major = if version >= 10_000_000 { version / 10_000_000 } else { version / 100 };
        let address = match name.as_str() {
            "hipGetDeviceProperties" if major >= 6 => look_up("hipGetDevicePropertiesR0600"),
            "hipGetDeviceProperties" => look_up(&name),
            // What has no variant for the thread's own stream is the same for every stream.
            _ if flags == PER_THREAD => look_up(&format!("{name}_spt")).or_else(|| look_up(&name)),
            _ => look_up(&name),
        };
        let result = match address {
            Some(_) => hipDriverProcAddressQueryResult::HIP_GET_PROC_ADDRESS_SUCCESS,
            None => hipDriverProcAddressQueryResult::HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
        };
        call.put_if(found, result);
        call.put(function, address.unwrap_or(std::ptr::null()).cast_mut())?;
        address.map(|_| ()).ok_or(Code::INVALID_VALUE)
    })
}
