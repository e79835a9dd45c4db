// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers to questions for an attribute: each has a type of its own, which the client's memory must fit.

use std::ffi::c_void;

use super::call::Call;
use super::status::{Outcome, Status};

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Info {
    Bool(bool),
    U16(u16),
    U32(u32),
    U64(u64),
    U16s([u16; 3]),
    U32s(Vec<u32>),
    U64s(Vec<u64>),
    Bytes(Vec<u8>),
}

impl Info {
    /// A text in a field of so many bytes, filled up with zeros, of which there is at least one.
    pub(crate) fn text(text: &str, size: usize) -> Self {
        let mut bytes = text.as_bytes().to_vec();
        bytes.truncate(size.saturating_sub(1));
        bytes.resize(size, 0);
        Self::Bytes(bytes)
    }

    /// Writes the value to where the client wants it.
    pub(crate) fn put(&self, call: &Call, to: *mut c_void) -> Outcome<()> {
        match self {
            Self::Bool(value) => call.put(to.cast(), *value),
            Self::U16(value) => call.put(to.cast(), *value),
            Self::U32(value) => call.put(to.cast(), *value),
            Self::U64(value) => call.put(to.cast(), *value),
            Self::U16s(values) => each(call, to, values),
            Self::U32s(values) => each(call, to, values),
            Self::U64s(values) => each(call, to, values),
            Self::Bytes(bytes) => each(call, to, bytes),
        }
    }
}

fn each<T: Copy>(call: &Call, to: *mut c_void, values: &[T]) -> Outcome<()> {
    if to.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    for (index, value) in values.iter().enumerate() {
        call.put(to.cast::<T>().wrapping_add(index), *value)?;
    }
    Ok(())
}
