// SPDX-License-Identifier: MIT OR Apache-2.0
//! An allocation: its address, its size, its purpose, and its owner.

use std::fmt;
use std::sync::Arc;

/// The purpose of an allocation. It decides who can touch the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AllocationKind {
    /// Memory that only kernels and copies reach.
    Device,
    /// Host memory that kernels reach too, at the same address (`hipHostMalloc`). Starts as zeros.
    HostPinned,
    /// Memory that host and kernels share at the same address (`hipMallocManaged`).
    Managed,
    /// Device memory that the host reaches too, at the same address (`hipExtMallocWithFlags`).
    FineGrained,
    /// A segment of a loaded code object. Starts as zeros.
    Code,
    /// Arguments and packet of a dispatch.
    Launch,
    /// Host memory of the caller that was registered.
    Registered,
    /// Addresses of a reservation, with memory mapped to them.
    Mapped,
    /// Reserved addresses, of which a part may be mapped.
    Reserved,
}

impl AllocationKind {
    pub(super) fn counts(self) -> bool {
        matches!(self, Self::Device | Self::Managed | Self::FineGrained | Self::Code)
    }

    /// Whether the client allocated it. The simulator allocates the others to run kernels.
    pub(super) fn is_clients(self) -> bool {
        !matches!(self, Self::Code | Self::Launch)
    }
}

/// One allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationInfo {
    /// Its first address, as kernels see it.
    pub base: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Its purpose.
    pub kind: AllocationKind,
    /// The owner, in words.
    pub owner: Arc<str>,
    /// The caller that freed it, in words, if known.
    pub freed_by: Option<Arc<str>>,
}

impl fmt::Display for AllocationInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            AllocationKind::Device => "allocation",
            AllocationKind::HostPinned => "pinned host allocation",
            AllocationKind::Managed => "managed allocation",
            AllocationKind::FineGrained => "fine-grained allocation",
            AllocationKind::Code => "segment of a code object",
            AllocationKind::Launch => "launch block",
            AllocationKind::Registered => "registered host range",
            AllocationKind::Mapped => "mapped range",
            AllocationKind::Reserved => "reserved range",
        };
        write!(f, "the {}-byte {kind} at {:#x} ({})", self.size, self.base, self.owner)
    }
}
