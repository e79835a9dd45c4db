// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions of HIP's list that the simulator's table does not declare. They exist so that programs linked
//! against them load, and they refuse every call.
//!
//! They ignore their arguments and so declare none: in C's calling convention the caller removes the
//! arguments.

use std::ffi::{c_char, c_int, c_uint};

use windlass_hip_sys::bindings::hipError_t;

use crate::absent::{Absent, RtcResult};
use crate::versions::versioned;

macro_rules! refused {
    ($result:ty; $($version:literal: $($name:ident)*;)*) => {
        $($(
            #[doc = concat!("`", stringify!($name), "`, which the simulated GPU lacks.")]
            ///
            /// # Safety
            /// Nothing is asked of the caller.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case)]
            pub unsafe extern "C" fn $name() -> $result {
                Absent::refuse(stringify!($name))
            }
        )*)*

        versioned! { $($version: $($name)*;)* }
    };
}

refused! { hipError_t;    "hip_4.2":
        hipArray3DCreate hipArrayCreate hipBindTexture hipBindTexture2D hipBindTextureToArray
        hipBindTextureToMipmappedArray hipChooseDevice hipChooseDeviceR0000 hipConfigureCall
        hipCtxDisablePeerAccess hipCtxEnablePeerAccess hipCtxGetApiVersion hipDeviceGetTexture1DLinearMaxWidth hipExtLaunchMultiKernelMultiDevice hipFreeArray
        hipFreeMipmappedArray hipGetChannelDesc hipGetMipmappedArrayLevel hipGetTextureAlignmentOffset
        hipGetTextureObjectResourceDesc hipGetTextureObjectResourceViewDesc hipGetTextureObjectTextureDesc
        hipGetTextureReference hipLaunchByPtr hipLaunchCooperativeKernelMultiDevice hipMalloc3DArray hipMallocArray
        hipMallocMipmappedArray hipMemRangeGetAttributes hipMemcpy2DFromArray hipMemcpy2DFromArrayAsync hipMemcpy2DToArray
        hipMemcpyAtoH hipMemcpyFromArray hipMemcpyHtoA hipMemcpyToArray
        hipMipmappedArrayCreate hipMipmappedArrayDestroy
        hipMipmappedArrayGetLevel hipModuleGetTexRef hipPointerSetAttribute hipRegisterActivityCallback hipRegisterApiCallback hipRemoveActivityCallback
        hipRemoveApiCallback hipSetupArgument
        hipStreamAttachMemAsync hipTexObjectCreate hipTexObjectDestroy hipTexObjectGetResourceDesc
        hipTexObjectGetResourceViewDesc hipTexObjectGetTextureDesc hipTexRefGetAddress hipTexRefGetAddressMode
        hipTexRefGetArray hipTexRefGetBorderColor hipTexRefGetFilterMode hipTexRefGetFlags hipTexRefGetFormat
        hipTexRefGetMaxAnisotropy hipTexRefGetMipMappedArray hipTexRefGetMipmapFilterMode
        hipTexRefGetMipmapLevelBias hipTexRefGetMipmapLevelClamp hipTexRefSetAddress hipTexRefSetAddress2D
        hipTexRefSetAddressMode hipTexRefSetArray hipTexRefSetBorderColor hipTexRefSetFilterMode
        hipTexRefSetFlags hipTexRefSetFormat hipTexRefSetMaxAnisotropy hipTexRefSetMipmapFilterMode
        hipTexRefSetMipmapLevelBias hipTexRefSetMipmapLevelClamp hipTexRefSetMipmappedArray hipUnbindTexture;
    "hip_4.3":
        hipArrayDestroy hipGLGetDevices hipGraphicsGLRegisterBuffer
        hipGraphicsMapResources hipGraphicsResourceGetMappedPointer hipGraphicsUnmapResources
        hipGraphicsUnregisterResource hipMemcpy2DToArrayAsync;
    "hip_4.5":
        hipGraphicsGLRegisterImage hipGraphicsSubResourceGetMappedArray;
    "hip_5.1":
        hipMemMapArrayAsync hipMemPoolExportPointer
        hipMemPoolExportToShareableHandle hipMemPoolImportFromShareableHandle hipMemPoolImportPointer;
    "hip_5.3":
        hipGraphAddExternalSemaphoresSignalNode hipGraphAddExternalSemaphoresWaitNode
        hipGraphExecExternalSemaphoresSignalNodeSetParams hipGraphExecExternalSemaphoresWaitNodeSetParams
        hipGraphExternalSemaphoresSignalNodeGetParams hipGraphExternalSemaphoresSignalNodeSetParams
        hipGraphExternalSemaphoresWaitNodeGetParams hipGraphExternalSemaphoresWaitNodeSetParams;
    "hip_5.5":
        hipModuleLaunchCooperativeKernelMultiDevice;
    "hip_5.6":
        hipArray3DGetDescriptor hipArrayGetDescriptor hipArrayGetInfo;
    "hip_6.2":
        hipMemcpy2DArrayToArray
        hipMemcpyAtoA hipMemcpyAtoD hipMemcpyAtoHAsync hipMemcpyDtoA hipMemcpyHtoAAsync;
    "hip_6.4":
        hipLinkAddData hipLinkAddFile hipLinkComplete hipLinkCreate
        hipLinkDestroy;
    "hip_6.5":
        hipMemGetHandleForAddressRange;
    "hip_7.1":
        hipMemAdvise_v2 hipMemPrefetchAsync_v2 hipMemcpy3DBatchAsync hipMemcpy3DPeer
        hipMemcpy3DPeerAsync hipMemcpyBatchAsync hipMemsetD2D16 hipMemsetD2D16Async hipMemsetD2D32
        hipMemsetD2D32Async hipMemsetD2D8 hipMemsetD2D8Async hipModuleLoadFatBinary hipStreamGetAttribute
        hipStreamGetId hipStreamSetAttribute;
    "hip_7.2":
        hipLibraryLoadFromFile hipOccupancyAvailableDynamicSMemPerBlock hipStreamCopyAttributes;
}

