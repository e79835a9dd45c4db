// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way from a URI to a shuffled device.

use std::{sync::Arc, time::Duration};

use windlass_hal::{DeviceInfo, Error, Registry, Result, Uri, driver};

use super::device::{Device, PATIENCE};

/// The driver of `shuffle://`: wraps the devices of other drivers.
#[derive(Clone, Debug)]
pub struct Driver {
    over: Registry,
}

impl Driver {
    /// Shuffles devices of these drivers.
    pub fn new(over: Registry) -> Self {
        Self { over }
    }
}

impl driver::Driver for Driver {
    fn scheme(&self) -> &str {
        "shuffle"
    }

    fn description(&self) -> String {
        "another device, with work and signals in any order that semaphores allow: shuffle://?seed=N&over=URI"
            .to_owned()
    }

    /// None: there are as many as there are devices to wrap.
    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Ok(Vec::new())
    }

    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::RawDevice>> {
        if !uri.path().is_empty() {
            return Err(Error::not_found(format!(
                "{uri}: a shuffled device is named by the one that it wraps; open shuffle://?seed=1&over=URI"
            )));
        }
        let parameters = uri.reader();
        let seed = parameters.value::<u64>("seed")?.unwrap_or(1);
        let patience = parameters.value::<u64>("patience")?.map_or(PATIENCE, Duration::from_millis);
        let over = parameters.text("over").ok_or_else(|| {
            Error::invalid_argument(format!(
                "{uri} does not say what to shuffle; add over=URI as the last key"
            ))
        })?;
        parameters.finish()?;
        let over: Uri = over.parse()?;
        let raw = self
            .over
            .driver(over.scheme())?
            .open(&over)
            .map_err(|error| error.context(format!("opening {over} to shuffle it")))?;
        Ok(Device::with_patience(raw, seed, patience))
    }
}
