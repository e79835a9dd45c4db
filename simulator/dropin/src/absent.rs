// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answer of a function that the simulator lacks.

use std::ffi::{c_char, c_int, c_void};

use windlass_hip_sys::bindings::hipError_t;
use windlass_simulator::hip;

use crate::{end, log};

/// A result type with a value for refusals.
pub(crate) trait Absent: Sized {
    /// The value for refusals.
    const ABSENT: Self;

    /// Refuses a call of a function, in the log and in the thread's last error.
    fn refuse(name: &'static str) -> Self {
        end::check(name);
        log::set_up();
        hip::process_refuse(name);
        Self::ABSENT
    }
}

impl Absent for hipError_t {
    const ABSENT: Self = Self::hipErrorNotSupported;
}

impl Absent for () {
    const ABSENT: Self = ();
}

impl Absent for c_int {
    const ABSENT: Self = -1;
}

impl Absent for bool {
    const ABSENT: Self = false;
}

impl Absent for *const c_char {
    const ABSENT: Self = std::ptr::null();
}

impl Absent for *mut *mut c_void {
    const ABSENT: Self = std::ptr::null_mut();
}
