// SPDX-License-Identifier: MIT OR Apache-2.0
//! The effect of injected failures: the operations that run, that do not run, or that may do either, and the failures
//! that they end with.

use super::{
    ClientStep, Operation, Point, Program,
    order::{Order, Set, contains},
};

/// A set of injected failures, by their numbers.
pub(super) type Causes = u128;

/// The possible outcomes of an operation, or of a wait of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    /// A wait may fail, so that the operation does not run.
    pub(super) may_skip: bool,
    /// A wait fails in every run.
    pub(super) must_skip: bool,
    /// The failures that it can end with.
    pub(super) causes: Causes,
    /// The failure that it returns itself, if it is a host call with an error.
    pub(super) own: Option<u8>,
    /// The device may fail it for a reason of its own.
    pub(super) unreliable: bool,
}

/// The possible end states of a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Its greatest signal.
    Payload(u64),
    Failed(Causes),
    /// A payload or a failure.
    Either(u64, Causes),
}

/// The fates of a program's steps and semaphores.
#[derive(Clone, Debug)]
pub(super) struct Fates {
    pub(super) steps: Vec<Fate>,
    pub(super) semaphores: Vec<End>,
}

/// A step that can fail a semaphore.
#[derive(Clone, Copy)]
struct FailureSource {
    /// The step.
    step: usize,
    causes: Causes,
    /// Whether it fails the semaphore in every run.
    sure: bool,
    /// The steps that have ended before.
    before: Set,
}

/// The number that stands for all failures of an unreliable device.
const OF_THE_DEVICE: u8 = 127;

fn cause(number: u8) -> Causes {
    1 << (number % 128)
}

impl Fate {
    /// Whether the operation may end in failure.
    pub(super) fn may_fail(&self) -> bool {
        self.may_skip || self.unreliable || self.own.is_some()
    }

    /// Whether the operation ends in failure in every run.
    pub(super) fn must_fail(&self) -> bool {
        self.must_skip || self.own.is_some()
    }
}

/// Whether a set of failures contains this one. `None` is a failure of the device.
pub(super) fn has(causes: Causes, number: Option<u8>) -> bool {
    causes & cause(number.unwrap_or(OF_THE_DEVICE)) != 0
}

impl Program {
    /// The fates of all steps and semaphores. An `unreliable` device may fail any operation for a reason of its own.
    pub(super) fn fates(&self, order: &Order, unreliable: bool) -> Fates {
        let behind = |(step, before): (&ClientStep, &Set)| match step {
            // The failure may come before the waits are reached.
            ClientStep::Submit(_) if unreliable => 0,
            _ => *before,
        };
        let mut judge = Judge {
            program: self,
            steps: self.steps.iter().map(|step| own(step, unreliable)).collect(),
            fails_behind: self.steps.iter().zip(&order.before).map(behind).collect(),
            order,
        };
        // Each round can only add fates. Failures travel along edges in both directions of a timeline.
        while judge.round() {}
        let semaphores = (0..self.semaphores() as u32).map(|semaphore| judge.end(semaphore)).collect();
        Fates { steps: judge.steps, semaphores }
    }
}

fn own(step: &ClientStep, unreliable: bool) -> Fate {
    let ClientStep::Submit(submission) = step else { return Fate::default() };
    let own = match submission.operation {
        Operation::HostCall { fail, .. } => fail,
        _ => None,
    };
    let of_the_device = if unreliable { cause(OF_THE_DEVICE) } else { 0 };
    Fate { own, unreliable, causes: own.map_or(0, cause) | of_the_device, ..Fate::default() }
}

struct Judge<'a> {
    program: &'a Program,
    order: &'a Order,
    steps: Vec<Fate>,
    /// For each step that may fail, the steps that have ended before its failure. These are fewer than before its
    /// run, because it fails with its first failed wait while it still waits for others.
    fails_behind: Vec<Set>,
}

impl Judge<'_> {
    fn round(&mut self) -> bool {
        let mut changed = false;
        for &index in &self.order.sequence {
            let waits: &[Point] = match &self.program.steps[index] {
                ClientStep::Submit(submission) => &submission.waits,
                ClientStep::Wait(points) => points,
                _ => continue,
            };
            let (mut fate, mut behind) = (self.steps[index], self.fails_behind[index]);
            for wait in waits {
                let Some(signaller) = self.program.signaller(*wait) else { continue };
                for source in self.sources(wait.semaphore) {
                    // A value that was reached before the failure stays reached.
                    if !contains(source.before, signaller) {
                        fate.may_skip = true;
                        fate.causes |= source.causes;
                        behind &= source.before;
                    }
                    // A signal of an operation that the client submits later comes too late.
                    let host = matches!(self.program.steps[source.step], ClientStep::Fail { .. });
                    fate.must_skip |= host && source.step < signaller;
                }
                fate.must_skip |= self.steps[signaller].must_fail();
            }
            changed |= fate != self.steps[index] || behind != self.fails_behind[index];
            (self.steps[index], self.fails_behind[index]) = (fate, behind);
        }
        changed
    }

    fn sources(&self, semaphore: u32) -> Vec<FailureSource> {
        let source = |(index, step): (usize, &ClientStep)| match step {
            ClientStep::Fail { semaphore: failed, cause: number } if *failed == semaphore => {
                Some(FailureSource {
                    step: index,
                    causes: cause(*number),
                    sure: true,
                    before: self.order.before[index],
                })
            }
            ClientStep::Submit(submission) => {
                let signals = submission.signals.iter().any(|signal| signal.semaphore == semaphore);
                let fate = self.steps[index];
                (signals && fate.may_fail()).then_some(FailureSource {
                    step: index,
                    causes: fate.causes,
                    sure: fate.must_fail(),
                    before: self.fails_behind[index],
                })
            }
            _ => None,
        };
        self.program.steps.iter().enumerate().filter_map(source).collect()
    }

    fn end(&self, semaphore: u32) -> End {
        let value = |step: &ClientStep| match step {
            ClientStep::Submit(submission) => {
                let signals = submission.signals.iter().filter(|signal| signal.semaphore == semaphore);
                signals.map(|signal| signal.value).max()
            }
            ClientStep::Signal(point) => (point.semaphore == semaphore).then_some(point.value),
            _ => None,
        };
        let payload = self.program.steps.iter().filter_map(value).max().unwrap_or(0);
        let sources = self.sources(semaphore);
        let causes = sources.iter().fold(0, |causes, source| causes | source.causes);
        match sources.iter().any(|source| source.sure) {
            true => End::Failed(causes),
            false if sources.is_empty() => End::Payload(payload),
            false => End::Either(payload, causes),
        }
    }
}
