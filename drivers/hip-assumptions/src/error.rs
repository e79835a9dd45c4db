// SPDX-License-Identifier: MIT OR Apache-2.0
//! Last errors, and errors that persist.

use windlass_hip_sys::bindings::*;

use crate::gpu::{Add, FAULTS, Gpu, address, block};
use crate::hips::{Hip, NOT_READY, OK};

const INVALID: hipError_t = hipError_t::hipErrorInvalidDevice;

pub(crate) fn the_last_error_stays_until_it_is_taken(hip: &Hip) {
    call!(hip.hipGetLastError());
    assert_eq!(call!(hip.hipSetDevice(1_000_000)), INVALID);
    assert_eq!(call!(hip.hipGetLastError()), INVALID);
    assert_eq!(call!(hip.hipGetLastError()), OK);
}

pub(crate) fn the_last_error_belongs_to_the_thread(hip: &Hip) {
    call!(hip.hipGetLastError());
    let elsewhere = std::thread::scope(|scope| {
        let failing = || {
            assert_eq!(call!(hip.hipSetDevice(1_000_000)), INVALID);
            call!(hip.hipGetLastError())
        };
        scope.spawn(failing).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    assert_eq!(elsewhere, INVALID);
    assert_eq!(call!(hip.hipGetLastError()), OK);
}

pub(crate) fn a_refused_call_harms_nothing_else(hip: &Hip) {
    let stream = hip.stream();
    let memory = hip.device_memory(64);
    assert_ne!(call!(hip.hipSetDevice(1_000_000)), OK);
    let mut none = std::ptr::null_mut();
    assert_ne!(call!(hip.hipMalloc(&mut none, usize::MAX >> 2)), OK);
    call!(hip.hipGetLastError());
    ok!(hip.hipMemsetD8Async(memory, 7, 64, stream));
    assert_eq!(hip.read(stream, memory, 64), [7; 64]);
    ok!(hip.hipFree(memory));
    ok!(hip.hipStreamDestroy(stream));
}

/// Before HIP 7.0 a query that returns "not ready" leaves that as the last error.
pub(crate) fn after_a_query_the_last_error_is_at_most_not_ready(gpu: &Gpu<'_>) {
    let (stream, event) = (gpu.stream(), gpu.event());
    call!(gpu.hipGetLastError());
    let gate = gpu.hold(stream);
    ok!(gpu.hipEventRecord(event, stream));
    assert_eq!(call!(gpu.hipEventQuery(event)), NOT_READY);
    assert!([OK, NOT_READY].contains(&call!(gpu.hipGetLastError())));
    assert_eq!(call!(gpu.hipGetLastError()), OK);
    drop(gate);
    ok!(gpu.hipEventSynchronize(event));
    ok!(gpu.hipEventDestroy(event));
    ok!(gpu.hipStreamDestroy(stream));
}

/// HIP reports the fault from every later call of the process.
pub(crate) fn a_fault_stays(gpu: &Gpu<'_>) {
    let add = Add::new(gpu);
    let (stream, event) = (gpu.stream(), gpu.event());
    let nowhere =
        block(&[&address(std::ptr::without_provenance_mut(64)), &0_i64.to_le_bytes(), &7_u32.to_le_bytes()]);
    assert_eq!(gpu.launch(gpu.find(FAULTS, c"write_at"), [1; 3], [1; 3], 0, stream, &nowhere), OK);
    let fault = hipError_t::hipErrorIllegalAddress;
    // The record may come before or after the fault.
    call!(gpu.hipEventRecord(event, stream));
    assert_eq!(call!(gpu.hipStreamSynchronize(stream)), fault);
    for _ in 0..2 {
        assert_eq!(call!(gpu.hipEventQuery(event)), fault);
        assert_eq!(add.launch(gpu, stream), fault);
        let mut memory = std::ptr::null_mut();
        assert_eq!(call!(gpu.hipMalloc(&mut memory, 64)), fault);
        assert_eq!(call!(gpu.hipGetLastError()), fault);
    }
}
