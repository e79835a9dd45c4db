// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calls that wait for work in flight, and those that never do.

use std::ptr;

use windlass_hip_sys::bindings::*;

use crate::gpu::{Add, Gpu, VECTOR_ADD};
use crate::hips::{Handle, NOT_READY, OK};

/// Everything that a submission may do. None of these calls may make its caller wait.
pub(crate) fn no_call_of_a_submission_waits_for_work_in_flight(gpu: &Gpu<'_>) {
    let [held, other] = [(); 2].map(|()| gpu.stream());
    let [event, behind] = [(); 2].map(|()| gpu.event());
    let add = Add::new(gpu);
    let [memory, copy] = [(); 2].map(|()| gpu.device_memory(4096));
    let (host, device) = gpu.host_memory(4096);
    let default = hipMemcpyKind::hipMemcpyDefault;
    let gate = gpu.hold(held);
    gpu.while_closed(&gate, || {
        ok!(gpu.hipEventRecord(event, held));
        for stream in [held, other] {
            ok!(gpu.hipStreamWaitEvent(stream, event, 0));
            ok!(gpu.hipMemsetD8Async(memory, 1, 4096, stream));
            ok!(gpu.hipMemsetD16Async(memory, 1, 2048, stream));
            ok!(gpu.hipMemsetD32Async(memory, 1, 1024, stream));
            ok!(gpu.hipMemcpyAsync(copy, memory, 4096, default, stream));
            ok!(gpu.hipMemcpyAsync(device, memory, 4096, default, stream));
            ok!(gpu.hipMemcpyAsync(memory, device, 4096, default, stream));
            assert_eq!(add.launch(gpu, stream), OK);
            ok!(gpu.hipEventRecord(behind, stream));
            assert_eq!(call!(gpu.hipEventQuery(behind)), NOT_READY);
            let created = gpu.event();
            ok!(gpu.hipEventDestroy(created));
            call!(gpu.hipGetLastError());
            assert_eq!(gpu.current(), 0);
        }
    });
    drop(gate);
    for stream in [held, other] {
        ok!(gpu.hipStreamSynchronize(stream));
    }
    add.check(gpu, other);
    ok!(gpu.hipHostFree(host));
    for memory in [memory, copy] {
        ok!(gpu.hipFree(memory));
    }
    for stream in [held, other] {
        ok!(gpu.hipStreamDestroy(stream));
    }
}

/// The calls that a program may make while its work runs: allocate, load code, query.
pub(crate) fn making_things_does_not_wait_for_work_in_flight(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    let image = gpu.image(VECTOR_ADD);
    let gate = gpu.hold(stream);
    let (memory, host, made, module) = gpu.while_closed(&gate, || {
        let memory = gpu.device_memory(1 << 20);
        let (host, _) = gpu.host_memory(1 << 16);
        let made = gpu.stream();
        let mut module = ptr::null_mut();
        ok!(gpu.hipModuleLoadData(&mut module, image.as_ptr().cast()));
        gpu.function(module, c"vector_add");
        let (mut free, mut total, mut value) = (0, 0, 0);
        ok!(gpu.hipMemGetInfo(&mut free, &mut total));
        let attribute = hipDeviceAttribute_t::hipDeviceAttributeWarpSize;
        ok!(gpu.hipDeviceGetAttribute(&mut value, attribute, 0));
        (memory, host, made, module)
    });
    drop(gate);
    ok!(gpu.hipStreamSynchronize(stream));
    ok!(gpu.hipModuleUnload(module));
    ok!(gpu.hipStreamDestroy(made));
    ok!(gpu.hipHostFree(host));
    ok!(gpu.hipFree(memory));
    ok!(gpu.hipStreamDestroy(stream));
}

/// The reason why memory is kept for reuse, and freed on a separate thread.
pub(crate) fn freeing_waits_for_the_device(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    let memory = Handle::new(gpu.device_memory(64));
    let gate = gpu.hold(stream);
    gpu.returns_behind(&gate, move || ok!(gpu.hipFree(memory.get())));
    let host = Handle::new(gpu.host_memory(64).0);
    let gate = gpu.hold(stream);
    gpu.returns_behind(&gate, move || ok!(gpu.hipHostFree(host.get())));
    ok!(gpu.hipStreamSynchronize(stream));
    ok!(gpu.hipStreamDestroy(stream));
}

/// A synchronous copy, here of pageable memory, is complete when it returns.
pub(crate) fn a_synchronous_copy_is_over_when_it_returns(gpu: &Gpu<'_>) {
    let memory = gpu.device_memory(1 << 16);
    let mut bytes = vec![9_u8; 1 << 16];
    ok!(gpu.hipMemcpy(memory, bytes.as_ptr().cast(), 1 << 16, hipMemcpyKind::hipMemcpyHostToDevice));
    bytes.fill(0);
    ok!(gpu.hipMemcpy(bytes.as_mut_ptr().cast(), memory, 1 << 16, hipMemcpyKind::hipMemcpyDeviceToHost));
    assert_eq!(bytes, vec![9; 1 << 16]);
    ok!(gpu.hipFree(memory));
}

pub(crate) fn an_idle_stream_is_destroyed_though_others_work(gpu: &Gpu<'_>) {
    let [held, idle] = [(); 2].map(|()| gpu.stream());
    let memory = gpu.device_memory(64);
    ok!(gpu.hipMemsetD8Async(memory, 1, 64, idle));
    ok!(gpu.hipStreamSynchronize(idle));
    let gate = gpu.hold(held);
    gpu.while_closed(&gate, || ok!(gpu.hipStreamDestroy(idle)));
    drop(gate);
    ok!(gpu.hipStreamSynchronize(held));
    ok!(gpu.hipFree(memory));
    ok!(gpu.hipStreamDestroy(held));
}
