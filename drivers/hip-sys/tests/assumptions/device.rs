// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices and what belongs to a thread.

use super::{OK, on_each_hip};
use windlass_hip_sys::bindings::*;

#[test]
fn the_current_device_belongs_to_the_thread() {
    on_each_hip(|api| {
        let current = || {
            let mut device: c_int = -1;
            // SAFETY: the pointer is ours.
            assert_eq!(unsafe { api.hipGetDevice(&mut device) }, OK);
            device
        };
        let mut count: c_int = 0;
        // SAFETY: the pointer is ours.
        unsafe {
            assert_eq!(api.hipGetDeviceCount(&mut count), OK);
            assert_eq!(api.hipSetDevice(count - 1), OK);
        }
        assert_eq!(current(), count - 1);
        let elsewhere =
            std::thread::scope(|scope| scope.spawn(current).join()).expect("the thread ends well");
        assert_eq!(elsewhere, 0, "a new thread begins with the first device");
        // SAFETY: takes no pointer.
        assert_eq!(unsafe { api.hipSetDevice(0) }, OK);
    });
}

#[test]
fn the_last_error_stays_until_it_is_taken() {
    on_each_hip(|api| {
        // SAFETY: these take no pointers.
        unsafe {
            api.hipGetLastError();
            assert_eq!(api.hipSetDevice(1_000_000), hipError_t::hipErrorInvalidDevice);
            assert_eq!(api.hipGetLastError(), hipError_t::hipErrorInvalidDevice);
            assert_eq!(api.hipGetLastError(), OK);
        }
    });
}
