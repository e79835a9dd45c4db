// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions of HIP's list that the simulator's table does not declare. They exist so that programs linked
//! against them load, and they refuse every call.
//!
//! They ignore their arguments and so declare none: in C's calling convention the caller removes the
//! arguments.

use std::ffi::{c_char, c_uint};

use windlass_hip_sys::bindings::hipError_t;

use crate::absent::Absent;
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

refused! { hipError_t;
    "hip_4.2":
        hipArray3DCreate hipArrayCreate hipBindTexture hipBindTexture2D hipBindTextureToArray
        hipBindTextureToMipmappedArray hipDeviceGetTexture1DLinearMaxWidth hipFreeArray hipFreeMipmappedArray
        hipGetChannelDesc hipGetMipmappedArrayLevel hipGetTextureAlignmentOffset
        hipGetTextureObjectResourceDesc hipGetTextureObjectResourceViewDesc hipGetTextureObjectTextureDesc
        hipGetTextureReference hipMalloc3DArray hipMallocArray hipMallocMipmappedArray hipMemcpy2DFromArray
        hipMemcpy2DFromArrayAsync hipMemcpy2DToArray hipMemcpyAtoH hipMemcpyFromArray hipMemcpyHtoA
        hipMemcpyToArray hipMipmappedArrayCreate hipMipmappedArrayDestroy hipMipmappedArrayGetLevel
        hipModuleGetTexRef hipRegisterActivityCallback hipRegisterApiCallback hipRemoveActivityCallback
        hipRemoveApiCallback hipTexObjectCreate hipTexObjectDestroy hipTexObjectGetResourceDesc
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
        hipMemMapArrayAsync;
    "hip_5.3":
        hipGraphAddExternalSemaphoresSignalNode hipGraphAddExternalSemaphoresWaitNode
        hipGraphExecExternalSemaphoresSignalNodeSetParams hipGraphExecExternalSemaphoresWaitNodeSetParams
        hipGraphExternalSemaphoresSignalNodeGetParams hipGraphExternalSemaphoresSignalNodeSetParams
        hipGraphExternalSemaphoresWaitNodeGetParams hipGraphExternalSemaphoresWaitNodeSetParams;
    "hip_5.6":
        hipArray3DGetDescriptor hipArrayGetDescriptor hipArrayGetInfo;
    "hip_6.2":
        hipMemcpy2DArrayToArray
        hipMemcpyAtoA hipMemcpyAtoD hipMemcpyAtoHAsync hipMemcpyDtoA hipMemcpyHtoAAsync;
}

refused! { ();
    "hip_4.2": hipInitActivityCallback;
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

versioned! { "hip_4.2": __hipGetPCH; }
