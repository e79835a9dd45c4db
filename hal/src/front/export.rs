// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exports: the address of a buffer for another library in this process, with a handle that keeps the memory.

use std::fmt;

use crate::{
    driver::range::Buffer,
    kit::mapping::Mapping,
    words::{
        error::{Error, Result},
        external::External,
    },
};

/// The exported address of a buffer's memory.
///
/// While this lives, the memory stays allocated, even when the device is closed. The exception is a
/// [`Queue::dealloca`](crate::Queue::dealloca) of the buffer: the address then belongs to memory that other buffers may
/// reuse.
///
/// Access through the address is up to the caller's own code, and semaphores must order it. Work of Windlass is done
/// when its signals are reached, and must not start before the other library's work is done.
#[derive(Clone)]
pub struct Exported {
    buffer: Buffer,
    /// Present in an export to the host.
    mapping: Option<Mapping>,
}

impl Exported {
    /// The address and the size. They can be imported on another device that sees the same memory.
    pub fn memory(&self) -> External {
        let size = self.buffer.len();
        match &self.mapping {
            Some(mapping) => External::Host { pointer: mapping.start(), size },
            None => External::Device { address: self.buffer.device_address(), size },
        }
    }

    /// The address as a number, for the device or for the host, as it was exported.
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
    /// Exports the device address of this range, for another library that uses the same device in this process. The
    /// range may lie in the middle of a larger allocation. So the other library must not free the memory, nor share it
    /// with other processes. `INVALID_ARGUMENT` for an empty range.
    pub fn export_device_address(&self) -> Result<Exported> {
        self.export(None)
    }

    /// Exports the host pointer of this range. `INVALID_ARGUMENT` for an empty range; otherwise the errors are those of
    /// [`map`](Self::map).
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
