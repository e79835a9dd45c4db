// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver: the way from a URI to a device.

use std::{env::consts::ARCH, sync::Arc};

use windlass_hal::{
    DeviceInfo, Error, Feature, Heap, Lack, Limits, Result, Uri,
    driver::{self, Driver},
    host_memory::HostHeap,
};

use crate::{device::Device, library::Library, shared_object};

/// The driver of `local://`, with the libraries that its devices can load.
#[derive(Clone, Debug, Default)]
pub struct LocalDriver {
    libraries: Vec<Library>,
    without_native: bool,
}

/// The queues of a device. They differ only in number: the same threads run the work of all.
const QUEUES: u32 = 4;

/// The most threads that a device may have.
const MAX_THREADS: usize = 1024;

impl LocalDriver {
    /// A driver without libraries, except those of this crate's features.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a library that the driver's devices can load by [`Library::image`]. It replaces a library of the same
    /// name.
    #[must_use]
    pub fn with_library(mut self, library: Library) -> Self {
        self.libraries.retain(|known| known.name() != library.name());
        self.libraries.push(library);
        self
    }

    /// Makes the driver's devices refuse shared objects, as on a system without a loader for them. They still load
    /// libraries of Rust kernels.
    #[must_use]
    pub fn without_native(mut self) -> Self {
        self.without_native = true;
        self
    }

    fn loads_native(&self) -> bool {
        shared_object::is_available() && !self.without_native
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
        "kernels for the host, in shared objects or in Rust, on threads of its own".to_owned()
    }

    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Ok(vec![info("local://".to_owned(), default_threads(), self.loads_native())])
    }

    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::RawDevice>> {
        if !uri.path().is_empty() {
            return Err(Error::not_found(format!(
                "{uri}: the host is one device, and it has no name; open local://"
            )));
        }
        let parameters = uri.reader();
        let threads = parameters.value::<usize>("threads")?;
        let memory = parameters.value::<u64>("memory")?.unwrap_or_else(default_memory);
        parameters.finish()?;
        let threads = threads.unwrap_or_else(default_threads);
        if threads > MAX_THREADS {
            return Err(Error::out_of_range(format!(
                "{uri}: {threads} threads; a device has {MAX_THREADS} at most, and gains nothing from more than the \
                 machine's {}",
                default_threads()
            )));
        }
        Ok(Arc::new(Device::new(
            info(uri.to_string(), threads, self.loads_native()),
            limits(memory),
            self.libraries(),
            threads,
        )?))
    }
}

/// The number of threads that the machine runs at once.
fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

/// The memory of a device whose URI does not state it, in bytes: half of the machine's memory, or 4 GiB if the system
/// does not report it.
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

fn info(uri: String, threads: usize, native: bool) -> DeviceInfo {
    let mut info = DeviceInfo::default();
    info.uri = uri;
    info.name = match threads {
        0 => "Host CPU, inline".to_owned(),
        1 => "Host CPU, 1 thread".to_owned(),
        threads => format!("Host CPU, {threads} threads"),
    };
    info.architecture = ARCH.to_owned();
    info.lacks.push(Lack::new(Feature::Collectives, "the CPU has no library of collectives"));
    info.lacks.push(Lack::new(Feature::ExternalTimepoints, "no other library has streams of the CPU"));
    if native {
        info.executable_formats.push(crate::NATIVE_FORMAT.to_owned());
    } else {
        info.lacks.push(Lack::new(
            Feature::Linking,
            "shared objects are not loaded here, and a library of Rust kernels is whole",
        ));
    }
    info.executable_formats.push(crate::FORMAT.to_owned());
    if !HostHeap::CAN_GROW {
        info.lacks.push(Lack::new(Feature::VirtualMemory, "addresses are reserved on Unix only"));
    }
    info
}
