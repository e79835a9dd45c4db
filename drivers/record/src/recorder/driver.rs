// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way from a URI to a recorded device.

use std::{path::Path, sync::Arc};

use windlass_hal::{DeviceInfo, Error, Registry, Result, Uri, driver};

use super::{device::Device, log::Log, names, session::Session};
use crate::format::{chunk::Writer, event::Header};

/// The driver of `record://`: wraps the devices of other drivers.
#[derive(Clone, Debug)]
pub struct Driver {
    over: Registry,
    made_by: String,
}

impl Driver {
    /// Records devices of these drivers. `made_by` names the program and its version in the header of recordings.
    pub fn new(over: Registry, made_by: impl Into<String>) -> Self {
        Self { over, made_by: made_by.into() }
    }
}

impl driver::Driver for Driver {
    fn scheme(&self) -> &str {
        "record"
    }

    fn description(&self) -> String {
        "another device, whose work goes to a file for windlass replay: record://?file=PATH&over=URI"
            .to_owned()
    }

    /// Lists no device: there is one for each device to wrap.
    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Ok(Vec::new())
    }

    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::RawDevice>> {
        if !uri.path().is_empty() {
            return Err(Error::not_found(format!(
                "{uri}: a recorded device is named by the one that it wraps; open record://?file=PATH&over=URI"
            )));
        }
        let parameters = uri.reader();
        let file = parameters.text("file").filter(|file| !file.is_empty());
        let file = file.ok_or_else(|| {
            Error::invalid_argument(format!("{uri} does not say where to record; add file=PATH before over="))
        })?;
        let over = parameters.text("over").ok_or_else(|| {
            Error::invalid_argument(format!(
                "{uri} does not say what to record; add over=URI as the last key"
            ))
        })?;
        parameters.finish()?;
        let over: Uri = over.parse()?;
        let inner = self
            .over
            .driver(over.scheme())?
            .open(&over)
            .map_err(|error| error.context(format!("opening {over} to record it")))?;
        let mut info = inner.info().clone();
        let header = Header {
            made_by: self.made_by.clone(),
            uri: info.uri.clone(),
            name: info.name.clone(),
            architecture: info.architecture.clone(),
        };
        let path = names::take(Path::new(file));
        let writer = Writer::create(&path, &header).map_err(|error| {
            Error::invalid_argument(format!("cannot record to {}: {error}", path.display()))
        })?;
        let escaped = file.replace('%', "%25").replace('&', "%26").replace('?', "%3F");
        info.uri = format!("record://?file={escaped}&over={}", info.uri);
        info.name = format!("{} (recorded)", info.name);
        let session = Session::new(Log::new(writer, path));
        Ok(Arc::new(Device::new(inner, info, session)))
    }
}
