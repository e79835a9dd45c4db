// SPDX-License-Identifier: MIT OR Apache-2.0
//! What injected failures do: which operations run, which do not, which may do either, and whose failure arrives.

use super::{
    Operation, Point, Program, Step,
    order::{Order, Set, contains},
};

/// A set of injected failures, by their numbers.
pub(super) type Causes = u128;

/// What becomes of an operation, and of a wait of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    /// A wait may fail, so that the operation does not run.
    pub(super) may_skip: bool,
    /// A wait fails for sure.
    pub(super) must_skip: bool,
    /// The failures that it can end with.
    pub(super) causes: Causes,
    /// The failure of its own, if it is a host call that returns one.
    pub(super) own: Option<u8>,
    /// The device may fail it for a reason of its own.
    pub(super) unreliable: bool,
}

/// What becomes of a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Its greatest signal.
    Payload(u64),
    Failed(Causes),
    /// One or the other.
    Either(u64, Causes),
}

/// The fates of a program's steps and semaphores.
#[derive(Clone, Debug)]
pub(super) struct Fates {
    pub(super) steps: Vec<Fate>,
    pub(super) semaphores: Vec<End>,
}

/// Something that fails a semaphore.
#[derive(Clone, Copy)]
struct Source {
    /// The step that does.
    step: usize,
    causes: Causes,
    /// It does for sure.
    sure: bool,
    /// What has ended before it does.
    before: Set,
}

/// The number of all failures that nobody injected: of an unreliable device.
const OF_THE_DEVICE: u8 = 127;

fn cause(number: u8) -> Causes {
    1 << (number % 128)
}

impl Fate {
    /// Whether the operation may end in failure.
    pub(super) fn may_fail(&self) -> bool {
        self.may_skip || self.unreliable || self.own.is_some()
    }

    /// Whether it does so for sure.
    pub(super) fn must_fail(&self) -> bool {
        self.must_skip || self.own.is_some()
    }
}

/// Whether a set of failures has this one; `None` is one that nobody injected.
pub(super) fn has(causes: Causes, number: Option<u8>) -> bool {
    causes & cause(number.unwrap_or(OF_THE_DEVICE)) != 0
}

impl Program {
    /// What becomes of everything, on a device that may fail any operation for a reason of its own if it is `unreliable`.
    pub(super) fn fates(&self, order: &Order, unreliable: bool) -> Fates {
        let behind = |(step, before): (&Step, &Set)| match step {
            // Perhaps before its waits.
            Step::Submit(_) if unreliable => 0,
            _ => *before,
        };
        let mut judge = Judge {
            program: self,
            steps: self.steps.iter().map(|step| own(step, unreliable)).collect(),
            fails_behind: self.steps.iter().zip(&order.before).map(behind).collect(),
            order,
        };
        // Each round can only add; failures travel along edges in both directions of a timeline.
        while judge.round() {}
        let semaphores = (0..self.semaphores() as u32).map(|semaphore| judge.end(semaphore)).collect();
        Fates { steps: judge.steps, semaphores }
    }
}

fn own(step: &Step, unreliable: bool) -> Fate {
    let Step::Submit(submission) = step else { return Fate::default() };
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
    /// For each step that may fail, what has ended before it does: less than before it runs, for it fails with its first
    /// failed wait, whatever it still waits for.
    fails_behind: Vec<Set>,
}

impl Judge<'_> {
    fn round(&mut self) -> bool {
        let mut changed = false;
        for &index in &self.order.sequence {
            let waits: &[Point] = match &self.program.steps[index] {
                Step::Submit(submission) => &submission.waits,
                Step::Wait(points) => points,
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
                    // A signal of what the client submits later comes too late.
                    let host = matches!(self.program.steps[source.step], Step::Fail { .. });
                    fate.must_skip |= host && source.step < signaller;
                }
                fate.must_skip |= self.steps[signaller].must_fail();
            }
            changed |= fate != self.steps[index] || behind != self.fails_behind[index];
            (self.steps[index], self.fails_behind[index]) = (fate, behind);
        }
        changed
    }

    fn sources(&self, semaphore: u32) -> Vec<Source> {
        let source = |(index, step): (usize, &Step)| match step {
            Step::Fail { semaphore: failed, cause: number } if *failed == semaphore => Some(Source {
                step: index,
                causes: cause(*number),
                sure: true,
                before: self.order.before[index],
            }),
            Step::Submit(submission) => {
                let signals = submission.signals.iter().any(|signal| signal.semaphore == semaphore);
                let fate = self.steps[index];
                (signals && fate.may_fail()).then_some(Source {
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
        let value = |step: &Step| match step {
            Step::Submit(submission) => {
                let signals = submission.signals.iter().filter(|signal| signal.semaphore == semaphore);
                signals.map(|signal| signal.value).max()
            }
            Step::Signal(point) => (point.semaphore == semaphore).then_some(point.value),
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
