// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device attributes. Properties in both layouts are filled from them, so the two layouts agree.

use windlass_hip_sys::bindings::hipDeviceAttribute_t as Attribute;

use super::device::{Device, limits};
use super::virtual_memory::VirtualMemory;
use crate::memory::Memory;
use crate::options::Options;
use windlass_simulated_gpu::Part;

/// Attributes that hipDeviceGetAttribute of HIP 6 refuses, by number: those of CUDA's images and of other drivers, then
/// those of later versions.
const UNTOLD_IN_6: &[u32] =
    &[21, 33, 34, 35, 36, 37, 38, 40, 45, 46, 47, 48, 52, 54, 55, 77, 80, 10018, 10019, 10020];

/// The attributes that HIP 5 refuses.
const UNTOLD_IN_5: &[u32] = &[
    1, 2, 4, 7, 12, 14, 15, 20, 21, 22, 25, 32, 33, 34, 35, 36, 37, 38, 40, 41, 42, 45, 46, 47, 48, 52, 53,
    54, 55, 62, 69, 70, 72, 73, 75, 76, 77, 78, 79, 80, 84, 85, 89, 90, 91, 10011, 10017, 10018, 10019,
    10020,
];

/// Whether a version's hipDeviceGetAttribute knows an attribute.
pub(crate) fn is_told(hip: (u32, u32), attribute: Attribute) -> bool {
    // A property alone.
    let never = attribute == Attribute::hipDeviceAttributeClockInstructionRate;
    let untold = match hip.0 {
        ..6 => UNTOLD_IN_5,
        6 => UNTOLD_IN_6,
        _ => &[],
    };
    !never && !untold.contains(&attribute.0)
}

