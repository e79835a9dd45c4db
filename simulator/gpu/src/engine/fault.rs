// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reason why a dispatch was refused or stopped, down to the lane.

use crate::exec::{AccessKind, Cause, SourceLine};
use crate::memory::Place;
use std::fmt;

/// The error of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The kernel's name.
    pub kernel: String,
    /// The cause.
    pub cause: Cause,
    /// The instruction; `None` if the dispatch did not start.
    pub location: Option<Location>,
    /// The memory access; `None` if the cause is no access.
    pub access: Option<Access>,
}

/// The place of an instruction: in the code, in the source, and in the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// Workgroup id.
    pub workgroup: [u32; 3],
    /// Wave in the workgroup.
    pub wave: u32,
    /// Lane in the wave, if one lane caused the fault.
    pub lane: Option<u32>,
    /// The lane's position in its workgroup.
    pub work_item: Option<[u32; 3]>,
    /// Byte offset from the kernel's entry; negative or large in a function that it called.
    pub offset: i64,
    /// The instruction in LLVM's syntax.
    pub instruction: String,
    /// The function that the instruction is in, from the code object's symbols, and the byte offset from its start.
    pub function: Option<(String, u64)>,
    /// The lines of source, if the code object has debug information: the innermost line first, then the lines that it
    /// was inlined into.
    pub source: Vec<SourceLine>,
}

/// A memory access that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Access {
    /// The first byte; in LDS and in private memory, its offset.
    pub address: u64,
    /// Its size in bytes.
    pub size: u32,
    /// Its kind.
    pub kind: AccessKind,
    /// The place of the address, relative to the nearest allocation.
    pub place: Place,
}

impl Fault {
    /// A fault before the dispatch starts.
    pub(crate) fn before_start(kernel: &str, cause: Cause) -> Box<Self> {
        Box::new(Self { kernel: kernel.to_owned(), cause, location: None, access: None })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernel = &self.kernel;
        match &self.cause {
            Cause::InvalidLaunch { reason } => {
                write!(f, "kernel {kernel} cannot be launched like this: {reason}")?
            }
            Cause::Unsupported { instructions } => {
                write!(
                    f,
                    "kernel {kernel} uses instructions that the simulator does not execute: {instructions}"
                )?;
            }
            Cause::OutOfMemory { reason } => write!(f, "kernel {kernel} cannot be launched: {reason}")?,
            Cause::IllegalAddress => write!(f, "kernel {kernel} accessed memory that is not its own")?,
            Cause::ReadOnly => write!(f, "kernel {kernel} wrote to memory that it may only read")?,
            Cause::NoPeerAccess { device } => write!(
                f,
                "kernel {kernel} accessed memory of device {device}, to which its own device has no access: \
                 hipDeviceEnablePeerAccess({device}, 0) with its own as the current one grants it, or \
                 hsa_amd_agents_allow_access"
            )?,
            Cause::NoMappingAccess => write!(
                f,
                "kernel {kernel} accessed mapped memory, to which its device has no access: hipMemSetAccess grants it, \
                 or hsa_amd_vmem_set_access"
            )?,
            Cause::Overrun => write!(
                f,
                "kernel {kernel} accessed memory past the end of its allocation, in the last page of it (bounds=page lets it \
                 go on; further accesses of the kernel are not reported)"
            )?,
            Cause::Uninitialised => write!(f, "kernel {kernel} read memory that was never written")?,
            Cause::PrivateBase { holder, found, expected } => write!(
                f,
                "kernel {kernel} accessed private memory by {holder} at {found:#x}, the wave's begins at \
                 {expected:#x}: the kernel's first instructions have to add the wave's offset"
            )?,
            Cause::MisalignedAtomic => write!(f, "kernel {kernel} used a misaligned address in an atomic")?,
            Cause::Trap(2) => {
                write!(f, "kernel {kernel} stopped itself (s_trap 2: abort or failed assertion)")?
            }
            Cause::Trap(number) => write!(f, "kernel {kernel} stopped itself (s_trap {number})")?,
            Cause::IllegalProgramCounter { target, place } => {
                write!(f, "kernel {kernel} jumped to {target:#x}, which is not code: it is {place}")?;
            }
            Cause::Cancelled => write!(f, "kernel {kernel} was cancelled")?,
        }
        if let Some(access) = &self.access {
            write!(f, "\n  access:      {access}")?;
        }
        if let Some(location) = &self.location {
            write!(f, "\n  {location}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.workgroup;
        let (sign, distance) = (if self.offset < 0 { '-' } else { '+' }, self.offset.unsigned_abs());
        write!(f, "instruction: {}, {sign}{distance:#x} from the entry", self.instruction)?;
        if let Some((function, offset)) = &self.function {
            write!(f, ", in {function}+{offset:#x}")?;
        }
        for (index, line) in self.source.iter().enumerate() {
            write!(f, "\n  {} {line}", if index == 0 { "source:     " } else { "inlined in: " })?;
        }
        write!(f, "\n  where:       workgroup ({x}, {y}, {z}), wave {}", self.wave)?;
        match (self.lane, self.work_item) {
            (Some(lane), Some([x, y, z])) => write!(f, ", lane {lane}, work-item ({x}, {y}, {z})"),
            (Some(lane), None) => write!(f, ", lane {lane}"),
            // Scalar instructions act for all lanes at once.
            (None, _) => Ok(()),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Atomic => "atomic",
        };
        let Self { size, address, place, .. } = self;
        let plural = if *size == 1 { "" } else { "s" };
        match place {
            Place::Lds { .. } | Place::Scratch { .. } => write!(f, "{kind} of {size} byte{plural}, {place}"),
            _ => write!(f, "{kind} of {size} byte{plural} at {address:#x}, which is {place}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_in_front_of_the_entry_is_told_by_its_distance() {
        let told = |offset| {
            let location = Location {
                workgroup: [0; 3],
                wave: 0,
                lane: None,
                work_item: None,
                offset,
                instruction: "s_endpgm".to_owned(),
                function: None,
                source: Vec::new(),
            };
            location.to_string()
        };
        assert!(told(-0x7c).contains("s_endpgm, -0x7c from the entry"), "{}", told(-0x7c));
        assert!(told(0x58).contains("+0x58 from the entry") && told(0).contains("+0x0 from the entry"));
    }
}
