// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the HIP driver relies on HIP to do, one program each.
//!
//! Every program runs on the null HIP, and on what `Source::System` gives where that has a device: a GPU, or whatever
//! `WINDLASS_HIP_LIBRARY` names, such as the software GPU's drop-in library. A library that breaks one of these needs a row
//! in the driver's quirks, or a driver that relies on less.
#![allow(clippy::print_stderr, reason = "a program that runs on the null HIP only says so")]

mod device;
mod event;
mod memory;

use std::ptr;

use windlass_hip_sys::bindings::*;
use windlass_hip_sys::null::{Instance, Options};
use windlass_hip_sys::{Api, Source};

const OK: hipError_t = hipError_t::hipSuccess;

/// Runs a program on each HIP that there is.
fn on_each_hip(program: impl Fn(&Api)) {
    program(&Instance::new(Options { devices: 2, ..Options::default() }).api());
    // SAFETY: what the system or the environment names as HIP is HIP.
    match unsafe { Api::load(&Source::System) } {
        Ok(api) if has_device(&api) => program(&api),
        Ok(api) => eprintln!("not run on {}, which has no device", api.origin()),
        Err(error) => eprintln!("run on the null HIP only: {error}"),
    }
}

fn has_device(api: &Api) -> bool {
    let mut count = 0;
    // SAFETY: the pointer is ours.
    unsafe { api.hipInit(0) == OK && api.hipGetDeviceCount(&mut count) == OK && count > 0 }
}

/// A stream that waits for no other by itself.
fn stream(api: &Api) -> hipStream_t {
    let mut stream = ptr::null_mut();
    // SAFETY: the pointer is ours.
    assert_eq!(unsafe { api.hipStreamCreateWithFlags(&mut stream, hipStreamNonBlocking) }, OK);
    stream
}

fn event(api: &Api) -> hipEvent_t {
    let mut event = ptr::null_mut();
    // SAFETY: the pointer is ours.
    assert_eq!(unsafe { api.hipEventCreateWithFlags(&mut event, hipEventDisableTiming) }, OK);
    event
}

fn device_memory(api: &Api, size: usize) -> *mut c_void {
    let mut address = ptr::null_mut();
    // SAFETY: the pointer is ours.
    assert_eq!(unsafe { api.hipMalloc(&mut address, size) }, OK);
    assert!(!address.is_null());
    address
}
