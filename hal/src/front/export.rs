// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exports: where a buffer's memory is, for another library in this process, and what keeps it there.

use std::fmt;

use crate::{
    driver::range::Buffer,
    kit::mapping::Mapping,
    words::{
        error::{Error, Result},
        external::External,
    },
};

/// The memory of a buffer under an address that may leave this library.
///
/// As long as this lives, the memory stays allocated, as with any handle of the buffer, and also when the device is
/// closed. A [`Queue::dealloca`](crate::Queue::dealloca) of the buffer ends it all the same: what is left then is an address
/// of memory that belongs to the next who allocates.
///
/// To know an address harms nobody. Whoever follows it does so in code of their own, and orders it by semaphores: this
/// library's work is done when its signals are reached, and must not start before the other's is.
#[derive(Clone)]
pub struct Exported {
    buffer: Buffer,
    /// Of an export to the host.
    mapping: Option<Mapping>,
}

impl Exported {
    /// Where it is and how large. It can be given to an import on another device that sees the same memory.
    pub fn memory(&self) -> External {
        let size = self.buffer.len();
        match &self.mapping {
            Some(mapping) => External::Host { pointer: mapping.start(), size },
            None => External::Device { address: self.buffer.device_address(), size },
        }
    }

    /// The address as a number: for the device or for the host, as it was exported.
    pub fn address(&self) -> u64 {
        self.memory().address()
    }

    /// The exported range.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }
}

impl fmt::Debug for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exported({:?})", self.memory())
    }
}

impl Buffer {
    /// The address under which the device sees this range, with what keeps it valid: for another library that uses the
    /// same device in this process. A small buffer may lie in the middle of a larger allocation, so the other library can
    /// use the memory, but must not free it, nor share it with other processes. `INVALID_ARGUMENT` for an empty range.
    pub fn export_device_address(&self) -> Result<Exported> {
        self.export(None)
    }

    /// The pointer under which the host sees this range, with what keeps it valid. `INVALID_ARGUMENT` for an empty range;
    /// otherwise the errors are those of [`map`](Self::map).
    pub fn export_host_pointer(&self) -> Result<Exported> {
        self.export(Some(self.map()?))
    }

    fn export(&self, mapping: Option<Mapping>) -> Result<Exported> {
        if self.is_empty() {
            return Err(Error::invalid_argument("a range without bytes has no address to export"));
        }
        Ok(Exported { buffer: self.clone(), mapping })
    }
}
