// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions of programs.

use std::ffi::{c_char, c_int};

use super::strings::{text, texts};
use super::table::{Handle, PROGRAMS};
use super::{Code, call};
use crate::program::Program;

/// `hiprtcCreateProgram`.
///
/// # Safety
/// Each pointer is null or valid; strings end in zero, and the arrays have `count` of them.
pub unsafe extern "C" fn hiprtcCreateProgram(
    program: *mut Handle,
    source: *const c_char,
    name: *const c_char,
    count: c_int,
    headers: *const *const c_char,
    names: *const *const c_char,
) -> Code {
    call("hiprtcCreateProgram", || {
        // SAFETY: the caller guarantees the pointers and strings.
        unsafe {
            let place = program.as_mut().ok_or(Code::ERROR_INVALID_PROGRAM)?;
            let count = usize::try_from(count).map_err(|_| Code::ERROR_INVALID_INPUT)?;
            let (headers, names) = (texts(headers, count)?, texts(names, count)?);
            let source = text(source).ok_or(Code::ERROR_INVALID_INPUT)?;
            let headers = names.into_iter().zip(headers).collect();
            let made = Program::new(source, &text(name).unwrap_or_default(), headers)?;
            *place = PROGRAMS.insert(made);
        }
        Ok(())
    })
}

/// `hiprtcDestroyProgram`. As AMD's, it leaves the handle where it was, and accepts null there.
///
/// # Safety
/// The pointer is null or valid.
pub unsafe extern "C" fn hiprtcDestroyProgram(program: *mut Handle) -> Code {
    call("hiprtcDestroyProgram", || {
        // SAFETY: the caller guarantees the pointer.
        let handle = *unsafe { program.as_ref() }.ok_or(Code::ERROR_INVALID_INPUT)?;
        if handle.is_null() { Ok(()) } else { PROGRAMS.remove(handle) }
    })
}

/// `hiprtcAddNameExpression`.
///
/// # Safety
/// The string is null or ends in zero.
pub unsafe extern "C" fn hiprtcAddNameExpression(program: Handle, expression: *const c_char) -> Code {
    call("hiprtcAddNameExpression", || {
        // SAFETY: the caller guarantees the string.
        let expression = unsafe { text(expression) }.ok_or(Code::ERROR_INVALID_INPUT)?;
        PROGRAMS.with(program, |program| program.add_name_expression(&expression))
    })
}

/// `hiprtcCompileProgram`.
///
/// # Safety
/// The array has `count` strings that end in zero.
pub unsafe extern "C" fn hiprtcCompileProgram(
    program: Handle,
    count: c_int,
    options: *const *const c_char,
) -> Code {
    call("hiprtcCompileProgram", || {
        // AMD's reads no option of a negative number.
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: the caller guarantees the array and its strings.
        let options = unsafe { texts(options, count) }.map_err(|_| Code::ERROR_INVALID_OPTION);
        PROGRAMS.with(program, |program| program.compile(&options?))
    })
}

/// `hiprtcGetLoweredName`. The name stays while the program does, until it is compiled again.
///
/// # Safety
/// The string is null or ends in zero, the pointer is null or valid for a write.
pub unsafe extern "C" fn hiprtcGetLoweredName(
    program: Handle,
    expression: *const c_char,
    lowered: *mut *const c_char,
) -> Code {
    call("hiprtcGetLoweredName", || {
        // SAFETY: the caller guarantees the string and the pointer.
        let (expression, place) = unsafe { (text(expression), lowered.as_mut()) };
        let (Some(expression), Some(place)) = (expression, place) else {
            return Err(Code::ERROR_INVALID_INPUT);
        };
        PROGRAMS.with(program, |program| {
            *place = program.lowered_name(&expression)?.as_ptr();
            Ok(())
        })
    })
}

