// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP's own linker, which is hipRTC's with other checks. Of all kinds of input AMD's accepts SPIR-V alone.

use std::ffi::{c_char, c_uint, c_void};

use windlass_hip_sys::bindings::hipError_t;
use windlass_simulator_rtc::abi::{self, Handle};
use windlass_simulator_rtc::{Code, Input};

/// `hipJitInputSpirv`.
const SPIRV: c_uint = 103;
/// The kinds of input that AMD's linker refuses: those of other GPUs, and bitcode, which is for hipRTC's functions.
const REFUSED: [std::ops::RangeInclusive<c_uint>; 2] = [0..=5, 100..=102];
/// The options for other GPUs, up to `hipJitOptionNumOptions`.
const OTHER_OPTIONS: std::ops::RangeInclusive<c_uint> = 0..=29;

fn status(result: Result<(), hipError_t>) -> hipError_t {
    result.err().unwrap_or(hipError_t::hipSuccess)
}

fn check_kind(kind: c_uint) -> Result<(), hipError_t> {
    let refused = REFUSED.iter().any(|kinds| kinds.contains(&kind));
    if refused { Err(hipError_t::hipErrorInvalidValue) } else { Ok(()) }
}

/// Adds SPIR-V. What the caller says is some other kind, or could not be read, fails as with AMD's.
fn add(linker: Handle, kind: c_uint, bytes: Option<&[u8]>) -> Result<(), hipError_t> {
    let added = abi::for_linker(linker, |linker| match bytes.filter(|_| kind == SPIRV) {
        Some(bytes) => {
            linker.add(Input::SpirV, bytes);
            Ok(true)
        }
        None => Ok(false),
    });
    match added {
        Ok(true) => Ok(()),
        Ok(false) => Err(hipError_t::hipErrorInvalidConfiguration),
        Err(_) => Err(hipError_t::hipErrorInvalidValue),
    }
}

unsafe fn create(
    count: c_uint,
    options: *const c_uint,
    values: *const *mut c_void,
    linker: *mut Handle,
) -> Result<(), hipError_t> {
    // SAFETY: the caller guarantees the pointer.
    let place = unsafe { linker.as_mut() }.ok_or(hipError_t::hipErrorInvalidValue)?;
    if count > 0 && (options.is_null() || values.is_null()) {
        return Err(hipError_t::hipErrorInvalidValue);
    }
    // SAFETY: the caller guarantees the array.
    if (0..count as usize).any(|index| OTHER_OPTIONS.contains(unsafe { &*options.add(index) })) {
        return Err(hipError_t::hipErrorInvalidValue);
    }
    // SAFETY: the caller guarantees the arrays.
    let made = unsafe { abi::create_linker(count, options, values) };
    *place = made.map_err(|_| hipError_t::hipErrorInvalidConfiguration)?;
    Ok(())
}

unsafe fn add_data(
    linker: Handle,
    kind: c_uint,
    image: *const c_void,
    size: usize,
) -> Result<(), hipError_t> {
    if image.is_null() || size == 0 || isize::try_from(size).is_err() {
        return Err(hipError_t::hipErrorInvalidImage);
    }
    check_kind(kind)?;
    // SAFETY: the caller guarantees the bytes.
    add(linker, kind, Some(unsafe { std::slice::from_raw_parts(image.cast(), size) }))
}

unsafe fn add_file(linker: Handle, kind: c_uint, path: *const c_char) -> Result<(), hipError_t> {
    if linker.is_null() {
        return Err(hipError_t::hipErrorInvalidHandle);
    }
    check_kind(kind)?;
    if path.is_null() {
        return Err(hipError_t::hipErrorInvalidValue);
    }
    // SAFETY: the caller guarantees the string.
    let path = unsafe { std::ffi::CStr::from_ptr(path) }.to_string_lossy();
    let bytes = std::fs::read(&*path).inspect_err(|error| {
        tracing::error!(target: "windlass::sim", "hipLinkAddFile: {path}: {error}");
    });
    add(linker, kind, bytes.ok().as_deref())
}

unsafe fn complete(linker: Handle, code: *mut *mut c_void, size: *mut usize) -> Result<(), hipError_t> {
    // SAFETY: the caller guarantees the pointers.
    match unsafe { abi::hiprtcLinkComplete(linker, code, size) } {
        Code::SUCCESS => Ok(()),
        Code::ERROR_INVALID_INPUT => Err(hipError_t::hipErrorInvalidValue),
        _ => Err(hipError_t::hipErrorInvalidConfiguration),
    }
}

fn destroy(linker: Handle) -> Result<(), hipError_t> {
    match abi::hiprtcLinkDestroy(linker) {
        Code::SUCCESS => Ok(()),
        _ => Err(hipError_t::hipErrorInvalidValue),
    }
}

/// Defines HIP's functions by the above, and finds them by name.
macro_rules! functions {
    ($($name:ident($($parameter:ident: $ty:ty),* $(,)?) => $body:expr;)*) => {
        $(
            #[allow(non_snake_case, unused_unsafe, clippy::too_many_arguments)]
            unsafe extern "C" fn $name($($parameter: $ty),*) -> hipError_t {
                // SAFETY: the caller guarantees the arguments, which are passed on.
                status(unsafe { $body })
            }
        )*

        /// The address of the function of a name, if it is one of these.
        pub(crate) fn address(name: &str) -> Option<*const c_void> {
            match name {
                $(stringify!($name) => Some($name as *const c_void),)*
                _ => None,
            }
        }
    };
}

functions! {
    hipLinkCreate(count: c_uint, options: *const c_uint, values: *const *mut c_void, linker: *mut Handle)
        => create(count, options, values, linker);
    hipLinkAddData(
        linker: Handle, kind: c_uint, image: *const c_void, size: usize, _name: *const c_char, _count: c_uint,
        _options: *const c_uint, _values: *const *mut c_void,
    ) => add_data(linker, kind, image, size);
    hipLinkAddFile(
        linker: Handle, kind: c_uint, path: *const c_char, _count: c_uint, _options: *const c_uint,
        _values: *const *mut c_void,
    ) => add_file(linker, kind, path);
    hipLinkComplete(linker: Handle, code: *mut *mut c_void, size: *mut usize) => complete(linker, code, size);
    hipLinkDestroy(linker: Handle) => destroy(linker);
}
