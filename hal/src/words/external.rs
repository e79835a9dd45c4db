// SPDX-License-Identifier: MIT OR Apache-2.0
//! External memory, which is shared with its owner outside of Windlass, and the callback that returns it.

use std::{
    fmt,
    ptr::NonNull,
    sync::{Mutex, PoisonError},
};

/// Memory that is not Windlass's alone. A driver receives it for an import, and an export returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum External {
    /// Memory of this process.
    Host {
        /// The first byte.
        pointer: NonNull<u8>,
        /// The size in bytes.
        size: u64,
    },
    /// Memory that another user of the same device allocated.
    Device {
        /// The address for the device.
        address: u64,
        /// The size in bytes.
        size: u64,
    },
}

impl External {
    /// The size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Host { size, .. } | Self::Device { size, .. } => *size,
        }
    }

    /// The address as a number, for the host or for the device.
    pub fn address(&self) -> u64 {
        match self {
            Self::Host { pointer, .. } => pointer.as_ptr().addr() as u64,
            Self::Device { address, .. } => *address,
        }
    }
}

/// The callback that returns imported memory to its owner.
///
/// A driver that takes the memory keeps this. It calls [`run`](Self::run) on a thread of the
/// [`callback_pool`](crate::callback_pool) when the last use has retired and the device no longer has access. Dropping
/// this without a call means that the memory was never taken. The driver must forget it on a lost device, which may
/// write at any time, and where the device keeps its access.
pub struct Release(
    /// Never locked. The mutex only makes the function `Sync`; one thread calls it.
    Mutex<Box<dyn FnOnce() + Send>>,
);

impl Release {
    /// Wraps a function.
    pub fn new(release: impl FnOnce() + Send + 'static) -> Self {
        Self(Mutex::new(Box::new(release)))
    }

    /// Calls the function.
    pub fn run(self) {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)();
    }
}

impl fmt::Debug for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Release")
    }
}
