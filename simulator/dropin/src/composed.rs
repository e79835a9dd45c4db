// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions that the library implements by calls of functions in the simulator's table.

use std::ffi::{c_int, c_uint, c_void};

use windlass_hip_sys::bindings::*;
use windlass_simulator::drop_in::Text;

use crate::absent::Absent;
use crate::declared::*;
use crate::simulator;
use crate::versions::versioned;

/// Defines exported functions by calls of others: `"hip_4.2" { name(parameter: type) => expression; }`. A
/// function that the version of HIP lacks is refused, like those of the table.
macro_rules! composed {
    ($($version:literal { $($name:ident($($parameter:ident: $ty:ty),* $(,)?) => $body:expr;)* })*) => {
        $($(
            #[doc = concat!("`", stringify!($name), "` of the simulated GPU.")]
            ///
            /// # Safety
            /// As HIP documents the function.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, unused_unsafe, clippy::too_many_arguments)]
            pub unsafe extern "C" fn $name($($parameter: $ty),*) -> hipError_t {
                $crate::end::check(stringify!($name));
                if !$crate::table::has(stringify!($name)) {
                    return Absent::refuse(stringify!($name));
                }
                // SAFETY: the caller guarantees the arguments, which are passed on.
                unsafe { $body }
            }
        )*)*

        versioned! { $($version: $($name)*;)* }

        /// The function of this name, if it is one of these.
        pub(crate) fn find(name: &str) -> Option<windlass_simulator::hip::Exported> {
            match name {
                $($(stringify!($name) => Some($crate::versions::exported($name as *const c_void, $version)),)*)*
                _ => None,
            }
        }
    };
}

pub(crate) use composed;

/// `hip_Memcpy2D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(non_snake_case, missing_docs, reason = "HIP's names, which say it")]
pub struct Memcpy2D {
    pub srcXInBytes: usize,
    pub srcY: usize,
    pub srcMemoryType: hipMemoryType,
    pub srcHost: *const c_void,
    pub srcDevice: hipDeviceptr_t,
    pub srcArray: hipArray_t,
    pub srcPitch: usize,
    pub dstXInBytes: usize,
    pub dstY: usize,
    pub dstMemoryType: hipMemoryType,
    pub dstHost: *mut c_void,
    pub dstDevice: hipDeviceptr_t,
    pub dstArray: hipArray_t,
    pub dstPitch: usize,
    pub WidthInBytes: usize,
    pub Height: usize,
}

/// The same copy as a box of one plane.
fn plane(copy: &Memcpy2D) -> HIP_MEMCPY3D {
    HIP_MEMCPY3D {
        srcXInBytes: copy.srcXInBytes,
        srcY: copy.srcY,
        srcMemoryType: copy.srcMemoryType,
        srcHost: copy.srcHost,
        srcDevice: copy.srcDevice,
        srcArray: copy.srcArray,
        srcPitch: copy.srcPitch,
        dstXInBytes: copy.dstXInBytes,
        dstY: copy.dstY,
        dstMemoryType: copy.dstMemoryType,
        dstHost: copy.dstHost,
        dstDevice: copy.dstDevice,
        dstArray: copy.dstArray,
        dstPitch: copy.dstPitch,
        WidthInBytes: copy.WidthInBytes,
        Height: copy.Height,
        Depth: 1,
        ..Default::default()
    }
}

/// Passes the copy behind a pointer on, as a box.
///
/// # Safety
/// The pointer is null or valid.
unsafe fn copy_plane(copy: *const Memcpy2D, then: impl FnOnce(&HIP_MEMCPY3D) -> hipError_t) -> hipError_t {
    // SAFETY: the caller guarantees the pointer.
    match unsafe { copy.as_ref() } {
        Some(copy) => then(&plane(copy)),
        None => hipError_t::hipErrorInvalidValue,
    }
}

/// Memory for a box, with its rows at a pitch.
///
/// # Safety
/// The pointer is null or valid.
unsafe fn allocate_box(made: *mut hipPitchedPtr, extent: hipExtent) -> hipError_t {
    let rows = extent.height.checked_mul(extent.depth);
    // SAFETY: the caller guarantees the pointer.
    let (Some(made), Some(rows)) = (unsafe { made.as_mut() }, rows) else {
        return hipError_t::hipErrorInvalidValue;
    };
    let (mut ptr, mut pitch) = (std::ptr::null_mut(), 0);
    // SAFETY: the pointers are to locals.
    let status = unsafe { hipMallocPitch(&mut ptr, &mut pitch, extent.width, rows) };
    if status == hipError_t::hipSuccess {
        *made = hipPitchedPtr { ptr, pitch, xsize: extent.width, ysize: extent.height };
    }
    status
}

