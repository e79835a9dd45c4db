// SPDX-License-Identifier: MIT OR Apache-2.0
//! Begins a schedule as the options say: from a seed, or from a log that is replayed.

use std::path::Path;
use std::time::Duration;

use super::Schedule;
use super::choices::Choices;
use super::log::{Recorder, Replay};
use crate::options::Options;

impl Schedule {
    /// The schedule that options ask for, if any. Work continues without clients that have computed for
    /// longer than `patience` since the last call.
    ///
    /// # Errors
    /// A sentence, if the log cannot be written or read.
    pub(crate) fn new(options: &Options, patience: Duration) -> Result<Option<Self>, String> {
        let replay = options.replay.as_deref().map(Replay::open).transpose()?;
        let Some(seed) = replay.as_ref().map(|replay| replay.seed).or(options.seed) else { return Ok(None) };
        let recorder = options.record.as_deref().map(|path| Recorder::create(path, seed)).transpose()?;
        Ok(Some(Self::from_choices(Choices::new(seed, recorder, replay), patience)))
    }

    /// The seed of a log.
    ///
    /// # Errors
    /// A sentence, if it cannot be read.
    pub(crate) fn seed_of(log: &Path) -> Result<u64, String> {
        Ok(Replay::open(log)?.seed)
    }

    /// Checks that [`new`](Self::new) can read and write the files that options name. Changes no file.
    ///
    /// # Errors
    /// As `new`.
    pub(crate) fn check(options: &Options) -> Result<(), String> {
        options.replay.as_deref().map(Replay::open).transpose()?;
        options.record.as_deref().map(Recorder::check).transpose()?;
        Ok(())
    }
}
