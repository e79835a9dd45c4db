// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions of the linker.

use std::ffi::{c_char, c_uint, c_void};

use super::strings::{text, texts};
use super::table::{Handle, LINKERS};
use super::{Code, call};
use crate::linker::{Input, Linker};

/// `HIPRTC_JIT_OPTIMIZATION_LEVEL`, whose value is a number in the place of the pointer.
const OPTIMIZATION: c_uint = 7;
/// `HIPRTC_JIT_IR_TO_ISA_OPT_EXT`: an array of options for the compiler.
const COMPILER_OPTIONS: c_uint = 10_000;
/// `HIPRTC_JIT_IR_TO_ISA_OPT_COUNT_EXT`: their number, in the place of the pointer.
const COMPILER_OPTIONS_COUNT: c_uint = 10_001;

/// The kind of an input by its number in HIP's header; `None` for those that hipRTC refuses.
fn input(kind: c_uint) -> Option<Input> {
    match kind {
        100 => Some(Input::Bitcode),
        101 => Some(Input::Bundle),
        102 => Some(Input::Archive),
        _ => None,
    }
}

/// A linker with options of the caller.
///
/// # Safety
/// The arrays are null or have `count` elements, whose kinds say what each value is.
pub unsafe fn create_linker(
    count: c_uint,
    options: *const c_uint,
    values: *const *mut c_void,
) -> Result<Handle, Code> {
    let count = count as usize;
    if count > 0 && (options.is_null() || values.is_null()) {
        return Err(Code::ERROR_INVALID_INPUT);
    }
    let mut level = None;
    let (mut array, mut length) = (std::ptr::null(), 0);
    for index in 0..count {
        // SAFETY: the caller guarantees the arrays.
        let (option, value) = unsafe { (*options.add(index), *values.add(index)) };
        if value.is_null() {
            return Err(Code::ERROR_INVALID_OPTION);
        }
        match option {
            OPTIMIZATION => level = Some(value as usize),
            COMPILER_OPTIONS => array = value.cast_const().cast::<*const c_char>(),
            COMPILER_OPTIONS_COUNT => length = value as usize,
            // The others are for other GPUs, and AMD's linker ignores them.
            _ => {}
        }
    }
    let mut given: Vec<_> =
        level.filter(|level| *level <= 3).map(|level| format!("-O{level}")).into_iter().collect();
    if !array.is_null() {
        // SAFETY: the caller guarantees the array that this option stands for.
        given.extend(unsafe { texts(array, length) }.map_err(|_| Code::ERROR_INVALID_OPTION)?);
    }
    Ok(LINKERS.insert(Linker::new(given)))
}

/// `hiprtcLinkCreate`.
///
/// # Safety
/// As for [`create_linker`]; the pointer is null or valid for a write.
pub unsafe extern "C" fn hiprtcLinkCreate(
    count: c_uint,
    options: *const c_uint,
    values: *const *mut c_void,
    linker: *mut Handle,
) -> Code {
    call("hiprtcLinkCreate", || {
        // SAFETY: the caller guarantees the pointers.
        unsafe {
            let place = linker.as_mut().ok_or(Code::ERROR_INVALID_INPUT)?;
            *place = create_linker(count, options, values)?;
        }
        Ok(())
    })
}

/// `hiprtcLinkAddFile`.
///
/// # Safety
/// The path is null or ends in zero.
pub unsafe extern "C" fn hiprtcLinkAddFile(
    linker: Handle,
    kind: c_uint,
    path: *const c_char,
    _count: c_uint,
    _options: *const c_uint,
    _values: *const *mut c_void,
) -> Code {
    call("hiprtcLinkAddFile", || {
        let kind = input(kind).ok_or(Code::ERROR_INVALID_INPUT)?;
        // SAFETY: the caller guarantees the string.
        let path = unsafe { text(path) }.ok_or(Code::ERROR_INVALID_INPUT)?;
        LINKERS.with(linker, |linker| {
            let bytes = std::fs::read(&path).map_err(|error| {
                tracing::error!(target: super::TARGET, "hiprtcLinkAddFile: {path}: {error}");
                Code::ERROR_PROGRAM_CREATION_FAILURE
            })?;
            linker.add(kind, &bytes);
            Ok(())
        })
    })
}

/// `hiprtcLinkAddData`.
///
/// # Safety
/// `image` is null or valid for reads of `size` bytes.
pub unsafe extern "C" fn hiprtcLinkAddData(
    linker: Handle,
    kind: c_uint,
    image: *const c_void,
    size: usize,
    _name: *const c_char,
    _count: c_uint,
    _options: *const c_uint,
    _values: *const *mut c_void,
) -> Code {
    call("hiprtcLinkAddData", || {
        if image.is_null() || size == 0 || isize::try_from(size).is_err() {
            return Err(Code::ERROR_INVALID_INPUT);
        }
        let kind = input(kind).ok_or(Code::ERROR_INVALID_INPUT)?;
        // SAFETY: the caller guarantees the bytes.
        let bytes = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), size) };
        LINKERS.with(linker, |linker| {
            linker.add(kind, bytes);
            Ok(())
        })
    })
}

/// `hiprtcLinkComplete`. The code stays while the linker does, until it links again.
///
/// # Safety
/// Each pointer is null or valid for a write.
pub unsafe extern "C" fn hiprtcLinkComplete(
    linker: Handle,
    code: *mut *mut c_void,
    size: *mut usize,
) -> Code {
    call("hiprtcLinkComplete", || {
        // SAFETY: the caller guarantees the pointers.
        let (Some(code), Some(size)) = (unsafe { code.as_mut() }, unsafe { size.as_mut() }) else {
            return Err(Code::ERROR_INVALID_INPUT);
        };
        (*code, *size) = (std::ptr::null_mut(), 0);
        LINKERS.with(linker, |linker| {
            let linked = linker.complete()?;
            (*code, *size) = (linked.as_ptr().cast_mut().cast(), linked.len());
            Ok(())
        })
    })
}

/// `hiprtcLinkDestroy`.
pub extern "C" fn hiprtcLinkDestroy(linker: Handle) -> Code {
    call("hiprtcLinkDestroy", || LINKERS.remove(linker))
}
