// SPDX-License-Identifier: MIT
// Copyright (c) 2015 - 2023 Advanced Micro Devices, Inc. All rights reserved.
//
// Permission is hereby granted, free of charge, to any person obtaining a copy
// of this software and associated documentation files (the "Software"), to deal
// in the Software without restriction, including without limitation the rights
// to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
// copies of the Software, and to permit persons to whom the Software is
// furnished to do so, subject to the following conditions:
//
// The above copyright notice and this permission notice shall be included in
// all copies or substantial portions of the Software.
//
// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
// IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
// FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT.  IN NO EVENT SHALL THE
// AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
// LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
// OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
// THE SOFTWARE.
//
// Generated from the headers of HIP 7.1.25424 by examples/regenerate: do not edit.
//! HIP's function declarations, as one list.

/// Hands every declaration of the table to the macro `$expand`, as `fn name(parameter: type, ...) -> type;`.
///
/// The types are spelled as in [`bindings`](crate::bindings), which the caller must have in scope. The order is
/// that of [`EntryPoints`](crate::EntryPoints).
#[macro_export]
macro_rules! for_each_entry_point {
    ($expand:path) => {
        $expand! {
            // Initialisation, versions, errors
            fn hipInit(flags: c_uint) -> hipError_t;
            fn hipDriverGetVersion(driverVersion: *mut c_int) -> hipError_t;
            fn hipRuntimeGetVersion(runtimeVersion: *mut c_int) -> hipError_t;
            fn hipGetErrorName(hip_error: hipError_t) -> *const c_char;
            fn hipGetErrorString(hipError: hipError_t) -> *const c_char;
            fn hipGetLastError() -> hipError_t;
            fn hipExtGetLastError() -> hipError_t;
            fn hipPeekAtLastError() -> hipError_t;
            fn hipDrvGetErrorName(hipError: hipError_t, errorString: *mut *const c_char) -> hipError_t;
            fn hipDrvGetErrorString(hipError: hipError_t, errorString: *mut *const c_char) -> hipError_t;
            fn hipGetProcAddress(symbol: *const c_char, pfn: *mut *mut c_void, hipVersion: c_int, flags: u64, symbolStatus: *mut hipDriverProcAddressQueryResult) -> hipError_t;
            fn hipProfilerStart() -> hipError_t;
            fn hipProfilerStop() -> hipError_t;
            fn hipApiName(id: u32) -> *const c_char;
            // Devices
            fn hipGetDeviceCount(count: *mut c_int) -> hipError_t;
            fn hipGetDevice(deviceId: *mut c_int) -> hipError_t;
            fn hipSetDevice(deviceId: c_int) -> hipError_t;
            fn hipSetValidDevices(device_arr: *mut c_int, len: c_int) -> hipError_t;
            fn hipDeviceGet(device: *mut hipDevice_t, ordinal: c_int) -> hipError_t;
            fn hipDeviceGetName(name: *mut c_char, len: c_int, device: hipDevice_t) -> hipError_t;
            fn hipDeviceGetUuid(uuid: *mut hipUUID, device: hipDevice_t) -> hipError_t;
            fn hipDeviceGetPCIBusId(pciBusId: *mut c_char, len: c_int, device: c_int) -> hipError_t;
            fn hipDeviceGetByPCIBusId(device: *mut c_int, pciBusId: *const c_char) -> hipError_t;
            fn hipDeviceGetAttribute(pi: *mut c_int, attr: hipDeviceAttribute_t, deviceId: c_int) -> hipError_t;
            fn hipDeviceGetP2PAttribute(value: *mut c_int, attr: hipDeviceP2PAttr, srcDevice: c_int, dstDevice: c_int) -> hipError_t;
            fn hipDeviceTotalMem(bytes: *mut usize, device: hipDevice_t) -> hipError_t;
            fn hipDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: hipDevice_t) -> hipError_t;
            fn hipGetDeviceProperties(prop: *mut hipDeviceProp_tR0000, device: c_int) -> hipError_t;
            fn hipGetDevicePropertiesR0000(prop: *mut hipDeviceProp_tR0000, device: c_int) -> hipError_t;
            fn hipGetDevicePropertiesR0600(prop: *mut hipDeviceProp_tR0600, deviceId: c_int) -> hipError_t;
            fn hipChooseDevice(device: *mut c_int, prop: *const hipDeviceProp_tR0000) -> hipError_t;
            fn hipChooseDeviceR0000(device: *mut c_int, prop: *const hipDeviceProp_tR0000) -> hipError_t;
            fn hipChooseDeviceR0600(device: *mut c_int, prop: *const hipDeviceProp_tR0600) -> hipError_t;
            fn hipDeviceSynchronize() -> hipError_t;
            fn hipDeviceReset() -> hipError_t;
            fn hipGetDeviceFlags(flags: *mut c_uint) -> hipError_t;
            fn hipSetDeviceFlags(flags: c_uint) -> hipError_t;
            fn hipDeviceGetLimit(pValue: *mut usize, limit: hipLimit_t) -> hipError_t;
            fn hipDeviceSetLimit(limit: hipLimit_t, value: usize) -> hipError_t;
            fn hipDeviceGetCacheConfig(cacheConfig: *mut hipFuncCache_t) -> hipError_t;
            fn hipDeviceSetCacheConfig(cacheConfig: hipFuncCache_t) -> hipError_t;
            fn hipDeviceGetSharedMemConfig(pConfig: *mut hipSharedMemConfig) -> hipError_t;
            fn hipDeviceSetSharedMemConfig(config: hipSharedMemConfig) -> hipError_t;
            fn hipDeviceGetStreamPriorityRange(leastPriority: *mut c_int, greatestPriority: *mut c_int) -> hipError_t;
            fn hipDeviceCanAccessPeer(canAccessPeer: *mut c_int, deviceId: c_int, peerDeviceId: c_int) -> hipError_t;
            fn hipDeviceEnablePeerAccess(peerDeviceId: c_int, flags: c_uint) -> hipError_t;
            fn hipDeviceDisablePeerAccess(peerDeviceId: c_int) -> hipError_t;
            fn hipExtGetLinkTypeAndHopCount(device1: c_int, device2: c_int, linktype: *mut u32, hopcount: *mut u32) -> hipError_t;
            // Contexts
            fn hipDevicePrimaryCtxRetain(pctx: *mut hipCtx_t, dev: hipDevice_t) -> hipError_t;
            fn hipDevicePrimaryCtxRelease(dev: hipDevice_t) -> hipError_t;
            fn hipDevicePrimaryCtxReset(dev: hipDevice_t) -> hipError_t;
            fn hipDevicePrimaryCtxSetFlags(dev: hipDevice_t, flags: c_uint) -> hipError_t;
            fn hipDevicePrimaryCtxGetState(dev: hipDevice_t, flags: *mut c_uint, active: *mut c_int) -> hipError_t;
            fn hipCtxCreate(ctx: *mut hipCtx_t, flags: c_uint, device: hipDevice_t) -> hipError_t;
            fn hipCtxDestroy(ctx: hipCtx_t) -> hipError_t;
            fn hipCtxPushCurrent(ctx: hipCtx_t) -> hipError_t;
            fn hipCtxPopCurrent(ctx: *mut hipCtx_t) -> hipError_t;
            fn hipCtxSetCurrent(ctx: hipCtx_t) -> hipError_t;
            fn hipCtxGetCurrent(ctx: *mut hipCtx_t) -> hipError_t;
            fn hipCtxGetDevice(device: *mut hipDevice_t) -> hipError_t;
            fn hipCtxSynchronize() -> hipError_t;
            fn hipCtxGetApiVersion(ctx: hipCtx_t, apiVersion: *mut c_uint) -> hipError_t;
            fn hipCtxEnablePeerAccess(peerCtx: hipCtx_t, flags: c_uint) -> hipError_t;
            fn hipCtxDisablePeerAccess(peerCtx: hipCtx_t) -> hipError_t;
            // Streams
            fn hipStreamCreate(stream: *mut hipStream_t) -> hipError_t;
            fn hipStreamCreateWithFlags(stream: *mut hipStream_t, flags: c_uint) -> hipError_t;
            fn hipStreamCreateWithPriority(stream: *mut hipStream_t, flags: c_uint, priority: c_int) -> hipError_t;
            fn hipStreamDestroy(stream: hipStream_t) -> hipError_t;
            fn hipStreamQuery(stream: hipStream_t) -> hipError_t;
            fn hipStreamSynchronize(stream: hipStream_t) -> hipError_t;
            fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint) -> hipError_t;
            fn hipStreamGetFlags(stream: hipStream_t, flags: *mut c_uint) -> hipError_t;
            fn hipStreamGetPriority(stream: hipStream_t, priority: *mut c_int) -> hipError_t;
            fn hipStreamGetDevice(stream: hipStream_t, device: *mut hipDevice_t) -> hipError_t;
            fn hipStreamGetId(stream: hipStream_t, streamId: *mut c_ulonglong) -> hipError_t;
            fn hipStreamGetAttribute(stream: hipStream_t, attr: hipLaunchAttributeID, value_out: *mut hipLaunchAttributeValue) -> hipError_t;
            fn hipStreamSetAttribute(stream: hipStream_t, attr: hipLaunchAttributeID, value: *const hipLaunchAttributeValue) -> hipError_t;
            fn hipStreamCopyAttributes(dst: hipStream_t, src: hipStream_t) -> hipError_t;
            fn hipStreamAttachMemAsync(stream: hipStream_t, dev_ptr: *mut c_void, length: usize, flags: c_uint) -> hipError_t;
            fn hipGetStreamDeviceId(stream: hipStream_t) -> c_int;
            fn hipStreamAddCallback(stream: hipStream_t, callback: hipStreamCallback_t, userData: *mut c_void, flags: c_uint) -> hipError_t;
            fn hipLaunchHostFunc(stream: hipStream_t, fn_: hipHostFn_t, userData: *mut c_void) -> hipError_t;
            fn hipStreamWaitValue32(stream: hipStream_t, ptr: *mut c_void, value: u32, flags: c_uint, mask: u32) -> hipError_t;
            fn hipStreamWaitValue64(stream: hipStream_t, ptr: *mut c_void, value: u64, flags: c_uint, mask: u64) -> hipError_t;
            fn hipStreamWriteValue32(stream: hipStream_t, ptr: *mut c_void, value: u32, flags: c_uint) -> hipError_t;
            fn hipStreamWriteValue64(stream: hipStream_t, ptr: *mut c_void, value: u64, flags: c_uint) -> hipError_t;
            fn hipStreamBatchMemOp(stream: hipStream_t, count: c_uint, paramArray: *mut hipStreamBatchMemOpParams, flags: c_uint) -> hipError_t;
            fn hipExtStreamCreateWithCUMask(stream: *mut hipStream_t, cuMaskSize: u32, cuMask: *const u32) -> hipError_t;
            fn hipExtStreamGetCUMask(stream: hipStream_t, cuMaskSize: u32, cuMask: *mut u32) -> hipError_t;
            // Events
            fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t;
            fn hipEventCreateWithFlags(event: *mut hipEvent_t, flags: c_uint) -> hipError_t;
            fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
            fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t;
            fn hipEventRecordWithFlags(event: hipEvent_t, stream: hipStream_t, flags: c_uint) -> hipError_t;
            fn hipEventQuery(event: hipEvent_t) -> hipError_t;
            fn hipEventSynchronize(event: hipEvent_t) -> hipError_t;
            fn hipEventElapsedTime(ms: *mut f32, start: hipEvent_t, stop: hipEvent_t) -> hipError_t;
            // Memory
            fn hipMalloc(ptr: *mut *mut c_void, size: usize) -> hipError_t;
            fn hipExtMallocWithFlags(ptr: *mut *mut c_void, sizeBytes: usize, flags: c_uint) -> hipError_t;
            fn hipMallocManaged(dev_ptr: *mut *mut c_void, size: usize, flags: c_uint) -> hipError_t;
            fn hipMallocPitch(ptr: *mut *mut c_void, pitch: *mut usize, width: usize, height: usize) -> hipError_t;
            fn hipFree(ptr: *mut c_void) -> hipError_t;
            fn hipHostMalloc(ptr: *mut *mut c_void, size: usize, flags: c_uint) -> hipError_t;
            fn hipHostAlloc(ptr: *mut *mut c_void, size: usize, flags: c_uint) -> hipError_t;
            fn hipHostFree(ptr: *mut c_void) -> hipError_t;
            fn hipMallocHost(ptr: *mut *mut c_void, size: usize) -> hipError_t;
            fn hipFreeHost(ptr: *mut c_void) -> hipError_t;
            fn hipHostRegister(hostPtr: *mut c_void, sizeBytes: usize, flags: c_uint) -> hipError_t;
            fn hipHostUnregister(hostPtr: *mut c_void) -> hipError_t;
            fn hipHostGetDevicePointer(devPtr: *mut *mut c_void, hstPtr: *mut c_void, flags: c_uint) -> hipError_t;
            fn hipHostGetFlags(flagsPtr: *mut c_uint, hostPtr: *mut c_void) -> hipError_t;
            fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t;
            fn hipMemPtrGetInfo(ptr: *mut c_void, size: *mut usize) -> hipError_t;
            fn hipMemGetAddressRange(pbase: *mut hipDeviceptr_t, psize: *mut usize, dptr: hipDeviceptr_t) -> hipError_t;
            fn hipPointerGetAttribute(data: *mut c_void, attribute: hipPointer_attribute, ptr: hipDeviceptr_t) -> hipError_t;
            fn hipPointerGetAttributes(attributes: *mut hipPointerAttribute_t, ptr: *const c_void) -> hipError_t;
            fn hipDrvPointerGetAttributes(numAttributes: c_uint, attributes: *mut hipPointer_attribute, data: *mut *mut c_void, ptr: hipDeviceptr_t) -> hipError_t;
            fn hipPointerSetAttribute(value: *const c_void, attribute: hipPointer_attribute, ptr: hipDeviceptr_t) -> hipError_t;
            fn hipMemPrefetchAsync(dev_ptr: *const c_void, count: usize, device: c_int, stream: hipStream_t) -> hipError_t;
            fn hipMemPrefetchAsync_v2(dev_ptr: *const c_void, count: usize, location: hipMemLocation, flags: c_uint, stream: hipStream_t) -> hipError_t;
            fn hipMemAdvise(dev_ptr: *const c_void, count: usize, advice: hipMemoryAdvise, device: c_int) -> hipError_t;
            fn hipMemAdvise_v2(dev_ptr: *const c_void, count: usize, advice: hipMemoryAdvise, location: hipMemLocation) -> hipError_t;
            fn hipMemRangeGetAttribute(data: *mut c_void, data_size: usize, attribute: hipMemRangeAttribute, dev_ptr: *const c_void, count: usize) -> hipError_t;
            fn hipMemRangeGetAttributes(data: *mut *mut c_void, data_sizes: *mut usize, attributes: *mut hipMemRangeAttribute, num_attributes: usize, dev_ptr: *const c_void, count: usize) -> hipError_t;
            fn hipMemGetHandleForAddressRange(handle: *mut c_void, dptr: hipDeviceptr_t, size: usize, handleType: hipMemRangeHandleType, flags: c_ulonglong) -> hipError_t;
            // Memory in stream order
            fn hipMallocAsync(dev_ptr: *mut *mut c_void, size: usize, stream: hipStream_t) -> hipError_t;
            fn hipMallocFromPoolAsync(dev_ptr: *mut *mut c_void, size: usize, mem_pool: hipMemPool_t, stream: hipStream_t) -> hipError_t;
            fn hipFreeAsync(dev_ptr: *mut c_void, stream: hipStream_t) -> hipError_t;
            fn hipMemPoolCreate(mem_pool: *mut hipMemPool_t, pool_props: *const hipMemPoolProps) -> hipError_t;
            fn hipMemPoolDestroy(mem_pool: hipMemPool_t) -> hipError_t;
            fn hipMemPoolGetAttribute(mem_pool: hipMemPool_t, attr: hipMemPoolAttr, value: *mut c_void) -> hipError_t;
            fn hipMemPoolSetAttribute(mem_pool: hipMemPool_t, attr: hipMemPoolAttr, value: *mut c_void) -> hipError_t;
            fn hipMemPoolSetAccess(mem_pool: hipMemPool_t, desc_list: *const hipMemAccessDesc, count: usize) -> hipError_t;
            fn hipMemPoolGetAccess(flags: *mut hipMemAccessFlags, mem_pool: hipMemPool_t, location: *mut hipMemLocation) -> hipError_t;
            fn hipMemPoolTrimTo(mem_pool: hipMemPool_t, min_bytes_to_hold: usize) -> hipError_t;
            fn hipMemPoolExportToShareableHandle(shared_handle: *mut c_void, mem_pool: hipMemPool_t, handle_type: hipMemAllocationHandleType, flags: c_uint) -> hipError_t;
            fn hipMemPoolImportFromShareableHandle(mem_pool: *mut hipMemPool_t, shared_handle: *mut c_void, handle_type: hipMemAllocationHandleType, flags: c_uint) -> hipError_t;
            fn hipMemPoolExportPointer(export_data: *mut hipMemPoolPtrExportData, dev_ptr: *mut c_void) -> hipError_t;
            fn hipMemPoolImportPointer(dev_ptr: *mut *mut c_void, mem_pool: hipMemPool_t, export_data: *mut hipMemPoolPtrExportData) -> hipError_t;
            fn hipDeviceGetDefaultMemPool(mem_pool: *mut hipMemPool_t, device: c_int) -> hipError_t;
            fn hipDeviceGetMemPool(mem_pool: *mut hipMemPool_t, device: c_int) -> hipError_t;
            fn hipDeviceSetMemPool(device: c_int, mem_pool: hipMemPool_t) -> hipError_t;
            // Virtual memory
            fn hipMemAddressReserve(ptr: *mut *mut c_void, size: usize, alignment: usize, addr: *mut c_void, flags: c_ulonglong) -> hipError_t;
            fn hipMemAddressFree(devPtr: *mut c_void, size: usize) -> hipError_t;
            fn hipMemCreate(handle: *mut hipMemGenericAllocationHandle_t, size: usize, prop: *const hipMemAllocationProp, flags: c_ulonglong) -> hipError_t;
            fn hipMemRelease(handle: hipMemGenericAllocationHandle_t) -> hipError_t;
            fn hipMemMap(ptr: *mut c_void, size: usize, offset: usize, handle: hipMemGenericAllocationHandle_t, flags: c_ulonglong) -> hipError_t;
            fn hipMemUnmap(ptr: *mut c_void, size: usize) -> hipError_t;
            fn hipMemSetAccess(ptr: *mut c_void, size: usize, desc: *const hipMemAccessDesc, count: usize) -> hipError_t;
            fn hipMemGetAllocationGranularity(granularity: *mut usize, prop: *const hipMemAllocationProp, option: hipMemAllocationGranularity_flags) -> hipError_t;
            fn hipMemGetAccess(flags: *mut c_ulonglong, location: *const hipMemLocation, ptr: *mut c_void) -> hipError_t;
            fn hipMemGetAllocationPropertiesFromHandle(prop: *mut hipMemAllocationProp, handle: hipMemGenericAllocationHandle_t) -> hipError_t;
            fn hipMemRetainAllocationHandle(handle: *mut hipMemGenericAllocationHandle_t, addr: *mut c_void) -> hipError_t;
            fn hipMemExportToShareableHandle(shareableHandle: *mut c_void, handle: hipMemGenericAllocationHandle_t, handleType: hipMemAllocationHandleType, flags: c_ulonglong) -> hipError_t;
            fn hipMemImportFromShareableHandle(handle: *mut hipMemGenericAllocationHandle_t, osHandle: *mut c_void, shHandleType: hipMemAllocationHandleType) -> hipError_t;
            // Memory of other processes and APIs
            fn hipIpcGetMemHandle(handle: *mut hipIpcMemHandle_t, devPtr: *mut c_void) -> hipError_t;
            fn hipIpcOpenMemHandle(devPtr: *mut *mut c_void, handle: hipIpcMemHandle_t, flags: c_uint) -> hipError_t;
            fn hipIpcCloseMemHandle(devPtr: *mut c_void) -> hipError_t;
            fn hipIpcGetEventHandle(handle: *mut hipIpcEventHandle_t, event: hipEvent_t) -> hipError_t;
            fn hipIpcOpenEventHandle(event: *mut hipEvent_t, handle: hipIpcEventHandle_t) -> hipError_t;
            fn hipImportExternalMemory(extMem_out: *mut hipExternalMemory_t, memHandleDesc: *const hipExternalMemoryHandleDesc) -> hipError_t;
            fn hipExternalMemoryGetMappedBuffer(devPtr: *mut *mut c_void, extMem: hipExternalMemory_t, bufferDesc: *const hipExternalMemoryBufferDesc) -> hipError_t;
            fn hipDestroyExternalMemory(extMem: hipExternalMemory_t) -> hipError_t;
            fn hipImportExternalSemaphore(extSem_out: *mut hipExternalSemaphore_t, semHandleDesc: *const hipExternalSemaphoreHandleDesc) -> hipError_t;
            fn hipSignalExternalSemaphoresAsync(extSemArray: *const hipExternalSemaphore_t, paramsArray: *const hipExternalSemaphoreSignalParams, numExtSems: c_uint, stream: hipStream_t) -> hipError_t;
            fn hipWaitExternalSemaphoresAsync(extSemArray: *const hipExternalSemaphore_t, paramsArray: *const hipExternalSemaphoreWaitParams, numExtSems: c_uint, stream: hipStream_t) -> hipError_t;
            fn hipDestroyExternalSemaphore(extSem: hipExternalSemaphore_t) -> hipError_t;
            // Copies and fills
            fn hipMemcpy(dst: *mut c_void, src: *const c_void, sizeBytes: usize, kind: hipMemcpyKind) -> hipError_t;
            fn hipMemcpyAsync(dst: *mut c_void, src: *const c_void, sizeBytes: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t;
            fn hipMemcpyWithStream(dst: *mut c_void, src: *const c_void, sizeBytes: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t;
            fn hipMemcpyHtoD(dst: hipDeviceptr_t, src: *const c_void, sizeBytes: usize) -> hipError_t;
            fn hipMemcpyDtoH(dst: *mut c_void, src: hipDeviceptr_t, sizeBytes: usize) -> hipError_t;
            fn hipMemcpyDtoD(dst: hipDeviceptr_t, src: hipDeviceptr_t, sizeBytes: usize) -> hipError_t;
            fn hipMemcpyHtoDAsync(dst: hipDeviceptr_t, src: *const c_void, sizeBytes: usize, stream: hipStream_t) -> hipError_t;
            fn hipMemcpyDtoHAsync(dst: *mut c_void, src: hipDeviceptr_t, sizeBytes: usize, stream: hipStream_t) -> hipError_t;
            fn hipMemcpyDtoDAsync(dst: hipDeviceptr_t, src: hipDeviceptr_t, sizeBytes: usize, stream: hipStream_t) -> hipError_t;
            fn hipMemcpyPeer(dst: *mut c_void, dstDeviceId: c_int, src: *const c_void, srcDeviceId: c_int, sizeBytes: usize) -> hipError_t;
            fn hipMemcpyPeerAsync(dst: *mut c_void, dstDeviceId: c_int, src: *const c_void, srcDevice: c_int, sizeBytes: usize, stream: hipStream_t) -> hipError_t;
            fn hipMemcpy2D(dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind) -> hipError_t;
            fn hipMemcpy2DAsync(dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t;
            fn hipMemcpy3D(p: *const hipMemcpy3DParms) -> hipError_t;
            fn hipMemcpy3DAsync(p: *const hipMemcpy3DParms, stream: hipStream_t) -> hipError_t;
            fn hipDrvMemcpy3D(pCopy: *const HIP_MEMCPY3D) -> hipError_t;
            fn hipDrvMemcpy3DAsync(pCopy: *const HIP_MEMCPY3D, stream: hipStream_t) -> hipError_t;
            fn hipMemcpy3DPeer(p: *mut hipMemcpy3DPeerParms) -> hipError_t;
            fn hipMemcpy3DPeerAsync(p: *mut hipMemcpy3DPeerParms, stream: hipStream_t) -> hipError_t;
            fn hipMemcpyBatchAsync(dsts: *mut *mut c_void, srcs: *mut *mut c_void, sizes: *mut usize, count: usize, attrs: *mut hipMemcpyAttributes, attrsIdxs: *mut usize, numAttrs: usize, failIdx: *mut usize, stream: hipStream_t) -> hipError_t;
            fn hipMemcpy3DBatchAsync(numOps: usize, opList: *mut hipMemcpy3DBatchOp, failIdx: *mut usize, flags: c_ulonglong, stream: hipStream_t) -> hipError_t;
            fn hipMemset(dst: *mut c_void, value: c_int, sizeBytes: usize) -> hipError_t;
            fn hipMemsetAsync(dst: *mut c_void, value: c_int, sizeBytes: usize, stream: hipStream_t) -> hipError_t;
            fn hipMemsetD8(dest: hipDeviceptr_t, value: c_uchar, count: usize) -> hipError_t;
            fn hipMemsetD8Async(dest: hipDeviceptr_t, value: c_uchar, count: usize, stream: hipStream_t) -> hipError_t;
            fn hipMemsetD16(dest: hipDeviceptr_t, value: c_ushort, count: usize) -> hipError_t;
            fn hipMemsetD16Async(dest: hipDeviceptr_t, value: c_ushort, count: usize, stream: hipStream_t) -> hipError_t;
            fn hipMemsetD32(dest: hipDeviceptr_t, value: c_int, count: usize) -> hipError_t;
            fn hipMemsetD32Async(dst: hipDeviceptr_t, value: c_int, count: usize, stream: hipStream_t) -> hipError_t;
            fn hipMemset2D(dst: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize) -> hipError_t;
            fn hipMemset2DAsync(dst: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize, stream: hipStream_t) -> hipError_t;
            fn hipMemsetD2D8(dst: hipDeviceptr_t, dstPitch: usize, value: c_uchar, width: usize, height: usize) -> hipError_t;
            fn hipMemsetD2D8Async(dst: hipDeviceptr_t, dstPitch: usize, value: c_uchar, width: usize, height: usize, stream: hipStream_t) -> hipError_t;
            fn hipMemsetD2D16(dst: hipDeviceptr_t, dstPitch: usize, value: c_ushort, width: usize, height: usize) -> hipError_t;
            fn hipMemsetD2D16Async(dst: hipDeviceptr_t, dstPitch: usize, value: c_ushort, width: usize, height: usize, stream: hipStream_t) -> hipError_t;
            fn hipMemsetD2D32(dst: hipDeviceptr_t, dstPitch: usize, value: c_uint, width: usize, height: usize) -> hipError_t;
            fn hipMemsetD2D32Async(dst: hipDeviceptr_t, dstPitch: usize, value: c_uint, width: usize, height: usize, stream: hipStream_t) -> hipError_t;
            fn hipMemcpyToSymbol(symbol: *const c_void, src: *const c_void, sizeBytes: usize, offset: usize, kind: hipMemcpyKind) -> hipError_t;
            fn hipMemcpyToSymbolAsync(symbol: *const c_void, src: *const c_void, sizeBytes: usize, offset: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t;
            fn hipMemcpyFromSymbol(dst: *mut c_void, symbol: *const c_void, sizeBytes: usize, offset: usize, kind: hipMemcpyKind) -> hipError_t;
            fn hipMemcpyFromSymbolAsync(dst: *mut c_void, symbol: *const c_void, sizeBytes: usize, offset: usize, kind: hipMemcpyKind, stream: hipStream_t) -> hipError_t;
            fn hipGetSymbolAddress(devPtr: *mut *mut c_void, symbol: *const c_void) -> hipError_t;
            fn hipGetSymbolSize(size: *mut usize, symbol: *const c_void) -> hipError_t;
            // Modules and functions
            fn hipModuleLoad(module: *mut hipModule_t, fname: *const c_char) -> hipError_t;
            fn hipModuleLoadData(module: *mut hipModule_t, image: *const c_void) -> hipError_t;
            fn hipModuleLoadDataEx(module: *mut hipModule_t, image: *const c_void, numOptions: c_uint, options: *mut hipJitOption, optionValues: *mut *mut c_void) -> hipError_t;
            fn hipModuleLoadFatBinary(module: *mut hipModule_t, fatbin: *const c_void) -> hipError_t;
            fn hipModuleUnload(module: hipModule_t) -> hipError_t;
            fn hipModuleGetFunction(function: *mut hipFunction_t, module: hipModule_t, kname: *const c_char) -> hipError_t;
            fn hipModuleGetFunctionCount(count: *mut c_uint, mod_: hipModule_t) -> hipError_t;
            fn hipModuleGetGlobal(dptr: *mut hipDeviceptr_t, bytes: *mut usize, hmod: hipModule_t, name: *const c_char) -> hipError_t;
            fn hipFuncGetAttribute(value: *mut c_int, attrib: hipFunction_attribute, hfunc: hipFunction_t) -> hipError_t;
            fn hipFuncGetAttributes(attr: *mut hipFuncAttributes, func: *const c_void) -> hipError_t;
            fn hipFuncSetAttribute(func: *const c_void, attr: hipFuncAttribute, value: c_int) -> hipError_t;
            fn hipFuncSetCacheConfig(func: *const c_void, config: hipFuncCache_t) -> hipError_t;
            fn hipFuncSetSharedMemConfig(func: *const c_void, config: hipSharedMemConfig) -> hipError_t;
            fn hipGetFuncBySymbol(functionPtr: *mut hipFunction_t, symbolPtr: *const c_void) -> hipError_t;
            fn hipLibraryLoadData(library: *mut hipLibrary_t, code: *const c_void, jitOptions: *mut *mut hipJitOption, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut *mut hipLibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint) -> hipError_t;
            fn hipLibraryLoadFromFile(library: *mut hipLibrary_t, fileName: *const c_char, jitOptions: *mut *mut hipJitOption, jitOptionsValues: *mut *mut c_void, numJitOptions: c_uint, libraryOptions: *mut *mut hipLibraryOption, libraryOptionValues: *mut *mut c_void, numLibraryOptions: c_uint) -> hipError_t;
            fn hipLibraryUnload(library: hipLibrary_t) -> hipError_t;
            fn hipLibraryGetKernel(pKernel: *mut hipKernel_t, library: hipLibrary_t, name: *const c_char) -> hipError_t;
            fn hipLibraryGetKernelCount(count: *mut c_uint, library: hipLibrary_t) -> hipError_t;
            fn hipKernelNameRef(f: hipFunction_t) -> *const c_char;
            fn hipKernelNameRefByPtr(hostFunction: *const c_void, stream: hipStream_t) -> *const c_char;
            fn hipModuleOccupancyMaxPotentialBlockSize(gridSize: *mut c_int, blockSize: *mut c_int, f: hipFunction_t, dynSharedMemPerBlk: usize, blockSizeLimit: c_int) -> hipError_t;
            fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(gridSize: *mut c_int, blockSize: *mut c_int, f: hipFunction_t, dynSharedMemPerBlk: usize, blockSizeLimit: c_int, flags: c_uint) -> hipError_t;
            fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks: *mut c_int, f: hipFunction_t, blockSize: c_int, dynSharedMemPerBlk: usize) -> hipError_t;
            fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks: *mut c_int, f: hipFunction_t, blockSize: c_int, dynSharedMemPerBlk: usize, flags: c_uint) -> hipError_t;
            fn hipOccupancyMaxPotentialBlockSize(gridSize: *mut c_int, blockSize: *mut c_int, f: *const c_void, dynSharedMemPerBlk: usize, blockSizeLimit: c_int) -> hipError_t;
            fn hipOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks: *mut c_int, f: *const c_void, blockSize: c_int, dynSharedMemPerBlk: usize) -> hipError_t;
            fn hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks: *mut c_int, f: *const c_void, blockSize: c_int, dynSharedMemPerBlk: usize, flags: c_uint) -> hipError_t;
            fn hipOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize: *mut usize, f: *const c_void, numBlocks: c_int, blockSize: c_int) -> hipError_t;
            // Launches
            fn hipModuleLaunchKernel(f: hipFunction_t, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, stream: hipStream_t, kernelParams: *mut *mut c_void, extra: *mut *mut c_void) -> hipError_t;
            fn hipModuleLaunchCooperativeKernel(f: hipFunction_t, gridDimX: c_uint, gridDimY: c_uint, gridDimZ: c_uint, blockDimX: c_uint, blockDimY: c_uint, blockDimZ: c_uint, sharedMemBytes: c_uint, stream: hipStream_t, kernelParams: *mut *mut c_void) -> hipError_t;
            fn hipDrvLaunchKernelEx(config: *const HIP_LAUNCH_CONFIG, f: hipFunction_t, params: *mut *mut c_void, extra: *mut *mut c_void) -> hipError_t;
            fn hipLaunchKernel(function_address: *const c_void, numBlocks: dim3, dimBlocks: dim3, args: *mut *mut c_void, sharedMemBytes: usize, stream: hipStream_t) -> hipError_t;
            fn hipLaunchCooperativeKernel(f: *const c_void, gridDim: dim3, blockDimX: dim3, kernelParams: *mut *mut c_void, sharedMemBytes: c_uint, stream: hipStream_t) -> hipError_t;
            fn hipLaunchKernelExC(config: *const hipLaunchConfig_t, fPtr: *const c_void, args: *mut *mut c_void) -> hipError_t;
            fn hipExtLaunchKernel(function_address: *const c_void, numBlocks: dim3, dimBlocks: dim3, args: *mut *mut c_void, sharedMemBytes: usize, stream: hipStream_t, startEvent: hipEvent_t, stopEvent: hipEvent_t, flags: c_int) -> hipError_t;
            fn hipExtModuleLaunchKernel(f: hipFunction_t, globalWorkSizeX: u32, globalWorkSizeY: u32, globalWorkSizeZ: u32, localWorkSizeX: u32, localWorkSizeY: u32, localWorkSizeZ: u32, sharedMemBytes: usize, hStream: hipStream_t, kernelParams: *mut *mut c_void, extra: *mut *mut c_void, startEvent: hipEvent_t, stopEvent: hipEvent_t, flags: u32) -> hipError_t;
            fn hipHccModuleLaunchKernel(f: hipFunction_t, globalWorkSizeX: u32, globalWorkSizeY: u32, globalWorkSizeZ: u32, localWorkSizeX: u32, localWorkSizeY: u32, localWorkSizeZ: u32, sharedMemBytes: usize, hStream: hipStream_t, kernelParams: *mut *mut c_void, extra: *mut *mut c_void, startEvent: hipEvent_t, stopEvent: hipEvent_t) -> hipError_t;
            fn hipLaunchCooperativeKernelMultiDevice(launchParamsList: *mut hipLaunchParams, numDevices: c_int, flags: c_uint) -> hipError_t;
            fn hipModuleLaunchCooperativeKernelMultiDevice(launchParamsList: *mut hipFunctionLaunchParams, numDevices: c_uint, flags: c_uint) -> hipError_t;
            fn hipExtLaunchMultiKernelMultiDevice(launchParamsList: *mut hipLaunchParams, numDevices: c_int, flags: c_uint) -> hipError_t;
            fn hipConfigureCall(gridDim: dim3, blockDim: dim3, sharedMem: usize, stream: hipStream_t) -> hipError_t;
            fn hipSetupArgument(arg: *const c_void, size: usize, offset: usize) -> hipError_t;
            fn hipLaunchByPtr(func: *const c_void) -> hipError_t;
            // Graphs and stream capture
            fn hipGraphCreate(pGraph: *mut hipGraph_t, flags: c_uint) -> hipError_t;
            fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
            fn hipGraphAddKernelNode(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize, pNodeParams: *const hipKernelNodeParams) -> hipError_t;
            fn hipGraphAddMemcpyNode(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize, pCopyParams: *const hipMemcpy3DParms) -> hipError_t;
            fn hipGraphAddMemcpyNode1D(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize, dst: *mut c_void, src: *const c_void, count: usize, kind: hipMemcpyKind) -> hipError_t;
            fn hipGraphAddMemsetNode(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize, pMemsetParams: *const hipMemsetParams) -> hipError_t;
            fn hipGraphAddHostNode(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize, pNodeParams: *const hipHostNodeParams) -> hipError_t;
            fn hipGraphAddChildGraphNode(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize, childGraph: hipGraph_t) -> hipError_t;
            fn hipGraphAddEmptyNode(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize) -> hipError_t;
            fn hipGraphAddEventRecordNode(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize, event: hipEvent_t) -> hipError_t;
            fn hipGraphAddEventWaitNode(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize, event: hipEvent_t) -> hipError_t;
            fn hipDrvGraphAddMemcpyNode(phGraphNode: *mut hipGraphNode_t, hGraph: hipGraph_t, dependencies: *const hipGraphNode_t, numDependencies: usize, copyParams: *const HIP_MEMCPY3D, ctx: hipCtx_t) -> hipError_t;
            fn hipDrvGraphAddMemsetNode(phGraphNode: *mut hipGraphNode_t, hGraph: hipGraph_t, dependencies: *const hipGraphNode_t, numDependencies: usize, memsetParams: *const hipMemsetParams, ctx: hipCtx_t) -> hipError_t;
            fn hipGraphAddDependencies(graph: hipGraph_t, from: *const hipGraphNode_t, to: *const hipGraphNode_t, numDependencies: usize) -> hipError_t;
            fn hipGraphRemoveDependencies(graph: hipGraph_t, from: *const hipGraphNode_t, to: *const hipGraphNode_t, numDependencies: usize) -> hipError_t;
            fn hipGraphGetNodes(graph: hipGraph_t, nodes: *mut hipGraphNode_t, numNodes: *mut usize) -> hipError_t;
            fn hipGraphGetRootNodes(graph: hipGraph_t, pRootNodes: *mut hipGraphNode_t, pNumRootNodes: *mut usize) -> hipError_t;
            fn hipGraphGetEdges(graph: hipGraph_t, from: *mut hipGraphNode_t, to: *mut hipGraphNode_t, numEdges: *mut usize) -> hipError_t;
            fn hipGraphNodeGetType(node: hipGraphNode_t, pType: *mut hipGraphNodeType) -> hipError_t;
            fn hipGraphNodeGetDependencies(node: hipGraphNode_t, pDependencies: *mut hipGraphNode_t, pNumDependencies: *mut usize) -> hipError_t;
            fn hipGraphNodeGetDependentNodes(node: hipGraphNode_t, pDependentNodes: *mut hipGraphNode_t, pNumDependentNodes: *mut usize) -> hipError_t;
            fn hipGraphDestroyNode(node: hipGraphNode_t) -> hipError_t;
            fn hipGraphKernelNodeSetParams(node: hipGraphNode_t, pNodeParams: *const hipKernelNodeParams) -> hipError_t;
            fn hipGraphMemcpyNodeSetParams(node: hipGraphNode_t, pNodeParams: *const hipMemcpy3DParms) -> hipError_t;
            fn hipGraphMemcpyNodeSetParams1D(node: hipGraphNode_t, dst: *mut c_void, src: *const c_void, count: usize, kind: hipMemcpyKind) -> hipError_t;
            fn hipGraphMemsetNodeSetParams(node: hipGraphNode_t, pNodeParams: *const hipMemsetParams) -> hipError_t;
            fn hipGraphHostNodeSetParams(node: hipGraphNode_t, pNodeParams: *const hipHostNodeParams) -> hipError_t;
            fn hipGraphEventRecordNodeSetEvent(node: hipGraphNode_t, event: hipEvent_t) -> hipError_t;
            fn hipGraphEventWaitNodeSetEvent(node: hipGraphNode_t, event: hipEvent_t) -> hipError_t;
            fn hipGraphInstantiate(pGraphExec: *mut hipGraphExec_t, graph: hipGraph_t, pErrorNode: *mut hipGraphNode_t, pLogBuffer: *mut c_char, bufferSize: usize) -> hipError_t;
            fn hipGraphInstantiateWithFlags(pGraphExec: *mut hipGraphExec_t, graph: hipGraph_t, flags: c_ulonglong) -> hipError_t;
            fn hipGraphUpload(graphExec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
            fn hipGraphLaunch(graphExec: hipGraphExec_t, stream: hipStream_t) -> hipError_t;
            fn hipGraphExecKernelNodeSetParams(hGraphExec: hipGraphExec_t, node: hipGraphNode_t, pNodeParams: *const hipKernelNodeParams) -> hipError_t;
            fn hipGraphExecMemcpyNodeSetParams(hGraphExec: hipGraphExec_t, node: hipGraphNode_t, pNodeParams: *mut hipMemcpy3DParms) -> hipError_t;
            fn hipGraphExecMemcpyNodeSetParams1D(hGraphExec: hipGraphExec_t, node: hipGraphNode_t, dst: *mut c_void, src: *const c_void, count: usize, kind: hipMemcpyKind) -> hipError_t;
            fn hipGraphExecMemsetNodeSetParams(hGraphExec: hipGraphExec_t, node: hipGraphNode_t, pNodeParams: *const hipMemsetParams) -> hipError_t;
            fn hipGraphExecHostNodeSetParams(hGraphExec: hipGraphExec_t, node: hipGraphNode_t, pNodeParams: *const hipHostNodeParams) -> hipError_t;
            fn hipGraphExecEventRecordNodeSetEvent(hGraphExec: hipGraphExec_t, hNode: hipGraphNode_t, event: hipEvent_t) -> hipError_t;
            fn hipGraphExecEventWaitNodeSetEvent(hGraphExec: hipGraphExec_t, hNode: hipGraphNode_t, event: hipEvent_t) -> hipError_t;
            fn hipGraphExecUpdate(hGraphExec: hipGraphExec_t, hGraph: hipGraph_t, hErrorNode_out: *mut hipGraphNode_t, updateResult_out: *mut hipGraphExecUpdateResult) -> hipError_t;
            fn hipGraphExecDestroy(graphExec: hipGraphExec_t) -> hipError_t;
            fn hipGraphKernelNodeGetParams(node: hipGraphNode_t, pNodeParams: *mut hipKernelNodeParams) -> hipError_t;
            fn hipGraphMemcpyNodeGetParams(node: hipGraphNode_t, pNodeParams: *mut hipMemcpy3DParms) -> hipError_t;
            fn hipGraphMemsetNodeGetParams(node: hipGraphNode_t, pNodeParams: *mut hipMemsetParams) -> hipError_t;
            fn hipGraphHostNodeGetParams(node: hipGraphNode_t, pNodeParams: *mut hipHostNodeParams) -> hipError_t;
            fn hipGraphChildGraphNodeGetGraph(node: hipGraphNode_t, pGraph: *mut hipGraph_t) -> hipError_t;
            fn hipGraphEventRecordNodeGetEvent(node: hipGraphNode_t, event_out: *mut hipEvent_t) -> hipError_t;
            fn hipGraphEventWaitNodeGetEvent(node: hipGraphNode_t, event_out: *mut hipEvent_t) -> hipError_t;
            fn hipGraphKernelNodeGetAttribute(hNode: hipGraphNode_t, attr: hipLaunchAttributeID, value: *mut hipLaunchAttributeValue) -> hipError_t;
            fn hipGraphKernelNodeSetAttribute(hNode: hipGraphNode_t, attr: hipLaunchAttributeID, value: *const hipLaunchAttributeValue) -> hipError_t;
            fn hipGraphKernelNodeCopyAttributes(hSrc: hipGraphNode_t, hDst: hipGraphNode_t) -> hipError_t;
            fn hipGraphExecGetFlags(graphExec: hipGraphExec_t, flags: *mut c_ulonglong) -> hipError_t;
            fn hipGraphAddMemcpyNodeFromSymbol(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize, dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: hipMemcpyKind) -> hipError_t;
            fn hipGraphAddMemcpyNodeToSymbol(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize, symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: hipMemcpyKind) -> hipError_t;
            fn hipGraphMemcpyNodeSetParamsFromSymbol(node: hipGraphNode_t, dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: hipMemcpyKind) -> hipError_t;
            fn hipGraphMemcpyNodeSetParamsToSymbol(node: hipGraphNode_t, symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: hipMemcpyKind) -> hipError_t;
            fn hipGraphExecMemcpyNodeSetParamsFromSymbol(hGraphExec: hipGraphExec_t, node: hipGraphNode_t, dst: *mut c_void, symbol: *const c_void, count: usize, offset: usize, kind: hipMemcpyKind) -> hipError_t;
            fn hipGraphExecMemcpyNodeSetParamsToSymbol(hGraphExec: hipGraphExec_t, node: hipGraphNode_t, symbol: *const c_void, src: *const c_void, count: usize, offset: usize, kind: hipMemcpyKind) -> hipError_t;
            fn hipDrvGraphMemcpyNodeGetParams(hNode: hipGraphNode_t, nodeParams: *mut HIP_MEMCPY3D) -> hipError_t;
            fn hipDrvGraphMemcpyNodeSetParams(hNode: hipGraphNode_t, nodeParams: *const HIP_MEMCPY3D) -> hipError_t;
            fn hipDrvGraphExecMemcpyNodeSetParams(hGraphExec: hipGraphExec_t, hNode: hipGraphNode_t, copyParams: *const HIP_MEMCPY3D, ctx: hipCtx_t) -> hipError_t;
            fn hipDrvGraphExecMemsetNodeSetParams(hGraphExec: hipGraphExec_t, hNode: hipGraphNode_t, memsetParams: *const hipMemsetParams, ctx: hipCtx_t) -> hipError_t;
            fn hipGraphClone(pGraphClone: *mut hipGraph_t, originalGraph: hipGraph_t) -> hipError_t;
            fn hipGraphNodeFindInClone(pNode: *mut hipGraphNode_t, originalNode: hipGraphNode_t, clonedGraph: hipGraph_t) -> hipError_t;
            fn hipGraphNodeGetEnabled(hGraphExec: hipGraphExec_t, hNode: hipGraphNode_t, isEnabled: *mut c_uint) -> hipError_t;
            fn hipGraphNodeSetEnabled(hGraphExec: hipGraphExec_t, hNode: hipGraphNode_t, isEnabled: c_uint) -> hipError_t;
            fn hipGraphExecChildGraphNodeSetParams(hGraphExec: hipGraphExec_t, node: hipGraphNode_t, childGraph: hipGraph_t) -> hipError_t;
            fn hipGraphInstantiateWithParams(pGraphExec: *mut hipGraphExec_t, graph: hipGraph_t, instantiateParams: *mut hipGraphInstantiateParams) -> hipError_t;
            fn hipGraphDebugDotPrint(graph: hipGraph_t, path: *const c_char, flags: c_uint) -> hipError_t;
            fn hipGraphAddNode(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize, nodeParams: *mut hipGraphNodeParams) -> hipError_t;
            fn hipGraphNodeSetParams(node: hipGraphNode_t, nodeParams: *mut hipGraphNodeParams) -> hipError_t;
            fn hipGraphExecNodeSetParams(graphExec: hipGraphExec_t, node: hipGraphNode_t, nodeParams: *mut hipGraphNodeParams) -> hipError_t;
            fn hipGraphAddBatchMemOpNode(phGraphNode: *mut hipGraphNode_t, hGraph: hipGraph_t, dependencies: *const hipGraphNode_t, numDependencies: usize, nodeParams: *const hipBatchMemOpNodeParams) -> hipError_t;
            fn hipGraphBatchMemOpNodeGetParams(hNode: hipGraphNode_t, nodeParams_out: *mut hipBatchMemOpNodeParams) -> hipError_t;
            fn hipGraphBatchMemOpNodeSetParams(hNode: hipGraphNode_t, nodeParams: *mut hipBatchMemOpNodeParams) -> hipError_t;
            fn hipGraphExecBatchMemOpNodeSetParams(hGraphExec: hipGraphExec_t, hNode: hipGraphNode_t, nodeParams: *const hipBatchMemOpNodeParams) -> hipError_t;
            fn hipUserObjectCreate(object_out: *mut hipUserObject_t, ptr: *mut c_void, destroy: hipHostFn_t, initialRefcount: c_uint, flags: c_uint) -> hipError_t;
            fn hipUserObjectRelease(object: hipUserObject_t, count: c_uint) -> hipError_t;
            fn hipUserObjectRetain(object: hipUserObject_t, count: c_uint) -> hipError_t;
            fn hipGraphRetainUserObject(graph: hipGraph_t, object: hipUserObject_t, count: c_uint, flags: c_uint) -> hipError_t;
            fn hipGraphReleaseUserObject(graph: hipGraph_t, object: hipUserObject_t, count: c_uint) -> hipError_t;
            fn hipGraphAddMemAllocNode(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize, pNodeParams: *mut hipMemAllocNodeParams) -> hipError_t;
            fn hipGraphMemAllocNodeGetParams(node: hipGraphNode_t, pNodeParams: *mut hipMemAllocNodeParams) -> hipError_t;
            fn hipGraphAddMemFreeNode(pGraphNode: *mut hipGraphNode_t, graph: hipGraph_t, pDependencies: *const hipGraphNode_t, numDependencies: usize, dev_ptr: *mut c_void) -> hipError_t;
            fn hipGraphMemFreeNodeGetParams(node: hipGraphNode_t, dev_ptr: *mut c_void) -> hipError_t;
            fn hipDrvGraphAddMemFreeNode(phGraphNode: *mut hipGraphNode_t, hGraph: hipGraph_t, dependencies: *const hipGraphNode_t, numDependencies: usize, dptr: hipDeviceptr_t) -> hipError_t;
            fn hipDeviceGetGraphMemAttribute(device: c_int, attr: hipGraphMemAttributeType, value: *mut c_void) -> hipError_t;
            fn hipDeviceSetGraphMemAttribute(device: c_int, attr: hipGraphMemAttributeType, value: *mut c_void) -> hipError_t;
            fn hipDeviceGraphMemTrim(device: c_int) -> hipError_t;
            fn hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode) -> hipError_t;
            fn hipStreamBeginCaptureToGraph(stream: hipStream_t, graph: hipGraph_t, dependencies: *const hipGraphNode_t, dependencyData: *const hipGraphEdgeData, numDependencies: usize, mode: hipStreamCaptureMode) -> hipError_t;
            fn hipStreamEndCapture(stream: hipStream_t, pGraph: *mut hipGraph_t) -> hipError_t;
            fn hipStreamIsCapturing(stream: hipStream_t, pCaptureStatus: *mut hipStreamCaptureStatus) -> hipError_t;
            fn hipStreamGetCaptureInfo(stream: hipStream_t, pCaptureStatus: *mut hipStreamCaptureStatus, pId: *mut c_ulonglong) -> hipError_t;
            fn hipStreamGetCaptureInfo_v2(stream: hipStream_t, captureStatus_out: *mut hipStreamCaptureStatus, id_out: *mut c_ulonglong, graph_out: *mut hipGraph_t, dependencies_out: *mut *const hipGraphNode_t, numDependencies_out: *mut usize) -> hipError_t;
            fn hipStreamUpdateCaptureDependencies(stream: hipStream_t, dependencies: *mut hipGraphNode_t, numDependencies: usize, flags: c_uint) -> hipError_t;
            fn hipThreadExchangeStreamCaptureMode(mode: *mut hipStreamCaptureMode) -> hipError_t;
            // Textures and surfaces
            fn hipCreateTextureObject(pTexObject: *mut hipTextureObject_t, pResDesc: *const hipResourceDesc, pTexDesc: *const hipTextureDesc, pResViewDesc: *const hipResourceViewDesc) -> hipError_t;
            fn hipDestroyTextureObject(textureObject: hipTextureObject_t) -> hipError_t;
            fn hipCreateSurfaceObject(pSurfObject: *mut hipSurfaceObject_t, pResDesc: *const hipResourceDesc) -> hipError_t;
            fn hipDestroySurfaceObject(surfaceObject: hipSurfaceObject_t) -> hipError_t;
            // Functions that compiled HIP host code calls
            fn __hipRegisterFatBinary(data: *const c_void) -> *mut *mut c_void;
            fn __hipUnregisterFatBinary(modules: *mut *mut c_void) -> ();
            fn __hipRegisterFunction(modules: *mut *mut c_void, hostFunction: *const c_void, deviceFunction: *mut c_char, deviceName: *const c_char, threadLimit: c_uint, tid: *mut uint3, bid: *mut uint3, blockDim: *mut dim3, gridDim: *mut dim3, wSize: *mut c_int) -> ();
            fn __hipRegisterVar(modules: *mut *mut c_void, var: *mut c_void, hostVar: *mut c_char, deviceVar: *mut c_char, ext: c_int, size: usize, constant: c_int, global: c_int) -> ();
            fn __hipRegisterManagedVar(hipModule: *mut c_void, pointer: *mut *mut c_void, initValue: *mut c_void, name: *const c_char, size: usize, align: c_uint) -> ();
            fn __hipRegisterTexture(modules: *mut *mut c_void, var: *mut c_void, hostVar: *mut c_char, deviceVar: *mut c_char, type_: c_int, norm: c_int, ext: c_int) -> ();
            fn __hipRegisterSurface(modules: *mut *mut c_void, var: *mut c_void, hostVar: *mut c_char, deviceVar: *mut c_char, type_: c_int, ext: c_int) -> ();
            fn __hipPushCallConfiguration(gridDim: dim3, blockDim: dim3, sharedMem: usize, stream: hipStream_t) -> hipError_t;
            fn __hipPopCallConfiguration(gridDim: *mut dim3, blockDim: *mut dim3, sharedMem: *mut usize, stream: *mut hipStream_t) -> hipError_t;
        }
    };
}
