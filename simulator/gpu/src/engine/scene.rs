// SPDX-License-Identifier: MIT OR Apache-2.0
//! Describes the fault of a wave: the instruction, the lane, the line of source, and the memory that was accessed.

use super::fault::{Access, Fault, Location};
use super::kernel::Kernel;
use super::service::Service;
use super::start::Start;
use crate::exec::{Cause, Counter, Finding, FindingKind, Program, Segment, Stray, Trouble, loaded};
use crate::memory::{Memory, Place};

/// The surroundings of a wave: its memory, kernel, launch and workgroup.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) memory: &'a Memory,
    pub(super) kernel: &'a Kernel,
    pub(super) start: &'a Start,
    pub(super) workgroup: [u32; 3],
}

impl Scene<'_> {
    /// The fault of a wave, with its place.
    pub(super) fn fault(&self, wave: u32, counter: &Counter, trouble: Trouble) -> Box<Fault> {
        let step = counter.position.as_ref().and_then(|position| position.region.steps.get(position.index));
        let program = counter.code(&self.kernel.record.program);
        let location = step.map(|step| self.location(program, step.offset, wave, trouble.lane));
        let kernel = self.kernel.name().to_owned();
        let service = trouble.access.filter(|stray| stray.segment == Segment::Global);
        if let Some(service) = service.and_then(|stray| Service::at(stray.address)) {
            let cause = Cause::Unsupported { instructions: service.name().to_owned() };
            return Box::new(Fault { kernel, cause, location, access: None });
        }
        let access = trouble.access.map(|stray| self.access(stray));
        Box::new(Fault { kernel, cause: trouble.cause, location, access })
    }

    /// A fault that did not stop the wave. The wave may be in other code by now.
    pub(super) fn finding(&self, wave: u32, finding: Finding) -> Box<Fault> {
        let own = &self.kernel.record.program;
        let program = if own.contains(finding.instruction) {
            Some(own.clone())
        } else {
            loaded::at(self.memory, finding.instruction, own.set())
        };
        let location = program.map(|program| {
            let offset = (finding.instruction - program.base()) as u32;
            self.location(&program, offset, wave, finding.lane)
        });
        let access = Some(self.access(finding.access));
        let kernel = self.kernel.name().to_owned();
        let cause = match finding.kind {
            FindingKind::Uninitialised => Cause::Uninitialised,
            FindingKind::Overrun => Cause::Overrun,
        };
        Box::new(Fault { kernel, cause, location, access })
    }

    /// The place of the instruction at a byte offset of a program.
    fn location(&self, program: &Program, offset: u32, wave: u32, lane: Option<u32>) -> Location {
        let address = program.base() + u64::from(offset);
        Location {
            workgroup: self.workgroup,
            wave,
            lane,
            work_item: lane.map(|lane| self.start.work_item(self.workgroup, wave, lane)),
            offset: address.wrapping_sub(self.kernel.record.entry) as i64,
            instruction: program.disassemble(offset),
            function: program.debug().function(address),
            source: program.debug().lines(address),
        }
    }

    fn access(&self, stray: Stray) -> Access {
        let Stray { segment, address, size, kind } = stray;
        let place = match segment {
            Segment::Global => self.memory.place(address),
            Segment::Lds(size) => Place::Lds { offset: address, size },
            Segment::Scratch(size) => Place::Scratch { offset: address, size },
        };
        Access { address, size, kind, place }
    }
}
