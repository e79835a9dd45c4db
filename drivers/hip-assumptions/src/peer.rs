// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several devices.

use windlass_hip_sys::bindings::*;

use crate::gpu::{Gpu, VECTOR_ADD};
use crate::hips::{Hip, OK};

pub(crate) fn a_device_is_no_peer_of_itself(hip: &Hip) {
    let mut can = -1;
    ok!(hip.hipDeviceCanAccessPeer(&mut can, 0, 0));
    assert_eq!(can, 0);
}

pub(crate) fn peers_reach_each_others_memory(hip: &Hip) {
    let mut can = 0;
    ok!(hip.hipDeviceCanAccessPeer(&mut can, 0, 1));
    if can == 0 {
        return;
    }
    let enabled = [OK, hipError_t::hipErrorPeerAccessAlreadyEnabled];
    for (from, to) in [(0, 1), (1, 0)] {
        hip.select(from);
        for _ in 0..2 {
            assert!(enabled.contains(&call!(hip.hipDeviceEnablePeerAccess(to, 0))));
        }
        call!(hip.hipGetLastError());
    }
    hip.select(1);
    let there = hip.device_memory(4096);
    hip.select(0);
    let here = hip.device_memory(4096);
    let stream = hip.stream();
    ok!(hip.hipMemsetD32Async(there, 5, 1024, stream));
    ok!(hip.hipMemcpyAsync(here, there, 4096, hipMemcpyKind::hipMemcpyDefault, stream));
    assert_eq!(hip.read_words(stream, here, 1024), [5; 1024]);
    ok!(hip.hipFree(there));
    ok!(hip.hipFree(here));
    ok!(hip.hipStreamDestroy(stream));
}

/// An event is recorded in streams of the device that was current at its creation; any stream may wait for it.
pub(crate) fn an_event_is_recorded_on_its_device_and_awaited_on_any(hip: &Hip) {
    let here = (hip.stream(), hip.event(), hip.device_memory(4096));
    hip.select(1);
    let there = (hip.stream(), hip.event());
    assert_ne!(call!(hip.hipEventRecord(here.1, there.0)), OK, "an event of the first device");
    call!(hip.hipGetLastError());
    ok!(hip.hipEventRecord(there.1, there.0));
    hip.select(0);
    ok!(hip.hipMemsetD8Async(here.2, 1, 4096, here.0));
    ok!(hip.hipEventRecord(here.1, here.0));
    ok!(hip.hipStreamWaitEvent(there.0, here.1, 0));
    hip.select(1);
    ok!(hip.hipStreamSynchronize(there.0));
    assert_eq!(call!(hip.hipEventQuery(here.1)), OK, "the second device came after the first");
    ok!(hip.hipStreamWaitEvent(here.0, there.1, 0));
    ok!(hip.hipStreamSynchronize(here.0));
    for (stream, event) in [(here.0, here.1), there] {
        ok!(hip.hipEventDestroy(event));
        ok!(hip.hipStreamDestroy(stream));
    }
    ok!(hip.hipFree(here.2));
}

/// A device that cannot be made current for a moment leaves no state behind.
pub(crate) fn things_are_given_back_whichever_device_is_current(hip: &Hip) {
    let (stream, event, memory) = (hip.stream(), hip.event(), hip.device_memory(64));
    let (host, _) = hip.host_memory(64);
    hip.select(hip.devices - 1);
    ok!(hip.hipFree(memory));
    ok!(hip.hipHostFree(host));
    ok!(hip.hipEventDestroy(event));
    ok!(hip.hipStreamDestroy(stream));
    hip.select(0);
}

pub(crate) fn code_is_unloaded_whichever_device_is_current(gpu: &Gpu<'_>) {
    let module = gpu.load(VECTOR_ADD);
    gpu.select(gpu.devices - 1);
    ok!(gpu.hipModuleUnload(module));
    gpu.select(0);
}
