// SPDX-License-Identifier: MIT OR Apache-2.0
//! The RCCL of the simulated GPU as a drop-in `librccl.so.1`.
//!
//! The simulator is not in this library: each function calls the one that the simulated `libamdhip64.so` of the process
//! has. So this library is small, and RCCL and HIP see the same devices. Without a simulated HIP its functions return
//! `ncclSystemError` and write the reason to standard error, once.
//!
//! The symbol `windlass_simulator_marker` distinguishes this library from AMD's.

use std::ffi::{c_char, c_int, c_void};

use windlass_hip_sys::bindings::hipStream_t;
use windlass_hip_sys::rccl::*;

mod hip;

/// Distinguishes this library from AMD's; the value has no meaning.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's spelling")]
pub static windlass_simulator_marker: c_int = 1;

/// The answer of a function if there is no simulated HIP.
trait Absent {
    const ABSENT: Self;
}

impl Absent for ncclResult_t {
    const ABSENT: Self = Self::ncclSystemError;
}

impl Absent for *const c_char {
    const ABSENT: Self = c"there is no simulated HIP in this process".as_ptr();
}

macro_rules! export {
    (
        required { $(fn $name:ident($($parameter:ident: $ty:ty),*) -> $result:ty;)* }
        optional { $(fn $other:ident($($of_other:ident: $other_ty:ty),*) -> $other_result:ty;)* }
    ) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of the simulated GPU.")]
            ///
            /// # Safety
            /// As RCCL documents the function.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, clippy::too_many_arguments)]
            pub unsafe extern "C" fn $name($($parameter: $ty),*) -> $result {
                match hip::functions() {
                    // SAFETY: the caller guarantees the arguments.
                    Some(functions) => unsafe { (functions.$name)($($parameter),*) },
                    None => <$result as Absent>::ABSENT,
                }
            }
        )*
        $(
            #[doc = concat!("`", stringify!($other), "` of the simulated GPU.")]
            ///
            /// # Safety
            /// As RCCL documents the function.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, clippy::too_many_arguments)]
            pub unsafe extern "C" fn $other($($of_other: $other_ty),*) -> $other_result {
                match hip::functions().and_then(|functions| functions.$other) {
                    // SAFETY: the caller guarantees the arguments.
                    Some(entry) => unsafe { entry($($of_other),*) },
                    None => <$other_result as Absent>::ABSENT,
                }
            }
        )*
    };
}

windlass_hip_sys::for_each_rccl_function!(export);
