// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver: a URI scheme, and where its table of entry points comes from.

use std::{fmt, path::PathBuf, sync::Arc};

use windlass_codeobject::Options as CodeOptions;
use windlass_hal::{Code, DeviceInfo, Error, Parameters, Result, ResultExt, Uri, driver};
use windlass_hip_sys::{Api, null};

use crate::{
    allocator,
    call::{self, Hip},
    device::Device,
    event::EventPool,
    gpu::{self, Gpu},
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

/// A table, and which of its GPUs a URI means.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The table.
    pub api: Arc<Api>,
    /// The GPUs that make up the device.
    pub device: Selector,
}

impl Found {
    /// A table and GPUs of it.
    pub fn new(api: impl Into<Arc<Api>>, device: Selector) -> Self {
        Self { api: api.into(), device }
    }
}

/// Some of the GPUs that HIP finds. Several form one device, whose memory each of them reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selector {
    /// By number, as HIP counts them; `HIP_VISIBLE_DEVICES` is HIP's to honour.
    Ordinal(u32),
    /// By identity, as AMD's tools print it: `GPU-` and what follows.
    Uuid(String),
    /// Several, none of them twice.
    Several(Vec<Selector>),
    /// All that there are.
    All,
}

impl Selector {
    /// The GPUs that the path of a URI means: empty is the first, `0,1` are two that form one device, `all` are all.
    pub fn from_path(path: &str) -> Result<Self> {
        match path {
            "all" => Ok(Self::All),
            path if path.contains(',') => {
                path.split(',').map(Self::from_path).collect::<Result<_>>().map(Self::Several)
            }
            "" => Ok(Self::Ordinal(0)),
            path if path.starts_with("GPU-") => Ok(Self::Uuid(path.to_owned())),
            path => path.parse().map(Self::Ordinal).map_err(|_| {
                Error::invalid_argument(format!(
                    "`{path}` names no device: a number, GPU-<uuid>, several of these with commas, or `all` is expected"
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

/// Queues of a GPU where the URI does not say: as many as most run side by side.
const QUEUES: u32 = 4;

impl Driver {
    /// A driver for `scheme` over what `source` finds.
    pub fn new(scheme: &str, source: impl Source) -> Arc<Self> {
        Arc::new(Self { scheme: scheme.to_owned(), source: Arc::new(source) })
    }

    /// HIP for each GPU that is meant.
    fn gpus(&self, found: &Found, uri: &Uri) -> Result<Vec<Hip>> {
        let count = call::initialise(&found.api)?;
        let first = Hip::new(found.api.clone(), 0, count);
        let mut ordinals = Vec::new();
        select(&found.device, &first, count, uri, &mut ordinals)?;
        for (index, ordinal) in ordinals.iter().enumerate() {
            if ordinals[..index].contains(ordinal) {
                return Err(Error::invalid_argument(format!("{uri} names GPU {ordinal} twice")));
            }
        }
        Ok(ordinals.into_iter().map(|ordinal| first.sibling(ordinal)).collect())
    }
}

/// Which code the device is given.
fn code_options(parameters: &Parameters<'_>) -> Result<CodeOptions> {
    let mut options = CodeOptions::default();
    options.compatible_families = match parameters.text("compatible") {
        None => false,
        Some("families") => true,
        Some(other) => {
            return Err(Error::invalid_argument(format!(
                "compatible={other}: `families` is expected, or no such key"
            )));
        }
    };
    Ok(options)
}

/// Adds the ordinals that a selector means; each is below `count`.
fn select(selector: &Selector, hip: &Hip, count: i32, uri: &Uri, ordinals: &mut Vec<i32>) -> Result<()> {
    match selector {
        Selector::Ordinal(ordinal) => match i32::try_from(*ordinal) {
            Ok(ordinal) if ordinal < count => ordinals.push(ordinal),
            _ => {
                return Err(Error::not_found(format!("no device {ordinal} for {uri}: HIP finds {count}")));
            }
        },
        Selector::Uuid(uuid) => {
            let found: Vec<_> = (0..count).map(|ordinal| hip.sibling(ordinal).uuid()).collect();
            match found.iter().position(|known| known.as_ref() == Some(uuid)) {
                Some(ordinal) => ordinals.push(ordinal as i32),
                None => {
                    let known: Vec<_> = found.into_iter().flatten().collect();
                    let known = known.join(", ");
                    return Err(Error::not_found(format!("no device {uuid}; HIP finds {known}")));
                }
            }
        }
        Selector::Several(several) => {
            several.iter().try_for_each(|one| select(one, hip, count, uri, ordinals))?;
        }
        Selector::All => ordinals.extend(0..count),
    }
    if ordinals.is_empty() {
        return Err(Error::not_found(format!("no device for {uri}: HIP finds none")));
    }
    Ok(())
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
        let queues = parameters.value::<u32>("queues")?.unwrap_or(QUEUES);
        let slab = parameters.value::<u64>("slab")?;
        let code = code_options(&parameters)?;
        let found = self.source.open(uri, &parameters);
        // A key that does not exist is told even where no HIP does. What makes no sense to the source has been read in part.
        if !matches!(&found, Err(error) if error.code() == Code::InvalidArgument) {
            parameters.finish()?;
        }
        let found = found?;
        let hips = self.gpus(&found, uri)?;
        let count = hips.len() as u32;
        if queues == 0 || queues.checked_mul(count).is_none_or(|all| all > 64) {
            return Err(Error::invalid_argument(format!(
                "queues={queues} for each of {count} GPUs: a device has 1 to 64 in all"
            )));
        }
        let mut gpus = Vec::with_capacity(hips.len());
        let mut info = None;
        let mut limits = None;
        for (index, hip) in hips.iter().enumerate() {
            let one = info::device_info(hip, uri.to_string())
                .context(|| format!("asking device {}", hip.ordinal()))?;
            let architecture = one.architecture.clone();
            gpus.push(Gpu { index, hip: hip.clone(), events: EventPool::default(), architecture });
            info = Some(info::joined(info, one));
            limits = Some(info::least(limits, info::limits(hip, queues)?));
        }
        gpu::connect(&hips)?;
        let (Some(info), Some(limits)) = (info, limits) else {
            return Err(Error::not_found(format!("no device for {uri}")));
        };
        let exact = gpus.iter().any(|gpu| gpu.hip.quirks.exact_sizes);
        let slab = slab.unwrap_or(if exact { 0 } else { allocator::SLAB });
        Ok(Arc::new(Device::open(gpus, info, limits, slab, code)?))
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
            let api = unsafe { Api::load(&source) }.map_err(|error| {
                #[allow(unused_mut, reason = "only Linux has more to say")]
                let mut message = error.to_string();
                #[cfg(target_os = "linux")]
                if let Some(obstacles) = crate::access::explained() {
                    message.insert_str(0, &format!("{obstacles}; "));
                }
                Error::unavailable(message)
            })?;
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
