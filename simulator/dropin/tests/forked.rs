// SPDX-License-Identifier: MIT OR Apache-2.0
//! Children of a process that uses the library: they are refused where they would hang, and served if the
//! parent has not used HIP before.

#![cfg(target_os = "linux")]

mod common;

use std::ffi::c_void;
use std::process::Command;
use std::ptr::{null, null_mut};

use windlass_hip_sys::bindings::{hipError_t, hipMemcpyKind};
use windlass_hip_sys::{Api, Source};

/// HIP's functions, and the function with which a compiled program begins.
struct Loaded {
    api: Api,
    register: unsafe extern "C" fn(*const c_void) -> *mut *mut c_void,
}

fn load() -> Loaded {
    // SAFETY: the library is the one of this package.
    let api = unsafe { Api::load(&Source::Library(common::library())) }.unwrap();
    // SAFETY: as above.
    let library = unsafe { libloading::Library::new(common::library()) }.unwrap();
    // SAFETY: the symbol has the signature that HIP declares.
    let register = unsafe { *library.get(b"__hipRegisterFatBinary").unwrap() };
    // The function must stay.
    std::mem::forget(library);
    Loaded { api, register }
}

/// Writes a word on the GPU and reads it back. Returns the word, or the first error.
fn round_trip(api: &Api) -> Result<u32, hipError_t> {
    let (mut memory, mut word) = (null_mut(), 0_u32);
    let to_host = hipMemcpyKind::hipMemcpyDeviceToHost;
    // SAFETY: the pointers are to locals and to memory that HIP allocates.
    let done = |status| if status == hipError_t::hipSuccess { Ok(()) } else { Err(status) };
    // SAFETY: the pointers are to locals and to memory that HIP allocates.
    unsafe {
        done(api.hipMalloc(&mut memory, 4))?;
        done(api.hipMemsetD32Async(memory, 0x1234, 1, null_mut()))?;
        done(api.hipDeviceSynchronize())?;
        done(api.hipMemcpy((&raw mut word).cast(), memory, 4, to_host))?;
    }
    Ok(word)
}

/// Runs `body` in a fork of this process, for at most a minute. Returns the exit code.
fn in_child(body: impl Fn() -> i32) -> i32 {
    // SAFETY: the child calls the library and ends, by a signal if it hangs.
    unsafe {
        let child = libc::fork();
        assert!(child >= 0);
        if child == 0 {
            libc::alarm(60);
            libc::_exit(body());
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        assert!(libc::WIFEXITED(status), "the child hung or crashed: status {status:#x}");
        libc::WEXITSTATUS(status)
    }
}

/// Runs one of the programs below in a process of its own. Returns its standard error.
fn run(program: &str, machine: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", program, "--ignored", "--nocapture"]);
    for name in ["WINDLASS_LOG", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"] {
        command.env_remove(name);
    }
    let output = command.env("WINDLASS_SIM", machine).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{machine}: {errors}");
    errors
}

#[test]
#[ignore = "runs in a process of its own"]
fn uses_hip_then_forks() {
    let Loaded { api, register } = load();
    assert_eq!(round_trip(&api), Ok(0x1234));
    let refused = in_child(|| {
        let mut devices = 0;
        // SAFETY: the pointers are null or to locals.
        let statuses = unsafe { [api.hipGetDeviceCount(&mut devices), api.hipGetLastError()] };
        let all = statuses == [hipError_t::hipErrorNotInitialized; 2]
            && round_trip(&api) == Err(hipError_t::hipErrorNotInitialized);
        // SAFETY: a null pointer is refused and not read.
        i32::from(all && unsafe { register(null()) }.is_null())
    });
    assert_eq!(refused, 1);
    assert_eq!(round_trip(&api), Ok(0x1234), "its parent goes on");
}

#[test]
#[ignore = "runs in a process of its own"]
fn forks_then_uses_hip() {
    let Loaded { api, register } = load();
    // A compiled program does this before `main`: magic, version, image, null.
    let wrapper: [usize; 3] = [0x4849_5046 | 1 << 32, b"\x7fELF".as_ptr().addr(), 0];
    // SAFETY: the image is read on first use, which never comes.
    assert!(!unsafe { register(wrapper.as_ptr().cast()) }.is_null());
    for _ in 0..2 {
        assert_eq!(in_child(|| i32::from(round_trip(&api) == Ok(0x1234))), 1);
    }
    assert_eq!(round_trip(&api), Ok(0x1234), "so can the parent");
}

#[test]
fn a_child_of_a_process_that_used_hip_is_refused() {
    for machine in ["gfx942", "gfx942?seed=1"] {
        let errors = run("uses_hip_then_forks", machine);
        assert_eq!(errors.matches("forked after it had used HIP").count(), 1, "{errors}");
    }
}

#[test]
fn a_child_may_be_the_first_to_use_hip() {
    for machine in ["gfx942", "gfx942?seed=1"] {
        let errors = run("forks_then_uses_hip", machine);
        assert!(!errors.contains("forked"), "{errors}");
    }
}
