// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registry: the available drivers, by the schemes of their URIs.

use std::sync::Arc;

use crate::{
    driver,
    front::device::Device,
    words::{
        error::{Error, Result},
        fork,
        uri::Uri,
    },
};

/// A set of drivers. A later registration of a scheme overrides an earlier one.
#[derive(Clone, Default)]
pub struct Registry {
    drivers: Vec<Arc<dyn driver::Driver>>,
}

impl Registry {
    /// A registry without drivers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a driver under its [`driver::Driver::scheme`].
    pub fn register(&mut self, driver: Arc<dyn driver::Driver>) -> &mut Self {
        self.drivers.push(driver);
        self
    }

    /// The drivers, each scheme once. Later registrations come first.
    pub fn drivers(&self) -> impl Iterator<Item = &Arc<dyn driver::Driver>> {
        self.drivers.iter().enumerate().rev().filter_map(|(index, driver)| {
            let overridden = self.drivers[index + 1..].iter().any(|later| later.scheme() == driver.scheme());
            (!overridden).then_some(driver)
        })
    }

    /// The driver of a scheme. `NOT_FOUND` lists the existing schemes.
    pub fn driver(&self, scheme: &str) -> Result<&Arc<dyn driver::Driver>> {
        self.drivers().find(|driver| driver.scheme() == scheme).ok_or_else(|| {
            let mut known: Vec<_> = self.drivers().map(|driver| format!("{}://", driver.scheme())).collect();
            known.sort();
            Error::not_found(format!("no driver for `{scheme}://` among {}", known.join(", ")))
        })
    }

    /// Opens the device that a URI names.
    ///
    /// A driver may load a library of a vendor, which runs the constructors of the library in this process. The path of
    /// the library may come from the URI (the key `library` of `hip://`) or from the environment
    /// (`WINDLASS_HIP_LIBRARY`). So a person who can set one of these decides which native code runs here, as with any
    /// dynamic loader.
    pub fn open(&self, uri: &str) -> Result<Device> {
        let uri: Uri = uri.parse()?;
        fork::check().map_err(|error| error.context(format!("opening {uri}")))?;
        let device =
            self.driver(uri.scheme())?.open(&uri).map_err(|error| error.context(format!("opening {uri}")))?;
        Ok(Device::from_driver(device))
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.drivers().map(|driver| driver.scheme())).finish()
    }
}
