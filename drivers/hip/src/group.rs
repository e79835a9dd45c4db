// SPDX-License-Identifier: MIT OR Apache-2.0
//! A group of collective operations, from its submission through the streams: its marks, and how it failed.

use std::sync::{Arc, OnceLock};

use windlass_hal::{Buffer, Collective, Error, driver};

use crate::call::Event;

/// A group as it was submitted, alone or within a command buffer.
pub(crate) struct SubmittedGroup {
    pub(crate) channel: Arc<dyn driver::RawChannel>,
    /// Shared with the line of the channel, which may keep them for longer than the submission.
    pub(crate) operations: Arc<[Collective]>,
    /// The bytes of fills that HIP gets wrong.
    pub(crate) zeros: Option<Buffer>,
    /// Present once the line of the channel has issued it.
    pub(crate) issued: Option<Group>,
}

impl SubmittedGroup {
    pub(crate) fn new(
        channel: Arc<dyn driver::RawChannel>,
        operations: impl Into<Arc<[Collective]>>,
        zeros: Option<Buffer>,
    ) -> Self {
        Self { channel, operations: operations.into(), zeros, issued: None }
    }
}

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
