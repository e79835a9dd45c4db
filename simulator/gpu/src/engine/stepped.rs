// SPDX-License-Identifier: MIT OR Apache-2.0
//! A dispatch that runs step by step: each step is a turn of one wave, chosen among all that may run.

use super::choose::{Choose, StepOutcome};
use super::fault::Fault;
use super::float_mode::DefaultFloatMode;
use super::job::Job;
use super::launch::Statistics;
use super::workgroup::Workgroup;
use crate::memory::{Block, Windows};

/// The most waves in flight, as long as workgroups do not wait for one another.
const WAVES: u64 = 64;

/// A dispatch in flight.
pub struct Stepped {
    job: Job,
    residents: Vec<Workgroup>,
    windows: Windows,
    /// Workgroups that may be in flight at a time; drawn at the first step.
    width: usize,
    /// Steps in a row that may have been waits.
    spun: usize,
    done: Statistics,
    _arguments: Option<Block>,
}

impl Stepped {
    pub(super) fn new(job: Job, arguments: Option<Block>) -> Self {
        let (windows, done) = (job.windows(), Statistics::default());
        Self { job, residents: Vec::new(), windows, width: 0, spun: 0, done, _arguments: arguments }
    }

    /// The work so far.
    pub fn statistics(&self) -> Statistics {
        self.done
    }

    /// Takes the faults since the last call that are reported but stopped no wave.
    pub fn findings(&self) -> Vec<Fault> {
        self.job.grid.findings()
    }

    /// Runs one turn of one wave.
    ///
    /// # Errors
    /// The wave's fault. The dispatch must not be stepped again.
    pub fn step(&mut self, choices: &mut dyn Choose) -> Result<StepOutcome, Box<Fault>> {
        let _mode = DefaultFloatMode::enter();
        if self.width == 0 {
            self.width = [1, 2, 4, 16][choices.choose(4)];
        }
        let room = self.residents.len() < self.width && self.job.has_more();
        let options = self.residents.len() + usize::from(room);
        if options == 0 {
            return Ok(StepOutcome::Done);
        }
        let mut index = choices.choose(options);
        if index == self.residents.len() {
            let Some(fresh) = self.job.start_next() else { return Ok(StepOutcome::Done) };
            // Many large workgroups take much memory and show no new orders.
            self.width =
                self.width.min((WAVES / fresh.waves().max(1)).max(2) as usize).max(self.residents.len());
            self.residents.push(fresh);
            index = self.residents.len() - 1;
        }
        let workgroup = &mut self.residents[index];
        choices.happened(&[workgroup.number]);
        let step = workgroup.step(&self.job.grid, &mut self.windows, choices)?;
        match step {
            StepOutcome::Done => {
                let workgroup = self.residents.swap_remove(index);
                self.done.workgroups += 1;
                self.done.waves += workgroup.waves();
                self.done.instructions += workgroup.instructions();
                self.spun = 0;
                let over = self.residents.is_empty() && !self.job.has_more();
                return Ok(if over { StepOutcome::Done } else { StepOutcome::Progress });
            }
            StepOutcome::Progress => self.spun = 0,
            StepOutcome::Spun => {
                self.spun += 1;
                // The workgroups in flight may wait for one that has not started.
                if self.spun > 2 * self.residents.len() && self.job.has_more() {
                    self.width = (self.residents.len() + 1).min(self.job.resident());
                    self.spun = 0;
                }
            }
        }
        Ok(step)
    }
}
