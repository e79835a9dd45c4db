// SPDX-License-Identifier: MIT OR Apache-2.0
//! HSA's functions, under HSA's names. All may be called from any thread.

mod agent;
mod code;
mod copy;
mod image;
mod ipc;
mod loader_extension;
mod memory;
mod pointer;
mod profiling;
mod queue;
mod signal;
mod signal_wait;
mod system;
mod virtual_memory;

pub use agent::*;
pub use code::*;
pub use copy::*;
pub use image::*;
pub use ipc::*;
pub use memory::*;
pub use pointer::*;
pub use profiling::*;
pub use queue::*;
pub use signal::*;
pub use signal_wait::*;
pub use system::*;
pub use virtual_memory::*;

use std::ffi::{CStr, c_char};

use super::call::Call;
use super::status::{Outcome, Status};

/// A client's string.
fn text(_: &Call, text: *const c_char) -> Outcome<String> {
    if text.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    // SAFETY: not null, and the function's caller guarantees a string that ends in zero; see `call::enter`.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(str::to_owned).map_err(|_| Status::INVALID_ARGUMENT)
}

/// Calls a client's function for each of several objects, until it returns another status than success.
fn each<T>(
    call: &Call,
    objects: impl IntoIterator<Item = T>,
    mut callback: impl FnMut(T) -> Status,
) -> Outcome<()> {
    for object in objects {
        match call.runtime.scheduler.outside(|| callback(object)) {
            Status::SUCCESS => {}
            status => return Err(status),
        }
    }
    Ok(())
}
