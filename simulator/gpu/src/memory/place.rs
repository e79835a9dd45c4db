// SPDX-License-Identifier: MIT OR Apache-2.0
//! The place of an address, in words.

use super::allocation::AllocationInfo;
use std::fmt;
use std::sync::Arc;

/// The place of an address, relative to the nearest allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// There is no allocation near it.
    Nowhere,
    /// This many bytes into a live allocation. An access may still run past its end.
    Inside(AllocationInfo, u64),
    /// This many bytes past the last byte of a live allocation (0: directly past it).
    Past(AllocationInfo, u64),
    /// This many bytes before a live allocation.
    Before(AllocationInfo, u64),
    /// This many bytes into an allocation that was freed.
    Freed(AllocationInfo, u64),
    /// This many bytes into reserved addresses, where nothing is mapped.
    Unmapped(AllocationInfo, u64),
    /// At the null pointer, or less than a page past it.
    Null,
    /// The host's address, this many bytes into registered memory that has another address for kernels.
    HostSide(AllocationInfo, u64),
    /// Host memory that kernels cannot access, and its name on the host: `[stack]`, `[heap]`, or a file.
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
            | Self::Unmapped(info, _)
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
            Self::Unmapped(info, offset) => {
                write!(f, "{offset} bytes into {info}, where no memory is mapped")
            }
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

/// Writes the place of a 32-bit offset, relative to memory of some size.
fn limited(f: &mut fmt::Formatter<'_>, offset: u64, size: u64, what: &str) -> fmt::Result {
    match (offset.checked_sub(size), (offset as u32 as i32).checked_neg()) {
        (None, _) => write!(f, "{offset} bytes into the {size} {what}"),
        (_, Some(before @ 1..)) => write!(f, "{before} bytes before the {size} {what}"),
        (Some(0), _) => write!(f, "directly past the end of the {size} {what}"),
        (Some(past), _) => write!(f, "{past} bytes past the end of the {size} {what}"),
    }
}
