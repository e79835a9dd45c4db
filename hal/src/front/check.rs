// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks that queues and recorders share.

use std::fmt;

use crate::{
    driver::{self, range::Buffer},
    words::{
        buffer_params::BufferUsage,
        error::{Error, Result},
    },
};

pub(crate) fn check_multiple(value: u64, of: u64, what: &str) -> Result<()> {
    if of > 1 && !value.is_multiple_of(of) {
        return Err(Error::invalid_argument(format!("{what}: {value} is not a multiple of {of} bytes")));
    }
    Ok(())
}

pub(crate) fn check_lengths(source: u64, target: u64, what: &str) -> Result<()> {
    if source != target {
        return Err(Error::invalid_argument(format!(
            "{what} from {source} to {target} bytes: source and target must have the same length"
        )));
    }
    Ok(())
}

pub(crate) fn check_device(buffer: &Buffer, device: &dyn driver::RawDevice, what: &str) -> Result<()> {
    if buffer.raw().domain() != device.domain() {
        return Err(Error::invalid_argument(format!("{what} is a buffer of another device")));
    }
    Ok(())
}

pub(crate) fn check_overlap(source: &Buffer, target: &Buffer) -> Result<()> {
    // Compares addresses, because two lookups of one global variable, or two imports, are two buffers over the same
    // memory.
    let (from, to, length) = (source.device_address(), target.device_address(), source.len());
    if from.abs_diff(to) < length {
        return Err(Error::invalid_argument(format!(
            "a copy of {length} bytes from {from:#x} to {to:#x}: source and target must not overlap"
        )));
    }
    Ok(())
}

impl Buffer {
    /// `INVALID_ARGUMENT` unless the buffer was allocated for this usage, `FAILED_PRECONDITION` where its memory was
    /// released.
    pub(crate) fn require(&self, usage: BufferUsage, what: impl fmt::Display) -> Result<()> {
        if self.raw().is_released() {
            Err(Error::failed_precondition(format!(
                "{what} was deallocated: its memory may belong to another buffer by now"
            )))
        } else if self.params().usage.contains(usage) {
            Ok(())
        } else {
            Err(Error::invalid_argument(format!(
                "{what} needs usage {usage:?}; the buffer was allocated with {:?}",
                self.params().usage
            )))
        }
    }
}
