// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which device serves a program that names none.

use crate::{Device, DeviceInfo, Error, Result, ResultExt, registry};

/// The environment variable that names the default device by its URI.
pub const DEVICE_VARIABLE: &str = "WINDLASS_DEVICE";

/// The scheme of the driver for GPUs of the system.
pub const REAL_SCHEME: &str = "hip";

/// The GPUs of this machine, in the order of its HIP runtime. A simulated GPU is none, wherever it came from.
/// `UNAVAILABLE` with what was tried where there is no HIP runtime.
pub fn real_devices() -> Result<Vec<DeviceInfo>> {
    let mut devices = registry().driver(REAL_SCHEME)?.enumerate()?;
    devices.retain(|device| !device.simulated);
    Ok(devices)
}

/// Opens the device that `WINDLASS_DEVICE` names, else the first real GPU. Nothing simulated is ever chosen unasked:
/// where there is no GPU, `UNAVAILABLE` says why and what to set.
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
