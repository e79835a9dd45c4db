// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interpreter: runs one wave until it ends, waits or has used up its turn.

use super::lds::Lds;
use super::program::Program;
use super::state::{Position, Status, Wave};
use super::step::{Flow, Sharing, Step};
use crate::engine::{AccessKind, Cause};
use crate::memory::access::Span;
use crate::memory::{Memory, Use, Windows};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Why a wave's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It ended or waits at a barrier; its status says which.
    Over,
    /// It used up its instructions, or was told to stop.
    Spent,
    /// It went to sleep, as loops that wait for others do.
    Slept,
    /// It is about to write, and the other waves may not have read yet.
    Abreast,
}

/// What a handler works on: a wave, and what it shares with others.
pub(crate) struct Core<'a> {
    /// The wave that runs.
    pub(crate) wave: &'a mut Wave,
    /// LDS of its workgroup.
    pub(crate) lds: &'a mut Lds,
    /// Device memory.
    pub(crate) memory: &'a Memory,
    /// Allocations that accesses hit last.
    pub(crate) windows: &'a mut Windows,
    /// The kernel's code.
    pub(crate) program: &'a Arc<Program>,
    /// Whether a wave that has read lets the others catch up before it writes.
    ///
    /// Compilers emit workgroups whose waves all do the same work on the same memory, without a barrier: read, compute,
    /// write. On hardware they run side by side and read before any of them writes.
    pub(crate) abreast: bool,
    /// Set when the dispatch is to stop.
    pub(crate) stop: &'a AtomicBool,
    /// Why the wave stopped.
    pub(crate) trouble: Option<Trouble>,
}

impl<'m> Core<'m> {
    /// The bytes of one access to device memory of a step; none where they are not the kernel's to use like this.
    #[inline]
    pub(crate) fn span(
        &mut self,
        step: &Step,
        address: u64,
        size: u64,
        kind: AccessKind,
    ) -> Option<Span<'m>> {
        let usage = if kind == AccessKind::Read { Use::Read } else { Use::Write };
        let memory = self.memory;
        let span = memory.span_through(self.windows, address, size, usage);
        if span.is_none() && step.may_stick_out(address, size, kind) {
            return memory.span_of_dwords(self.windows, address, size, usage);
        }
        span
    }
}

