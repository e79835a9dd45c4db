// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way from a URI to a device: `capi://?over=URI`, by default over a simulated GPU.

use std::sync::Arc;

use windlass_hal::{DeviceInfo, Result, Uri, driver};

use crate::{device::Device, info};

const DEFAULT: &str = "hip-sim://gfx942";

/// The driver.
pub(crate) struct Driver;

impl driver::Driver for Driver {
    fn scheme(&self) -> &str {
        "capi"
    }

    fn description(&self) -> String {
        "a device of libwindlass.so: capi://?over=URI".to_owned()
    }

    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        let mut info = info::of(&Device::open_inner(DEFAULT)?)?;
        info.uri = "capi://".to_owned();
        Ok(vec![info])
    }

    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::RawDevice>> {
        let parameters = uri.reader();
        let over = parameters.text("over").unwrap_or(DEFAULT).to_owned();
        parameters.finish()?;
        Ok(Arc::new(Device::open(uri.to_string(), &over)?))
    }
}
