// SPDX-License-Identifier: MIT OR Apache-2.0
//! A workgroup in flight: its waves take turns until all have ended.

use super::choose::{Choose, StepOutcome};
use super::fault::Fault;
use super::grid::Grid;
use super::opening::Opening;
use super::scene::Scene;
use crate::exec::{Core, Counter, Lds, Runner, TurnEnd, Wave, WaveStatus, WorkgroupBarrier};
use crate::memory::Windows;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::atomic::Ordering;

/// Instructions of a turn, after which another wave runs.
const TURN: u64 = 20_000;
/// Instructions of a turn that is a step. There are fewer, because a wave that spins may block the wave that
/// it waits for.
const STEP: u64 = 2_000;
/// The most instructions of a turn that is cut short.
const HALF_WAY: usize = 48;
/// This many rounds in which waves only let each other catch up count as one turn of a wave that spins.
const CATCHING_UP: u32 = 4000;
/// Turns of spinning waves before other workgroups run.
const PATIENCE: u32 = 16;
/// Waves that a thread keeps for reuse.
const KEPT: usize = 32;

thread_local! {
    static SPARE: RefCell<SpareParts> = const { RefCell::new(SpareParts { waves: Vec::new(), lds: Vec::new() }) };
}

/// Calls a function with the spare parts of this thread; `None` while the thread ends.
fn spare<T>(f: impl FnOnce(&mut SpareParts) -> Option<T>) -> Option<T> {
    SPARE.try_with(|spare| f(&mut spare.borrow_mut())).ok().flatten()
}

/// The parts of ended workgroups that a thread keeps for reuse.
#[expect(clippy::vec_box, reason = "a wave is large, and goes from list to list")]
struct SpareParts {
    waves: Vec<Box<Wave>>,
    lds: Vec<Lds>,
}

/// A wave in flight, and its place in the code.
struct Resident {
    wave: Box<Wave>,
    counter: Counter,
}

/// A workgroup in flight.
pub(super) struct Workgroup {
    id: [u32; 3],
    /// Its place among the workgroups of the dispatch.
    pub(super) number: u64,
    waves: Vec<Resident>,
    /// Taken back by the thread at the end.
    lds: Option<Lds>,
}

/// The outcome of running a workgroup for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// All waves have ended.
    Done,
    /// The workgroup may be waiting for another one.
    Waiting,
}

impl Workgroup {
    /// A workgroup at its start.
    pub(super) fn new(grid: &Grid, number: u64) -> Self {
        let start = &grid.start;
        let id = start.workgroup(number);
        let opening = Opening::new(start, id);
        let mut lds = spare(|spare| spare.lds.pop()).unwrap_or_else(Lds::new);
        lds.reset(start.lds as usize);
        lds.barrier = WorkgroupBarrier::of(opening.waves());
        if let Some(limit) = start.lds_limit {
            lds.set_limit(limit.into());
        }
        let waves = (0..opening.waves())
            .map(|number| {
                let mut wave = spare(|spare| spare.waves.pop()).unwrap_or_else(|| Box::new(Wave::new()));
                opening.prepare(&mut wave, number);
                wave.status = WaveStatus::Ready;
                Resident { wave, counter: Counter { position: Some(grid.entry.clone()), visited: None } }
            })
            .collect();
        Self { id, number, waves, lds: Some(lds) }
    }

    /// Waves.
    pub(super) fn waves(&self) -> u64 {
        self.waves.len() as u64
    }

    /// Instructions that its waves have executed.
    pub(super) fn instructions(&self) -> u64 {
        self.waves.iter().map(|resident| resident.wave.instructions).sum()
    }

    /// Runs the waves until all have ended, or until nothing but other workgroups can help. `windows` are those of the thread.
    ///
    /// # Errors
    /// A wave's fault. The workgroup must not be run again.
    pub(super) fn run(&mut self, grid: &Grid, windows: &mut Windows) -> Result<Progress, Box<Fault>> {
        let scene = grid.scene(self.id);
        let mut patience = PATIENCE;
        let lds = self.lds.get_or_insert_with(Lds::new);
        let abreast = self.waves.len() > 1;
        let mut catching_up = 0;
        loop {
            let mut spun = false;
            let mut slept = true;
            let mut caught_up = true;
            for Resident { wave, counter } in &mut self.waves {
                if wave.status != WaveStatus::Ready {
                    continue;
                }
                let mut runner = Runner {
                    core: Core::new(wave, lds, &grid.memory, windows),
                    counter,
                    program: &grid.kernel.record.program,
                    abreast,
                    cold: grid.start.cold,
                    stop: &grid.stop,
                };
                let turn = runner.run(TURN);
                if wave.status == WaveStatus::Ended {
                    lds.barrier.leave();
                }
                note_findings(grid, &scene, wave);
                match turn {
                    Ok(TurnEnd::Over) => {}
                    Ok(TurnEnd::Slept) => spun = true,
                    Ok(TurnEnd::Spent) => (spun, slept) = (true, false),
                    Ok(TurnEnd::Abreast) => caught_up = false,
                    Err(trouble) => return Err(scene.fault(wave.number, counter, trouble)),
                }
            }
            if pass(&mut self.waves, &lds.barrier) {
                patience = PATIENCE;
                continue;
            }
            // A loop that reads and writes never uses up a turn, and may still be waiting for others.
            catching_up = if caught_up { 0 } else { catching_up + 1 };
            if catching_up == CATCHING_UP {
                (spun, slept, catching_up) = (true, false, 0);
            }
            let mut open =
                self.waves.iter().filter(|resident| resident.wave.status != WaveStatus::Ended).peekable();
            if open.peek().is_none() {
                return Ok(Progress::Done);
            }
            if open.all(|resident| resident.wave.waits_for_all()) {
                for Resident { wave, .. } in &mut self.waves {
                    if wave.status == WaveStatus::Barrier {
                        wave.status = WaveStatus::Ready;
                    }
                }
                patience = PATIENCE;
            } else if spun {
                patience -= 1;
                if slept || patience == 0 || grid.stop.load(Ordering::Relaxed) {
                    return Ok(Progress::Waiting);
                }
            } else if !self.waves.iter().any(|resident| resident.wave.status == WaveStatus::Ready) {
                // They wait for a barrier that a wave has not signalled, and none can.
                return Ok(Progress::Waiting);
            }
        }
    }
}

