// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass bench compare`: the rows that became slower beyond their noise.
use clap::Args;
use crate::command::failure::Outcome;
#[derive(Args)]
pub(crate) struct Compare {}
impl Compare {
    pub(super) fn run(self) -> Outcome {
        Ok(())
    }
}
