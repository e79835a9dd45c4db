// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modules, their functions, and launches, which never run.

use std::ffi::CStr;
use std::sync::atomic::Ordering;

use super::entry::{INVALID_VALUE, Outcome, entry_points, finish, put};
use crate::bindings::*;
use crate::null::call::Call;
use crate::null::calls::Function;
use crate::null::work::{Module, Stream};

/// # Safety
///
/// `target` is null or valid for a write.
unsafe fn load(call: &Call<'_>, target: *mut hipModule_t, image: *const c_void) -> Outcome {
    if target.is_null() || image.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { put(target, Module::new().into_handle()) }?;
    call.instance.modules.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

fn attribute(which: hipFunction_attribute) -> c_int {
    match which {
        hipFunction_attribute::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => 1024,
        hipFunction_attribute::HIP_FUNC_ATTRIBUTE_NUM_REGS => 32,
        _ => 0,
    }
}

entry_points! {
    fill:
    fn hipModuleLoadData(call, target: *mut hipModule_t, image: *const c_void) {
        // SAFETY: the caller's pointers; the image is not read.
        unsafe { load(&call, target, image) }
    }
    fn hipModuleLoadDataEx(
        call, target: *mut hipModule_t, image: *const c_void, _count: c_uint, _options: *mut hipJitOption,
        _values: *mut *mut c_void,
    ) {
        // SAFETY: as above; the options are not read.
        unsafe { load(&call, target, image) }
    }
    fn hipModuleUnload(call, module: hipModule_t) {
        if module.is_null() {
            return Err(hipError_t::hipErrorInvalidHandle);
        }
        let timeline = &call.instance.timeline;
        timeline.wait(timeline.latest());
        // SAFETY: the caller's module, which it gives up.
        drop(unsafe { Box::from_raw(module.cast::<Module>()) });
        call.instance.modules.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }
    fn hipModuleGetFunction(call, target: *mut hipFunction_t, module: hipModule_t, name: *const c_char) {
        if name.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller's module, C string and pointer.
        unsafe { put(target, Module::from_handle(module)?.function(CStr::from_ptr(name))) }
    }
    fn hipModuleGetGlobal(call, _address: *mut hipDeviceptr_t, _size: *mut usize, _module: hipModule_t, _name: *const c_char) {
        Err(hipError_t::hipErrorNotFound)
    }
    fn hipFuncGetAttribute(call, value: *mut c_int, which: hipFunction_attribute, function: hipFunction_t) {
        if function.is_null() {
            return Err(hipError_t::hipErrorInvalidDeviceFunction);
        }
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(value, attribute(which)) }
    }
    fn hipFuncSetAttribute(call, _function: *const c_void, _which: hipFuncAttribute, _value: c_int) {
        Ok(())
    }
    fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        call, blocks: *mut c_int, _function: hipFunction_t, _block_size: c_int, _lds_bytes: usize,
    ) {
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(blocks, 8) }
    }
    fn hipModuleOccupancyMaxPotentialBlockSize(
        call, grid: *mut c_int, block: *mut c_int, _function: hipFunction_t, _lds_bytes: usize, _limit: c_int,
    ) {
        // SAFETY: the caller's pointers, as HIP documents them.
        unsafe {
            put(grid, 304)?;
            put(block, 256)
        }
    }
    fn hipModuleLaunchKernel(
        call, function: hipFunction_t, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, _lds_bytes: c_uint, stream: hipStream_t, _parameters: *mut *mut c_void, _extra: *mut *mut c_void,
    ) {
        if function.is_null() {
            return Err(hipError_t::hipErrorInvalidHandle);
        }
        if [grid_x, grid_y, grid_z, block_x, block_y, block_z].contains(&0) {
            return Err(hipError_t::hipErrorInvalidConfiguration);
        }
        // SAFETY: the caller's stream.
        call.instance.timeline.launch(unsafe { Stream::from_handle(stream) });
        Ok(())
    }
}
