// SPDX-License-Identifier: MIT OR Apache-2.0
//! hipRTC's functions, which programs of HIP 6 and before expect in this library. `libhiprtc.so` has them too.

use std::ffi::{c_char, c_int, c_uint, c_void};

use windlass_simulator::hip::Exported;
use windlass_simulator_rtc::Code;
use windlass_simulator_rtc::abi::Handle;

use crate::absent::Absent;
use crate::versions::{exported, versioned};
use crate::{end, simulator};

macro_rules! export {
    ($(fn $name:ident($($parameter:ident: $ty:ty),*) -> $result:ty;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of the simulated GPU.")]
            ///
            /// # Safety
            /// As hipRTC documents the function.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, clippy::too_many_arguments, clippy::items_after_statements)]
            pub unsafe extern "C" fn $name($($parameter: $ty),*) -> $result {
                end::check(stringify!($name));
                let Some(address) = simulator::rtc(stringify!($name)) else {
                    return Absent::refuse(stringify!($name));
                };
                type Function = unsafe extern "C" fn($($ty),*) -> $result;
                // SAFETY: the simulator's function of this name has this signature. The caller guarantees the arguments.
                unsafe { std::mem::transmute::<*const c_void, Function>(address)($($parameter),*) }
            }
        )*

        /// The function of this name, if it is one of these.
        pub(crate) fn find(name: &str) -> Option<Exported> {
            let address = match name {
                $(stringify!($name) => $name as *const c_void,)*
                _ => return None,
            };
            let version = if name.starts_with("hiprtcGetBitcode") { "hip_5.3" } else { "hip_4.2" };
            Some(exported(address, version))
        }
    };
}

windlass_simulator_rtc::for_each_function!(export);

versioned! {
    "hip_4.2":
        hiprtcAddNameExpression hiprtcCompileProgram hiprtcCreateProgram hiprtcDestroyProgram hiprtcGetCode
        hiprtcGetCodeSize hiprtcGetErrorString hiprtcGetLoweredName hiprtcGetProgramLog hiprtcGetProgramLogSize
        hiprtcLinkAddData hiprtcLinkAddFile hiprtcLinkComplete hiprtcLinkCreate hiprtcLinkDestroy hiprtcVersion;
    "hip_5.3":
        hiprtcGetBitcode hiprtcGetBitcodeSize;
}
