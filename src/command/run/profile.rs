// SPDX-License-Identifier: MIT OR Apache-2.0
//! The profile of a run: a file for viewers, and a table of statistics.

use std::{
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{Device, ProfileOptions, ProfileSink, ProfileSinks, ProfileStatistics, ProfileTrace};

use super::super::{
    failure::{Failure, Outcome, Stage, note},
    output,
};

/// A profile in progress.
pub(crate) struct Profile {
    device: Device,
    trace: Arc<ProfileTrace>,
    bytes: Shared,
    statistics: Arc<ProfileStatistics>,
}

/// The text of a trace, which its writer and the profile share.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Profile {
    /// Begins to profile a device, with the commands of its command buffers.
    pub(crate) fn begin(device: &Device) -> Outcome<Self> {
        let bytes = Shared::default();
        let trace = Arc::new(ProfileTrace::new(bytes.clone()));
        let statistics = Arc::new(ProfileStatistics::new());
        let sinks: [Arc<dyn ProfileSink>; 2] = [trace.clone(), statistics.clone()];
        let options = ProfileOptions::default().with_commands(true);
        device
            .profiling_begin(options, Arc::new(ProfileSinks::new(sinks)))
            .map_err(|error| Failure::hal(Stage::Open, &error))?;
        Ok(Self { device: device.clone(), trace, bytes, statistics })
    }

    /// Ends the profile, writes its file, and prints its statistics.
    pub(crate) fn end(self, path: &Path) -> Outcome {
        self.device.profiling_end().map_err(|error| Failure::hal(Stage::Run, &error))?;
        self.trace.finish().map_err(|error| Failure::failed(error.to_string()))?;
        output::write_file(path, &self.bytes.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        let label = if self.device.info().simulated { " (simulated: no times of a GPU)" } else { "" };
        note(&format!("profile of {}{label}", self.device.info().uri));
        note(self.statistics.to_string().trim_end());
        Ok(())
    }
}
