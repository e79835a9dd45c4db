// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answer of a function that the simulator lacks.

use std::ffi::{c_char, c_int, c_void};

use windlass_hip_sys::bindings::hipError_t;
use windlass_simulator::drop_in::Text;
use windlass_simulator_rtc::Code;

use crate::{end, simulator};

/// A result type with a value for refusals.
pub(crate) trait Absent: Sized {
    /// The value for refusals.
    const ABSENT: Self;

    /// Refuses a call of a function, in the log and in the thread's last error.
    fn refuse(name: &'static str) -> Self {
        end::check(name);
        if let Some(core) = simulator::core() {
            // SAFETY: a static text.
            unsafe { (core.refuse)(Text::new(name)) };
        }
        Self::ABSENT
    }
}

impl Absent for hipError_t {
    const ABSENT: Self = Self::hipErrorNotSupported;
}

impl Absent for Code {
    const ABSENT: Self = Self::ERROR_INTERNAL_ERROR;
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
