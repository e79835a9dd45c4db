// SPDX-License-Identifier: MIT OR Apache-2.0
//! The description of a device.

/// The identity of a device, for choosing one and for reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The URI that opens exactly this device.
    pub uri: String,
    /// The maker's name for it.
    pub name: String,
    /// The target that code must be built for, with the state of its features: `gfx942:sramecc+:xnack-`.
    pub architecture: String,
    /// The names of the code formats that [`Device::load_executable`](crate::Device::load_executable) takes. `hsaco`
    /// stands for AMD's code objects and all containers of them, `hsaco-v4` for the same without code objects beyond
    /// version 4. Empty where the driver does not say.
    pub executable_formats: Vec<String>,
    /// A lasting identity where there is one, as the driver spells it (`GPU-...`).
    pub uuid: Option<String>,
    /// The library behind the device and its version, where there is one.
    pub library: Option<String>,
    /// Whether the device is not the hardware that it looks like. All listings of devices must print this.
    pub simulated: bool,
    /// Whether a faulting kernel only fails the work that waits for it, and the process continues. The runtime of a
    /// real GPU may end the process. So may AMD's own runtime on a simulated GPU.
    pub reports_faults: bool,
    /// The features that the device does not offer. All others must work: the conformance suite takes an undeclared
    /// `UNIMPLEMENTED` for a failure.
    pub lacks: Vec<Lack>,
}

/// An optional feature of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// Queue-ordered allocation: `alloca` and `dealloca`.
    Alloca,
    /// Channels between devices, and the collective operations on them.
    Collectives,
    /// Command buffers.
    CommandBuffers,
    /// Loading executables and dispatching their functions.
    Dispatch,
    /// Order between queues and the streams and events of other libraries.
    ExternalTimepoints,
    /// Reading and writing files on a queue.
    Files,
    /// Host calls.
    HostCalls,
    /// Buffers of foreign host memory.
    ImportHost,
    /// Buffers of foreign device memory.
    ImportDevice,
    /// Dispatches whose workgroup count is in a buffer.
    IndirectDispatch,
    /// Global variables of executables.
    Globals,
    /// Executables of several pieces of code that refer to each other.
    Linking,
    /// How many workgroups of a function a compute unit holds.
    Occupancy,
    /// The symbols of executables.
    Symbols,
    /// Buffers that grow in place.
    VirtualMemory,
}

impl Feature {
    /// All features.
    pub const ALL: [Self; 15] = [
        Self::Alloca,
        Self::Collectives,
        Self::CommandBuffers,
        Self::Dispatch,
        Self::ExternalTimepoints,
        Self::Files,
        Self::HostCalls,
        Self::IndirectDispatch,
        Self::Globals,
        Self::ImportHost,
        Self::ImportDevice,
        Self::Linking,
        Self::Occupancy,
        Self::Symbols,
        Self::VirtualMemory,
    ];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alloca => "alloca",
            Self::Collectives => "collectives",
            Self::CommandBuffers => "command_buffers",
            Self::Dispatch => "dispatch",
            Self::ExternalTimepoints => "external_timepoints",
            Self::Files => "files",
            Self::HostCalls => "host_calls",
            Self::ImportHost => "import_host",
            Self::ImportDevice => "import_device",
            Self::IndirectDispatch => "indirect_dispatch",
            Self::Globals => "globals",
            Self::Linking => "linking",
            Self::Occupancy => "occupancy",
            Self::Symbols => "symbols",
            Self::VirtualMemory => "virtual_memory",
        }
    }
}

/// A [`Feature`] that a device declares not to offer. Its use is `UNIMPLEMENTED`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lack {
    /// The missing feature.
    pub feature: Feature,
    /// The reason in a few words.
    pub reason: String,
}

impl Lack {
    /// A missing feature and the reason.
    pub fn new(feature: Feature, reason: impl Into<String>) -> Self {
        Self { feature, reason: reason.into() }
    }
}
