// SPDX-License-Identifier: MIT OR Apache-2.0
//! Last errors, and errors that persist.

use windlass_hip_sys::bindings::*;
use windlass_simulator::Simulator;

use crate::gpu::{Add, FAULTS, Gpu, address, block, on_each_gpu};
use crate::hips::{Hip, NOT_READY, OK, on_each_hip};

const INVALID: hipError_t = hipError_t::hipErrorInvalidDevice;

#[test]
fn the_last_error_stays_until_it_is_taken() {
    on_each_hip(|hip| {
        call!(hip.hipGetLastError());
        assert_eq!(call!(hip.hipSetDevice(1_000_000)), INVALID);
        assert_eq!(call!(hip.hipGetLastError()), INVALID);
        assert_eq!(call!(hip.hipGetLastError()), OK);
    });
}

#[test]
fn the_last_error_belongs_to_the_thread() {
    on_each_hip(|hip| {
        call!(hip.hipGetLastError());
        let elsewhere = std::thread::scope(|scope| {
            let failing = || {
                assert_eq!(call!(hip.hipSetDevice(1_000_000)), INVALID);
                call!(hip.hipGetLastError())
            };
            scope.spawn(failing).join().expect("the thread ends well")
        });
        assert_eq!(elsewhere, INVALID);
        assert_eq!(call!(hip.hipGetLastError()), OK);
    });
}

#[test]
fn a_refused_call_harms_nothing_else() {
    on_each_hip(|hip| {
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
    });
}

/// Before HIP 7.0 a query that returns "not ready" leaves that as the last error.
#[test]
fn after_a_query_the_last_error_is_at_most_not_ready() {
    on_each_gpu(|gpu| {
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
    });
}

/// On a simulated GPU that imitates AMD's and does not end the process, every later call returns the fault. On
/// hardware the fault would cost the process its device, so this test does not run there.
#[test]
fn a_fault_stays() {
    let simulator =
        Simulator::new("?threads=2&faults=sticky".parse().expect("options")).expect("a simulator");
    let hip = Hip::of(simulator.api()).expect("a device");
    let gpu = Gpu::of(&hip).expect("kernels");
    let add = Add::new(&gpu);
    let (stream, event) = (gpu.stream(), gpu.event());
    let nowhere =
        block(&[&address(std::ptr::without_provenance_mut(64)), &0_i64.to_le_bytes(), &7_u32.to_le_bytes()]);
    assert_eq!(gpu.launch(gpu.find(FAULTS, "write_at"), [1; 3], [1; 3], 0, stream, &nowhere), OK);
    let fault = hipError_t::hipErrorIllegalAddress;
    // The record may come before or after the fault.
    call!(gpu.hipEventRecord(event, stream));
    assert_eq!(call!(gpu.hipStreamSynchronize(stream)), fault);
    for _ in 0..2 {
        assert_eq!(call!(gpu.hipEventQuery(event)), fault);
        assert_eq!(add.launch(&gpu, stream), fault);
        let mut memory = std::ptr::null_mut();
        assert_eq!(call!(gpu.hipMalloc(&mut memory, 64)), fault);
        assert_eq!(call!(gpu.hipGetLastError()), fault);
    }
    std::mem::forget(gpu);
}
