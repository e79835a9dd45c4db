// SPDX-License-Identifier: MIT OR Apache-2.0
//! Strings and arrays of the caller.

use std::ffi::{CStr, c_char};

use crate::code::Code;

/// The text behind a pointer. Bytes that are no UTF-8 are replaced, as compilers refuse them anyway.
///
/// # Safety
/// The pointer is null or a string that ends in zero.
pub(super) unsafe fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the caller guarantees the string.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

/// The texts of an array.
///
/// # Safety
/// The pointer is null or an array of `count` pointers, each null or a string that ends in zero.
pub(super) unsafe fn texts(array: *const *const c_char, count: usize) -> Result<Vec<String>, Code> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if array.is_null() {
        return Err(Code::ERROR_INVALID_INPUT);
    }
    // SAFETY: the caller guarantees the array and its strings.
    let texts = (0..count).map(|index| unsafe { text(*array.add(index)) });
    texts.map(|text| text.ok_or(Code::ERROR_INVALID_INPUT)).collect()
}