/// Writes a size, which is 0 for what is refused: callers allocate by it without a look at the result.
///
/// # Safety
/// The pointer is null or valid for a write.
unsafe fn size_of(
    name: &str,
    program: Handle,
    size: *mut usize,
    of: impl FnOnce(&Program) -> Result<usize, Code>,
) -> Code {
    call(name, || {
        // SAFETY: the caller guarantees the pointer.
        let size = unsafe { size.as_mut() }.ok_or(Code::ERROR_INVALID_INPUT)?;
        *size = 0;
        *size = PROGRAMS.with(program, |program| of(program))?;
        Ok(())
    })
}

/// Writes bytes.
///
/// # Safety
/// The pointer is null or valid for as many bytes as the function of the size says.
unsafe fn bytes_of(
    name: &str,
    program: Handle,
    to: *mut c_char,
    of: impl FnOnce(&Program) -> Result<Vec<u8>, Code>,
) -> Code {
    call(name, || {
        if to.is_null() {
            return Err(Code::ERROR_INVALID_INPUT);
        }
        let bytes = PROGRAMS.with(program, |program| of(program))?;
        // SAFETY: the caller guarantees the room.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast::<u8>(), bytes.len()) };
        Ok(())
    })
}

/// The log with a closing zero, for callers who print it; nothing if it is empty, as callers take any size for a message.
fn log(program: &Program) -> Vec<u8> {
    let mut log = program.log().as_bytes().to_vec();
    if !log.is_empty() {
        log.push(0);
    }
    log
}

/// `hiprtcGetProgramLogSize`.
///
/// # Safety
/// The pointer is null or valid for a write.
pub unsafe extern "C" fn hiprtcGetProgramLogSize(program: Handle, size: *mut usize) -> Code {
    // SAFETY: the caller guarantees the pointer.
    unsafe { size_of("hiprtcGetProgramLogSize", program, size, |program| Ok(log(program).len())) }
}

/// `hiprtcGetProgramLog`.
///
/// # Safety
/// The pointer is null or valid for as many bytes as `hiprtcGetProgramLogSize` says.
pub unsafe extern "C" fn hiprtcGetProgramLog(program: Handle, to: *mut c_char) -> Code {
    // SAFETY: the caller guarantees the pointer.
    unsafe { bytes_of("hiprtcGetProgramLog", program, to, |program| Ok(log(program))) }
}

/// `hiprtcGetCodeSize`.
///
/// # Safety
/// The pointer is null or valid for a write.
pub unsafe extern "C" fn hiprtcGetCodeSize(program: Handle, size: *mut usize) -> Code {
    // SAFETY: the caller guarantees the pointer.
    unsafe { size_of("hiprtcGetCodeSize", program, size, |program| Ok(program.code().len())) }
}

/// `hiprtcGetCode`.
///
/// # Safety
/// The pointer is null or valid for as many bytes as `hiprtcGetCodeSize` says.
pub unsafe extern "C" fn hiprtcGetCode(program: Handle, to: *mut c_char) -> Code {
    // SAFETY: the caller guarantees the pointer.
    unsafe { bytes_of("hiprtcGetCode", program, to, |program| Ok(program.code().to_vec())) }
}

/// `hiprtcGetBitcodeSize`.
///
/// # Safety
/// The pointer is null or valid for a write.
pub unsafe extern "C" fn hiprtcGetBitcodeSize(program: Handle, size: *mut usize) -> Code {
    // SAFETY: the caller guarantees the pointer.
    unsafe { size_of("hiprtcGetBitcodeSize", program, size, |program| Ok(program.bitcode()?.len())) }
}

/// `hiprtcGetBitcode`.
///
/// # Safety
/// The pointer is null or valid for as many bytes as `hiprtcGetBitcodeSize` says.
pub unsafe extern "C" fn hiprtcGetBitcode(program: Handle, to: *mut c_char) -> Code {
    // SAFETY: the caller guarantees the pointer.
    unsafe { bytes_of("hiprtcGetBitcode", program, to, |program| Ok(program.bitcode()?.to_vec())) }
}