impl Core<'_> {
    /// Runs the wave for about `budget` instructions, or until it ends, waits or fails. Its turn ends at a jump.
    ///
    /// # Errors
    /// What stopped it; its position is then at the instruction.
    pub(crate) fn run(&mut self, budget: u64) -> Result<Turn, Trouble> {
        self.run_until::<false>(budget)
    }

    /// As [`run`](Self::run), but the turn may end between any two instructions.
    ///
    /// # Errors
    /// As `run`.
    pub(crate) fn run_exactly(&mut self, budget: u64) -> Result<Turn, Trouble> {
        self.run_until::<true>(budget)
    }

    fn run_until<const EXACT: bool>(&mut self, budget: u64) -> Result<Turn, Trouble> {
        let Some(Position { mut region, mut index }) = self.wave.position.take() else {
            self.wave.status = Status::Ended;
            return Ok(Turn::Over);
        };
        let (mut executed, mut turn) = (0, Turn::Over);
        let flow = loop {
            let Some(step) = region.steps.get(index) else {
                // A region ends in steps that do not fall through, so this is not reached.
                break Flow::End;
            };
            match step.sharing {
                Sharing::None => {}
                Sharing::Reads => self.wave.has_read = true,
                Sharing::Writes if self.wave.has_read && self.abreast => {
                    self.wave.has_read = false;
                    turn = Turn::Abreast;
                    break Flow::Yield;
                }
                Sharing::Writes => {}
            }
            executed += 1;
            // SAFETY: `Versions::pick` chose the handler for this processor.
            match unsafe { (step.run)(self, step) } {
                Flow::Next => {
                    index += 1;
                    if EXACT && executed >= budget {
                        turn = Turn::Spent;
                        break Flow::Yield;
                    }
                }
                Flow::Jump => {
                    match self.wave.position.take() {
                        // A jump within the region only sets the index.
                        Some(position) => {
                            region = position.region;
                            index = position.index;
                        }
                        None => index = step.target as usize,
                    }
                    if executed >= budget || self.stop.load(Ordering::Relaxed) {
                        turn = Turn::Spent;
                        break Flow::Yield;
                    }
                }
                Flow::Yield => {
                    index += 1;
                    turn = Turn::Slept;
                    break Flow::Yield;
                }
                Flow::Again => {
                    turn = Turn::Slept;
                    break Flow::Yield;
                }
                Flow::Barrier => {
                    index += 1;
                    self.wave.status = Status::Barrier;
                    break Flow::Barrier;
                }
                flow => break flow,
            }
        };
        self.wave.instructions += executed;
        self.wave.position = Some(Position { region, index });
        match flow {
            Flow::End => self.wave.status = Status::Ended,
            Flow::Stop => {
                self.wave.status = Status::Ended;
                return Err(self.trouble.take().unwrap_or(Trouble {
                    cause: Cause::Cancelled,
                    lane: None,
                    access: None,
                }));
            }
            _ => {}
        }
        Ok(turn)
    }

    /// Stops the wave at the current instruction.
    #[cold]
    pub(crate) fn stop(&mut self, cause: Cause) -> Flow {
        self.trouble = Some(Trouble { cause, lane: None, access: None });
        Flow::Stop
    }

    /// Stops the wave because of one lane's access to memory.
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

    /// As [`stop_access`](Self::stop_access), for an access to any memory.
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

    /// Stops the wave because of an access to device memory that was refused: to what is not there, or to what is
    /// not the kernel's to write.
    #[cold]
    pub(crate) fn refuse(&mut self, lane: Option<usize>, address: u64, size: u64, kind: AccessKind) -> Flow {
        if let Some(device) = self.memory.closed_home(address, self.windows.reach()) {
            return self.stop_access(Cause::NoPeerAccess { device }, lane, address, size, kind);
        }
        let exists = self.memory.span(address, size).is_ok();
        let cause = if exists && kind != AccessKind::Read { Cause::ReadOnly } else { Cause::IllegalAddress };
        self.stop_access(cause, lane, address, size, kind)
    }

    /// Where writes are noted: reports that a lane reads what nobody wrote, and notes what it writes.
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
            let instruction = self.wave.code(self.program).base() + u64::from(step.offset);
            let left = address + size - unwritten;
            let access = Stray { segment: Segment::Global, address: unwritten, size: left as u32, kind };
            let lane = lane.map(|lane| lane as u32);
            let findings = &mut self.wave.findings;
            // Each instruction is told of once.
            if findings.iter().all(|finding| finding.instruction != instruction) {
                findings.push(Finding { instruction, lane, access });
            }
        }
        if kind != AccessKind::Read {
            self.memory.note_write(address, size);
        }
    }

    /// Jumps to an address: in the code that the wave is in, in the kernel's own, or in another module's.
    pub(crate) fn jump(&mut self, address: u64) -> Flow {
        let position = self.wave.code(self.program).find(address).or_else(|| {
            self.wave.visited = None;
            self.program.find(address).or_else(|| {
                let (program, position) = self.memory.code().find(address)?;
                self.wave.visited = Some(program);
                Some(position)
            })
        });
        if position.is_none() {
            return self
                .stop(Cause::IllegalProgramCounter { target: address, place: self.memory.place(address) });
        }
        self.wave.position = position;
        Flow::Jump
    }

    /// The address of the instruction behind a step.
    pub(crate) fn next_address(&self, step: &Step) -> u64 {
        self.wave.code(self.program).base() + u64::from(step.offset) + u64::from(step.inst.size)
    }
}
