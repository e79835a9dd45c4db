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

impl Driver for NullDriver {
    fn scheme(&self) -> &str {
        "null"
    }

    fn description(&self) -> String {
        "the skeleton of a driver: host memory, no kernels".to_owned()
    }

    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Ok(vec![info("null://".to_owned())])
    }

    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::Device>> {
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
    info.lacks = vec![Lack::new(Feature::Dispatch, "the null device runs no kernels")];
    info
}
