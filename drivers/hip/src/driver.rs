// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver: a URI scheme, and where its table of entry points comes from.

use std::{fmt, path::PathBuf, sync::Arc};

use windlass_hal::{DeviceInfo, Error, Parameters, Result, ResultExt, Uri, driver};
use windlass_hip_sys::{Api, null};

use crate::{
    call::{self, Hip},
    device::Device,
    info,
};

/// Where a table of HIP's entry points comes from.
pub trait Source: Send + Sync + 'static {
    /// What it is, in a few words.
    fn description(&self) -> String;

    /// Finds the table for a URI, reading the parameters that concern the source. What they leave to be read
    /// concerns the driver.
    fn open(&self, uri: &Uri, parameters: &Parameters<'_>) -> Result<Found>;
}

/// A table, and which of its devices a URI means.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The table.
    pub api: Arc<Api>,
    /// The device.
    pub device: Selector,
}

impl Found {
    /// A table and a device of it.
    pub fn new(api: impl Into<Arc<Api>>, device: Selector) -> Self {
        Self { api: api.into(), device }
    }
}

/// One device of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// By number, as HIP counts them; `HIP_VISIBLE_DEVICES` is HIP's to honour.
    Ordinal(u32),
    /// By identity, as AMD's tools print it: `GPU-` and what follows.
    Uuid(String),
}

impl Selector {
    /// The device that the path of a URI means: empty is the first.
    pub fn from_path(path: &str) -> Result<Self> {
        match path {
            "" => Ok(Self::Ordinal(0)),
            path if path.starts_with("GPU-") => Ok(Self::Uuid(path.to_owned())),
            path => path.parse().map(Self::Ordinal).map_err(|_| {
                Error::invalid_argument(format!(
                    "`{path}` names no device: a number or GPU-<uuid> is expected"
                ))
            }),
        }
    }
}

/// The HIP driver under one URI scheme.
pub struct Driver {
    scheme: String,
    source: Arc<dyn Source>,
}

/// Queues of a device where the URI does not say: as many as most GPUs run side by side.
const QUEUES: u32 = 4;

impl Driver {
    /// A driver for `scheme` over what `source` finds.
    pub fn new(scheme: &str, source: impl Source) -> Arc<Self> {
        Arc::new(Self { scheme: scheme.to_owned(), source: Arc::new(source) })
    }

    fn hip(&self, found: &Found, uri: &Uri) -> Result<Hip> {
        let count = call::initialise(&found.api)?;
        let hip = |ordinal| Hip::new(found.api.clone(), ordinal, count);
        match &found.device {
            Selector::Ordinal(ordinal) => match i32::try_from(*ordinal) {
                Ok(ordinal) if ordinal < count => Ok(hip(ordinal)),
                _ => Err(Error::not_found(format!("no device {ordinal} for {uri}: HIP finds {count}"))),
            },
            Selector::Uuid(uuid) => {
                let found: Vec<_> = (0..count).map(|ordinal| (ordinal, hip(ordinal).uuid())).collect();
                let known =
                    || found.iter().filter_map(|(_, uuid)| uuid.clone()).collect::<Vec<_>>().join(", ");
                match found.iter().find(|(_, known)| known.as_ref() == Some(uuid)) {
                    Some((ordinal, _)) => Ok(hip(*ordinal)),
                    None => Err(Error::not_found(format!("no device {uuid}; HIP finds {}", known()))),
                }
            }
        }
    }
}

impl driver::Driver for Driver {
    fn scheme(&self) -> &str {
        &self.scheme
    }

    fn description(&self) -> String {
        self.source.description()
    }

    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        let uri: Uri = format!("{}://", self.scheme).parse()?;
        let found = self.source.open(&uri, &uri.reader())?;
        let count = call::initialise(&found.api)?;
        (0..count)
            .map(|ordinal| {
                let hip = Hip::new(found.api.clone(), ordinal, count);
                info::device_info(&hip, format!("{}://{ordinal}", self.scheme))
            })
            .collect()
    }

    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::Device>> {
        let parameters = uri.reader();
        let found = self.source.open(uri, &parameters)?;
        let queues = parameters.value::<u32>("queues")?.unwrap_or(QUEUES);
        parameters.finish()?;
        if !(1..=64).contains(&queues) {
            return Err(Error::invalid_argument(format!("queues={queues}: a device has 1 to 64")));
        }
        let hip = self.hip(&found, uri)?;
        let info = info::device_info(&hip, uri.to_string())
            .context(|| format!("asking device {}", hip.ordinal()))?;
        let limits = info::limits(&hip, queues)?;
        Ok(Arc::new(Device::open(hip, info, limits)?))
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver({}://)", self.scheme)
    }
}

/// HIP as the system has it, or as `library=PATH` names it.
pub fn system() -> impl Source {
    struct System;
    impl Source for System {
        fn description(&self) -> String {
            "AMD GPUs through the system's HIP runtime".to_owned()
        }

        fn open(&self, uri: &Uri, parameters: &Parameters<'_>) -> Result<Found> {
            use windlass_hip_sys::Source;
            let device = Selector::from_path(uri.path())?;
            let source = match parameters.text("library") {
                Some(path) => Source::Library(PathBuf::from(path)),
                None => Source::System,
            };
            // SAFETY: what the system offers under HIP's names, or the user names as HIP, is taken for HIP; a library
            // that lies breaks any program that loads it.
            let api = unsafe { Api::load(&source) }.map_err(|error| Error::unavailable(error.to_string()))?;
            Ok(Found::new(api, device))
        }
    }
    System
}

/// A HIP that does nothing and counts: for measuring what everything above HIP costs.
pub fn null() -> impl Source {
    struct Null;
    impl Source for Null {
        fn description(&self) -> String {
            "a HIP without a GPU: copies work, kernels do nothing, calls are counted".to_owned()
        }

        fn open(&self, uri: &Uri, parameters: &Parameters<'_>) -> Result<Found> {
            let mut options = null::Options::default();
            if let Some(devices) = parameters.value("devices")? {
                options.devices = devices;
            }
            if let Some(arch) = parameters.text("arch") {
                arch.clone_into(&mut options.arch);
            }
            Ok(Found::new(null::Instance::new(options).api(), Selector::from_path(uri.path())?))
        }
    }
    Null
}

/// A table that the caller made, for tests and for embedding: always the same one.
pub fn table(api: impl Into<Arc<Api>>) -> impl Source {
    struct Table(Arc<Api>);
    impl Source for Table {
        fn description(&self) -> String {
            self.0.origin().to_string()
        }

        fn open(&self, uri: &Uri, _parameters: &Parameters<'_>) -> Result<Found> {
            Ok(Found::new(self.0.clone(), Selector::from_path(uri.path())?))
        }
    }
    Table(api.into())
}
