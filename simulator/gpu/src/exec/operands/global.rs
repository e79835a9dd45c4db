// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accesses of a step to device memory.

use crate::exec::machine::core::Core;
use crate::exec::machine::step::Step;
use crate::exec::machine::trouble::{AccessKind, Finding, FindingKind, Segment, Stray};
use crate::memory::MemoryUse;
use crate::memory::access::Span;

impl<'m> Core<'m> {
    /// The bytes of one access of a step; `None` if the kernel may not access them like this.
    #[inline]
    pub(crate) fn span(
        &mut self,
        step: &Step,
        address: u64,
        size: u64,
        kind: AccessKind,
    ) -> Option<Span<'m>> {
        let usage = if kind == AccessKind::Read { MemoryUse::Read } else { MemoryUse::Write };
        let memory = self.memory;
        match memory.span_through(self.windows, address, size, usage) {
            None => self.span_past_end(step, address, size, kind, usage),
            span => span,
        }
    }

    /// The bytes of an access that ends behind its allocation, if the kernel may access them all the same.
    #[cold]
    fn span_past_end(
        &mut self,
        step: &Step,
        address: u64,
        size: u64,
        kind: AccessKind,
        usage: MemoryUse,
    ) -> Option<Span<'m>> {
        let memory = self.memory;
        let dwords = step.may_stick_out(address, size, kind);
        if let Some(span) =
            dwords.then(|| memory.span_of_dwords(self.windows, address, size, usage)).flatten()
        {
            return Some(span);
        }
        let span = memory.span_of_page(self.windows, address, size, usage)?;
        let access = Stray { segment: Segment::Global, address, size: size as u32, kind };
        self.find(step, FindingKind::Overrun, self.lane, access);
        Some(span)
    }

    /// Keeps a finding, the first of each kind for an instruction.
    fn find(&mut self, step: &Step, kind: FindingKind, lane: Option<usize>, access: Stray) {
        let instruction = self.code_base + u64::from(step.offset);
        let findings = &mut self.wave.findings;
        if findings.iter().all(|finding| (finding.instruction, finding.kind) != (instruction, kind)) {
            findings.push(Finding { kind, instruction, lane: lane.map(|lane| lane as u32), access });
        }
    }
}

impl Core<'_> {
    /// Reports a read of bytes that were never written, and notes a write. Called only if memory tracks
    /// writes.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_access(
        &mut self,
        step: &Step,
        lane: Option<usize>,
        address: u64,
        size: u64,
        kind: AccessKind,
    ) {
        if kind != AccessKind::Write
            && let Some(unwritten) = self.memory.first_unwritten(address, size)
        {
            let left = address + size - unwritten;
            let access = Stray { segment: Segment::Global, address: unwritten, size: left as u32, kind };
            self.find(step, FindingKind::Uninitialised, lane, access);
        }
        if kind != AccessKind::Read {
            self.memory.note_write(address, size);
        }
    }
}
