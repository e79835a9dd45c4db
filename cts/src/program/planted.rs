// SPDX-License-Identifier: MIT OR Apache-2.0
//! Planted errors: a program without one of the edges that it needs.

use std::fmt;

use super::{
    ClientStep, Command, Operation, Program,
    model::{Effect, Prediction},
    order::Order,
};
use crate::random::Random;

/// The kind of a removed edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Plant {
    /// Between two operations on one queue.
    SameQueue,
    /// Between operations on two queues.
    AcrossQueues,
    /// A barrier between two commands of a command buffer.
    Barrier,
    /// Between a use of memory and its alloca or dealloca.
    Alloca,
    /// A wait of the host, before it reads.
    HostRead,
    /// Between a collective operation and another operation.
    Collective,
}

impl Plant {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::SameQueue, Self::AcrossQueues, Self::Barrier, Self::Alloca, Self::HostRead, Self::Collective];
}

impl fmt::Display for Plant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SameQueue => "same queue",
            Self::AcrossQueues => "across queues",
            Self::Barrier => "barrier in a command buffer",
            Self::Alloca => "alloca or dealloca",
            Self::HostRead => "host read",
            Self::Collective => "collective operation",
        })
    }
}

/// The number of orders that are tried to see whether a missing edge can show at all.
const ORDERS: usize = 200;

impl Program {
    /// Returns this legal program without one needed edge, in every way that can show: some remaining order gives
    /// other bytes. Empty for a program with injected failures, because its operations may fail to run.
    pub fn planted(&self, seed: u64) -> Vec<(Plant, Self)> {
        if self.failing {
            return Vec::new();
        }
        let Ok(order) = self.order() else { return Vec::new() };
        let expected = self.predict(&order.sequence, |_| Effect::Whole, |_| {});
        let mut random = Random::new(seed);
        let mut found = Vec::new();
        for (plant, program) in self.without_an_edge() {
            let Ok(order) = program.order() else { continue };
            if program.can_differ(&order, &expected, &mut random) {
                found.push((plant, program));
            }
        }
        found
    }

    /// The program without one wait or barrier, for each removal that leaves conflicting accesses unordered.
    fn without_an_edge(&self) -> Vec<(Plant, Self)> {
        let mut programs = Vec::new();
        for index in 0..self.steps.len() {
            let waits = match &self.steps[index] {
                ClientStep::Submit(submission) => submission.waits.len(),
                ClientStep::Wait(points) => points.len(),
                _ => 0,
            };
            for wait in 0..waits {
                let mut program = self.clone();
                match &mut program.steps[index] {
                    ClientStep::Submit(submission) => drop(submission.waits.remove(wait)),
                    ClientStep::Wait(points) => drop(points.remove(wait)),
                    _ => {}
                }
                let Ok(order) = program.order() else { continue };
                let races = program.races(&order);
                programs.extend(races.first().map(|race| (program.kind_of(*race), program.clone())));
            }
        }
        for (list, commands) in self.lists.iter().enumerate() {
            for place in 0..commands.commands.len() {
                if matches!(commands.commands[place], Command::Barrier | Command::Wait(_)) {
                    let mut program = self.clone();
                    program.lists[list].commands.remove(place);
                    if program.races_within().next().is_some() {
                        programs.push((Plant::Barrier, program));
                    }
                }
            }
        }
        programs
    }

    fn kind_of(&self, (first, second): (usize, usize)) -> Plant {
        let (ClientStep::Submit(first), ClientStep::Submit(second)) =
            (&self.steps[first], &self.steps[second])
        else {
            return Plant::HostRead;
        };
        let is_memory =
            |operation: &Operation| matches!(operation, Operation::Alloca(_) | Operation::Dealloca(_));
        let is_group = |operation: &Operation| matches!(operation, Operation::Collective { .. });
        if is_group(&first.operation) || is_group(&second.operation) {
            Plant::Collective
        } else if is_memory(&first.operation) || is_memory(&second.operation) {
            Plant::Alloca
        } else if first.affinity == second.affinity && first.affinity.is_power_of_two() {
            Plant::SameQueue
        } else {
            Plant::AcrossQueues
        }
    }

    /// Whether some order that the program allows gives other bytes.
    fn can_differ(&self, order: &Order, expected: &Prediction, random: &mut Random) -> bool {
        (0..ORDERS).any(|_| {
            let sequence = order.any_sequence(|ready| random.below(ready));
            let permute = |run: &mut Vec<_>| random.shuffle(run);
            let seen = self.predict(&sequence, |_| Effect::Whole, permute);
            let differs = |expected: &[Option<u8>], seen: &[Option<u8>]| {
                expected.iter().zip(seen).any(|(expected, seen)| expected.is_some() && expected != seen)
            };
            expected.memory.iter().zip(&seen.memory).any(|(expected, seen)| differs(expected, seen))
                || expected
                    .reads
                    .iter()
                    .zip(&seen.reads)
                    .any(|((_, expected), (_, seen))| differs(expected, seen))
        })
    }
}
