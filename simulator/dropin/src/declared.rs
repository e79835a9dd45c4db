// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions that the simulator's table declares, under HIP's names and symbol versions.
//!
//! The version of each name is that of AMD's linker map, which programs linked against ROCm require.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

use windlass_hip_sys::bindings::*;
use windlass_simulator::hip::Exported;

use crate::absent::Absent;
use crate::end::Calls;
use crate::table::table;
use crate::versions::versioned;

macro_rules! export {
    ($(fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of the simulated GPU.")]
            ///
            /// # Safety
            /// As HIP documents the function.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, clippy::too_many_arguments)]
            pub unsafe extern "C" fn $name($($parameter: $ty),*) -> $result {
                let _inside = calls::$name.enter();
                match table().$name {
                    // SAFETY: the caller guarantees the arguments.
                    Some(entry) => unsafe { entry($($parameter),*) },
                    None => Absent::refuse(stringify!($name)),
                }
            }
        )*

        #[allow(non_upper_case_globals, reason = "HIP's names")]
        mod calls {
            use crate::end::Calls;
            $(pub(super) static $name: Calls = Calls::new(stringify!($name));)*
        }

        /// The counts of calls in progress, one for each function.
        pub(crate) static CALLS: &[&Calls] = &[$(&calls::$name),*];

        /// The function of this name, if it is one of these.
        pub(crate) fn find(name: &str) -> Option<Exported> {
            let address = match name {
                $(stringify!($name) => $name as *const c_void,)*
                _ => return None,
            };
            // The table itself refuses functions that the version of HIP lacks.
            Some(Exported::new(address, (0, 0)))
        }
    };
}

windlass_hip_sys::for_each_entry_point!(export);

