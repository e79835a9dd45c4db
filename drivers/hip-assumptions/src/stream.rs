// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams.

use windlass_hip_sys::bindings::*;

use crate::gpu::{Add, Gpu, ORDER, address, block};
use crate::hips::{Handle, Hip, NOT_READY, OK};

/// Kernels, fills and copies alike: multiplying and adding does not commute.
pub(crate) fn a_stream_does_its_work_in_order(gpu: &Gpu<'_>) {
    const COUNT: usize = 1000;
    let stream = gpu.stream();
    let kernel = gpu.find(ORDER, c"multiply_add");
    let [values, copy] = [(); 2].map(|()| gpu.device_memory(4 * COUNT));
    ok!(gpu.hipMemsetD32Async(values, 1, COUNT, stream));
    let mut expected = 1_u32;
    for step in 1..=40_u32 {
        let count = (COUNT as i32).to_le_bytes();
        let arguments = block(&[&address(values), &count, &3_u32.to_le_bytes(), &step.to_le_bytes()]);
        assert_eq!(gpu.launch(kernel, [16, 1, 1], [64, 1, 1], 0, stream, &arguments), OK);
        expected = expected.wrapping_mul(3).wrapping_add(step);
        let default = hipMemcpyKind::hipMemcpyDefault;
        ok!(gpu.hipMemcpyAsync(copy, values, 4 * COUNT, default, stream));
        ok!(gpu.hipMemsetD32Async(values, 0, COUNT, stream));
        ok!(gpu.hipMemcpyAsync(values, copy, 4 * COUNT, default, stream));
    }
    assert_eq!(gpu.read_words(stream, values, COUNT), vec![expected; COUNT]);
    ok!(gpu.hipFree(values));
    ok!(gpu.hipFree(copy));
    ok!(gpu.hipStreamDestroy(stream));
}

pub(crate) fn any_thread_may_give_work_to_a_stream(hip: &Hip) {
    let stream = hip.stream();
    let memory = hip.device_memory(4 * 64);
    let (on, to) = (Handle::new(stream), Handle::new(memory));
    std::thread::scope(|scope| {
        for thread in 0..4_usize {
            scope.spawn(move || {
                for word in 0..16 {
                    let target = to.get().wrapping_byte_add(4 * (16 * thread + word));
                    ok!(hip.hipMemsetD32Async(target, (16 * thread + word) as i32, 1, on.get()));
                }
            });
        }
    });
    assert_eq!(hip.read_words(stream, memory, 64), (0..64).collect::<Vec<_>>());
    ok!(hip.hipFree(memory));
    ok!(hip.hipStreamDestroy(stream));
}

/// Any code in the process may use the null stream, which does not affect the driver's streams.
pub(crate) fn a_non_blocking_stream_and_the_null_stream_pass_each_other(gpu: &Gpu<'_>) {
    let null = std::ptr::null_mut();
    let stream = gpu.stream();
    let [memory, other] = [(); 2].map(|()| gpu.device_memory(64));
    let gate = gpu.hold(stream);
    gpu.while_closed(&gate, || {
        ok!(gpu.hipMemsetD8Async(memory, 1, 64, null));
        ok!(gpu.hipStreamSynchronize(null));
    });
    drop(gate);
    ok!(gpu.hipStreamSynchronize(stream));
    let gate = gpu.hold(null);
    gpu.while_closed(&gate, || {
        ok!(gpu.hipMemsetD8Async(other, 1, 64, stream));
        ok!(gpu.hipStreamSynchronize(stream));
    });
    drop(gate);
    ok!(gpu.hipStreamSynchronize(null));
    ok!(gpu.hipFree(memory));
    ok!(gpu.hipFree(other));
    ok!(gpu.hipStreamDestroy(stream));
}

/// The reason why all of the driver's streams are non-blocking.
pub(crate) fn the_null_stream_waits_for_a_blocking_stream(gpu: &Gpu<'_>) {
    let null = std::ptr::null_mut();
    let stream = gpu.stream_with(hipStreamDefault);
    let memory = gpu.device_memory(64);
    let gate = gpu.hold(stream);
    gpu.while_closed(&gate, || {
        ok!(gpu.hipMemsetD8Async(memory, 1, 64, null));
        assert_eq!(call!(gpu.hipStreamQuery(null)), NOT_READY);
    });
    drop(gate);
    ok!(gpu.hipStreamSynchronize(null));
    assert_eq!(call!(gpu.hipStreamQuery(stream)), OK);
    ok!(gpu.hipFree(memory));
    ok!(gpu.hipStreamDestroy(stream));
}

