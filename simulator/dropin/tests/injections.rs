// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that `WINDLASS_SIM` makes fail, in a program that has the library in place of AMD's.

mod common;

use std::ffi::c_void;
use std::process::Command;
use std::ptr::null_mut;

use common::library;
use windlass_hip_sys::bindings::hipError_t;
use windlass_hip_sys::{Api, Source};

/// Set in the process that calls.
const CHILD: &str = "WINDLASS_TEST_CHILD";

#[test]
fn exported_functions_and_looked_up_ones_fail_as_the_variable_says() {
    if std::env::var_os(CHILD).is_none() {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "exported_functions_and_looked_up_ones_fail_as_the_variable_says"])
            .env(CHILD, "1")
            .env("WINDLASS_SIM", "gfx942?fail=hipMalloc@2-3:hipErrorInvalidContext")
            .status();
        assert!(status.unwrap().success());
        return;
    }
    // SAFETY: the library is the one of this package.
    let api = unsafe { Api::load(&Source::Library(library())) }.unwrap();
    let mut found: *mut c_void = null_mut();
    // SAFETY: the string ends in zero and the pointers are null or to a local.
    let looked_up = unsafe { api.hipGetProcAddress(c"hipMalloc".as_ptr(), &mut found, 700, 0, null_mut()) };
    assert_eq!(looked_up, hipError_t::hipSuccess);
    // SAFETY: this is hipMalloc.
    let looked_up: unsafe extern "C" fn(*mut *mut c_void, usize) -> hipError_t =
        unsafe { std::mem::transmute(found.cast_const()) };
    let mut memory = null_mut();
    // SAFETY: the pointer is to a local.
    let statuses = unsafe {
        [
            api.hipMalloc(&mut memory, 16),
            api.hipMalloc(&mut memory, 16),
            looked_up(&mut memory, 16),
            looked_up(&mut memory, 16),
        ]
    };
    let (well, failed) = (hipError_t::hipSuccess, hipError_t::hipErrorInvalidContext);
    assert_eq!(statuses, [well, failed, failed, well]);
}
