// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that another library or the program allocated, and how its owner gets it back.

use std::{
    fmt,
    ptr::NonNull,
    sync::{Mutex, PoisonError},
};

/// Memory under an address that is not this library's alone: what is imported, as a driver gets it, and what is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum External {
    /// Memory of this process.
    Host {
        /// The first byte.
        pointer: NonNull<u8>,
        /// Bytes.
        size: u64,
    },
    /// Memory that another user of the same device allocated.
    Device {
        /// Where the device sees it.
        address: u64,
        /// Bytes.
        size: u64,
    },
}

impl External {
    /// Bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Host { size, .. } | Self::Device { size, .. } => *size,
        }
    }

    /// Where it begins, as a number: for the host or for the device.
    pub fn address(&self) -> u64 {
        match self {
            Self::Host { pointer, .. } => pointer.as_ptr().addr() as u64,
            Self::Device { address, .. } => *address,
        }
    }
}

/// What is called when imported memory is its owner's again.
///
/// A driver that takes the memory keeps this, and [`run`](Self::run)s it on a thread of the
/// [`callback_pool`](crate::callback_pool) after the last use has retired and the device has let go of the memory.
/// Dropping it says that the memory was never taken. On a lost device, which may write at any time, and where the device
/// does not let go of the memory, neither happens: the driver forgets it.
pub struct Release(
    /// Never locked: it makes the function, which one thread calls, shareable until then.
    Mutex<Box<dyn FnOnce() + Send>>,
);

impl Release {
    /// Calls a function.
    pub fn new(release: impl FnOnce() + Send + 'static) -> Self {
        Self(Mutex::new(Box::new(release)))
    }

    /// Calls it.
    pub fn run(self) {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)();
    }
}

impl fmt::Debug for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Release")
    }
}
