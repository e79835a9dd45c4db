// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names of HIP's functions that the simulator has, and the first version of HIP that has each.

/// Expands `$with! { ... }` with every function that the simulator has in any version of HIP, by file of `calls/`.
macro_rules! for_each_function {
    ($with:ident) => {
        $with! {
            error:
                hipInit hipDriverGetVersion hipRuntimeGetVersion hipGetErrorName hipGetErrorString
                hipDrvGetErrorName hipDrvGetErrorString hipGetLastError hipPeekAtLastError hipExtGetLastError;
            lookup:
                hipGetProcAddress;
            device:
                hipGetDeviceCount hipGetDevice hipSetDevice hipDeviceGet hipDeviceGetName hipDeviceGetUuid
                hipDeviceGetPCIBusId hipDeviceGetByPCIBusId hipDeviceTotalMem hipDeviceComputeCapability
                hipDeviceSynchronize hipDeviceReset hipGetDeviceFlags hipSetDeviceFlags hipDeviceGetLimit
                hipDeviceGetCacheConfig hipDeviceSetCacheConfig hipDeviceGetSharedMemConfig
                hipDeviceSetSharedMemConfig hipDeviceGetStreamPriorityRange hipDeviceCanAccessPeer
                hipDeviceEnablePeerAccess hipDeviceDisablePeerAccess hipDeviceGetP2PAttribute
                hipDeviceSetLimit hipExtGetLinkTypeAndHopCount hipSetValidDevices;
            choose:
                hipChooseDevice hipChooseDeviceR0000 hipChooseDeviceR0600;
            names:
                hipApiName hipKernelNameRef hipKernelNameRefByPtr hipProfilerStart hipProfilerStop;
            properties:
                hipDeviceGetAttribute hipGetDevicePropertiesR0600 hipGetDevicePropertiesR0000 hipGetDeviceProperties;
            context:
                hipDevicePrimaryCtxRetain hipDevicePrimaryCtxRelease hipDevicePrimaryCtxReset
                hipDevicePrimaryCtxSetFlags hipDevicePrimaryCtxGetState hipCtxCreate hipCtxDestroy hipCtxPushCurrent
                hipCtxPopCurrent hipCtxSetCurrent hipCtxGetCurrent hipCtxGetDevice hipCtxSynchronize
                hipCtxGetApiVersion hipCtxEnablePeerAccess hipCtxDisablePeerAccess;
            stream:
                hipStreamCreate hipStreamCreateWithFlags hipStreamCreateWithPriority hipStreamDestroy hipStreamQuery
                hipStreamSynchronize hipStreamWaitEvent hipStreamGetFlags hipStreamGetPriority hipStreamGetDevice
                hipGetStreamDeviceId hipLaunchHostFunc hipStreamAddCallback;
            stream_facts:
                hipStreamGetId hipStreamGetAttribute hipStreamSetAttribute hipStreamCopyAttributes
                hipExtStreamCreateWithCUMask hipExtStreamGetCUMask hipStreamAttachMemAsync;
            stream_value:
                hipStreamWaitValue32 hipStreamWaitValue64 hipStreamWriteValue32 hipStreamWriteValue64;
            event:
                hipEventCreate hipEventCreateWithFlags hipEventDestroy hipEventRecord hipEventRecordWithFlags
                hipEventQuery hipEventSynchronize hipEventElapsedTime;
            memory:
                hipMalloc hipExtMallocWithFlags hipMallocManaged hipMallocPitch hipFree hipHostMalloc hipHostAlloc
                hipMallocHost hipHostFree hipFreeHost hipHostRegister hipHostUnregister hipHostGetDevicePointer
                hipHostGetFlags hipMemGetInfo;
            managed:
                hipMemPrefetchAsync hipMemPrefetchAsync_v2 hipMemAdvise hipMemAdvise_v2 hipMemRangeGetAttribute
                hipMemRangeGetAttributes hipMemGetHandleForAddressRange;
            pointer:
                hipPointerGetAttributes hipPointerGetAttribute hipDrvPointerGetAttributes hipMemGetAddressRange
                hipMemPtrGetInfo hipPointerSetAttribute;
            ipc:
                hipIpcGetMemHandle hipIpcOpenMemHandle hipIpcCloseMemHandle hipIpcGetEventHandle hipIpcOpenEventHandle
                hipMemExportToShareableHandle hipMemImportFromShareableHandle hipMemPoolExportToShareableHandle
                hipMemPoolImportFromShareableHandle hipMemPoolExportPointer hipMemPoolImportPointer;
            pool:
                hipMallocAsync hipMallocFromPoolAsync hipFreeAsync hipMemPoolCreate hipMemPoolDestroy
                hipMemPoolGetAttribute hipMemPoolSetAttribute hipMemPoolSetAccess hipMemPoolGetAccess
                hipMemPoolTrimTo hipDeviceGetDefaultMemPool hipDeviceGetMemPool hipDeviceSetMemPool;
            virtual_memory:
                hipMemGetAllocationGranularity hipMemAddressReserve hipMemAddressFree hipMemCreate hipMemRelease
                hipMemMap hipMemUnmap hipMemSetAccess hipMemGetAccess hipMemGetAllocationPropertiesFromHandle
                hipMemRetainAllocationHandle;
            copy:
                hipMemcpy hipMemcpyAsync hipMemcpyWithStream hipMemcpyHtoD hipMemcpyDtoH hipMemcpyDtoD
                hipMemcpyHtoDAsync hipMemcpyDtoHAsync hipMemcpyDtoDAsync hipMemcpyPeer hipMemcpyPeerAsync
                hipMemcpy2D hipMemcpy2DAsync hipMemcpyToSymbol hipMemcpyFromSymbol hipMemcpyToSymbolAsync
                hipMemcpyFromSymbolAsync hipGetSymbolAddress hipGetSymbolSize;
            fill:
                hipMemset hipMemsetAsync hipMemsetD8 hipMemsetD8Async hipMemsetD16 hipMemsetD16Async hipMemsetD32
                hipMemsetD32Async hipMemset2D hipMemset2DAsync hipMemsetD2D8 hipMemsetD2D8Async hipMemsetD2D16
                hipMemsetD2D16Async hipMemsetD2D32 hipMemsetD2D32Async;
            module:
                hipModuleLoad hipModuleLoadData hipModuleLoadDataEx hipModuleUnload hipModuleGetFunction
                hipModuleGetFunctionCount hipModuleGetGlobal hipFuncGetAttribute hipFuncGetAttributes
                hipFuncSetAttribute hipFuncSetCacheConfig hipFuncSetSharedMemConfig hipGetFuncBySymbol
                hipModuleOccupancyMaxActiveBlocksPerMultiprocessor
                hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
                hipOccupancyMaxActiveBlocksPerMultiprocessor hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
                hipModuleOccupancyMaxPotentialBlockSize hipModuleOccupancyMaxPotentialBlockSizeWithFlags
                hipOccupancyMaxPotentialBlockSize hipOccupancyAvailableDynamicSMemPerBlock;
            library:
                hipLibraryLoadData hipLibraryLoadFromFile hipLibraryUnload hipLibraryGetKernel hipLibraryGetKernelCount
                hipModuleLoadFatBinary;
            launch:
                hipModuleLaunchKernel hipModuleLaunchCooperativeKernel hipLaunchKernel hipLaunchCooperativeKernel
                hipExtLaunchKernel;
            launch_config:
                hipDrvLaunchKernelEx hipLaunchKernelExC;
            module_launch:
                hipExtModuleLaunchKernel hipHccModuleLaunchKernel;
            several_devices:
                hipLaunchCooperativeKernelMultiDevice hipModuleLaunchCooperativeKernelMultiDevice
                hipExtLaunchMultiKernelMultiDevice;
            configured:
                hipConfigureCall hipSetupArgument hipLaunchByPtr;
            volume:
                hipMemcpy3D hipMemcpy3DAsync hipDrvMemcpy3D hipDrvMemcpy3DAsync hipMemcpy3DPeer
                hipMemcpy3DPeerAsync;
            copy_batch:
                hipMemcpyBatchAsync hipMemcpy3DBatchAsync;
            graph:
                hipGraphCreate hipGraphDestroy hipGraphAddDependencies hipGraphGetNodes hipGraphGetEdges
                hipGraphNodeGetType;
            graph_node:
                hipGraphAddKernelNode hipGraphAddMemcpyNode hipGraphAddMemcpyNode1D hipDrvGraphAddMemcpyNode
                hipGraphAddMemsetNode hipDrvGraphAddMemsetNode hipGraphAddHostNode hipGraphAddChildGraphNode
                hipGraphAddEmptyNode hipGraphAddEventRecordNode hipGraphAddEventWaitNode
                hipGraphKernelNodeSetParams;
            graph_edit:
                hipGraphRemoveDependencies hipGraphDestroyNode hipGraphGetRootNodes hipGraphNodeGetDependencies
                hipGraphNodeGetDependentNodes hipGraphMemcpyNodeSetParams hipGraphMemcpyNodeSetParams1D
                hipGraphMemsetNodeSetParams hipGraphHostNodeSetParams hipGraphEventRecordNodeSetEvent
                hipGraphEventWaitNodeSetEvent hipGraphExecMemcpyNodeSetParams hipGraphExecMemcpyNodeSetParams1D
                hipGraphExecMemsetNodeSetParams hipGraphExecHostNodeSetParams hipGraphExecEventRecordNodeSetEvent
                hipGraphExecEventWaitNodeSetEvent hipDrvGraphMemcpyNodeSetParams hipDrvGraphExecMemcpyNodeSetParams
                hipDrvGraphExecMemsetNodeSetParams;
            graph_exec:
                hipGraphInstantiate hipGraphInstantiateWithFlags hipGraphInstantiateWithParams hipGraphUpload
                hipGraphLaunch hipGraphExecKernelNodeSetParams hipGraphExecUpdate hipGraphExecDestroy
                hipGraphExecGetFlags hipGraphNodeSetEnabled hipGraphNodeGetEnabled;
            graph_params:
                hipGraphKernelNodeGetParams hipGraphMemcpyNodeGetParams hipDrvGraphMemcpyNodeGetParams
                hipGraphMemsetNodeGetParams hipGraphHostNodeGetParams hipGraphChildGraphNodeGetGraph
                hipGraphEventRecordNodeGetEvent hipGraphEventWaitNodeGetEvent;
            graph_attribute:
                hipGraphKernelNodeSetAttribute hipGraphKernelNodeGetAttribute hipGraphKernelNodeCopyAttributes;
            graph_symbol:
                hipGraphAddMemcpyNodeFromSymbol hipGraphAddMemcpyNodeToSymbol
                hipGraphMemcpyNodeSetParamsFromSymbol hipGraphMemcpyNodeSetParamsToSymbol
                hipGraphExecMemcpyNodeSetParamsFromSymbol hipGraphExecMemcpyNodeSetParamsToSymbol;
            graph_clone:
                hipGraphClone hipGraphNodeFindInClone hipGraphExecChildGraphNodeSetParams hipGraphDebugDotPrint;
            capture:
                hipStreamBeginCapture hipStreamBeginCaptureToGraph hipStreamEndCapture hipStreamIsCapturing hipStreamGetCaptureInfo
                hipStreamGetCaptureInfo_v2 hipStreamUpdateCaptureDependencies hipThreadExchangeStreamCaptureMode;
            user_object:
                hipUserObjectCreate hipUserObjectRelease hipUserObjectRetain hipGraphRetainUserObject
                hipGraphReleaseUserObject;
            word_batch:
                hipStreamBatchMemOp hipGraphAddBatchMemOpNode hipGraphBatchMemOpNodeGetParams
                hipGraphBatchMemOpNodeSetParams hipGraphExecBatchMemOpNodeSetParams;
            graph_generic:
                hipGraphAddNode hipGraphNodeSetParams hipGraphExecNodeSetParams;
            graph_memory:
                hipGraphAddMemAllocNode hipGraphMemAllocNodeGetParams hipGraphAddMemFreeNode
                hipGraphMemFreeNodeGetParams hipDrvGraphAddMemFreeNode hipDeviceGetGraphMemAttribute
                hipDeviceSetGraphMemAttribute hipDeviceGraphMemTrim;
            registration:
                __hipRegisterFatBinary __hipUnregisterFatBinary __hipRegisterFunction __hipRegisterVar
                __hipRegisterManagedVar __hipRegisterTexture __hipRegisterSurface
                __hipPushCallConfiguration __hipPopCallConfiguration;
        }
    };
}
pub(crate) use for_each_function;

