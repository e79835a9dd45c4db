// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a wave stops, and what it does that is reported.

use crate::memory::Place;

/// The kind of a [`Fault`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The launch's parameters do not fit the kernel or the device.
    InvalidLaunch {
        /// What does not fit.
        reason: String,
    },
    /// The kernel contains what the simulator does not execute. Found before anything ran, unless `location` is set.
    Unsupported {
        /// The instructions, with offsets and bytes.
        instructions: String,
    },
    /// There is no memory left to run the kernel.
    OutOfMemory {
        /// What could not be allocated.
        reason: String,
    },
    /// An access outside every live allocation, or behind the end of LDS or of private memory.
    IllegalAddress,
    /// A write to code or to constants.
    ReadOnly,
    /// An access to another device's memory that was not opened to the kernel's own device.
    NoPeerAccess {
        /// The device whose memory it is.
        device: u32,
    },
    /// A read of device memory that nobody wrote. It is reported, where that was asked for, and stops nothing.
    Uninitialised,
    /// An access to private memory by what does not hold where the wave's begins: the kernel's first instructions have
    /// to add the wave's offset to what they find.
    PrivateBase {
        /// What should hold it: FLAT_SCRATCH, or a buffer resource.
        holder: &'static str,
        /// What it holds.
        found: u64,
        /// Where the wave's private memory begins.
        expected: u64,
    },
    /// An atomic access to an address that is not a multiple of its size.
    MisalignedAtomic,
    /// `s_trap` with this number; 2 is what `abort` and failed assertions compile to.
    Trap(u8),
    /// The program jumped to something that is not its code.
    IllegalProgramCounter {
        /// Where it jumped to.
        target: u64,
        /// What is there, relative to the nearest allocation.
        place: Place,
    },
    /// [`Engine::cancel`](crate::engine::Engine::cancel) was called.
    Cancelled,
}

/// What a memory access does.
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

/// What stopped a wave.
#[derive(Debug)]
pub(crate) struct Trouble {
    /// Why.
    pub(crate) cause: Cause,
    /// The lane to blame, if it is one.
    pub(crate) lane: Option<u32>,
    /// The access to blame.
    pub(crate) access: Option<Stray>,
}

/// An access to memory that is to be reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stray {
    /// Which memory.
    pub(crate) segment: Segment,
    /// First byte: a global address, or an offset.
    pub(crate) address: u64,
    /// Bytes.
    pub(crate) size: u32,
    /// What it was.
    pub(crate) kind: AccessKind,
}

/// A memory that instructions access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Device memory.
    Global,
    /// LDS, of which the workgroup has so many bytes.
    Lds(u64),
    /// Private memory, of which the lane has so many bytes.
    Scratch(u64),
}

/// Something that is reported but does not stop the wave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding {
    /// Address of the instruction.
    pub(crate) instruction: u64,
    /// The lane.
    pub(crate) lane: Option<u32>,
    /// The access.
    pub(crate) access: Stray,
}
