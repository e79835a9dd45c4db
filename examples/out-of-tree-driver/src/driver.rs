// SPDX-License-Identifier: MIT OR Apache-2.0
//! The driver: the way from a URI to a device.

use std::sync::Arc;

use windlass_hal::{
    DeviceInfo, Error, Feature, Heap, Lack, Limits, Result, Uri,
    driver::{self, Driver},
};

use crate::{allocator::Memory, device::Device};

/// The driver of `postfix://`. `postfix://?memory=BYTES` sets the size of the machine's memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct PostfixDriver;

const DEFAULT_MEMORY: u64 = 1 << 30;
/// The queues of the device. They share one stream, so more queues run no more work at once.
const QUEUES: u32 = 4;

impl Driver for PostfixDriver {
    fn scheme(&self) -> &str {
        "postfix"
    }

    fn description(&self) -> String {
        "a machine that runs kernels in postfix notation".to_owned()
    }

    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Ok(vec![info("postfix://".to_owned())])
    }

    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::RawDevice>> {
        if !uri.path().is_empty() {
            return Err(Error::not_found(format!("{uri}: there is one postfix machine; open postfix://")));
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
    limits.wave_size = 1;
    limits.total_memory = memory;
    limits.allocation_alignment = Memory::ALIGNMENT;
    limits.heaps = vec![Heap::device(memory, Memory::ALIGNMENT), Heap::host(memory, Memory::ALIGNMENT)];
    limits
}

fn info(uri: String) -> DeviceInfo {
    let mut info = DeviceInfo::default();
    info.uri = uri;
    info.name = "Postfix machine".to_owned();
    info.architecture = "postfix".to_owned();
    info.executable_formats = vec![crate::FORMAT.to_owned()];
    info.simulated = true;
    // The interpreter returns an error for an access outside of a program's memory.
    info.reports_faults = true;
    info.lacks = vec![
        Lack::new(Feature::ImportHost, "the machine sees no memory but its own"),
        Lack::new(Feature::ImportDevice, "the machine sees no memory but its own"),
        Lack::new(Feature::Collectives, "the machine is alone"),
        Lack::new(Feature::ExternalTimepoints, "no other library has streams of the machine"),
        Lack::new(Feature::IndirectDispatch, "the stream reads no workgroup counts from memory"),
        Lack::new(Feature::Globals, "a postfix program has no variables of its own"),
        Lack::new(Feature::Linking, "a postfix program is one text"),
        Lack::new(Feature::Occupancy, "the machine runs one work-item at a time"),
        Lack::new(Feature::VirtualMemory, "the machine's memory has no addresses without bytes"),
        Lack::new(Feature::Symbols, "a postfix program is text: its words have no addresses"),
    ];
    info
}
