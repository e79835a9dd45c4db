// SPDX-License-Identifier: MIT OR Apache-2.0
//! The channels of a device: the library behind them, and the lines to close with the device.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, Weak},
};

use windlass_hal::{Error, Result};
use windlass_hip_sys::rccl::Rccl;

use crate::{hip::Hip, line::Line, sync::lock};

/// RCCL and the lines of a device.
pub(crate) struct Channels {
    /// The library that the URI names.
    path: Option<PathBuf>,
    rccl: OnceLock<Result<Rccl>>,
    lines: Mutex<Vec<Weak<Line>>>,
}

impl Channels {
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        Self { path, rccl: OnceLock::new(), lines: Mutex::default() }
    }

    /// RCCL, which is opened at the first call: the library is large.
    pub(crate) fn rccl(&self, hip: &Hip) -> Result<&Rccl> {
        let loaded = self.rccl.get_or_init(|| {
            // SAFETY: a library that the system has under RCCL's name, or that the user names, is taken for RCCL. Any other
            // library under this name breaks every program that loads it. One that is linked to another HIP than this
            // driver's is refused, where the system tells; elsewhere it is taken for the RCCL of the only HIP.
            let loaded = unsafe { Rccl::load(&hip.api, self.path.as_deref()) };
            loaded.map_err(|error| Error::unavailable(error.to_string()))
        });
        loaded.as_ref().map_err(Error::clone)
    }

    pub(crate) fn add(&self, line: &Arc<Line>) {
        let mut lines = lock(&self.lines);
        lines.retain(|line| line.strong_count() > 0);
        lines.push(Arc::downgrade(line));
    }

    /// Fails the groups that were not issued, and refuses new ones.
    pub(crate) fn close(&self, error: &Error) {
        let lines: Vec<_> = lock(&self.lines).iter().filter_map(Weak::upgrade).collect();
        lines.iter().for_each(|line| line.close(error));
    }
}