/// The value of an attribute of a device; `None` for one that HIP does not have.
pub(crate) fn value(device: &Device, options: &Options, attribute: Attribute) -> Option<i32> {
    let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    let (units, images) = (device.units, &device.part.images);
    let [across, high, deep] = limits::grid(options.hip);
    Some(match attribute {
        // The abilities of the simulated part.
        Attribute::hipDeviceAttributeCanMapHostMemory
        | Attribute::hipDeviceAttributeCanUseStreamWaitValue
        | Attribute::hipDeviceAttributeConcurrentKernels
        | Attribute::hipDeviceAttributeConcurrentManagedAccess
        | Attribute::hipDeviceAttributeCooperativeLaunch
        | Attribute::hipDeviceAttributeCooperativeMultiDeviceLaunch
        | Attribute::hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc
        | Attribute::hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim
        | Attribute::hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim
        | Attribute::hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem
        | Attribute::hipDeviceAttributeDeviceOverlap
        | Attribute::hipDeviceAttributeFineGrainSupport
        | Attribute::hipDeviceAttributeHostNativeAtomicSupported
        | Attribute::hipDeviceAttributeHostRegisterSupported
        | Attribute::hipDeviceAttributeManagedMemory
        | Attribute::hipDeviceAttributeGlobalL1CacheSupported
        | Attribute::hipDeviceAttributeLocalL1CacheSupported
        | Attribute::hipDeviceAttributeStreamPrioritiesSupported
        | Attribute::hipDeviceAttributeUnifiedAddressing
        | Attribute::hipDeviceAttributeNumberOfXccs => 1,
        Attribute::hipDeviceAttributeVirtualMemoryManagementSupported => {
            VirtualMemory::is_there(options.hip).into()
        }
        // Handles by file descriptors.
        Attribute::hipDeviceAttributeMemoryPoolSupportedHandleTypes => {
            (options.hip >= (6, 2) && Memory::HAS_PHYSICAL).into()
        }
        // Older versions have pools and do not report them.
        Attribute::hipDeviceAttributeMemoryPoolsSupported => (options.hip >= (6, 2)).into(),

        // The abilities that it lacks.
        Attribute::hipDeviceAttributeAccessPolicyMaxWindowSize
        | Attribute::hipDeviceAttributeComputeMode
        | Attribute::hipDeviceAttributeComputePreemptionSupported
        | Attribute::hipDeviceAttributeDirectManagedMemAccessFromHost
        | Attribute::hipDeviceAttributeIntegrated
        | Attribute::hipDeviceAttributeIsMultiGpuBoard
        | Attribute::hipDeviceAttributeKernelExecTimeout
        | Attribute::hipDeviceAttributeLuid
        | Attribute::hipDeviceAttributeLuidDeviceNodeMask
        | Attribute::hipDeviceAttributeMultiGpuBoardGroupID
        | Attribute::hipDeviceAttributePageableMemoryAccess
        | Attribute::hipDeviceAttributePageableMemoryAccessUsesHostPageTables
        | Attribute::hipDeviceAttributePciDeviceId
        | Attribute::hipDeviceAttributePciDomainId
        | Attribute::hipDeviceAttributeReservedSharedMemPerBlock
        | Attribute::hipDeviceAttributeSingleToDoublePrecisionPerfRatio
        | Attribute::hipDeviceAttributeTccDriver
        | Attribute::hipDeviceAttributeHdpMemFlushCntl
        | Attribute::hipDeviceAttributeHdpRegFlushCntl
        | Attribute::hipDeviceAttributeIsLargeBar
        | Attribute::hipDeviceAttributeImageSupport => 0,
        // AMD's HIP says this of every GPU but those on the host's own memory.
        Attribute::hipDeviceAttributeCanUseHostPointerForRegisteredMem
        // It says this of every GPU.
        | Attribute::hipDeviceAttributeEccEnabled => 0,
        Attribute::hipDeviceAttributeAsyncEngineCount => 8,
        Attribute::hipDeviceAttributeAsicRevision => number(Part::REVISION),

        Attribute::hipDeviceAttributeComputeCapabilityMajor => device.part.capability[0],
        Attribute::hipDeviceAttributeComputeCapabilityMinor => device.part.capability[1],
        Attribute::hipDeviceAttributePciBusId => i32::try_from(device.pci_bus()).ok()?,
        Attribute::hipDeviceAttributePciChipId => device.part.chip,

        Attribute::hipDeviceAttributeMultiprocessorCount
        | Attribute::hipDeviceAttributePhysicalMultiProcessorCount => number(units),
        Attribute::hipDeviceAttributeWarpSize => number(device.part.wave_size()),
        Attribute::hipDeviceAttributeMaxThreadsPerBlock
        | Attribute::hipDeviceAttributeMaxBlockDimX
        | Attribute::hipDeviceAttributeMaxBlockDimY
        | Attribute::hipDeviceAttributeMaxBlockDimZ
        | Attribute::hipDeviceAttributeMaxThreadsDim => number(limits::THREADS_PER_BLOCK),
        Attribute::hipDeviceAttributeMaxGridDimX => across,
        Attribute::hipDeviceAttributeMaxGridDimY => high,
        Attribute::hipDeviceAttributeMaxGridDimZ => deep,
        Attribute::hipDeviceAttributeMaxThreadsPerMultiProcessor => number(device.part.work_items_of_unit()),
        Attribute::hipDeviceAttributeMaxBlocksPerMultiProcessor => 2,
        Attribute::hipDeviceAttributeMaxRegistersPerBlock
        | Attribute::hipDeviceAttributeMaxRegistersPerMultiprocessor => number(limits::REGISTERS_PER_BLOCK),
        Attribute::hipDeviceAttributeMaxAvailableVgprsPerThread => number(device.part.registers_of_work_item()),
        Attribute::hipDeviceAttributeMaxSharedMemoryPerBlock
        | Attribute::hipDeviceAttributeSharedMemPerBlockOptin
        | Attribute::hipDeviceAttributeMaxSharedMemoryPerMultiprocessor => number(device.part.lds),
        // AMD's HIP counts that of all compute units.
        Attribute::hipDeviceAttributeSharedMemPerMultiprocessor => number(device.part.lds.saturating_mul(units)),

        Attribute::hipDeviceAttributeTotalGlobalMem => i32::try_from(device.capacity).unwrap_or(i32::MAX),
        Attribute::hipDeviceAttributeTotalConstantMemory => i32::MAX,
        Attribute::hipDeviceAttributeMaxPitch => i32::MAX,
        Attribute::hipDeviceAttributeL2CacheSize | Attribute::hipDeviceAttributePersistingL2CacheMaxSize => {
            device.part.caches[1]
        }

        Attribute::hipDeviceAttributeClockRate => device.part.clock,
        Attribute::hipDeviceAttributeMemoryClockRate => device.part.memory_clock,
        Attribute::hipDeviceAttributeMemoryBusWidth => device.part.bus,
        Attribute::hipDeviceAttributeWallClockRate => number(Part::WALL_CLOCK / 1000),
        // In AMD's HIP the same for every GPU, and not the rate of any clock.
        Attribute::hipDeviceAttributeClockInstructionRate => 1_000_000,

        Attribute::hipDeviceAttributeSurfaceAlignment
        | Attribute::hipDeviceAttributeTextureAlignment
        | Attribute::hipDeviceAttributeTexturePitchAlignment => 256,
        Attribute::hipDeviceAttributeMaxSurface1D
        | Attribute::hipDeviceAttributeMaxSurface1DLayered
        | Attribute::hipDeviceAttributeMaxSurface2D
        | Attribute::hipDeviceAttributeMaxSurface2DLayered
        | Attribute::hipDeviceAttributeMaxSurface3D
        | Attribute::hipDeviceAttributeMaxTexture1DWidth
        | Attribute::hipDeviceAttributeMaxTexture1DLayered
        | Attribute::hipDeviceAttributeMaxTexture2DWidth
        | Attribute::hipDeviceAttributeMaxTexture2DHeight
        | Attribute::hipDeviceAttributeMaxTexture2DLayered
        | Attribute::hipDeviceAttributeMaxTexture3DWidth
        | Attribute::hipDeviceAttributeMaxTexture3DHeight => number(images.side),
        Attribute::hipDeviceAttributeMaxTexture3DDepth => number(images.depth),
        // In bytes, of elements of 16.
        Attribute::hipDeviceAttributeMaxTexture1DLinear | Attribute::hipDeviceAttributeMaxTexture1DMipmap => {
            number(images.buffer.saturating_mul(16))
        }
        // AMD's HIP has none of these.
        Attribute::hipDeviceAttributeMaxTexture2DGather
        | Attribute::hipDeviceAttributeMaxTexture2DLinear
        | Attribute::hipDeviceAttributeMaxTexture2DMipmap
        | Attribute::hipDeviceAttributeMaxTexture3DAlt
        | Attribute::hipDeviceAttributeMaxSurfaceCubemap
        | Attribute::hipDeviceAttributeMaxSurfaceCubemapLayered
        | Attribute::hipDeviceAttributeMaxTextureCubemap
        | Attribute::hipDeviceAttributeMaxTextureCubemapLayered => 0,
        _ => return None,
    })
}
