// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver: a URI scheme, and the source of its table of entry points.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, atomic::AtomicI64},
};

use windlass_codeobject::Options as CodeOptions;
use windlass_hal::{Code, DeviceInfo, Error, Parameters, Result, ResultExt, Uri, driver};
use windlass_hip_sys::{Api, null};

use crate::{
    allocator,
    channels::Channels,
    device::Device,
    gpu::{self, Gpu},
    hip::{self, Hip},
    info,
};

/// A source of a table of HIP's entry points.
pub trait Source: Send + Sync + 'static {
    /// The source in a few words.
    fn description(&self) -> String;

    /// Finds the table for a URI. Reads the parameters that concern the source, and leaves the others to the driver.
    fn open(&self, uri: &Uri, parameters: &Parameters<'_>) -> Result<Found>;
}

/// A table, and the GPUs of it that a URI names.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// The table.
    pub api: Arc<Api>,
    /// The GPUs that form the device.
    pub device: Selector,
    /// Bytes of a slab unless the URI says otherwise.
    slab: u64,
    /// The library of RCCL that the URI names.
    rccl: Option<PathBuf>,
}

impl Found {
    /// A table, and the GPUs of it that form the device.
    pub fn new(api: impl Into<Arc<Api>>, device: Selector) -> Self {
        let api = api.into();
        let slab = if api.origin().simulated_hip { 0 } else { allocator::SLAB };
        Self { api, device, slab, rccl: None }
    }
}

/// Some of the GPUs that HIP finds. Several form one device, and each of them reaches all its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selector {
    /// By number, as HIP counts them. HIP honours `HIP_VISIBLE_DEVICES`.
    Ordinal(u32),
    /// By UUID, as AMD's tools print it: with `GPU-` in front.
    Uuid(String),
    /// Several, none of them twice.
    Several(Vec<Selector>),
    /// All GPUs that HIP finds.
    All,
}

impl Selector {
    /// Parses the path of a URI. An empty path is the first GPU, `0,1` are two that form one device, `all` are all.
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

/// Queues of a GPU unless the URI says otherwise: as many as most GPUs run side by side.
const QUEUES: u32 = 4;

impl Driver {
    /// A driver for `scheme` over the HIP that `source` finds.
    pub fn new(scheme: &str, source: impl Source) -> Arc<Self> {
        Arc::new(Self { scheme: scheme.to_owned(), source: Arc::new(source) })
    }

    /// HIP for each GPU that the URI names.
    fn gpus(&self, found: &Found, uri: &Uri) -> Result<Vec<Hip>> {
        let count = hip::initialise(&found.api)?;
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

/// The rules by which code fits the device.
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

/// Adds the ordinals of the GPUs that a selector names. Each is below `count`.
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
        let count = hip::initialise(&found.api)?;
        (0..count)
            .map(|ordinal| {
                let hip = Hip::new(found.api.clone(), ordinal, count);
                info::device_info(&hip, format!("{}://{ordinal}", self.scheme))
            })
            .collect()
    }

    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::RawDevice>> {
        let parameters = uri.reader();
        let queues = parameters.value::<u32>("queues")?.unwrap_or(QUEUES);
        let slab = parameters.value::<u64>("slab")?;
        let code = code_options(&parameters)?;
        let found = self.source.open(uri, &parameters);
        // An unknown key is an error even if HIP was not found. After an invalid argument some keys were not read yet.
        if !matches!(&found, Err(error) if error.code() == Code::InvalidArgument) {
            parameters.finish()?;
        }
        let found = found?;
        let hips = self.gpus(&found, uri)?;
        let count = hips.len() as u32;
        if queues == 0 || queues.checked_mul(count).is_none_or(|all| all > 64) {
            let gpus = if count == 1 { "the GPU".to_owned() } else { format!("each of {count} GPUs") };
            return Err(Error::invalid_argument(format!(
                "queues={queues} for {gpus}: a device has 1 to 64 in all"
            )));
        }
        let mut gpus = Vec::with_capacity(hips.len());
        let mut info = None;
        let mut limits = None;
        for (index, hip) in hips.iter().enumerate() {
            let one = info::device_info(hip, uri.to_string())
                .context(|| format!("asking device {}", hip.ordinal()))?;
            let architecture = one.architecture.clone();
            gpus.push(Gpu { index, hip: hip.clone(), architecture, clock_offset: AtomicI64::new(0) });
            info = Some(info::joined(info, one));
            limits = Some(info::least(limits, info::limits(hip, queues)?));
        }
        gpu::connect(&hips)?;
        let (Some(info), Some(limits)) = (info, limits) else {
            return Err(Error::not_found(format!("no device for {uri}")));
        };
        let slab = slab.unwrap_or(found.slab);
        Ok(Arc::new(Device::open(gpus, info, limits, slab, code, Channels::new(found.rccl))?))
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver({}://)", self.scheme)
    }
}

/// The system's HIP, or the library that `library=PATH` names. `rccl=PATH` names the library of RCCL.
pub fn system() -> impl Source {
    struct System;
    impl Source for System {
        fn description(&self) -> String {
            "AMD GPUs through the system's HIP runtime".to_owned()
        }

        fn open(&self, uri: &Uri, parameters: &Parameters<'_>) -> Result<Found> {
            use windlass_hip_sys::Source;
            let device = Selector::from_path(uri.path())?;
            let rccl = parameters.text("rccl").map(PathBuf::from);
            let source = match parameters.text("library") {
                Some(path) => Source::Library(PathBuf::from(path)),
                None => Source::System,
            };
            // SAFETY: a library that the system has under HIP's names, or that the user names, is taken for HIP. Any other
            // library under these names breaks every program that loads it.
            let api = unsafe { Api::load(&source) }.map_err(|error| {
                #[allow(unused_mut, reason = "only Linux has more to say")]
                let mut message = error.to_string();
                #[cfg(target_os = "linux")]
                if let Some(obstacles) = crate::access::explained() {
                    message.insert_str(0, &format!("{obstacles}; "));
                }
                Error::unavailable(message)
            })?;
            Ok(Found { rccl, ..Found::new(api, device) })
        }
    }
    System
}

/// A HIP that does nothing and counts its calls: for measuring the cost of everything above HIP.
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
            if let Some(time) = parameters.text("kernel") {
                options.kernel = time.parse().map_err(|syntax| {
                    Error::invalid_argument(format!("`kernel={time}` in {uri}: the value must be {syntax}"))
                })?;
            }
            let found = Found::new(null::Instance::new(options).api(), Selector::from_path(uri.path())?);
            // No kernel runs, so there are no accesses to check, and a measurement is to be one of the pools of hardware.
            Ok(Found { slab: allocator::SLAB, ..found })
        }
    }
    Null
}

/// A table that the caller made, for tests and for embedding. Every URI opens the same table.
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
