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

/// Device memory where the URI does not say otherwise.
const DEFAULT_MEMORY: u64 = 1 << 30;
/// Queues of the device. They differ in number alone: work runs on whichever thread makes it ready.
const QUEUES: u32 = 4;

/// What is `UNIMPLEMENTED`. Strike a line as soon as it works: the suite then runs the cases behind it.
const LACKS: [Feature; 5] =
    [Feature::Dispatch, Feature::IndirectDispatch, Feature::Globals, Feature::Linking, Feature::Symbols];

impl Driver for NullDriver {
    /// Answers what stands before `://` in this driver's URIs, always the same and without looking for hardware.
    fn scheme(&self) -> &str {
        "null"
    }

    /// Answers what the driver is in a few words for listings, whether or not a device is there.
    fn description(&self) -> String {
        "the skeleton of a driver: host memory, no kernels".to_owned()
    }

    /// Lists the devices that [`open`](Driver::open) would open now, each with the URI that opens it, or answers
    /// `UNAVAILABLE` with what is missing and how to mend it, and keeps nothing open.
    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Ok(vec![info("null://".to_owned())])
    }

    /// Opens a device of its own for each call, `NOT_FOUND` where the URI names none and `INVALID_ARGUMENT` where it has
    /// a key that nobody reads.
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
    info
}
