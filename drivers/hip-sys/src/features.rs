// SPDX-License-Identifier: MIT OR Apache-2.0
//! The entry points that every driver needs, and those of each optional feature.

use std::fmt;

use crate::table::EntryPoints;

/// An optional feature of a HIP library, known by the presence of its entry points.
///
/// Versions do not count: headers declare functions that the library of the same version does not export
/// (`hipLaunchHostFunc` in ROCm 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Feature {
    /// Host functions in stream order, by `hipLaunchHostFunc`.
    HostCall,
    /// Device properties in the layout of ROCm 6.
    ModernProperties,
    /// Device identity by UUID.
    DeviceUuid,
    /// Streams with priorities.
    StreamPriorities,
    /// Allocation in stream order, and pools.
    MemoryPools,
    /// Memory that migrates between host and devices.
    ManagedMemory,
    /// Registering the caller's host memory.
    HostRegistration,
    /// The properties of an address.
    AddressLookup,
    /// Reserving addresses and mapping memory into them.
    VirtualMemory,
    /// Waiting for, and writing, words of memory in stream order.
    StreamMemoryOperations,
    /// Copies and access between devices.
    PeerAccess,
    /// Graphs of work, built node by node.
    Graphs,
    /// Recording a stream's work into a graph.
    StreamCapture,
    /// Launches whose workgroups may wait for one another.
    CooperativeLaunch,
    /// Occupancy figures of a kernel.
    Occupancy,
    /// Compute-unit masks per stream.
    ComputeUnitMasks,
    /// Sharing memory and events between processes.
    InterProcess,
    /// Memory and semaphores of other APIs.
    ExternalMemory,
    /// The functions that host code compiled by HIP calls.
    CompiledHostCode,
}

/// The entry points of each feature, all of which must be present.
const FEATURES: &[(Feature, &str, &[&str])] = &[
    (Feature::HostCall, "host functions in stream order", &["hipLaunchHostFunc"]),
    (Feature::ModernProperties, "device properties of ROCm 6", &["hipGetDevicePropertiesR0600"]),
    (Feature::DeviceUuid, "device UUIDs", &["hipDeviceGetUuid"]),
    (
        Feature::StreamPriorities,
        "stream priorities",
        &["hipStreamCreateWithPriority", "hipDeviceGetStreamPriorityRange"],
    ),
    (
        Feature::MemoryPools,
        "memory pools",
        &[
            "hipMallocAsync",
            "hipMallocFromPoolAsync",
            "hipFreeAsync",
            "hipMemPoolCreate",
            "hipMemPoolDestroy",
            "hipMemPoolGetAttribute",
            "hipMemPoolSetAttribute",
            "hipMemPoolTrimTo",
        ],
    ),
    (Feature::ManagedMemory, "managed memory", &["hipMallocManaged", "hipMemPrefetchAsync", "hipMemAdvise"]),
    (Feature::HostRegistration, "registration of host memory", &["hipHostRegister", "hipHostUnregister"]),
    (Feature::AddressLookup, "looking up addresses", &["hipPointerGetAttributes", "hipMemGetAddressRange"]),
    (
        Feature::VirtualMemory,
        "virtual memory",
        &[
            "hipMemAddressReserve",
            "hipMemAddressFree",
            "hipMemCreate",
            "hipMemRelease",
            "hipMemMap",
            "hipMemUnmap",
            "hipMemSetAccess",
            "hipMemGetAllocationGranularity",
        ],
    ),
    (
        Feature::StreamMemoryOperations,
        "waits and writes of memory in stream order",
        &["hipStreamWaitValue32", "hipStreamWaitValue64", "hipStreamWriteValue32", "hipStreamWriteValue64"],
    ),
    (
        Feature::PeerAccess,
        "access between devices",
        &["hipDeviceCanAccessPeer", "hipDeviceEnablePeerAccess", "hipMemcpyPeerAsync"],
    ),
    (
        Feature::Graphs,
        "graphs",
        &[
            "hipGraphCreate",
            "hipGraphDestroy",
            "hipGraphAddKernelNode",
            "hipGraphAddMemsetNode",
            "hipGraphAddMemcpyNode1D",
            "hipGraphAddEmptyNode",
            "hipGraphInstantiate",
            "hipGraphLaunch",
            "hipGraphExecDestroy",
        ],
    ),
    (
        Feature::StreamCapture,
        "stream capture",
        &["hipStreamBeginCapture", "hipStreamEndCapture", "hipStreamIsCapturing"],
    ),
    (Feature::CooperativeLaunch, "cooperative launches", &["hipModuleLaunchCooperativeKernel"]),
    (
        Feature::Occupancy,
        "occupancy figures",
        &["hipModuleOccupancyMaxPotentialBlockSize", "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor"],
    ),
    (
        Feature::ComputeUnitMasks,
        "compute-unit masks",
        &["hipExtStreamCreateWithCUMask", "hipExtStreamGetCUMask"],
    ),
    (
        Feature::InterProcess,
        "sharing between processes",
        &["hipIpcGetMemHandle", "hipIpcOpenMemHandle", "hipIpcCloseMemHandle"],
    ),
    (
        Feature::ExternalMemory,
        "memory and semaphores of other APIs",
        &[
            "hipImportExternalMemory",
            "hipExternalMemoryGetMappedBuffer",
            "hipDestroyExternalMemory",
            "hipImportExternalSemaphore",
            "hipSignalExternalSemaphoresAsync",
            "hipWaitExternalSemaphoresAsync",
            "hipDestroyExternalSemaphore",
        ],
    ),
    (
        Feature::CompiledHostCode,
        "host code compiled by HIP",
        &[
            "hipLaunchKernel",
            "__hipRegisterFatBinary",
            "__hipUnregisterFatBinary",
            "__hipRegisterFunction",
            "__hipRegisterVar",
            "__hipPushCallConfiguration",
            "__hipPopCallConfiguration",
        ],
    ),
];

