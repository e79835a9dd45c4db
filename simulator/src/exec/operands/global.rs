// SPDX-License-Identifier: MIT OR Apache-2.0
//! Accesses of a step to device memory.

use crate::exec::machine::core::Core;
use crate::exec::machine::step::Step;
use crate::exec::machine::trouble::{AccessKind, Finding, Segment, Stray};
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
        let span = memory.span_through(self.windows, address, size, usage);
        if span.is_none() && step.may_stick_out(address, size, kind) {
            return memory.span_of_dwords(self.windows, address, size, usage);
        }
        span
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
            let instruction = self.code_base + u64::from(step.offset);
            let left = address + size - unwritten;
            let access = Stray { segment: Segment::Global, address: unwritten, size: left as u32, kind };
            let lane = lane.map(|lane| lane as u32);
            let findings = &mut self.wave.findings;
            // Each instruction is reported once.
            if findings.iter().all(|finding| finding.instruction != instruction) {
                findings.push(Finding { instruction, lane, access });
            }
        }
        if kind != AccessKind::Read {
            self.memory.note_write(address, size);
        }
    }
}
