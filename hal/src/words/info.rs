// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a device is and what it can take.

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