/// The functions that every driver needs. Any one function of a row suffices.
const REQUIRED: &[&[&str]] = &[
    &["hipInit"],
    &["hipRuntimeGetVersion"],
    &["hipGetErrorName"],
    &["hipGetErrorString"],
    &["hipGetLastError"],
    &["hipGetDeviceCount"],
    &["hipGetDevice"],
    &["hipSetDevice"],
    &["hipDeviceGetName"],
    &["hipDeviceGetAttribute"],
    &["hipDeviceTotalMem"],
    &["hipGetDevicePropertiesR0600", "hipGetDevicePropertiesR0000", "hipGetDeviceProperties"],
    &["hipMemGetInfo"],
    &["hipMalloc"],
    &["hipFree"],
    &["hipHostMalloc"],
    &["hipHostFree"],
    &["hipHostGetDevicePointer"],
    &["hipMemcpyAsync"],
    &["hipMemsetAsync"],
    &["hipMemsetD8Async"],
    &["hipMemsetD16Async"],
    &["hipMemsetD32Async"],
    &["hipStreamCreateWithFlags"],
    &["hipStreamDestroy"],
    &["hipStreamQuery"],
    &["hipStreamSynchronize"],
    &["hipStreamWaitEvent"],
    &["hipEventCreateWithFlags"],
    &["hipEventDestroy"],
    &["hipEventRecord"],
    &["hipEventQuery"],
    &["hipEventSynchronize"],
    &["hipModuleLoadData"],
    &["hipModuleUnload"],
    &["hipModuleGetFunction"],
    &["hipModuleGetGlobal"],
    &["hipModuleLaunchKernel"],
    &["hipFuncGetAttribute"],
];

impl Feature {
    /// Every feature.
    pub fn all() -> impl Iterator<Item = Self> {
        FEATURES.iter().map(|(feature, ..)| *feature)
    }

    /// The functions that this feature needs, all of them.
    pub fn entry_points(self) -> &'static [&'static str] {
        self.row().map_or(&[], |(_, _, names)| names)
    }

    fn row(self) -> Option<&'static (Self, &'static str, &'static [&'static str])> {
        FEATURES.iter().find(|(feature, ..)| *feature == self)
    }
}

impl fmt::Display for Feature {
    /// The feature in words that fit a sentence, for example `memory pools`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().map_or("an unknown feature", |(_, words, _)| words))
    }
}

impl EntryPoints {
    /// The functions that every driver needs and that this table lacks.
    ///
    /// If any of several functions suffices, the preferred one is named.
    pub fn missing_required(&self) -> Vec<&'static str> {
        let absent = |names: &&&[&str]| names.iter().all(|name| self.address(name).is_none());
        REQUIRED.iter().filter(absent).filter_map(|names| names.first().copied()).collect()
    }
}

/// The features of a table, determined once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FeatureSet(u64);

impl FeatureSet {
    pub(crate) fn from_entries(entries: &EntryPoints) -> Self {
        let present = |names: &[&str]| names.iter().all(|name| entries.address(name).is_some());
        let bits = FEATURES
            .iter()
            .filter(|(_, _, names)| present(names))
            .fold(0, |bits, (feature, ..)| bits | 1_u64 << (*feature as u8));
        Self(bits)
    }

    pub(crate) fn contains(self, feature: Feature) -> bool {
        self.0 & 1_u64 << (feature as u8) != 0
    }
}
