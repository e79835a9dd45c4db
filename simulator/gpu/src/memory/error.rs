// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of device memory, in terms of allocations.

use super::place::Place;
use std::fmt;

/// The reason why an operation on device memory failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryError {
    /// The address space could not be reserved.
    Reservation {
        /// The system's error.
        reason: String,
    },
    /// A request exceeds the memory that is left.
    OutOfMemory {
        /// Bytes requested.
        requested: u64,
        /// Bytes in use.
        used: u64,
        /// Bytes in all.
        capacity: u64,
    },
    /// An argument is invalid.
    Invalid {
        /// The reason.
        reason: String,
    },
    /// Host memory to register is not mapped, or is not host memory.
    Unpinnable {
        /// First byte of the range.
        address: u64,
        /// Bytes in the range.
        len: u64,
    },
    /// A range is not wholly inside one live allocation.
    OutOfBounds {
        /// First byte of the range.
        address: u64,
        /// Bytes in the range.
        len: u64,
        /// The place of the address, relative to the nearest allocation.
        place: Place,
    },
    /// The address to free or to unregister is not the start of a live allocation.
    NotAnAllocation {
        /// The address.
        address: u64,
        /// The place of the address, relative to the nearest allocation.
        place: Place,
    },
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reservation { reason } => write!(f, "{reason}; request less device memory"),
            Self::OutOfMemory { requested, used, capacity } => write!(
                f,
                "{requested} bytes of device memory requested, {} left ({used} of {capacity} in use)",
                capacity.saturating_sub(*used)
            ),
            Self::Invalid { reason } => f.write_str(reason),
            Self::Unpinnable { address, len } => {
                write!(f, "the {len} bytes at {address:#x} are not all memory that the host has")
            }
            Self::OutOfBounds { address, len, place } => {
                write!(f, "the {len} bytes at {address:#x} are {place}")
            }
            Self::NotAnAllocation { address, place } => {
                write!(f, "{address:#x} does not start a live allocation: it is {place}")
            }
        }
    }
}

impl std::error::Error for MemoryError {}
