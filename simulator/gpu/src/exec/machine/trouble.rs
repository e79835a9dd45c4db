// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reasons why a wave stops, and the accesses that are reported.

use crate::memory::Place;

/// The kind of a [`Fault`](crate::engine::Fault).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// A parameter of the launch is invalid for the kernel or the device.
    InvalidLaunch {
        /// The parameter, and the reason.
        reason: String,
    },
    /// The kernel contains instructions that the simulator does not execute. They are found before anything runs,
    /// unless `location` is set.
    Unsupported {
        /// The instructions, with offsets and bytes.
        instructions: String,
    },
    /// No memory is left to run the kernel.
    OutOfMemory {
        /// The memory that could not be allocated.
        reason: String,
    },
    /// An access outside every live allocation, or past the end of LDS or of private memory.
    IllegalAddress,
    /// A write to code or to constants.
    ReadOnly,
    /// An access to another device's memory that was not opened to the kernel's own device.
    NoPeerAccess {
        /// The device that owns the memory.
        device: u32,
    },
    /// An access to mapped memory that the kernel's device was not given access to.
    NoMappingAccess,
    /// An access past the end of an allocation that ends in the allocation's last page. It is reported if the options let
    /// allocations end behind a page, and does not stop the kernel.
    Overrun,
    /// A read of device memory that was never written. It is reported if the options ask for it, and does not
    /// stop the kernel.
    Uninitialised,
    /// An access to private memory through a wrong base address. The kernel's first instructions have to add the wave's
    /// offset to the base that they find.
    PrivateBase {
        /// The holder of the base: FLAT_SCRATCH, or a buffer resource.
        holder: &'static str,
        /// The base that it holds.
        found: u64,
        /// The address where the wave's private memory begins.
        expected: u64,
    },
    /// An atomic access to an address that is not a multiple of its size.
    MisalignedAtomic,
    /// `s_trap` with this number. `abort` and failed assertions compile to 2.
    Trap(u8),
    /// The program jumped to an address that is not its code.
    IllegalProgramCounter {
        /// The address.
        target: u64,
        /// The place of the address, relative to the nearest allocation.
        place: Place,
    },
    /// [`Engine::cancel`](crate::engine::Engine::cancel) was called.
    Cancelled,
}

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessKind {
    /// A load.
    Read,
    /// A store.
    Write,
    /// A read-modify-write.
    Atomic,
}

/// The reason why a wave stopped.
#[derive(Debug)]
pub(crate) struct Trouble {
    /// The cause.
    pub(crate) cause: Cause,
    /// The lane that caused it, if one lane did.
    pub(crate) lane: Option<u32>,
    /// The access that caused it.
    pub(crate) access: Option<Stray>,
}

/// An access to memory that is reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stray {
    /// The memory.
    pub(crate) segment: Segment,
    /// The first byte: a global address, or an offset.
    pub(crate) address: u64,
    /// Its size in bytes.
    pub(crate) size: u32,
    /// Its kind.
    pub(crate) kind: AccessKind,
}

/// A memory that instructions access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Device memory.
    Global,
    /// LDS, with the bytes that the workgroup has.
    Lds(u64),
    /// Private memory, with the bytes that each lane has.
    Scratch(u64),
}

/// The fault of an access that does not stop the wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FindingKind {
    /// It reads bytes that were never written.
    Uninitialised,
    /// It ends behind its allocation, and in the allocation's last page.
    Overrun,
}

/// An access that is reported but does not stop the wave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding {
    /// The kind.
    pub(crate) kind: FindingKind,
    /// Address of the instruction.
    pub(crate) instruction: u64,
    /// The lane.
    pub(crate) lane: Option<u32>,
    /// The access.
    pub(crate) access: Stray,
}
