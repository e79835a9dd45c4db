// SPDX-License-Identifier: MIT OR Apache-2.0
//! Libraries of kernels, which are loaded when a kernel is asked for.

use std::ffi::{c_char, c_uint, c_void};
use std::sync::Arc;

use windlass_hip_sys::bindings::{
    hipError_t, hipJitOption, hipKernel_t, hipLibrary_t, hipLibraryOption, hipModule_t,
};

use crate::hip::boundary::call::Call;
use crate::hip::programs::image;
use crate::hip::programs::library::Library;
use crate::hip::programs::program::Program;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;

/// The library, and its program for the current device.
fn find(call: &Call, library: hipLibrary_t) -> Outcome<Arc<Program>> {
    if library.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let library = call.runtime.libraries.get(library as u64).ok_or(Code::INVALID_VALUE)?;
    library.program(&call.runtime.machine, call.device()?.index, &call.describe())
}

fn enter(call: &Call, library: *mut hipLibrary_t, image: Vec<u8>) -> Outcome<()> {
    let handle = call.runtime.libraries.insert(Arc::new(Library::new(image))).ok_or(Code::OUT_OF_MEMORY)?;
    call.put(library, handle.get() as hipLibrary_t)
}

pub(in crate::hip) unsafe extern "C" fn hipLibraryLoadData(
    library: *mut hipLibrary_t,
    code: *const c_void,
    _options: *mut *mut hipJitOption,
    _values: *mut *mut c_void,
    options_count: c_uint,
    _library_options: *mut *mut hipLibraryOption,
    _library_values: *mut *mut c_void,
    _library_options_count: c_uint,
) -> hipError_t {
    hip!(hipLibraryLoadData, |call| {
        // HIP has no options for code that is compiled already.
        if library.is_null() || code.is_null() || options_count > 0 {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the client vouches for the image, as long as its own headers say.
        let image = unsafe { image::copy(code) }?;
        enter(call, library, image)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipLibraryLoadFromFile(
    library: *mut hipLibrary_t,
    path: *const c_char,
    _options: *mut *mut hipJitOption,
    _values: *mut *mut c_void,
    options_count: c_uint,
    _library_options: *mut *mut hipLibraryOption,
    _library_values: *mut *mut c_void,
    _library_options_count: c_uint,
) -> hipError_t {
    hip!(hipLibraryLoadFromFile, |call| {
        let path = call.get_string(path)?;
        if library.is_null() || options_count > 0 {
            return Err(Code::INVALID_VALUE);
        }
        let image = std::fs::read(&path).map_err(|error| {
            explain(format!("{path} was not read: {error}"));
            Code::INVALID_VALUE
        })?;
        enter(call, library, image)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipLibraryUnload(library: hipLibrary_t) -> hipError_t {
    hip!(hipLibraryUnload, |call| {
        let runtime = &call.runtime;
        let found = runtime.libraries.get(library as u64).ok_or(Code::INVALID_HANDLE)?;
        for device in found.devices() {
            runtime.synchronize(device)?;
        }
        // Another thread may have unloaded it meanwhile.
        let found = runtime.libraries.remove(library as u64).ok_or(Code::INVALID_HANDLE)?;
        found.unload(&runtime.machine, &runtime.functions, &call.describe());
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipLibraryGetKernel(
    kernel: *mut hipKernel_t,
    library: hipLibrary_t,
    name: *const c_char,
) -> hipError_t {
    hip!(hipLibraryGetKernel, |call| {
        let name = call.get_string(name)?;
        if kernel.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let handle = find(call, library)?.function(&call.runtime.functions, &name)?;
        call.put(kernel, handle as hipKernel_t)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipLibraryGetKernelCount(
    count: *mut c_uint,
    library: hipLibrary_t,
) -> hipError_t {
    hip!(hipLibraryGetKernelCount, |call| {
        if count.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let kernels = find(call, library)?.module.kernel_names().count();
        call.put(count, c_uint::try_from(kernels).unwrap_or(c_uint::MAX))
    })
}

pub(in crate::hip) unsafe extern "C" fn hipModuleLoadFatBinary(
    module: *mut hipModule_t,
    image: *const c_void,
) -> hipError_t {
    hip!(hipModuleLoadFatBinary, |call| super::module::load(call, module, image))
}
