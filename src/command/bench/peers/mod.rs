// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers: other libraries that do the same work, measured in turns with Windlass in one run.

use clap::ValueEnum;

use super::{interrupt::Interrupt, options::Options, result::RowResult, row::Row, target::Target};

/// A peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Peer {
    /// IREE's HAL, from the wheels iree-base-runtime and iree-base-compiler
    Iree,
    /// wgpu on its backend that does nothing
    Wgpu,
}

/// The peers of a run.
pub(super) struct Peers(Vec<Peer>);

impl Peers {
    pub(super) fn new(options: &Options) -> Self {
        Self(options.peers.clone())
    }

    pub(super) fn longest(_peers: &[Peer]) -> usize {
        0
    }

    pub(super) fn rows(&self, _row: &Row, _target: &Target, _interrupt: &Interrupt) -> Vec<RowResult> {
        Vec::new()
    }
}
