// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state that a handler works on, and its answer to the interpreter.

use super::lds::Lds;
use super::trouble::{AccessKind, Cause, Segment, Stray, Trouble};
use super::wave::Wave;
use crate::memory::{Closed, Memory, Windows};

/// A handler's answer: how the wave continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// At the next instruction.
    Next,
    /// At the step's own target.
    Branch,
    /// At the address [`Core::target`].
    Jump,
    /// At the next instruction, after other waves have run.
    Yield,
    /// At this instruction again, after other waves have run.
    Again,
    /// At the next instruction, once all waves of the workgroup wait at a barrier.
    Barrier,
    /// The wave has ended.
    End,
    /// The wave stops; [`Core::trouble`] has the reason.
    Stop,
}

/// The state that a handler works on: a wave, and the memories that it shares with others.
pub(crate) struct Core<'a> {
    /// The wave that runs.
    pub(crate) wave: &'a mut Wave,
    /// The LDS of its workgroup.
    pub(crate) lds: &'a mut Lds,
    /// Device memory.
    pub(crate) memory: &'a Memory,
    /// The allocations that the thread accessed last.
    pub(crate) windows: &'a mut Windows,
    /// The address of the code segment that the wave is in. Offsets of steps count from it.
    pub(crate) code_base: u64,
    /// The address that [`Flow::Jump`] goes to.
    pub(crate) target: u64,
    /// The reason of [`Flow::Stop`].
    pub(crate) trouble: Option<Trouble>,
    /// The lane whose access is resolved, for reports.
    pub(crate) lane: Option<usize>,
}

impl<'a> Core<'a> {
    /// The state of a wave that is not in any code yet.
    pub(crate) fn new(
        wave: &'a mut Wave,
        lds: &'a mut Lds,
        memory: &'a Memory,
        windows: &'a mut Windows,
    ) -> Self {
        Self { wave, lds, memory, windows, code_base: 0, target: 0, trouble: None, lane: None }
    }

    /// Continues at an address.
    pub(crate) fn jump(&mut self, address: u64) -> Flow {
        self.target = address;
        Flow::Jump
    }

    /// Stops the wave at the current instruction.
    #[cold]
    pub(crate) fn stop(&mut self, cause: Cause) -> Flow {
        self.trouble = Some(Trouble { cause, lane: None, access: None });
        Flow::Stop
    }

    /// Stops the wave because of one lane's access to device memory.
    #[cold]
    pub(crate) fn stop_access(
        &mut self,
        cause: Cause,
        lane: Option<usize>,
        address: u64,
        size: u64,
        kind: AccessKind,
    ) -> Flow {
        self.stop_in(Segment::Global, cause, lane, address, size, kind)
    }

    /// Stops the wave because of one lane's access to any memory.
    #[cold]
    pub(crate) fn stop_in(
        &mut self,
        segment: Segment,
        cause: Cause,
        lane: Option<usize>,
        address: u64,
        size: u64,
        kind: AccessKind,
    ) -> Flow {
        let access = Some(Stray { segment, address, size: size as u32, kind });
        self.trouble = Some(Trouble { cause, lane: lane.map(|lane| lane as u32), access });
        Flow::Stop
    }

    /// Stops the wave because device memory refused an access: the address is invalid, or read-only for the
    /// kernel.
    #[cold]
    pub(crate) fn refuse(&mut self, lane: Option<usize>, address: u64, size: u64, kind: AccessKind) -> Flow {
        if let Some(closed) = self.memory.closed(address, self.windows.reach()) {
            let cause = match closed {
                Closed::Device(device) => Cause::NoPeerAccess { device },
                Closed::Mapping => Cause::NoMappingAccess,
            };
            return self.stop_access(cause, lane, address, size, kind);
        }
        let exists = self.memory.span(address, size).is_ok();
        let cause = if exists && kind != AccessKind::Read { Cause::ReadOnly } else { Cause::IllegalAddress };
        self.stop_access(cause, lane, address, size, kind)
    }
}
