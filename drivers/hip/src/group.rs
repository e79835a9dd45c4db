// SPDX-License-Identifier: MIT OR Apache-2.0
//! A group of collective operations on its way through the streams: the mark of its end, and how it failed.

use std::sync::{Arc, OnceLock};

use windlass_hal::Error;

use crate::call::Event;

/// The place of a group in the stream of its channel.
#[derive(Clone)]
pub(crate) struct Group {
    /// Behind the waits, before the group.
    pub(crate) start: Arc<Event>,
    /// Behind the group.
    pub(crate) end: Arc<Event>,
    /// How it failed. Set before its communicator is aborted, which lets the end complete.
    pub(crate) failure: Arc<OnceLock<Error>>,
}

impl Group {
    pub(crate) fn new(start: Arc<Event>, end: Arc<Event>) -> Self {
        Self { start, end, failure: Arc::default() }
    }

    pub(crate) fn fail(&self, error: &Error) {
        let _ = self.failure.set(error.clone());
    }
}
