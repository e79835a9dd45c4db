// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver: the way from a URI to a device.

use std::{env::consts::ARCH, sync::Arc};

use windlass_hal::{
    DeviceInfo, Error, Feature, Heap, Lack, Limits, Result, Uri,
    driver::{self, Driver},
    host_memory::HostHeap,
};

use crate::{device::Device, library::Library};

/// The driver of `local://`, with the libraries that its devices can load.
#[derive(Clone, Debug, Default)]
pub struct LocalDriver {
    libraries: Vec<Library>,
}

/// Queues of a device. They differ in number alone: work runs on whichever thread makes it ready.
const QUEUES: u32 = 4;

impl LocalDriver {
    /// A driver whose devices have no libraries but those of this crate's features.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with a library that its devices can load by [`Library::image`]. One of a name that is there already
    /// takes its place.
    #[must_use]
    pub fn with_library(mut self, library: Library) -> Self {
        self.libraries.retain(|known| known.name() != library.name());
        self.libraries.push(library);
        self
    }

    fn libraries(&self) -> Arc<[Library]> {
        let own = self.libraries.iter().cloned();
        #[cfg(feature = "conformance")]
        let own = own.chain(crate::conformance::libraries());
        own.collect()
    }
}

impl Driver for LocalDriver {
    fn scheme(&self) -> &str {
        "local"
    }

    fn description(&self) -> String {
        "kernels in Rust, on the threads that submit them".to_owned()
    }

    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Ok(vec![info("local://".to_owned())])
    }

    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::Device>> {
        if !uri.path().is_empty() {
            return Err(Error::not_found(format!(
                "{uri}: the host is one device, and it has no name; open local://"
            )));
        }
        let parameters = uri.reader();
        let threads = parameters.value::<u32>("threads")?.unwrap_or(0);
        let memory = parameters.value::<u64>("memory")?.unwrap_or_else(default_memory);
        parameters.finish()?;
        if threads > 0 {
            return Err(Error::unimplemented(format!(
                "{uri}: threads of the device's own are not there yet; open local://?threads=0, which runs work on \
                 the threads that submit it"
            )));
        }
        Ok(Arc::new(Device::new(info(uri.to_string()), limits(memory), self.libraries())?))
    }
}

/// What a device may take where its URI does not say: half of the machine's memory, or 4 GiB where the system does
/// not tell how much there is.
fn default_memory() -> u64 {
    const UNKNOWN: u64 = 4 << 30;
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    total.map_or(UNKNOWN, |total| total / 2)
}

fn limits(memory: u64) -> Limits {
    let mut limits = Limits::default();
    limits.queues = QUEUES;
    limits.wave_size = 1;
    limits.total_memory = memory;
    limits.allocation_alignment = HostHeap::ALIGNMENT;
    limits.heaps = vec![Heap::device(memory, HostHeap::ALIGNMENT), Heap::host(memory, HostHeap::ALIGNMENT)];
    limits
}

fn info(uri: String) -> DeviceInfo {
    let mut info = DeviceInfo::default();
    info.uri = uri;
    info.name = "Host CPU, inline".to_owned();
    info.architecture = ARCH.to_owned();
    info.executable_formats = vec![crate::FORMAT.to_owned()];
    info.lacks = vec![Lack::new(Feature::Linking, "a library of Rust kernels is whole")];
    info
}
