// SPDX-License-Identifier: MIT OR Apache-2.0
//! A driver: one URI scheme and its devices.

use std::sync::Arc;

use crate::{
    driver::RawDevice,
    words::{error::Result, info::DeviceInfo, uri::Uri},
};

/// A driver: it serves one URI scheme.
pub trait Driver: Send + Sync {
    /// The scheme of the driver's URIs, such as `hip`.
    fn scheme(&self) -> &str;

    /// A description in a few words.
    fn description(&self) -> String;

    /// The devices that can be opened now. `UNAVAILABLE` with the reason where the library or the hardware is missing.
    /// An empty list where both are there and have no device.
    fn enumerate(&self) -> Result<Vec<DeviceInfo>>;

    /// Opens the device that a URI of this scheme names. Unknown parameters are `INVALID_ARGUMENT`.
    fn open(&self, uri: &Uri) -> Result<Arc<dyn RawDevice>>;
}
