// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices that accept work and run no kernels: numbers in their buffers prove nothing.

use crate::{DeviceInfo, Feature};

/// The reason why a device runs no kernels. `None` if it runs them.
pub(crate) fn nothing(device: &DeviceInfo) -> Option<String> {
    // Drivers over it, such as shuffle://, have its URI in theirs.
    if device.simulated && device.uri.contains("hip-null://") {
        return Some("the null HIP runs no kernels".to_owned());
    }
    let lack = device.lacks.iter().find(|lack| lack.feature == Feature::Dispatch)?;
    Some(format!("{} {}", device.uri, lack.reason))
}
