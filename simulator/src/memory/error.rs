// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong with device memory, said in terms of allocations.

use super::{AllocationInfo, Kind};
use std::fmt;
use std::sync::Arc;

/// Why an operation on device memory failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryError {
    /// The address space could not be reserved.
    Reservation {
        /// What the system said.
        reason: String,
    },
    /// More was asked for than is left.
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes in use.
        used: u64,
        /// Bytes there are.
        capacity: u64,
    },
    /// An argument makes no sense.
    Invalid {
        /// What is wrong with it.
        reason: String,
    },
    /// Host memory to register is not mapped, or is no host memory.
    Unpinnable {
        /// First byte of the range.
        address: u64,
        /// Bytes in the range.
        len: u64,
    },
    /// A range is not, or not wholly, inside one live allocation.
    OutOfBounds {
        /// First byte of the range.
        address: u64,
        /// Bytes in the range.
        len: u64,
        /// Where that is, relative to the nearest allocation.
        place: Place,
    },
    /// The address to free or to unregister is not the start of a live allocation.
    NotAnAllocation {
        /// The address.
        address: u64,
        /// Where that is, relative to the nearest allocation.
        place: Place,
    },
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reservation { reason } => write!(f, "{reason}; ask for less device memory"),
            Self::OutOfMemory { requested, used, capacity } => write!(
                f,
                "{requested} bytes of device memory asked for, {} left ({used} of {capacity} in use)",
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

/// Where an address is, relative to the allocation nearest to it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// Nothing was ever allocated near it.
    Nowhere,
    /// So many bytes into a live allocation. An access may still run over its end.
    Inside(AllocationInfo, u64),
    /// So many bytes past the last byte of a live allocation (0: directly behind it).
    Past(AllocationInfo, u64),
    /// So many bytes before a live allocation.
    Before(AllocationInfo, u64),
    /// So many bytes into an allocation that was freed.
    Freed(AllocationInfo, u64),
    /// At the null pointer, or a little behind it.
    Null,
    /// The host's address of so many bytes into registered memory that kernels have at another address.
    HostSide(AllocationInfo, u64),
    /// Memory of the host's that kernels cannot reach. What the host has there: `[stack]`, `[heap]`, a file's name.
    Host(Arc<str>),
    /// In the LDS of a workgroup, or beyond it.
    Lds {
        /// Bytes from its start, as the kernel computed them.
        offset: u64,
        /// Bytes of LDS that the workgroup has.
        size: u64,
    },
    /// In the private memory of a lane, or beyond it.
    Scratch {
        /// Bytes from its start, as the kernel computed them.
        offset: u64,
        /// Bytes that the lane has.
        size: u64,
    },
}

impl Place {
    /// The allocation that the place refers to.
    pub fn allocation(&self) -> Option<&AllocationInfo> {
        match self {
            Self::Nowhere | Self::Null | Self::Host(_) | Self::Lds { .. } | Self::Scratch { .. } => None,
            Self::Inside(info, _)
            | Self::Past(info, _)
            | Self::Before(info, _)
            | Self::Freed(info, _)
            | Self::HostSide(info, _) => Some(info),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere => f.write_str("near no allocation"),
            Self::Inside(info, offset) => write!(f, "{offset} bytes into {info}"),
            Self::Past(info, 0) => write!(f, "directly past the end of {info}"),
            Self::Past(info, distance) => write!(f, "{distance} bytes past the end of {info}"),
            Self::Before(info, distance) => write!(f, "{distance} bytes before {info}"),
            Self::Freed(info, offset) => {
                write!(f, "{offset} bytes into {info}, which was freed")?;
                match &info.freed_by {
                    Some(by) => write!(f, " by {by} (use after free)"),
                    None => f.write_str(" (use after free)"),
                }
            }
            Self::HostSide(info, offset) => write!(
                f,
                "the host's address of {offset} bytes into {info}: kernels have it at {:#x}, as hipHostGetDevicePointer \
                 or hsa_amd_memory_lock tells",
                info.base.wrapping_add(*offset)
            ),
            Self::Null => f.write_str("a null pointer"),
            Self::Host(name) => write!(
                f,
                "host memory ({name}) that kernels cannot reach: allocate it by hipHostMalloc, or register it by \
                 hipHostRegister"
            ),
            Self::Lds { offset, size } => limited(f, *offset, *size, "bytes of LDS of the workgroup"),
            Self::Scratch { offset, size } => limited(f, *offset, *size, "bytes of scratch of the lane"),
        }
    }
}

/// Says where an offset of 32 bits is, relative to memory of some size.
fn limited(f: &mut fmt::Formatter<'_>, offset: u64, size: u64, what: &str) -> fmt::Result {
    match (offset.checked_sub(size), (offset as u32 as i32).checked_neg()) {
        (None, _) => write!(f, "{offset} bytes into the {size} {what}"),
        (_, Some(before @ 1..)) => write!(f, "{before} bytes before the {size} {what}"),
        (Some(0), _) => write!(f, "directly past the end of the {size} {what}"),
        (Some(past), _) => write!(f, "{past} bytes past the end of the {size} {what}"),
    }
}

impl fmt::Display for AllocationInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Device => "allocation",
            Kind::HostPinned => "pinned host allocation",
            Kind::Managed => "managed allocation",
            Kind::Code => "segment of a code object",
            Kind::Launch => "launch block",
            Kind::Registered => "registered host range",
            Kind::Mapped => "mapped range",
        };
        write!(f, "the {}-byte {kind} at {:#x} ({})", self.size, self.base, self.owner)
    }
}
