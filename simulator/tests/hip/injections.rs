// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that the options make fail or delay.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use crate::common::Machine;
use windlass_hip_sys::bindings::*;

/// The indices of failing calls, among `calls` calls of hipMalloc.
fn failing_mallocs(options: &str, calls: usize) -> Vec<usize> {
    let machine = Machine::new(options);
    let fails = |_: &usize| hip!(machine, hipMalloc(&mut null_mut(), 64)) != hipError_t::hipSuccess;
    (1..=calls).filter(fails).collect()
}

#[test]
fn the_chosen_call_fails_and_does_nothing() {
    let machine = Machine::new("?fail=hipMalloc@2:hipErrorOutOfMemory,hipMemset:hipErrorInvalidValue");
    let pointer = machine.malloc(64);
    let mut untouched = null_mut();
    fails!(hipErrorOutOfMemory, machine, hipMalloc(&mut untouched, 64));
    assert!(untouched.is_null());
    fails!(hipErrorOutOfMemory, machine, hipGetLastError());
    machine.malloc(64);
    ok!(machine, hipMemcpyHtoD(pointer, [7_u8; 64].as_ptr().cast(), 64));
    fails!(hipErrorInvalidValue, machine, hipMemset(pointer, 1, 64));
    assert_eq!(machine.download::<u8>(pointer, 64), [7; 64]);
    // The device and its streams still work.
    ok!(machine, hipDeviceSynchronize());
}

#[test]
fn the_failure_is_explained() {
    let machine = Machine::new("?fail=hipFree@1");
    let pointer = machine.malloc(64);
    fails!(hipErrorUnknown, machine, hipFree(pointer));
    let why = machine.api.diagnose().unwrap_or_default();
    assert!(why.contains("fail=hipFree@1"), "{why}");
    ok!(machine, hipFree(pointer));
}

#[test]
fn a_chance_is_drawn_from_the_seed() {
    let of = |seed: u32| failing_mallocs(&format!("?seed={seed}&fail=hipMalloc~0.2"), 200);
    let (first, second) = (of(1), of(2));
    assert_eq!(first, of(1));
    assert_ne!(first, second);
    assert!((20..=60).contains(&first.len()), "one in five of 200: {}", first.len());
}

#[test]
fn threads_share_the_count() {
    let machine = Machine::new("?fail=hipMalloc@40");
    let failed: usize = std::thread::scope(|scope| {
        let count = || {
            (0..20)
                .filter(|_| hip!(machine, hipMalloc(&mut null_mut(), 64)) != hipError_t::hipSuccess)
                .count()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(failed, 1);
}

#[test]
fn every_function_can_be_meant() {
    let machine = Machine::new("?fail=*@3-4:hipErrorNotSupported");
    let mut count = 0;
    ok!(machine, hipGetDeviceCount(&mut count));
    ok!(machine, hipSetDevice(0));
    fails!(hipErrorNotSupported, machine, hipInit(0));
    fails!(hipErrorNotSupported, machine, hipDeviceSynchronize());
    ok!(machine, hipInit(0));
}

#[test]
fn a_function_from_get_proc_address_fails_too() {
    let machine = Machine::new("?fail=hipMalloc@1");
    let mut found: *mut c_void = null_mut();
    ok!(machine, hipGetProcAddress(c"hipMalloc".as_ptr(), &mut found, 700, 0, null_mut()));
    // SAFETY: this is hipMalloc, of the simulator that the previous call made this thread's own.
    let malloc: unsafe extern "C" fn(*mut *mut c_void, usize) -> hipError_t =
        unsafe { std::mem::transmute(found.cast_const()) };
    let mut pointer = null_mut();
    // SAFETY: the pointer is to a local.
    assert_eq!(unsafe { malloc(&mut pointer, 64) }, hipError_t::hipErrorOutOfMemory);
    // SAFETY: as above.
    assert_eq!(unsafe { malloc(&mut pointer, 64) }, hipError_t::hipSuccess);
}

#[test]
fn a_late_call_is_late_and_works() {
    let machine = Machine::new("?delay=hipMemset@2:20ms");
    let pointer = machine.malloc(64);
    ok!(machine, hipMemset(pointer, 1, 64));
    let start = Instant::now();
    ok!(machine, hipMemset(pointer, 2, 64));
    assert!(start.elapsed() >= Duration::from_millis(20));
    assert_eq!(machine.download::<u8>(pointer, 64), [2; 64]);
}

#[test]
fn a_call_without_a_status_does_nothing_when_it_fails() {
    let machine = Machine::new("?fail=__hipRegisterFatBinary");
    // SAFETY: a null pointer is not a fat binary; it is read only if the call does not fail.
    let handle = unsafe { machine.api.__hipRegisterFatBinary(null()) };
    assert!(handle.is_null());
    assert!(machine.api.diagnose().unwrap_or_default().contains("__hipRegisterFatBinary"));
}
