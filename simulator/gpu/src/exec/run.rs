// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interpreter's loop: runs one wave until it ends, waits or has used up its turn.

use super::loaded;
use super::machine::core::{Core, Flow};
use super::machine::program::{Counter, Position, Program};
use super::machine::step::Sharing;
use super::machine::trouble::{Cause, Trouble};
use super::machine::wave::WaveStatus;
use super::translate::{End, Left};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The reason why a wave's turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    /// The wave ended or waits at a barrier, according to its status.
    Over,
    /// The wave used up its instructions, or the dispatch is to stop.
    Spent,
    /// The wave slept, as in a loop that waits for other waves.
    Slept,
    /// The wave is about to write, and the other waves may not have read yet.
    Abreast,
}

/// A wave, with everything that it needs to run.
pub(crate) struct Runner<'a> {
    /// The state that handlers work on.
    pub(crate) core: Core<'a>,
    /// The wave's place in the code.
    pub(crate) counter: &'a mut Counter,
    /// The kernel's code.
    pub(crate) program: &'a Arc<Program>,
    /// Whether a wave that has read lets the others catch up before it writes.
    ///
    /// Compilers emit workgroups whose waves all do the same work on the same memory, without a barrier: read, compute,
    /// write. On hardware they run side by side, and all of them read before any of them writes.
    pub(crate) abreast: bool,
    /// The number of arrivals at a step that are interpreted before a translation is made; `None` if none is made.
    pub(crate) cold: Option<u32>,
    /// Set when the dispatch is to stop.
    pub(crate) stop: &'a AtomicBool,
}

impl Runner<'_> {
    /// Runs the wave for about `budget` instructions, or until it ends, waits or fails. Its turn ends at a jump.
    ///
    /// # Errors
    /// The reason why the wave stopped; its position is then at the instruction.
    pub(crate) fn run(&mut self, budget: u64) -> Result<TurnEnd, Trouble> {
        self.run_until::<false>(budget)
    }

    /// As [`run`](Self::run), but the turn may end between any two instructions.
    ///
    /// # Errors
    /// As `run`.
    pub(crate) fn run_exactly(&mut self, budget: u64) -> Result<TurnEnd, Trouble> {
        self.run_until::<true>(budget)
    }

    fn run_until<const EXACT: bool>(&mut self, budget: u64) -> Result<TurnEnd, Trouble> {
        let Some(Position { mut region, mut index }) = self.counter.position.take() else {
            self.core.wave.status = WaveStatus::Ended;
            return Ok(TurnEnd::Over);
        };
        self.core.code_base = region.base;
        let (mut executed, mut turn) = (0, TurnEnd::Over);
        // Whether a block may begin at the step.
        let mut arrives = !EXACT;
        // Whether no block began because of inactive lanes: one may begin where all are active again.
        let mut narrow = false;
        let flow = loop {
            let block = match self.cold {
                Some(cold) if arrives || narrow && self.core.wave.exec() == self.core.wave.lanes() => {
                    arrives = false;
                    let block = region.blocks.enter(&mut self.core, &region.steps, index, self.abreast, cold);
                    narrow = self.core.wave.exec() != self.core.wave.lanes();
                    block
                }
                _ => None,
            };
            let first = index;
            if let Some(left) = block {
                index = left.index;
                executed += (index - first) as u64;
                match left.end {
                    End::Executed(_) => {}
                    End::Stay => continue,
                    End::Limit => {
                        arrives = true;
                        continue;
                    }
                }
            }
            let Some(step) = region.steps.get(index) else {
                // Not reached: the last step of a region does not fall through.
                break Flow::End;
            };
            let answer = match block {
                Some(Left { end: End::Executed(flow), .. }) => flow,
                _ => {
                    match step.sharing {
                        Sharing::None => {}
                        Sharing::Reads => self.core.wave.has_read = true,
                        Sharing::Writes if self.core.wave.has_read && self.abreast => {
                            self.core.wave.has_read = false;
                            turn = TurnEnd::Abreast;
                            break Flow::Yield;
                        }
                        Sharing::Writes => {}
                    }
                    // SAFETY: `Compilations::pick` chose the handler for this processor.
                    unsafe { (step.run)(&mut self.core, step) }
                }
            };
            executed += 1;
            match answer {
                Flow::Next => {
                    index += 1;
                    if EXACT && executed >= budget {
                        turn = TurnEnd::Spent;
                        break Flow::Yield;
                    }
                }
                flow @ (Flow::Branch | Flow::Jump) => {
                    if flow == Flow::Branch {
                        index = step.target as usize;
                    } else {
                        match self.find() {
                            Ok(position) => Position { region, index } = position,
                            Err(flow) => break flow,
                        }
                        self.core.code_base = region.base;
                    }
                    arrives = !EXACT;
                    if executed >= budget || self.stop.load(Ordering::Relaxed) {
                        turn = TurnEnd::Spent;
                        break Flow::Yield;
                    }
                }
                Flow::Yield => {
                    index += 1;
                    turn = TurnEnd::Slept;
                    break Flow::Yield;
                }
                Flow::Again => {
                    turn = TurnEnd::Slept;
                    break Flow::Yield;
                }
                Flow::Barrier => {
                    index += 1;
                    self.core.wave.status = WaveStatus::Barrier;
                    break Flow::Barrier;
                }
                flow => break flow,
            }
        };
        self.core.wave.instructions += executed;
        self.counter.position = Some(Position { region, index });
        match flow {
            Flow::End => self.core.wave.status = WaveStatus::Ended,
            Flow::Stop => {
                self.core.wave.status = WaveStatus::Ended;
                return Err(self.core.trouble.take().unwrap_or(Trouble {
                    cause: Cause::Cancelled,
                    lane: None,
                    access: None,
                }));
            }
            _ => {}
        }
        Ok(turn)
    }

    /// The position at the address of a jump: in the code that the wave is in, in the kernel's own, or in another module's.
    ///
    /// # Errors
    /// [`Flow::Stop`] if no code is there.
    fn find(&mut self) -> Result<Position, Flow> {
        let (address, memory) = (self.core.target, self.core.memory);
        let position = self.counter.code(self.program).find(address).or_else(|| {
            self.counter.visited = None;
            self.program.find(address).or_else(|| {
                let program = loaded::at(memory, address, self.program.set())?;
                let position = program.find(address)?;
                self.counter.visited = Some(program);
                Some(position)
            })
        });
        position.ok_or_else(|| {
            let place = memory.place(address);
            self.core.stop(Cause::IllegalProgramCounter { target: address, place })
        })
    }
}
