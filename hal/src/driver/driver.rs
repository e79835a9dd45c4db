// SPDX-License-Identifier: MIT OR Apache-2.0
//! A driver: one URI scheme, and the devices behind it.

use std::sync::Arc;

use crate::{
    driver::Device,
    words::{error::Result, info::DeviceInfo, uri::Uri},
};

/// A way to devices: one URI scheme.
pub trait Driver: Send + Sync {
    /// The scheme of this driver's URIs, such as `hip`.
    fn scheme(&self) -> &str;

    /// What the driver is, in a few words.
    fn description(&self) -> String;

    /// The devices that can be opened now. `UNAVAILABLE` with the reason where the driver's library or hardware
    /// is missing; an empty list where it is there and has no device.
    fn enumerate(&self) -> Result<Vec<DeviceInfo>>;

    /// Opens the device that a URI of this scheme names. Unknown parameters are `INVALID_ARGUMENT`.
    fn open(&self, uri: &Uri) -> Result<Arc<dyn Device>>;
}
