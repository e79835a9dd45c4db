// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device of a program that names none.

use crate::{Device, DeviceInfo, Error, Result, ResultExt, registry};

/// The environment variable that names the default device by its URI.
pub const DEVICE_VARIABLE: &str = "WINDLASS_DEVICE";

/// The scheme of the driver for real GPUs.
pub const REAL_SCHEME: &str = "hip";

/// The GPUs of this machine, in the order of its HIP runtime. Simulated GPUs are left out. `UNAVAILABLE`, with the
/// places that were tried, if there is no HIP runtime.
pub fn real_devices() -> Result<Vec<DeviceInfo>> {
    let mut devices = registry().driver(REAL_SCHEME)?.enumerate()?;
    devices.retain(|device| !device.simulated);
    Ok(devices)
}

/// Opens the device that `WINDLASS_DEVICE` names, else the first real GPU. A simulated device is never chosen unasked:
/// without a GPU, `UNAVAILABLE` says why and which variable to set.
pub fn default_device() -> Result<Device> {
    if let Some(uri) = std::env::var_os(DEVICE_VARIABLE).filter(|uri| !uri.is_empty()) {
        let uri = uri.to_str().ok_or_else(|| {
            Error::invalid_argument(format!(
                "{DEVICE_VARIABLE} is not valid UTF-8; set it to a URI like hip://0"
            ))
        })?;
        return crate::open(uri).context(|| format!("opening the device that {DEVICE_VARIABLE} names"));
    }
    let reason = match real_devices() {
        Ok(devices) => match devices.first() {
            Some(device) => return crate::open(&device.uri),
            None => "its HIP runtime lists none".to_owned(),
        },
        Err(error) => error.message().to_owned(),
    };
    Err(Error::unavailable(format!(
        "this machine has no GPU to use ({reason}); to run on a simulated one, set {DEVICE_VARIABLE}=hip-sim://gfx942"
    )))
}
