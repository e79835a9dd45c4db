// SPDX-License-Identifier: MIT OR Apache-2.0
//! hipRTC as C functions, with the checks of AMD's. Handles are numbers that are looked up, so a wrong one is refused.

#![allow(non_snake_case, reason = "HIP's names")]

mod link;
mod program;
mod strings;
mod table;

pub use link::*;
pub use program::*;
pub use table::{Handle, for_linker};

use std::ffi::{c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::code::Code;
use crate::log::TARGET;

/// Lists the functions for a macro: `fn name(parameter: type, ...) -> type;` each. The types are those of C, and `Code` and
/// `Handle` of this crate.
#[macro_export]
macro_rules! for_each_function {
    ($with:ident) => {
        $with! {
            fn hiprtcGetErrorString(result: Code) -> *const c_char;
            fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> Code;
            fn hiprtcCreateProgram(program: *mut Handle, source: *const c_char, name: *const c_char, count: c_int, headers: *const *const c_char, names: *const *const c_char) -> Code;
            fn hiprtcDestroyProgram(program: *mut Handle) -> Code;
            fn hiprtcAddNameExpression(program: Handle, expression: *const c_char) -> Code;
            fn hiprtcCompileProgram(program: Handle, count: c_int, options: *const *const c_char) -> Code;
            fn hiprtcGetLoweredName(program: Handle, expression: *const c_char, lowered: *mut *const c_char) -> Code;
            fn hiprtcGetProgramLog(program: Handle, log: *mut c_char) -> Code;
            fn hiprtcGetProgramLogSize(program: Handle, size: *mut usize) -> Code;
            fn hiprtcGetCode(program: Handle, code: *mut c_char) -> Code;
            fn hiprtcGetCodeSize(program: Handle, size: *mut usize) -> Code;
            fn hiprtcGetBitcode(program: Handle, bitcode: *mut c_char) -> Code;
            fn hiprtcGetBitcodeSize(program: Handle, size: *mut usize) -> Code;
            fn hiprtcLinkCreate(count: c_uint, options: *const c_uint, values: *const *mut c_void, linker: *mut Handle) -> Code;
            fn hiprtcLinkAddFile(linker: Handle, kind: c_uint, path: *const c_char, count: c_uint, options: *const c_uint, values: *const *mut c_void) -> Code;
            fn hiprtcLinkAddData(linker: Handle, kind: c_uint, image: *const c_void, size: usize, name: *const c_char, count: c_uint, options: *const c_uint, values: *const *mut c_void) -> Code;
            fn hiprtcLinkComplete(linker: Handle, code: *mut *mut c_void, size: *mut usize) -> Code;
            fn hiprtcLinkDestroy(linker: Handle) -> Code;
        }
    };
}

/// Runs a call. A defect of this crate is an error of the call, and the log has every refusal.
fn call(name: &str, body: impl FnOnce() -> Result<(), Code>) -> Code {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(Code::ERROR_INTERNAL_ERROR));
    let code = result.err().unwrap_or(Code::SUCCESS);
    let text = code.name().unwrap_or_default().to_string_lossy();
    if code == Code::SUCCESS {
        tracing::trace!(target: TARGET, "{name}: {text}");
    } else {
        tracing::warn!(target: TARGET, "{name}: {text}");
    }
    code
}

/// The name of a result; null for a number that is none.
pub extern "C" fn hiprtcGetErrorString(result: Code) -> *const c_char {
    result.name().map_or(std::ptr::null(), std::ffi::CStr::as_ptr)
}

/// `hiprtcVersion`: 9.0, as AMD's has said since HIP 4.
///
/// # Safety
/// Each pointer is null or valid for a write.
pub unsafe extern "C" fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> Code {
    call("hiprtcVersion", || {
        // SAFETY: the caller guarantees the pointers.
        let (Some(major), Some(minor)) = (unsafe { major.as_mut() }, unsafe { minor.as_mut() }) else {
            return Err(Code::ERROR_INVALID_INPUT);
        };
        (*major, *minor) = (9, 0);
        Ok(())
    })
}
