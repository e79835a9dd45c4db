// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a device is and what it can take.

use crate::{heap::Heap, operation::QueueAffinity};

/// The identity of a device, for choosing one and for reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The URI that opens this very device.
    pub uri: String,
    /// The name its maker gives it.
    pub name: String,
    /// The target that code must be built for, with the state of its features: `gfx942:sramecc+:xnack-`.
    pub architecture: String,
    /// The forms of code that [`Device::load_executable`](crate::Device::load_executable) takes, by name: `hsaco` for
    /// AMD's code objects and every container of them, `hsaco-v4` where code objects beyond version 4 are not read. Empty where the driver does not say.
    pub executable_formats: Vec<String>,
    /// A lasting identity where there is one, as the driver spells it (`GPU-...`).
    pub uuid: Option<String>,
    /// The library behind it and its version, where there is one.
    pub library: Option<String>,
    /// True for anything that is not the hardware it looks like. Whoever prints a device prints this.
    pub simulated: bool,
    /// Whether a kernel that goes wrong is an error of what waits for it, and the process goes on. A real GPU's runtime
    /// may end the process, AMD's own on a simulated GPU too.
    pub reports_faults: bool,
    /// What of the interface the device does not offer. What is not listed here must work: the conformance suite
    /// takes an undeclared `UNIMPLEMENTED` for a failure.
    pub lacks: Vec<Lack>,
}

/// A part of the interface that a driver may do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// Queue-ordered allocation: `alloca` and `dealloca`.
    Alloca,
    /// Command buffers.
    CommandBuffers,
    /// Loading executables and dispatching their functions.
    Dispatch,
    /// Reading and writing files on a queue.
    Files,
    /// Host calls.
    HostCalls,
    /// Buffers of host memory that somebody else allocated.
    ImportHost,
    /// Buffers of device memory that somebody else allocated.
    ImportDevice,
    /// Dispatches whose workgroup count is in a buffer.
    IndirectDispatch,
    /// Global variables of executables.
    Globals,
    /// Executables of several pieces of code that refer to each other.
    Linking,
    /// The symbols of executables.
    Symbols,
}

impl Feature {
    /// Every feature.
    pub const ALL: [Self; 11] = [
        Self::Alloca,
        Self::CommandBuffers,
        Self::Dispatch,
        Self::Files,
        Self::HostCalls,
        Self::IndirectDispatch,
        Self::Globals,
        Self::ImportHost,
        Self::ImportDevice,
        Self::Linking,
        Self::Symbols,
    ];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alloca => "alloca",
            Self::CommandBuffers => "command_buffers",
            Self::Dispatch => "dispatch",
            Self::Files => "files",
            Self::HostCalls => "host_calls",
            Self::ImportHost => "import_host",
            Self::ImportDevice => "import_device",
            Self::IndirectDispatch => "indirect_dispatch",
            Self::Globals => "globals",
            Self::Linking => "linking",
            Self::Symbols => "symbols",
        }
    }
}

/// A [`Feature`] that a device says beforehand it does not offer: using it is `UNIMPLEMENTED`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lack {
    /// What is missing.
    pub feature: Feature,
    /// Why, in a few words.
    pub reason: String,
}

impl Lack {
    /// A feature and the reason why it is missing.
    pub fn new(feature: Feature, reason: impl Into<String>) -> Self {
        Self { feature, reason: reason.into() }
    }
}

/// What a device can take. Zero means that the device sets no limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Queues, numbered from 0. At least 1, at most 64.
    pub queues: u32,
    /// GPUs or other processors that the device is made of, each with its own memory and an equal share of the
    /// queues, in order. See [`physical_affinity`](Self::physical_affinity).
    pub physical_devices: u32,
    /// Work-items of a workgroup in each dimension.
    pub max_workgroup_size: [u32; 3],
    /// Work-items of a workgroup in all.
    pub max_workgroup_threads: u32,
    /// Workgroups of a dispatch in each dimension.
    pub max_workgroup_count: [u32; 3],
    /// Local memory (LDS) of a workgroup in bytes, static and dynamic together.
    pub max_local_memory: u32,
    /// Work-items of a wave.
    pub wave_size: u32,
    /// Device memory in bytes.
    pub total_memory: u64,
    /// The alignment of allocations in bytes.
    pub allocation_alignment: u64,
    /// The kinds of memory, the best for dispatches first.
    pub heaps: Vec<Heap>,
}

impl Limits {
    /// The queues of one of [`physical_devices`](Self::physical_devices), counted from 0; `None` where there are
    /// fewer.
    pub fn physical_affinity(&self, index: u32) -> Option<QueueAffinity> {
        let each = self.queues.checked_div(self.physical_devices).filter(|each| *each > 0)?;
        let bits = u64::MAX >> (64 - each.min(64));
        (index < self.physical_devices).then(|| QueueAffinity::from_bits(bits << (index * each).min(63)))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            queues: 1,
            physical_devices: 1,
            max_workgroup_size: [1024; 3],
            max_workgroup_threads: 1024,
            max_workgroup_count: [i32::MAX as u32, 65535, 65535],
            max_local_memory: 64 * 1024,
            wave_size: 64,
            total_memory: 0,
            allocation_alignment: 256,
            heaps: vec![Heap::device(u64::MAX, 256), Heap::host(u64::MAX, 256)],
        }
    }
}
