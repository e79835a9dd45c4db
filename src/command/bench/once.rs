// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass bench once`, which other rows start: one row without a clock, for a number of rounds.

use clap::Args;

use super::{
    row::Prepared,
    rows::{self, start::NOTHING},
    stop::Stop,
    target::Target,
};
use crate::command::failure::{Failure, Outcome};

/// Options of `once`.
#[derive(Args)]
pub(crate) struct Once {
    #[arg(long)]
    device: String,
    #[arg(long)]
    rounds: u64,
    row: String,
}

impl Once {
    /// Sets the row up and runs its rounds.
    pub(super) fn run(self) -> Outcome {
        if self.row == NOTHING {
            return Ok(());
        }
        let row = rows::all().into_iter().find(|row| row.name == self.row);
        let row = row.ok_or_else(|| Failure::input(format!("there is no row `{}`", self.row)))?;
        let target = Target::open(&self.device).map_err(|error| Failure::open(&self.device, &error))?;
        let ended = match row.prepare(&target) {
            Ok(Prepared::Timed(mut subject, _)) => subject(self.rounds).map(drop),
            Ok(Prepared::Exact(_)) => Ok(()),
            Err(stop) => Err(stop),
        };
        ended.map_err(|stop| match stop {
            Stop::Lacks(reason) | Stop::Failed(reason) => Failure::failed(reason),
            Stop::Interrupted => Failure::failed("interrupted"),
        })
    }
}
