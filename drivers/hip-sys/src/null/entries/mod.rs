// SPDX-License-Identifier: MIT OR Apache-2.0
//! The null HIP's functions, grouped like HIP's documentation.

mod device;
mod entry;
mod memory;
mod module;
mod stream;

use std::sync::atomic::Ordering;

use super::call::Call;
use super::calls::Function;
use crate::bindings::{c_char, hipError_t};
use crate::table::EntryPoints;

/// The whole table.
pub(super) fn table() -> EntryPoints {
    let mut table = EntryPoints::none();
    device::fill(&mut table);
    memory::fill(&mut table);
    module::fill(&mut table);
    stream::fill(&mut table);
    table.hipGetLastError = Some(hipGetLastError);
    table.hipGetErrorName = Some(hipGetErrorName);
    table.hipGetErrorString = Some(hipGetErrorName);
    table
}

/// Written by hand, because the returned status is not a failure of the function.
#[allow(non_snake_case)]
unsafe extern "C" fn hipGetLastError() -> hipError_t {
    // SAFETY: reached through a table whose binding has entered its instance.
    match unsafe { Call::begin(Function::hipGetLastError) } {
        Ok(call) => hipError_t(call.place.last_error.swap(0, Ordering::Relaxed)),
        Err(status) => status,
    }
}

/// The name as a C string with static lifetime. Not counted, because callers use it to report errors.
#[allow(non_snake_case)]
unsafe extern "C" fn hipGetErrorName(status: hipError_t) -> *const c_char {
    status.c_name().as_ptr()
}
