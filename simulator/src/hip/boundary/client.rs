// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads and writes of the client's memory. One argument makes all of them sound: the caller of a HIP function vouches for
//! the pointers that it passes, see [`enter`](super::call::enter).

use std::ffi::{CStr, c_char};

use super::call::Call;
use crate::hip::words::code::{Code, Outcome};

impl Call {
    /// Writes a value for the client.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a null pointer.
    pub(crate) fn put<T>(&self, pointer: *mut T, value: T) -> Outcome<()> {
        if pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so valid: see `enter`.
        unsafe { pointer.write_unaligned(value) };
        Ok(())
    }

    /// Writes a value for the client, unless the pointer is null.
    pub(crate) fn put_if<T>(&self, pointer: *mut T, value: T) {
        if !pointer.is_null() {
            let _ = self.put(pointer, value);
        }
    }

    /// Reads a value of the client's.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a null pointer.
    pub(crate) fn get<T: Copy>(&self, pointer: *const T) -> Outcome<T> {
        if pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so valid: see `enter`.
        Ok(unsafe { pointer.read_unaligned() })
    }

    /// Copies `size` bytes of the client's.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a null pointer with a size, `OUT_OF_MEMORY` if there is no memory for the copy.
    pub(crate) fn get_bytes<T>(&self, pointer: *const T, size: usize) -> Outcome<Vec<u8>> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| Code::OUT_OF_MEMORY)?;
        if size > 0 {
            if pointer.is_null() {
                return Err(Code::INVALID_VALUE);
            }
            // SAFETY: not null, so valid for as many bytes as HIP documents: see `enter`.
            bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), size) });
        }
        Ok(bytes)
    }

    /// Copies a string of the client's. Bytes that are not valid UTF-8 are replaced.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a null pointer.
    pub(crate) fn get_string(&self, pointer: *const c_char) -> Outcome<String> {
        if pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so a string that ends: see `enter`.
        Ok(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
    }

    /// Writes text for the client, cut to `capacity` bytes including the closing zero.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a null pointer or no capacity.
    pub(crate) fn put_string(&self, pointer: *mut c_char, capacity: i32, text: &str) -> Outcome<()> {
        let capacity = usize::try_from(capacity).ok().filter(|capacity| *capacity > 0);
        let Some(capacity) = capacity.filter(|_| !pointer.is_null()) else {
            return Err(Code::INVALID_VALUE);
        };
        let length = text.len().min(capacity - 1);
        // SAFETY: not null, so valid for `capacity` bytes: see `enter`.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), pointer.cast::<u8>(), length);
            pointer.add(length).write(0);
        }
        Ok(())
    }
}