/// Fills a box, plane by plane.
fn fill_box(
    memory: hipPitchedPtr,
    extent: hipExtent,
    fill: impl Fn(*mut c_void, usize, usize) -> hipError_t,
) -> hipError_t {
    let is_empty = [extent.width, extent.height, extent.depth].contains(&0);
    // The width of the memory's rows counts too (clr, hip_memory.cpp, `ihipMemset3DCommand`).
    if !is_empty && memory.pitch != extent.width && memory.pitch < memory.xsize {
        return hipError_t::hipErrorInvalidValue;
    }
    if memory.ysize == extent.height
        && let Some(rows) = extent.height.checked_mul(extent.depth)
    {
        return fill(memory.ptr, extent.width, rows);
    }
    let Some(plane) = memory.pitch.checked_mul(memory.ysize) else {
        return hipError_t::hipErrorInvalidValue;
    };
    let planes = (0..extent.depth).map(|index| memory.ptr.wrapping_byte_add(plane.wrapping_mul(index)));
    let mut statuses = planes.map(|start| fill(start, extent.width, extent.height));
    statuses.find(|status| *status != hipError_t::hipSuccess).unwrap_or(hipError_t::hipSuccess)
}

/// Refuses a call that AMD's HIP has for devices, and not for contexts.
fn not_of_contexts(name: &'static str) -> hipError_t {
    if let Some(core) = simulator::core() {
        // SAFETY: a static text.
        unsafe { (core.refuse_as_amd)(Text::new(name)) };
    }
    hipError_t::hipErrorNotSupported
}

composed! {
    "hip_4.2" {
        hipMemcpyParam2D(copy: *const Memcpy2D) => copy_plane(copy, |copy| hipDrvMemcpy3D(copy));
        hipMemcpyParam2DAsync(copy: *const Memcpy2D, stream: hipStream_t)
            => copy_plane(copy, |copy| hipDrvMemcpy3DAsync(copy, stream));
        hipMalloc3D(memory: *mut hipPitchedPtr, extent: hipExtent) => allocate_box(memory, extent);
        hipMemset3D(memory: hipPitchedPtr, value: c_int, extent: hipExtent)
            => fill_box(memory, extent, |to, width, rows| hipMemset2D(to, memory.pitch, value, width, rows));
        hipMemset3DAsync(memory: hipPitchedPtr, value: c_int, extent: hipExtent, stream: hipStream_t)
            => fill_box(memory, extent, |to, width, rows| {
                hipMemset2DAsync(to, memory.pitch, value, width, rows, stream)
            });
        hipMemAllocHost(memory: *mut *mut c_void, size: usize) => hipMallocHost(memory, size);
        hipMemAllocPitch(
            memory: *mut hipDeviceptr_t, pitch: *mut usize, width: usize, height: usize, element: c_uint,
        ) => match element {
            4 | 8 | 16 => hipMallocPitch(memory, pitch, width, height),
            _ => hipError_t::hipErrorInvalidValue,
        };
        hipCtxGetCacheConfig(_config: *mut hipFuncCache_t) => not_of_contexts("hipCtxGetCacheConfig");
        hipCtxSetCacheConfig(config: hipFuncCache_t) => match hipDeviceSetCacheConfig(config) {
            hipError_t::hipSuccess => not_of_contexts("hipCtxSetCacheConfig"),
            status => status,
        };
        hipCtxGetSharedMemConfig(config: *mut hipSharedMemConfig) => hipDeviceGetSharedMemConfig(config);
        hipCtxSetSharedMemConfig(_config: hipSharedMemConfig) => not_of_contexts("hipCtxSetSharedMemConfig");
        hipCtxGetFlags(_flags: *mut c_uint) => not_of_contexts("hipCtxGetFlags");
    }
    "hip_4.3" {
        hipDrvMemcpy2DUnaligned(copy: *const Memcpy2D) => copy_plane(copy, |copy| hipDrvMemcpy3D(copy));
    }
    "hip_6.3" {
        hipExtHostAlloc(memory: *mut *mut c_void, size: usize, flags: c_uint)
            => hipHostMalloc(memory, size, flags);
    }
}
