// SPDX-License-Identifier: MIT OR Apache-2.0
//! The null HIP's functions, by HIP's themes.

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

/// Written by hand: the status that it returns is not a failure of its own.
#[allow(non_snake_case)]
unsafe extern "C" fn hipGetLastError() -> hipError_t {
    // SAFETY: reached through a table whose binding has entered its instance.
    match unsafe { Call::begin(Function::hipGetLastError) } {
        Ok(call) => hipError_t(call.place.last_error.swap(0, Ordering::Relaxed)),
        Err(status) => status,
    }
}

/// The name as a C string, which lives forever. Not counted: the caller is about to report an error.
#[allow(non_snake_case)]
unsafe extern "C" fn hipGetErrorName(status: hipError_t) -> *const c_char {
    status.c_name().as_ptr()
}