versioned! {
    "hip_4.2":
        hipInit hipDriverGetVersion hipRuntimeGetVersion hipGetErrorName hipGetErrorString hipGetLastError
        hipPeekAtLastError hipProfilerStart hipProfilerStop hipGetDeviceCount hipGetDevice hipSetDevice
        hipDeviceGet hipDeviceGetName hipDeviceGetPCIBusId hipDeviceGetByPCIBusId hipDeviceGetAttribute
        hipDeviceGetP2PAttribute hipDeviceTotalMem hipDeviceComputeCapability hipGetDeviceProperties
        hipGetDevicePropertiesR0000 hipDeviceSynchronize hipDeviceReset hipGetDeviceFlags hipSetDeviceFlags
        hipDeviceGetLimit hipDeviceGetCacheConfig hipDeviceSetCacheConfig hipDeviceGetSharedMemConfig
        hipDeviceSetSharedMemConfig hipDeviceGetStreamPriorityRange hipDeviceCanAccessPeer
        hipDeviceEnablePeerAccess hipDeviceDisablePeerAccess hipExtGetLinkTypeAndHopCount
        hipDevicePrimaryCtxRetain hipDevicePrimaryCtxRelease hipDevicePrimaryCtxReset
        hipDevicePrimaryCtxSetFlags hipDevicePrimaryCtxGetState hipCtxCreate hipCtxDestroy hipCtxPushCurrent
        hipCtxPopCurrent hipCtxSetCurrent hipCtxGetCurrent hipCtxGetDevice hipCtxSynchronize hipStreamCreate
        hipStreamCreateWithFlags hipStreamCreateWithPriority hipStreamDestroy hipStreamQuery
        hipStreamSynchronize hipStreamWaitEvent hipStreamGetFlags hipStreamGetPriority hipStreamGetDevice
        hipGetStreamDeviceId hipStreamAddCallback hipExtStreamCreateWithCUMask hipExtStreamGetCUMask
        hipEventCreate hipEventCreateWithFlags hipEventDestroy hipEventRecord hipEventQuery
        hipEventSynchronize hipEventElapsedTime hipMalloc hipExtMallocWithFlags hipMallocManaged
        hipMallocPitch hipFree hipHostMalloc hipHostAlloc hipHostFree hipMallocHost hipFreeHost
        hipHostRegister hipHostUnregister hipHostGetDevicePointer hipHostGetFlags hipMemGetInfo
        hipMemPtrGetInfo hipMemGetAddressRange hipPointerGetAttributes hipMemPrefetchAsync hipMemAdvise
        hipMemRangeGetAttribute hipIpcGetMemHandle hipIpcOpenMemHandle hipIpcCloseMemHandle
        hipIpcGetEventHandle hipIpcOpenEventHandle hipMemcpy hipMemcpyAsync hipMemcpyWithStream hipMemcpyHtoD
        hipMemcpyDtoH hipMemcpyDtoD hipMemcpyHtoDAsync hipMemcpyDtoHAsync hipMemcpyDtoDAsync hipMemcpyPeer
        hipMemcpyPeerAsync hipMemcpy2D hipMemcpy2DAsync hipMemcpy3D hipMemcpy3DAsync hipDrvMemcpy3D
        hipDrvMemcpy3DAsync hipMemset hipMemsetAsync hipMemsetD8 hipMemsetD8Async hipMemsetD16
        hipMemsetD16Async hipMemsetD32 hipMemsetD32Async hipMemset2D hipMemset2DAsync hipMemcpyToSymbol
        hipMemcpyToSymbolAsync hipMemcpyFromSymbol hipMemcpyFromSymbolAsync hipGetSymbolAddress
        hipGetSymbolSize hipModuleLoad hipModuleLoadData hipModuleLoadDataEx hipModuleUnload
        hipModuleGetFunction hipModuleGetGlobal hipFuncGetAttribute hipFuncGetAttributes hipFuncSetAttribute
        hipFuncSetCacheConfig hipFuncSetSharedMemConfig hipKernelNameRef
        hipModuleOccupancyMaxPotentialBlockSize hipModuleOccupancyMaxPotentialBlockSizeWithFlags
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessor
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags hipOccupancyMaxPotentialBlockSize
        hipOccupancyMaxActiveBlocksPerMultiprocessor hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
        hipModuleLaunchKernel hipLaunchKernel hipLaunchCooperativeKernel hipExtLaunchKernel
        hipExtModuleLaunchKernel hipHccModuleLaunchKernel
        hipCreateTextureObject hipDestroyTextureObject hipCreateSurfaceObject hipDestroySurfaceObject
        __hipRegisterFatBinary __hipUnregisterFatBinary __hipRegisterFunction __hipRegisterVar
        __hipRegisterManagedVar __hipRegisterTexture __hipRegisterSurface __hipPushCallConfiguration
        __hipPopCallConfiguration
        hipApiName hipChooseDevice hipChooseDeviceR0000 hipConfigureCall hipCtxDisablePeerAccess
        hipCtxEnablePeerAccess hipCtxGetApiVersion hipExtLaunchMultiKernelMultiDevice hipKernelNameRefByPtr
        hipLaunchByPtr hipLaunchCooperativeKernelMultiDevice hipMemRangeGetAttributes hipPointerSetAttribute
        hipSetupArgument hipStreamAttachMemAsync;
    "hip_4.3":
        hipImportExternalMemory hipExternalMemoryGetMappedBuffer hipDestroyExternalMemory
        hipImportExternalSemaphore hipSignalExternalSemaphoresAsync hipWaitExternalSemaphoresAsync
        hipDestroyExternalSemaphore hipGraphCreate hipGraphDestroy hipGraphAddKernelNode hipGraphAddMemcpyNode
        hipGraphAddMemcpyNode1D hipGraphAddMemsetNode hipGraphInstantiate hipGraphLaunch hipGraphExecDestroy
        hipStreamBeginCapture hipStreamEndCapture hipStreamIsCapturing;
    "hip_4.4":
        hipStreamWaitValue32 hipStreamWaitValue64 hipStreamWriteValue32 hipStreamWriteValue64
        hipGraphAddEmptyNode hipGraphAddDependencies hipGraphGetNodes hipGraphKernelNodeSetParams
        hipGraphExecKernelNodeSetParams hipGraphGetRootNodes hipGraphMemcpyNodeSetParams
        hipGraphMemsetNodeSetParams hipGraphKernelNodeGetParams hipGraphMemcpyNodeGetParams
        hipGraphMemsetNodeGetParams;
    "hip_4.5":
        hipGraphAddHostNode hipGraphAddChildGraphNode hipGraphAddEventRecordNode
        hipGraphAddEventWaitNode hipGraphGetEdges hipGraphNodeGetType hipGraphInstantiateWithFlags
        hipGraphExecUpdate hipStreamGetCaptureInfo hipStreamGetCaptureInfo_v2
        hipStreamUpdateCaptureDependencies hipGraphDestroyNode hipGraphEventRecordNodeSetEvent
        hipGraphEventWaitNodeSetEvent hipGraphExecEventRecordNodeSetEvent
        hipGraphExecEventWaitNodeSetEvent hipGraphExecHostNodeSetParams
        hipGraphExecMemcpyNodeSetParams hipGraphExecMemcpyNodeSetParams1D
        hipGraphExecMemsetNodeSetParams hipGraphHostNodeSetParams hipGraphMemcpyNodeSetParams1D
        hipGraphNodeGetDependencies hipGraphNodeGetDependentNodes hipGraphRemoveDependencies
        hipDeviceGetGraphMemAttribute hipDeviceGraphMemTrim hipDeviceSetGraphMemAttribute
        hipGraphAddMemcpyNodeFromSymbol hipGraphAddMemcpyNodeToSymbol hipGraphChildGraphNodeGetGraph
        hipGraphClone hipGraphEventRecordNodeGetEvent hipGraphEventWaitNodeGetEvent
        hipGraphExecChildGraphNodeSetParams hipGraphExecMemcpyNodeSetParamsFromSymbol
        hipGraphExecMemcpyNodeSetParamsToSymbol hipGraphHostNodeGetParams
        hipGraphMemcpyNodeSetParamsFromSymbol hipGraphMemcpyNodeSetParamsToSymbol
        hipGraphNodeFindInClone;
    "hip_5.0":
        hipPointerGetAttribute hipDrvPointerGetAttributes hipThreadExchangeStreamCaptureMode
        hipGraphKernelNodeGetAttribute hipGraphKernelNodeSetAttribute;
    "hip_5.1":
        hipDeviceGetUuid hipMallocAsync hipMallocFromPoolAsync hipFreeAsync hipMemPoolCreate hipMemPoolDestroy
        hipMemPoolGetAttribute hipMemPoolSetAttribute hipMemPoolSetAccess hipMemPoolGetAccess hipMemPoolTrimTo
        hipDeviceGetDefaultMemPool hipDeviceGetMemPool hipDeviceSetMemPool hipMemAddressReserve
        hipMemAddressFree hipMemCreate hipMemRelease hipMemMap hipMemUnmap hipMemSetAccess
        hipMemGetAllocationGranularity hipMemGetAccess hipMemGetAllocationPropertiesFromHandle
        hipMemRetainAllocationHandle hipMemExportToShareableHandle hipMemImportFromShareableHandle
        hipMemPoolExportPointer hipMemPoolExportToShareableHandle hipMemPoolImportFromShareableHandle
        hipMemPoolImportPointer;
    "hip_5.3":
        hipDrvGetErrorName hipDrvGetErrorString hipDeviceSetLimit hipLaunchHostFunc hipGraphUpload
        hipGraphDebugDotPrint hipGraphKernelNodeCopyAttributes hipGraphNodeGetEnabled
        hipGraphNodeSetEnabled hipGraphReleaseUserObject hipGraphRetainUserObject
        hipUserObjectCreate hipUserObjectRelease hipUserObjectRetain;
    "hip_5.5":
        hipModuleLaunchCooperativeKernel hipModuleLaunchCooperativeKernelMultiDevice
        hipGraphAddMemAllocNode hipGraphAddMemFreeNode
        hipGraphAddNode hipGraphMemAllocNodeGetParams hipGraphMemFreeNodeGetParams;
    "hip_5.6":
        hipDrvGraphAddMemcpyNode hipDrvGraphAddMemsetNode;
    "hip_6.0":
        hipExtGetLastError hipGetDevicePropertiesR0600 hipChooseDeviceR0600
        hipDrvGraphMemcpyNodeGetParams hipDrvGraphMemcpyNodeSetParams;
    "hip_6.1":
        hipGetProcAddress hipGraphInstantiateWithParams hipStreamBeginCaptureToGraph;
    "hip_6.2":
        hipSetValidDevices hipGetFuncBySymbol hipDrvGraphAddMemFreeNode
        hipDrvGraphExecMemcpyNodeSetParams hipDrvGraphExecMemsetNodeSetParams hipGraphExecGetFlags
        hipGraphExecNodeSetParams hipGraphNodeSetParams;
    "hip_6.4":
        hipEventRecordWithFlags hipGraphAddBatchMemOpNode hipGraphBatchMemOpNodeGetParams
        hipGraphBatchMemOpNodeSetParams hipGraphExecBatchMemOpNodeSetParams hipStreamBatchMemOp;
    "hip_6.5":
        hipDrvLaunchKernelEx hipLaunchKernelExC
        hipMemGetHandleForAddressRange;
    "hip_7.1":
        hipModuleGetFunctionCount hipModuleLoadFatBinary
        hipMemAdvise_v2 hipMemPrefetchAsync_v2 hipMemcpy3DBatchAsync hipMemcpy3DPeer hipMemcpy3DPeerAsync
        hipMemcpyBatchAsync hipMemsetD2D16 hipMemsetD2D16Async hipMemsetD2D32 hipMemsetD2D32Async
        hipMemsetD2D8 hipMemsetD2D8Async hipStreamGetAttribute hipStreamGetId hipStreamSetAttribute;
    "hip_7.2":
        hipLibraryLoadData hipLibraryLoadFromFile hipLibraryUnload hipLibraryGetKernel hipLibraryGetKernelCount
        hipOccupancyAvailableDynamicSMemPerBlock hipStreamCopyAttributes;
}