refused! { RtcResult;
    "hip_4.2":
        hiprtcAddNameExpression hiprtcCompileProgram hiprtcCreateProgram hiprtcDestroyProgram hiprtcGetCode
        hiprtcGetCodeSize hiprtcGetLoweredName hiprtcGetProgramLog hiprtcGetProgramLogSize hiprtcLinkAddData
        hiprtcLinkAddFile hiprtcLinkComplete hiprtcLinkCreate hiprtcLinkDestroy hiprtcVersion;
    "hip_5.3":
        hiprtcGetBitcode hiprtcGetBitcodeSize;
}

refused! { *const c_char;
    "hip_4.2": hipApiName hipGetCmdName hipKernelNameRefByPtr;
}

refused! { ();
    "hip_4.2": hipInitActivityCallback;
    "hip_5.3": hipRegisterTracerCallback;
}

refused! { bool;
    "hip_4.2": hipEnableActivityCallback;
}

// For the thread's own stream.
refused! { hipError_t;
    "hip_5.2": hipMemcpy2DToArray_spt hipMemcpy2DFromArray_spt;
    "hip_5.3":
        hipMemcpyFromArray_spt hipMemcpy2DFromArrayAsync_spt hipMemcpy2DToArrayAsync_spt;
}

// C++ names.
refused! { hipError_t;
    "hip_4.2":
        _Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc
        _Z23hipDestroySurfaceObjectP13__hip_surface;
}

/// `__hipGetPCH`: the headers for runtime compilation, of which there are none.
///
/// # Safety
/// Each pointer is null or valid for a write.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "C" fn __hipGetPCH(header: *mut *const c_char, size: *mut c_uint) {
    // SAFETY: the caller guarantees the pointers.
    let places = unsafe { (header.as_mut(), size.as_mut()) };
    if let (Some(header), Some(size)) = places {
        *header = std::ptr::null();
        *size = 0;
    }
}

/// `hiprtcGetErrorString`.
///
/// # Safety
/// Nothing is asked of the caller.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "C" fn hiprtcGetErrorString(_result: c_int) -> *const c_char {
    c"the simulated GPU compiles nothing at run time".as_ptr()
}

versioned! { "hip_4.2": __hipGetPCH hiprtcGetErrorString; }