/// Two streams have separate hardware queues: AMD's runtime makes four.
pub(crate) fn work_of_one_stream_does_not_hold_another_up(gpu: &Gpu<'_>) {
    let [held, free] = [(); 2].map(|()| gpu.stream());
    let add = Add::new(gpu);
    let gate = gpu.hold(held);
    gpu.while_closed(&gate, || {
        assert_eq!(add.launch(gpu, free), OK);
        add.check(gpu, free);
    });
    assert_eq!(call!(gpu.hipStreamQuery(held)), NOT_READY);
    drop(gate);
    ok!(gpu.hipStreamSynchronize(held));
    ok!(gpu.hipStreamDestroy(held));
    ok!(gpu.hipStreamDestroy(free));
}

/// It does not matter which streams are blocked, as long as some are not, and all continue in the end.
pub(crate) fn streams_beyond_the_hardware_queues_may_be_held_up_by_work_of_others(gpu: &Gpu<'_>) {
    let streams = [(); 10].map(|()| gpu.stream());
    let memory = gpu.device_memory(40);
    ok!(gpu.hipMemsetD32Async(memory, 0, 10, streams[0]));
    ok!(gpu.hipStreamSynchronize(streams[0]));
    let gate = gpu.hold(streams[0]);
    gpu.while_closed(&gate, || {
        for (index, stream) in streams.into_iter().enumerate() {
            ok!(gpu.hipMemsetD32Async(memory.wrapping_byte_add(4 * index), 7, 1, stream));
        }
        ok!(gpu.hipStreamSynchronize(streams[1]));
    });
    assert_eq!(call!(gpu.hipStreamQuery(streams[0])), NOT_READY);
    drop(gate);
    for stream in streams {
        ok!(gpu.hipStreamSynchronize(stream));
    }
    assert_eq!(gpu.read_words(streams[9], memory, 10), [7; 10]);
    ok!(gpu.hipFree(memory));
    for stream in streams {
        ok!(gpu.hipStreamDestroy(stream));
    }
}

/// For any streams that share a hardware queue: a wait is for an earlier recording, so the oldest work can always run.
pub(crate) fn any_number_of_streams_that_wait_for_events_of_each_other_go_on(gpu: &Gpu<'_>) {
    const STREAMS: usize = 13;
    let streams = [(); STREAMS].map(|()| gpu.stream());
    let events = [(); STREAMS].map(|()| gpu.event());
    let kernel = gpu.find(ORDER, c"multiply_add");
    let value = gpu.device_memory(4);
    ok!(gpu.hipMemsetD32Async(value, 1, 1, streams[0]));
    ok!(gpu.hipEventRecord(events[0], streams[0]));
    let (mut last, mut expected) = (0, 1_u32);
    for step in 1..=100_u32 {
        // Each stream waits for another one each time.
        let next = step.wrapping_mul(step).wrapping_mul(7) as usize % STREAMS;
        ok!(gpu.hipStreamWaitEvent(streams[next], events[last], 0));
        let arguments =
            block(&[&address(value), &1_i32.to_le_bytes(), &3_u32.to_le_bytes(), &step.to_le_bytes()]);
        assert_eq!(gpu.launch(kernel, [1; 3], [64, 1, 1], 0, streams[next], &arguments), OK);
        ok!(gpu.hipEventRecord(events[next], streams[next]));
        expected = expected.wrapping_mul(3).wrapping_add(step);
        last = next;
    }
    assert_eq!(gpu.read_words(streams[last], value, 1), [expected]);
    for stream in streams.into_iter().rev() {
        ok!(gpu.hipStreamSynchronize(stream));
        ok!(gpu.hipStreamDestroy(stream));
    }
    for event in events {
        ok!(gpu.hipEventDestroy(event));
    }
    ok!(gpu.hipFree(value));
}
