// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attributes, and properties in the layouts of ROCm 5 (R0000) and of ROCm 6 and 7 (R0600).

use std::ffi::{c_char, c_int};

use windlass_hip_sys::bindings::{
    hipDeviceArch_t, hipDeviceAttribute_t, hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipError_t, hipUUID,
};

use crate::hip::boundary::call::Call;
use crate::hip::hardware::attributes;
use crate::hip::hardware::device::{Device, limits};
use crate::hip::words::code::{Code, Outcome};
use crate::memory::Memory;

pub(in crate::hip) unsafe extern "C" fn hipDeviceGetAttribute(
    value: *mut c_int,
    attribute: hipDeviceAttribute_t,
    device: c_int,
) -> hipError_t {
    hip!(hipDeviceGetAttribute, |call| {
        let device = call.device_at(device)?;
        let answer = attributes::value(device, &call.runtime.options, attribute);
        let answer = answer.filter(|_| attributes::is_told(call.runtime.options.hip, attribute));
        call.put(value, answer.ok_or(Code::INVALID_VALUE)?)
    })
}

/// Text in a field of fixed size, with a closing zero.
fn text<const N: usize>(text: &str) -> [c_char; N] {
    let mut field = [0; N];
    for (to, from) in field.iter_mut().zip(text.bytes().take(N.saturating_sub(1))) {
        *to = from as c_char;
    }
    field
}

fn architecture() -> hipDeviceArch_t {
    let mut architecture = hipDeviceArch_t::default();
    architecture.set_hasGlobalInt32Atomics(1);
    architecture.set_hasGlobalFloatAtomicExch(1);
    architecture.set_hasSharedInt32Atomics(1);
    architecture.set_hasSharedFloatAtomicExch(1);
    architecture.set_hasFloatAtomicAdd(1);
    architecture.set_hasGlobalInt64Atomics(1);
    architecture.set_hasSharedInt64Atomics(1);
    architecture.set_hasDoubles(1);
    architecture.set_hasWarpVote(1);
    architecture.set_hasWarpBallot(1);
    architecture.set_hasWarpShuffle(1);
    architecture.set_hasThreadFenceSystem(1);
    architecture.set_has3dGrid(1);
    architecture
}