macro_rules! names {
    ($($module:ident: $($name:ident)*;)*) => { &[$($(stringify!($name),)*)*] };
}

const NAMES: &[&str] = for_each_function!(names);

/// The first version of HIP, major and minor, that exports a function. AMD's linker maps tell it: by release from 5.6 on,
/// before that by version node. HIP 5.2, the oldest version that was examined, has every other function.
pub(crate) const SINCE: &[(&str, (u32, u32))] = &[
    ("hipDeviceSetLimit", (5, 3)),
    ("hipDrvGetErrorName", (5, 3)),
    ("hipDrvGetErrorString", (5, 3)),
    // Declared since 5.2, in the map of 5.3, exported since 5.4.
    ("hipLaunchHostFunc", (5, 4)),
    ("hipModuleLaunchCooperativeKernel", (5, 5)),
    ("hipModuleLaunchCooperativeKernelMultiDevice", (5, 5)),
    ("hipGraphAddMemAllocNode", (5, 5)),
    ("hipGraphAddMemFreeNode", (5, 5)),
    ("hipGraphMemAllocNodeGetParams", (5, 5)),
    ("hipGraphMemFreeNodeGetParams", (5, 5)),
    ("hipStreamGetDevice", (5, 6)),
    ("hipGraphUpload", (5, 3)),
    ("hipGraphDebugDotPrint", (5, 3)),
    ("hipGraphReleaseUserObject", (5, 3)),
    ("hipGraphRetainUserObject", (5, 3)),
    ("hipUserObjectCreate", (5, 3)),
    ("hipUserObjectRelease", (5, 3)),
    ("hipUserObjectRetain", (5, 3)),
    ("hipDeviceGetGraphMemAttribute", (5, 3)),
    ("hipDeviceGraphMemTrim", (5, 3)),
    ("hipDeviceSetGraphMemAttribute", (5, 3)),
    ("hipGraphKernelNodeCopyAttributes", (5, 3)),
    ("hipGraphKernelNodeGetAttribute", (5, 3)),
    ("hipGraphKernelNodeSetAttribute", (5, 3)),
    ("hipGraphNodeGetEnabled", (5, 3)),
    ("hipGraphNodeSetEnabled", (5, 3)),
    // Before that under their C++ names.
    ("hipExtModuleLaunchKernel", (5, 6)),
    ("hipHccModuleLaunchKernel", (5, 6)),
    ("hipChooseDeviceR0000", (6, 0)),
    ("hipChooseDeviceR0600", (6, 0)),
    ("hipExtGetLastError", (6, 0)),
    ("hipGetDevicePropertiesR0000", (6, 0)),
    ("hipGetDevicePropertiesR0600", (6, 0)),
    ("hipPointerSetAttribute", (6, 0)),
    ("hipDrvGraphAddMemcpyNode", (6, 1)),
    ("hipDrvGraphAddMemsetNode", (6, 1)),
    ("hipGraphAddNode", (6, 2)),
    ("hipGraphInstantiateWithParams", (6, 2)),
    ("hipStreamBeginCaptureToGraph", (6, 2)),
    ("hipDrvGraphAddMemFreeNode", (6, 3)),
    ("hipGraphExecNodeSetParams", (6, 3)),
    ("hipGraphNodeSetParams", (6, 3)),
    ("hipDrvGraphExecMemcpyNodeSetParams", (6, 3)),
    ("hipDrvGraphExecMemsetNodeSetParams", (6, 3)),
    ("hipDrvGraphMemcpyNodeGetParams", (6, 3)),
    ("hipDrvGraphMemcpyNodeSetParams", (6, 3)),
    ("hipGraphExecGetFlags", (6, 3)),
    ("hipGetFuncBySymbol", (6, 2)),
    ("hipGetProcAddress", (6, 2)),
    ("hipSetValidDevices", (6, 2)),
    ("hipEventRecordWithFlags", (6, 4)),
    ("hipGraphAddBatchMemOpNode", (6, 4)),
    ("hipGraphBatchMemOpNodeGetParams", (6, 4)),
    ("hipGraphBatchMemOpNodeSetParams", (6, 4)),
    ("hipGraphExecBatchMemOpNodeSetParams", (6, 4)),
    ("hipStreamBatchMemOp", (6, 4)),
    ("hipDrvLaunchKernelEx", (6, 5)),
    ("hipLaunchKernelExC", (6, 5)),
    ("hipMemGetHandleForAddressRange", (6, 5)),
    ("hipModuleGetFunctionCount", (7, 1)),
    ("hipModuleLoadFatBinary", (7, 1)),
    ("hipLibraryLoadData", (7, 2)),
    ("hipLibraryLoadFromFile", (7, 2)),
    ("hipLibraryUnload", (7, 2)),
    ("hipLibraryGetKernel", (7, 2)),
    ("hipLibraryGetKernelCount", (7, 2)),
    ("hipMemAdvise_v2", (7, 1)),
    ("hipMemPrefetchAsync_v2", (7, 1)),
    ("hipMemcpy3DBatchAsync", (7, 1)),
    ("hipMemcpy3DPeer", (7, 1)),
    ("hipMemcpy3DPeerAsync", (7, 1)),
    ("hipMemcpyBatchAsync", (7, 1)),
    ("hipMemsetD2D16", (7, 1)),
    ("hipMemsetD2D16Async", (7, 1)),
    ("hipMemsetD2D32", (7, 1)),
    ("hipMemsetD2D32Async", (7, 1)),
    ("hipMemsetD2D8", (7, 1)),
    ("hipMemsetD2D8Async", (7, 1)),
    ("hipStreamGetAttribute", (7, 1)),
    ("hipStreamGetId", (7, 1)),
    ("hipStreamSetAttribute", (7, 1)),
    ("hipOccupancyAvailableDynamicSMemPerBlock", (7, 2)),
    ("hipStreamCopyAttributes", (7, 2)),
];

/// Whether the simulator has a function, in any version of HIP.
pub(crate) fn is_simulated(name: &str) -> bool {
    NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_rule_names_a_function() {
        for (name, _) in SINCE {
            assert!(is_simulated(name), "{name}");
        }
    }
}
