// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP's own linker, which the simulator's library has.

use std::ffi::{c_char, c_uint, c_void};

use windlass_hip_sys::bindings::hipError_t;
use windlass_simulator_rtc::abi::Handle;

use crate::absent::Absent;
use crate::composed::composed;
use crate::simulator;
use crate::versions::versioned;

macro_rules! forwarded {
    ($($name:ident($($parameter:ident: $ty:ty),* $(,)?);)*) => {
        composed! {
            "hip_6.4" {
                $($name($($parameter: $ty),*) => match simulator::rtc(stringify!($name)) {
                    Some(address) => {
                        type Function = unsafe extern "C" fn($($ty),*) -> hipError_t;
                        std::mem::transmute::<*const c_void, Function>(address)($($parameter),*)
                    }
                    None => Absent::refuse(stringify!($name)),
                };)*
            }
        }
    };
}

forwarded! {
    hipLinkCreate(count: c_uint, options: *const c_uint, values: *const *mut c_void, linker: *mut Handle);
    hipLinkAddData(
        linker: Handle, kind: c_uint, image: *const c_void, size: usize, name: *const c_char, count: c_uint,
        options: *const c_uint, values: *const *mut c_void,
    );
    hipLinkAddFile(
        linker: Handle, kind: c_uint, path: *const c_char, count: c_uint, options: *const c_uint,
        values: *const *mut c_void,
    );
    hipLinkComplete(linker: Handle, code: *mut *mut c_void, size: *mut usize);
    hipLinkDestroy(linker: Handle);
}
