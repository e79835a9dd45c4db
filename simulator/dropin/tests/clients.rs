// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library has the functions that six clients look up or are linked against.
//!
//! They are IREE's driver, tinygrad, Triton's driver, CuPy, bitsandbytes, and programs over rocPRIM,
//! rocThrust and rocRAND.

mod common;

use std::ffi::{CString, c_char, c_int};

const NEEDED: &str = "
    hipInit hipDriverGetVersion hipRuntimeGetVersion hipGetProcAddress
    hipGetErrorName hipGetErrorString hipGetLastError hipPeekAtLastError
    hipGetDeviceCount hipGetDevice hipSetDevice hipDeviceGet hipDeviceGetName hipDeviceGetUuid hipDeviceGetAttribute
    hipDeviceGetLimit hipDeviceGetPCIBusId hipDeviceSynchronize hipGetDeviceProperties hipGetDevicePropertiesR0600
    hipDeviceCanAccessPeer hipDeviceEnablePeerAccess hipMemGetInfo
    hipDevicePrimaryCtxRetain hipDevicePrimaryCtxRelease hipCtxPushCurrent hipCtxPopCurrent hipCtxSetCurrent hipCtxGetCurrent
    hipStreamCreate hipStreamCreateWithFlags hipStreamDestroy hipStreamQuery hipStreamSynchronize hipStreamWaitEvent
    hipStreamGetFlags hipStreamGetPriority hipStreamAddCallback hipGetStreamDeviceId hipLaunchHostFunc
    hipEventCreate hipEventCreateWithFlags hipEventDestroy hipEventRecord hipEventQuery hipEventSynchronize
    hipEventElapsedTime
    hipMalloc hipMallocManaged hipFree hipHostMalloc hipHostFree hipHostRegister hipHostUnregister
    hipHostGetDevicePointer hipMemPrefetchAsync hipMemAdvise hipPointerGetAttribute hipPointerGetAttributes
    hipMallocAsync hipMallocFromPoolAsync hipFreeAsync hipMemPoolCreate hipMemPoolDestroy hipMemPoolGetAttribute
    hipMemPoolSetAttribute hipMemPoolTrimTo hipIpcGetMemHandle hipIpcOpenMemHandle hipIpcCloseMemHandle
    hipMemcpy hipMemcpyAsync hipMemcpyHtoDAsync hipMemcpyPeer hipMemcpyPeerAsync hipMemset hipMemsetAsync hipMemsetD8Async
    hipMemsetD16Async hipMemsetD32Async
    hipModuleLoad hipModuleLoadData hipModuleLoadDataEx hipModuleUnload hipModuleGetFunction hipModuleGetGlobal
    hipFuncGetAttribute hipFuncSetAttribute hipOccupancyMaxPotentialBlockSize
    hipOccupancyMaxActiveBlocksPerMultiprocessor hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
    hipModuleLaunchKernel hipModuleLaunchCooperativeKernel hipDrvLaunchKernelEx hipLaunchKernel
    hipGraphCreate hipGraphDestroy hipGraphAddKernelNode hipGraphAddMemsetNode hipGraphAddEmptyNode
    hipGraphAddEventRecordNode hipDrvGraphAddMemcpyNode hipGraphInstantiate hipGraphLaunch hipGraphExecDestroy
    hipStreamBeginCapture hipStreamEndCapture hipStreamIsCapturing hipStreamGetCaptureInfo
    hipThreadExchangeStreamCaptureMode
    __hipRegisterFatBinary __hipUnregisterFatBinary __hipRegisterFunction __hipRegisterVar __hipRegisterManagedVar
    __hipPushCallConfiguration __hipPopCallConfiguration
";

/// Further functions that CuPy looks up, and that are refused: a gfx942 has no textures.
const REFUSED: &str = "
    hipCreateTextureObject hipDestroyTextureObject hipCreateSurfaceObject hipDestroySurfaceObject
";

#[test]
fn clients_find_what_they_need() {
    // SAFETY: the library is the one of this package.
    let library = unsafe { libloading::Library::new(common::library()) }.unwrap();
    // SAFETY: the symbol has this signature.
    let has =
        unsafe { library.get::<unsafe extern "C" fn(*const c_char) -> c_int>(b"windlass_simulator_has") };
    let has = has.unwrap();
    let has = |name: &str| {
        let name = CString::new(name).unwrap();
        // SAFETY: the string ends.
        unsafe { has(name.as_ptr()) == 1 }
    };
    let missing: Vec<_> = NEEDED.split_whitespace().filter(|name| !has(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let present: Vec<_> = REFUSED.split_whitespace().filter(|name| has(name)).collect();
    assert!(present.is_empty(), "{present:?} may be promised now");
}
