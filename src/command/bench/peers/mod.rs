// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers: other libraries that do the work of a row, measured in turns with Windlass in one run.

mod iree;
mod program;
mod ready;
mod wgpu;

use std::{path::Path, time::Duration};

use clap::ValueEnum;

use super::{
    interrupt::Interrupt,
    result::RowResult,
    row::{Prepared, Row},
    sample::{self, Plan, Reference, Statistics},
    stop::{Stop, Work},
    target::Target,
};
use iree::Iree;
use ready::Ready;

/// A peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Peer {
    /// IREE's HAL, from the wheels iree-base-runtime and iree-base-compiler
    Iree,
    /// wgpu on its backend that does nothing
    Wgpu,
}

impl Peer {
    /// The suffix of a row's name.
    fn suffix(self) -> &'static str {
        match self {
            Self::Iree => " peer=iree",
            Self::Wgpu => " peer=wgpu",
        }
    }
}

/// The peers of a run.
pub(super) struct Peers {
    peers: Vec<Peer>,
    iree: Iree,
    rounds: usize,
    /// The time of a sample.
    time: Duration,
    plan: Plan,
}

impl Peers {
    pub(super) fn new(peers: &[Peer], python: &Path, plan: Plan) -> Self {
        let is_quick = plan.time.is_zero();
        Self {
            peers: peers.to_vec(),
            iree: Iree::new(python),
            rounds: if is_quick { 2 } else { 7 },
            time: if is_quick { Duration::from_millis(1) } else { plan.time / 7 },
            plan,
        }
    }

    /// The letters by which the names of peers' rows are longer.
    pub(super) fn longest(peers: &[Peer]) -> usize {
        peers.iter().map(|peer| peer.suffix().len()).max().unwrap_or(0)
    }

    /// The rows of peers beside a row; none if no peer does its kind of work.
    pub(super) fn rows(&self, row: &Row, target: &Target, interrupt: &Interrupt) -> Vec<RowResult> {
        self.peers.iter().filter_map(|peer| self.row(*peer, row, target, interrupt)).collect()
    }

    fn row(&self, peer: Peer, row: &Row, target: &Target, interrupt: &Interrupt) -> Option<RowResult> {
        let found = match peer {
            Peer::Iree => self.iree.prepare(row, target)?,
            Peer::Wgpu => wgpu::prepare(row, target)?,
        };
        let mut result = match found.and_then(|ready| self.compare(ready.as_ref(), row, target, interrupt)) {
            Ok((host, reference)) => {
                let result = RowResult::of(row, target, Some(host), None);
                RowResult { peer: Some(reference), ..result }
            }
            Err(Stop::Interrupted) => return None,
            // Ctrl-C also ends the peer's process.
            Err(_) if interrupt.has_come() => return None,
            Err(stop) => RowResult::stopped(row, target, stop),
        };
        result.row.push_str(peer.suffix());
        Some(result)
    }

    /// Measures both in turns.
    fn compare(
        &self,
        ready: &dyn Ready,
        row: &Row,
        target: &Target,
        interrupt: &Interrupt,
    ) -> Work<(Statistics, Reference)> {
        let Prepared::Timed(mut subject, _) = row.prepare(target)? else {
            return Err(Stop::Lacks("the row has no time".to_owned()));
        };
        let plan = Plan { batch: self.time.max(self.plan.batch), ..self.plan };
        let rounds = sample::calibrate(&plan, interrupt, &mut subject)?;
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            interrupt.check()?;
            own.push(sample::each(subject(rounds)?, rounds, row.items));
            other.push(ready.sample(self.time)?);
        }
        let none = || Stop::Failed("no sample was taken".to_owned());
        let statistics = Statistics::of(&own, rounds).ok_or_else(none)?;
        Ok((statistics, Reference::of(&ready.name(), &own, &other).ok_or_else(none)?))
    }
}
