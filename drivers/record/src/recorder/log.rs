// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file that a recorder writes, until it cannot.

use std::path::PathBuf;

use crate::format::{chunk::Writer, event::Event};

/// A recording in the making. An error of the file ends the recording and not the device's work.
pub(super) struct Log {
    writer: Option<Writer>,
    path: PathBuf,
}

impl Log {
    pub(super) fn new(writer: Writer, path: PathBuf) -> Self {
        Self { writer: Some(writer), path }
    }

    pub(super) fn add(&mut self, event: &Event) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = writer.event(event) {
            let path = self.path.display();
            tracing::error!(target: "windlass::record", %path, %error, "the recording ends here, because it cannot be written");
            self.writer = None;
        }
    }
}