pub(super) fn new_layout(call: &Call, device: &Device) -> hipDeviceProp_tR0600 {
    type A = hipDeviceAttribute_t;
    let of = |attribute| attributes::value(device, &call.runtime.options, attribute).unwrap_or(0);
    let block = limits::THREADS_PER_BLOCK as c_int;
    let (line, plane) =
        (of(A::hipDeviceAttributeMaxTexture1DWidth), of(A::hipDeviceAttributeMaxTexture2DWidth));
    let volume = [plane, plane, of(A::hipDeviceAttributeMaxTexture3DDepth)];
    let layers = device.part.images.layers as c_int;
    hipDeviceProp_tR0600 {
        name: text(&device.name()),
        uuid: hipUUID { bytes: device.uuid().map(|byte| byte as c_char) },
        totalGlobalMem: device.capacity as usize,
        sharedMemPerBlock: device.part.lds as usize,
        regsPerBlock: of(A::hipDeviceAttributeMaxRegistersPerBlock),
        warpSize: of(A::hipDeviceAttributeWarpSize),
        memPitch: of(A::hipDeviceAttributeMaxPitch) as usize,
        maxThreadsPerBlock: block,
        maxThreadsDim: [block; 3],
        maxGridSize: limits::grid(call.runtime.options.hip),
        clockRate: of(A::hipDeviceAttributeClockRate),
        totalConstMem: of(A::hipDeviceAttributeTotalConstantMemory) as usize,
        major: of(A::hipDeviceAttributeComputeCapabilityMajor),
        minor: of(A::hipDeviceAttributeComputeCapabilityMinor),
        textureAlignment: of(A::hipDeviceAttributeTextureAlignment) as usize,
        texturePitchAlignment: of(A::hipDeviceAttributeTexturePitchAlignment) as usize,
        deviceOverlap: of(A::hipDeviceAttributeDeviceOverlap),
        multiProcessorCount: of(A::hipDeviceAttributeMultiprocessorCount),
        canMapHostMemory: of(A::hipDeviceAttributeCanMapHostMemory),
        maxTexture1D: line,
        maxTexture1DMipmap: of(A::hipDeviceAttributeMaxTexture1DMipmap),
        maxTexture1DLinear: of(A::hipDeviceAttributeMaxTexture1DLinear),
        maxTexture2D: [plane; 2],
        maxTexture3D: volume,
        maxTexture1DLayered: [line, layers],
        maxTexture2DLayered: [plane, plane, layers],
        maxSurface1D: line,
        maxSurface2D: [plane; 2],
        maxSurface3D: volume,
        maxSurface1DLayered: [line, layers],
        maxSurface2DLayered: [plane, plane, layers],
        surfaceAlignment: of(A::hipDeviceAttributeSurfaceAlignment) as usize,
        concurrentKernels: of(A::hipDeviceAttributeConcurrentKernels),
        ECCEnabled: of(A::hipDeviceAttributeEccEnabled),
        pciBusID: of(A::hipDeviceAttributePciBusId),
        asyncEngineCount: of(A::hipDeviceAttributeAsyncEngineCount),
        // In AMD's HIP this property is the host's direct access to managed memory, and the attribute is about addresses.
        unifiedAddressing: of(A::hipDeviceAttributeDirectManagedMemAccessFromHost),
        memoryClockRate: of(A::hipDeviceAttributeMemoryClockRate),
        memoryBusWidth: of(A::hipDeviceAttributeMemoryBusWidth),
        l2CacheSize: of(A::hipDeviceAttributeL2CacheSize),
        persistingL2CacheMaxSize: of(A::hipDeviceAttributePersistingL2CacheMaxSize),
        maxThreadsPerMultiProcessor: of(A::hipDeviceAttributeMaxThreadsPerMultiProcessor),
        streamPrioritiesSupported: of(A::hipDeviceAttributeStreamPrioritiesSupported),
        globalL1CacheSupported: of(A::hipDeviceAttributeGlobalL1CacheSupported),
        localL1CacheSupported: of(A::hipDeviceAttributeLocalL1CacheSupported),
        sharedMemPerMultiprocessor: of(A::hipDeviceAttributeSharedMemPerMultiprocessor) as usize,
        regsPerMultiprocessor: of(A::hipDeviceAttributeMaxRegistersPerMultiprocessor),
        managedMemory: of(A::hipDeviceAttributeManagedMemory),
        hostNativeAtomicSupported: of(A::hipDeviceAttributeHostNativeAtomicSupported),
        concurrentManagedAccess: of(A::hipDeviceAttributeConcurrentManagedAccess),
        canUseHostPointerForRegisteredMem: of(A::hipDeviceAttributeCanUseHostPointerForRegisteredMem),
        ipcEventSupported: c_int::from(Memory::HAS_PHYSICAL),
        cooperativeLaunch: of(A::hipDeviceAttributeCooperativeLaunch),
        cooperativeMultiDeviceLaunch: of(A::hipDeviceAttributeCooperativeMultiDeviceLaunch),
        cooperativeMultiDeviceUnmatchedFunc: of(A::hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc),
        cooperativeMultiDeviceUnmatchedGridDim: of(
            A::hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim,
        ),
        cooperativeMultiDeviceUnmatchedBlockDim: of(
            A::hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim,
        ),
        cooperativeMultiDeviceUnmatchedSharedMem: of(
            A::hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem,
        ),
        sharedMemPerBlockOptin: device.part.lds as usize,
        maxBlocksPerMultiProcessor: of(A::hipDeviceAttributeMaxBlocksPerMultiProcessor),
        hostRegisterSupported: of(A::hipDeviceAttributeHostRegisterSupported),
        memoryPoolsSupported: of(A::hipDeviceAttributeMemoryPoolsSupported),
        memoryPoolSupportedHandleTypes: of(A::hipDeviceAttributeMemoryPoolSupportedHandleTypes)
            .cast_unsigned(),
        gcnArchName: text(&device.part.target_id()),
        maxSharedMemoryPerMultiProcessor: device.part.lds as usize,
        clockInstructionRate: of(A::hipDeviceAttributeClockInstructionRate),
        arch: architecture(),
        asicRevision: of(A::hipDeviceAttributeAsicRevision),
        ..Default::default()
    }
}

