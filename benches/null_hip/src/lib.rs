// SPDX-License-Identifier: MIT OR Apache-2.0
//! The null HIP as a `libamdhip64.so`, so that Windlass and a peer that loads HIP from a file run over the same library:
//! `windlass bench --peer iree --device hip://?library=benches/null_hip/target/release`.
//! `NULL_HIP_KERNEL=1ms` gives each kernel a time, as `hip-null://?kernel=1ms` does.
//!
//! Every function of HIP is exported. Functions that the null HIP lacks return `hipErrorNotSupported`. This library
//! adds the functions of contexts, because peers make a context current before each call. This library has the marker
//! symbol of the simulator's libraries, from which Windlass learns which functions the null HIP has.

use std::{
    ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void},
    sync::LazyLock,
};

use windlass_hip_sys::{
    Api, EntryPoints,
    bindings::*,
    null::{Instance, Options},
};

/// The one null HIP of the process.
static NULL: LazyLock<Api> = LazyLock::new(|| Instance::new(options()).api());

fn options() -> Options {
    let mut options = Options::default();
    match std::env::var("NULL_HIP_KERNEL").map(|text| text.parse()) {
        Ok(Ok(time)) => options.kernel = time,
        Ok(Err(syntax)) => eprintln!("null HIP: NULL_HIP_KERNEL is ignored: the value must be {syntax}"),
        Err(_) => {}
    }
    options
}

/// The functions that replace those of the null HIP.
static OWN: EntryPoints = {
    let mut own = EntryPoints::none();
    own.hipCtxGetCurrent = Some(context);
    own.hipCtxPopCurrent = Some(context);
    own.hipCtxPushCurrent = Some(make_current);
    own.hipCtxSetCurrent = Some(make_current);
    own.hipDevicePrimaryCtxRelease = Some(release);
    own.hipDevicePrimaryCtxRetain = Some(retain);
    own
};

macro_rules! export {
    ($(fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of the null HIP.")]
            ///
            /// # Safety
            ///
            /// As HIP documents the function.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, clippy::too_many_arguments)]
            pub unsafe extern "C" fn $name($($parameter: $ty),*) -> $result {
                match OWN.$name {
                    // SAFETY: the caller guarantees the arguments.
                    Some(own) => unsafe { own($($parameter),*) },
                    // SAFETY: as above.
                    None => unsafe { NULL.$name($($parameter),*) },
                }
            }
        )*
    };
}

windlass_hip_sys::for_each_entry_point!(export);

/// Any handle that is not null.
const CONTEXT: usize = 1;

unsafe extern "C" fn context(context: *mut hipCtx_t) -> hipError_t {
    // A caller that pops a context need not ask which it was.
    if !context.is_null() {
        // SAFETY: not null, so valid for a write, as HIP demands.
        unsafe { context.write(std::ptr::without_provenance_mut(CONTEXT)) };
    }
    hipError_t::hipSuccess
}

unsafe extern "C" fn make_current(_context: hipCtx_t) -> hipError_t {
    hipError_t::hipSuccess
}

unsafe extern "C" fn release(_device: hipDevice_t) -> hipError_t {
    hipError_t::hipSuccess
}

unsafe extern "C" fn retain(target: *mut hipCtx_t, _device: hipDevice_t) -> hipError_t {
    // SAFETY: the caller's contract is the same.
    unsafe { context(target) }
}

/// Distinguishes this library from AMD's; the value has no meaning.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's spelling")]
pub static windlass_simulator_marker: c_int = 1;

/// Whether the library has the function with an exported name.
///
/// # Safety
///
/// `name` is null or a string that ends in zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_simulator_has(name: *const c_char) -> c_int {
    if name.is_null() {
        return 0;
    }
    // SAFETY: the caller guarantees the string.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
    c_int::from(NULL.entries().address(name).or(OWN.address(name)).is_some())
}
