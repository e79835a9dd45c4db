// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fields of a device's properties, each a case of its own.

use std::ffi::CStr;

use windlass_hip_sys::bindings::*;

/// The text of a field.
trait Field {
    fn text(&self) -> String;
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Field for $number {
            fn text(&self) -> String {
                self.to_string()
            }
        })*
    };
}

numbers! { c_int c_uint usize }

impl<const N: usize> Field for [c_int; N] {
    fn text(&self) -> String {
        self.iter().map(i32::to_string).collect::<Vec<_>>().join(" ")
    }
}

/// Text up to a zero; bytes that are no text are shown as numbers.
impl<const N: usize> Field for [c_char; N] {
    fn text(&self) -> String {
        let bytes = self.map(|byte| byte.to_ne_bytes()[0]);
        let text = CStr::from_bytes_until_nul(&bytes).map_or(&bytes[..], CStr::to_bytes);
        match std::str::from_utf8(text) {
            Ok(text) => text.to_owned(),
            Err(_) => text.iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    }
}

impl Field for hipUUID {
    fn text(&self) -> String {
        self.bytes.text()
    }
}

impl Field for *mut c_uint {
    fn text(&self) -> String {
        if self.is_null() { "null" } else { "set" }.to_owned()
    }
}

/// One bit each.
impl Field for hipDeviceArch_t {
    fn text(&self) -> String {
        format!("{:#x}", self._bitfield_1.get(0, 17))
    }
}

/// Lists the fields, and reads one by its name.
macro_rules! fields {
    ($layout:ty: $names:ident $read:ident { $($field:ident)* }) => {
        pub(crate) const $names: &[&str] = &[$(stringify!($field)),*];

        pub(crate) fn $read(properties: &$layout, field: &str) -> Option<String> {
            match field {
                $(stringify!($field) => Some(properties.$field.text()),)*
                _ => None,
            }
        }
    };
}

fields! { hipDeviceProp_tR0600: NEW new {
    name uuid luid luidDeviceNodeMask totalGlobalMem sharedMemPerBlock regsPerBlock warpSize memPitch
    maxThreadsPerBlock maxThreadsDim maxGridSize clockRate totalConstMem major minor textureAlignment
    texturePitchAlignment deviceOverlap multiProcessorCount kernelExecTimeoutEnabled integrated
    canMapHostMemory computeMode maxTexture1D maxTexture1DMipmap maxTexture1DLinear maxTexture2D
    maxTexture2DMipmap maxTexture2DLinear maxTexture2DGather maxTexture3D maxTexture3DAlt maxTextureCubemap
    maxTexture1DLayered maxTexture2DLayered maxTextureCubemapLayered maxSurface1D maxSurface2D maxSurface3D
    maxSurface1DLayered maxSurface2DLayered maxSurfaceCubemap maxSurfaceCubemapLayered surfaceAlignment
    concurrentKernels ECCEnabled pciBusID pciDeviceID pciDomainID tccDriver asyncEngineCount
    unifiedAddressing memoryClockRate memoryBusWidth l2CacheSize persistingL2CacheMaxSize
    maxThreadsPerMultiProcessor streamPrioritiesSupported globalL1CacheSupported localL1CacheSupported
    sharedMemPerMultiprocessor regsPerMultiprocessor managedMemory isMultiGpuBoard multiGpuBoardGroupID
    hostNativeAtomicSupported singleToDoublePrecisionPerfRatio pageableMemoryAccess concurrentManagedAccess
    computePreemptionSupported canUseHostPointerForRegisteredMem cooperativeLaunch
    cooperativeMultiDeviceLaunch sharedMemPerBlockOptin pageableMemoryAccessUsesHostPageTables
    directManagedMemAccessFromHost maxBlocksPerMultiProcessor accessPolicyMaxWindowSize
    reservedSharedMemPerBlock hostRegisterSupported sparseHipArraySupported hostRegisterReadOnlySupported
    timelineSemaphoreInteropSupported memoryPoolsSupported gpuDirectRDMASupported
    gpuDirectRDMAFlushWritesOptions gpuDirectRDMAWritesOrdering memoryPoolSupportedHandleTypes
    deferredMappingHipArraySupported ipcEventSupported clusterLaunch unifiedFunctionPointers gcnArchName
    maxSharedMemoryPerMultiProcessor clockInstructionRate arch hdpMemFlushCntl hdpRegFlushCntl
    cooperativeMultiDeviceUnmatchedFunc cooperativeMultiDeviceUnmatchedGridDim
    cooperativeMultiDeviceUnmatchedBlockDim cooperativeMultiDeviceUnmatchedSharedMem isLargeBar
    asicRevision
} }

fields! { hipDeviceProp_tR0000: OLD old {
    name totalGlobalMem sharedMemPerBlock regsPerBlock warpSize maxThreadsPerBlock maxThreadsDim
    maxGridSize clockRate memoryClockRate memoryBusWidth totalConstMem major minor multiProcessorCount
    l2CacheSize maxThreadsPerMultiProcessor computeMode clockInstructionRate arch concurrentKernels
    pciDomainID pciBusID pciDeviceID maxSharedMemoryPerMultiProcessor isMultiGpuBoard canMapHostMemory
    gcnArch gcnArchName integrated cooperativeLaunch cooperativeMultiDeviceLaunch maxTexture1DLinear
    maxTexture1D maxTexture2D maxTexture3D hdpMemFlushCntl hdpRegFlushCntl memPitch textureAlignment
    texturePitchAlignment kernelExecTimeoutEnabled ECCEnabled tccDriver cooperativeMultiDeviceUnmatchedFunc
    cooperativeMultiDeviceUnmatchedGridDim cooperativeMultiDeviceUnmatchedBlockDim
    cooperativeMultiDeviceUnmatchedSharedMem isLargeBar asicRevision managedMemory
    directManagedMemAccessFromHost concurrentManagedAccess pageableMemoryAccess
    pageableMemoryAccessUsesHostPageTables
} }
