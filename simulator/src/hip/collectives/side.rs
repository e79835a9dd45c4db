// SPDX-License-Identifier: MIT OR Apache-2.0
//! A rank's side of its operations on a stream: it arrives at their rounds, and waits until they are over.

use std::sync::Arc;
use std::sync::atomic::fence;

use super::member::Member;
use super::round::{Entry, Round};
use crate::hip::hardware::machine::Machine;
use crate::hip::words::failure::Failure;
use crate::hip::work::item::Errand;
use crate::packet::Condition;

/// The rounds of the operations that a rank does together, with its slots.
#[derive(Clone)]
pub(crate) struct Rounds {
    pub(crate) machine: Arc<Machine>,
    pub(crate) member: Arc<Member>,
    pub(crate) rounds: Arc<[(Arc<Round>, usize)]>,
}

/// Arrives at the rounds.
pub(crate) struct Arrive {
    pub(crate) rounds: Rounds,
    /// One for each round.
    pub(crate) entries: Vec<Entry>,
}

/// Reports the failures of the rounds, which are over.
pub(crate) struct Leave(pub(crate) Rounds);

impl Errand for Arrive {
    fn run(self: Box<Self>, machine: &Machine) -> Result<(), Failure> {
        for ((round, slot), entry) in self.rounds.rounds.iter().zip(self.entries) {
            if !self.rounds.member.is_aborted() {
                round.arrive(machine, *slot, entry);
            }
        }
        Ok(())
    }
}

impl Errand for Leave {
    fn run(self: Box<Self>, _machine: &Machine) -> Result<(), Failure> {
        let failure = self.0.rounds.iter().find_map(|(round, slot)| round.failure(*slot));
        failure.map_or(Ok(()), Err)
    }
}

impl Condition for Rounds {
    fn holds(&self) -> bool {
        // A device that has failed skips its work, so nobody would end the wait.
        let failed =
            || self.machine.device(self.member.device).is_ok_and(|device| device.failure().is_some());
        let gone = self.member.is_aborted() || failed();
        let ends = |round: &Round| round.is_over() || (gone && !round.runs());
        let holds = self.rounds.iter().all(|(round, _)| ends(round));
        if holds {
            fence(std::sync::atomic::Ordering::Acquire);
        }
        holds
    }
}
