// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver: the way from a URI to a device.

use std::sync::Arc;

use windlass_hal::{
    DeviceInfo, Error, Feature, Heap, Lack, Limits, Result, Uri,
    driver::{self, Driver},
    host_memory::HostHeap,
};

use crate::device::Device;

/// The driver of `null://`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullDriver;

/// The bytes of device memory if the URI does not state them.
const DEFAULT_MEMORY: u64 = 1 << 30;
/// The queues of the device. They differ only in number: work runs on the thread that makes it ready.
const QUEUES: u32 = 4;

/// The features that are `UNIMPLEMENTED`. Delete a feature as soon as it works: the suite then runs its cases.
const LACKS: [Feature; 6] = [
    Feature::Dispatch,
    Feature::IndirectDispatch,
    Feature::Globals,
    Feature::Linking,
    Feature::Occupancy,
    Feature::Symbols,
];

impl Driver for NullDriver {
    /// Returns the word before `://` in this driver's URIs, always the same and without looking for hardware.
    fn scheme(&self) -> &str {
        "null"
    }

    /// Returns a description of the driver in a few words for listings, whether or not a device is present.
    fn description(&self) -> String {
        "the skeleton of a driver: host memory, no kernels".to_owned()
    }

    /// Lists the devices that [`open`](Driver::open) would open now, each with the URI that opens it, or returns
    /// `UNAVAILABLE` with the missing part and the remedy, and keeps nothing open.
    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Ok(vec![info("null://".to_owned())])
    }

    /// Opens a new device for each call, with `NOT_FOUND` if the URI names none and `INVALID_ARGUMENT` if the URI has
    /// an unknown key.
    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::RawDevice>> {
        if !uri.path().is_empty() {
            return Err(Error::not_found(format!(
                "{uri}: there is one null device, and it has no name; open null://"
            )));
        }
        let parameters = uri.reader();
        let memory = parameters.value::<u64>("memory")?.unwrap_or(DEFAULT_MEMORY);
        parameters.finish()?;
        Ok(Arc::new(Device::new(info(uri.to_string()), limits(memory))?))
    }
}

fn limits(memory: u64) -> Limits {
    let mut limits = Limits::default();
    limits.queues = QUEUES;
    limits.total_memory = memory;
    limits.allocation_alignment = HostHeap::ALIGNMENT;
    limits.heaps = vec![Heap::device(memory, HostHeap::ALIGNMENT), Heap::host(memory, HostHeap::ALIGNMENT)];
    limits
}

fn info(uri: String) -> DeviceInfo {
    let mut info = DeviceInfo::default();
    info.uri = uri;
    info.name = "Null device".to_owned();
    info.architecture = "none".to_owned();
    info.simulated = true;
    info.lacks = LACKS.map(|feature| Lack::new(feature, "the null device runs no kernels")).to_vec();
    if !HostHeap::CAN_GROW {
        info.lacks.push(Lack::new(Feature::VirtualMemory, "addresses are reserved on Unix only"));
    }
    info.lacks.push(Lack::new(Feature::Collectives, "no other device shares the host memory"));
    info.lacks.push(Lack::new(Feature::ExternalTimepoints, "no other library has streams of host memory"));
    info
}
