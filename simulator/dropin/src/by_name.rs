// SPDX-License-Identifier: MIT OR Apache-2.0
//! The other spellings of `hipGetProcAddress`.

use std::ffi::{c_char, c_void};

use windlass_hip_sys::bindings::*;

use crate::absent::Absent;
use crate::composed::composed;
use crate::declared::hipGetProcAddress;
use crate::versions::versioned;

/// The flags for a program that is built for the thread's own stream: without any flags, it wants that
/// stream's variants.
fn per_thread(flags: u64) -> u64 {
    /// HIP_GET_PROC_ADDRESS_DEFAULT, hipEnableDefault.
    const DEFAULT: u64 = 0;
    /// HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, hipEnablePerThreadDefaultStream.
    const PER_THREAD: u64 = 2;
    if flags == DEFAULT { PER_THREAD } else { flags }
}

// `hipDriverEntryPointQueryResult` has the numbers of `hipDriverProcAddressQueryResult`, and no version takes part.
composed! {
    "hip_7.1" {
        hipGetDriverEntryPoint(
            symbol: *const c_char, function: *mut *mut c_void, flags: u64,
            found: *mut hipDriverProcAddressQueryResult,
        ) => hipGetProcAddress(symbol, function, 0, flags, found);
        hipGetDriverEntryPoint_spt(
            symbol: *const c_char, function: *mut *mut c_void, flags: u64,
            found: *mut hipDriverProcAddressQueryResult,
        ) => hipGetProcAddress(symbol, function, 0, per_thread(flags), found);
    }
    "hip_7.2" {
        hipGetProcAddress_spt(
            symbol: *const c_char, function: *mut *mut c_void, version: i32, flags: u64,
            found: *mut hipDriverProcAddressQueryResult,
        ) => hipGetProcAddress(symbol, function, version, per_thread(flags), found);
    }
}