impl Workgroup {
    /// Runs one wave. `choices` decides which one and how far. If all waves wait at a barrier, they pass it first.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(super) fn step(
        &mut self,
        grid: &Grid,
        windows: &mut Windows,
        choices: &mut dyn Choose,
    ) -> Result<StepOutcome, Box<Fault>> {
        let lds = self.lds.get_or_insert_with(Lds::new);
        pass(&mut self.waves, &lds.barrier);
        let mut ready = self.with_status(WaveStatus::Ready);
        if ready.is_empty() {
            ready = self.with_status(WaveStatus::Barrier);
            ready.retain(|index| self.waves[*index].wave.waits_for_all());
            for index in &ready {
                self.waves[*index].wave.status = WaveStatus::Ready;
            }
        }
        if ready.is_empty() {
            let ended = self.waves.iter().all(|resident| resident.wave.status == WaveStatus::Ended);
            return Ok(if ended { StepOutcome::Done } else { StepOutcome::Spun });
        }
        let index = ready[choices.choose(ready.len())];
        let lds = self.lds.get_or_insert_with(Lds::new);
        let Resident { wave, counter } = &mut self.waves[index];
        let before = wave.instructions;
        let mut runner = Runner {
            core: Core::new(wave, lds, &grid.memory, windows),
            counter,
            program: &grid.kernel.record.program,
            // Every order is legal: a kernel that one order breaks has a race.
            abreast: false,
            cold: grid.start.cold,
            stop: &grid.stop,
        };
        // Mostly to the next barrier or to the end, sometimes a few instructions, so that other waves see half of its
        // work.
        let ran = match choices.choose(4) {
            0 => {
                let budget = 1 + choices.choose(HALF_WAY) as u64;
                runner
                    .run_exactly(budget)
                    .map(|turn| if turn == TurnEnd::Spent { TurnEnd::Over } else { turn })
            }
            _ => runner.run(STEP),
        };
        if wave.status == WaveStatus::Ended {
            lds.barrier.leave();
        }
        let scene = grid.scene(self.id);
        note_findings(grid, &scene, wave);
        let turn = ran.map_err(|trouble| scene.fault(wave.number, counter, trouble))?;
        choices.happened(&[index as u64, wave.instructions - before]);
        if self.waves.iter().all(|resident| resident.wave.status == WaveStatus::Ended) {
            return Ok(StepOutcome::Done);
        }
        Ok(if turn == TurnEnd::Over { StepOutcome::Progress } else { StepOutcome::Spun })
    }

    fn with_status(&self, status: WaveStatus) -> SmallVec<[usize; 16]> {
        let waves = self.waves.iter().enumerate();
        waves.filter(|(_, resident)| resident.wave.status == status).map(|(index, _)| index).collect()
    }
}

/// Keeps the faults of a wave's turn that did not stop it.
#[inline(always)]
fn note_findings(grid: &Grid, scene: &Scene<'_>, wave: &mut Wave) {
    // Nearly all turns have none.
    if !wave.findings.is_empty() {
        for finding in std::mem::take(&mut wave.findings) {
            grid.note(scene.finding(wave.number, finding));
        }
    }
}

/// Lets the waves go on that wait for a phase of the barrier that is over. Returns whether there are any.
fn pass(waves: &mut [Resident], barrier: &WorkgroupBarrier) -> bool {
    let mut any = false;
    for Resident { wave, .. } in waves {
        let passes = wave.phase.is_some_and(|phase| barrier.phase() > phase);
        if wave.status == WaveStatus::Barrier && passes {
            (wave.status, wave.phase, any) = (WaveStatus::Ready, None, true);
        }
    }
    any
}

impl Drop for Workgroup {
    fn drop(&mut self) {
        spare(|spare| {
            for resident in self.waves.drain(..) {
                if spare.waves.len() < KEPT {
                    spare.waves.push(resident.wave);
                }
            }
            if spare.lds.is_empty() {
                spare.lds.extend(self.lds.take());
            }
            None::<()>
        });
    }
}