pub(super) fn old_layout(new: &hipDeviceProp_tR0600, device: &Device) -> hipDeviceProp_tR0000 {
    hipDeviceProp_tR0000 {
        name: new.name,
        totalGlobalMem: new.totalGlobalMem,
        sharedMemPerBlock: new.sharedMemPerBlock,
        regsPerBlock: new.regsPerBlock,
        warpSize: new.warpSize,
        maxThreadsPerBlock: new.maxThreadsPerBlock,
        maxThreadsDim: new.maxThreadsDim,
        maxGridSize: new.maxGridSize,
        clockRate: new.clockRate,
        memoryClockRate: new.memoryClockRate,
        memoryBusWidth: new.memoryBusWidth,
        totalConstMem: new.totalConstMem,
        major: new.major,
        minor: new.minor,
        multiProcessorCount: new.multiProcessorCount,
        l2CacheSize: new.l2CacheSize,
        maxThreadsPerMultiProcessor: new.maxThreadsPerMultiProcessor,
        computeMode: new.computeMode,
        clockInstructionRate: new.clockInstructionRate,
        arch: new.arch,
        concurrentKernels: new.concurrentKernels,
        pciDomainID: new.pciDomainID,
        pciBusID: new.pciBusID,
        pciDeviceID: new.pciDeviceID,
        maxSharedMemoryPerMultiProcessor: new.maxSharedMemoryPerMultiProcessor,
        canMapHostMemory: new.canMapHostMemory,
        gcnArch: device.part.architecture,
        gcnArchName: new.gcnArchName,
        cooperativeLaunch: new.cooperativeLaunch,
        cooperativeMultiDeviceLaunch: new.cooperativeMultiDeviceLaunch,
        cooperativeMultiDeviceUnmatchedFunc: new.cooperativeMultiDeviceUnmatchedFunc,
        cooperativeMultiDeviceUnmatchedGridDim: new.cooperativeMultiDeviceUnmatchedGridDim,
        cooperativeMultiDeviceUnmatchedBlockDim: new.cooperativeMultiDeviceUnmatchedBlockDim,
        cooperativeMultiDeviceUnmatchedSharedMem: new.cooperativeMultiDeviceUnmatchedSharedMem,
        maxTexture1DLinear: new.maxTexture1DLinear,
        maxTexture1D: new.maxTexture1D,
        maxTexture2D: new.maxTexture2D,
        maxTexture3D: new.maxTexture3D,
        memPitch: new.memPitch,
        textureAlignment: new.textureAlignment,
        texturePitchAlignment: new.texturePitchAlignment,
        ECCEnabled: new.ECCEnabled,
        asicRevision: new.asicRevision,
        managedMemory: new.managedMemory,
        concurrentManagedAccess: new.concurrentManagedAccess,
        ..Default::default()
    }
}

fn put_old(call: &Call, properties: *mut hipDeviceProp_tR0000, device: c_int) -> Outcome<()> {
    let device = call.device_at(device)?;
    call.put(properties, old_layout(&new_layout(call, device), device))
}

pub(in crate::hip) unsafe extern "C" fn hipGetDevicePropertiesR0600(
    properties: *mut hipDeviceProp_tR0600,
    device: c_int,
) -> hipError_t {
    hip!(hipGetDevicePropertiesR0600, |call| call.put(properties, new_layout(call, call.device_at(device)?)))
}

pub(in crate::hip) unsafe extern "C" fn hipGetDevicePropertiesR0000(
    properties: *mut hipDeviceProp_tR0000,
    device: c_int,
) -> hipError_t {
    hip!(hipGetDevicePropertiesR0000, |call| put_old(call, properties, device))
}

/// The unsuffixed symbol fills the old layout in every version.
pub(in crate::hip) unsafe extern "C" fn hipGetDeviceProperties(
    properties: *mut hipDeviceProp_tR0000,
    device: c_int,
) -> hipError_t {
    hip!(hipGetDeviceProperties, |call| put_old(call, properties, device))
}
