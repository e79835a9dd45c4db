// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sinks of profiles: a trace for viewers, statistics, and several sinks as one.

mod events;
mod histogram;
pub(crate) mod statistics;
pub(crate) mod trace;

use std::{fmt, sync::Arc};

use crate::words::profile::{ProfileChunk, ProfileSink};

/// Several sinks that each hear every record, one after the other.
pub struct ProfileSinks(Vec<Arc<dyn ProfileSink>>);

impl ProfileSinks {
    /// These sinks as one.
    pub fn new(sinks: impl IntoIterator<Item = Arc<dyn ProfileSink>>) -> Self {
        Self(sinks.into_iter().collect())
    }
}

impl ProfileSink for ProfileSinks {
    fn records(&self, chunk: ProfileChunk) {
        for sink in &self.0 {
            sink.records(chunk.clone());
        }
    }
}

impl fmt::Debug for ProfileSinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProfileSinks({})", self.0.len())
    }
}
