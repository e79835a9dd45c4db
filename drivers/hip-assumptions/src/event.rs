// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events, which carry every edge between streams.

use crate::gpu::Gpu;
use crate::hips::{DEVICE_TO_HOST, Handle, Hip, NOT_READY, OK};

pub(crate) fn an_event_that_was_never_recorded_is_complete_and_no_wait(hip: &Hip) {
    let (stream, event) = (hip.stream(), hip.event());
    assert_eq!(call!(hip.hipEventQuery(event)), OK);
    ok!(hip.hipEventSynchronize(event));
    ok!(hip.hipStreamWaitEvent(stream, event, 0));
    ok!(hip.hipStreamSynchronize(stream));
    ok!(hip.hipEventDestroy(event));
    ok!(hip.hipStreamDestroy(stream));
}

/// Pooled events are recorded again while streams still wait for their earlier recording.
pub(crate) fn a_wait_captures_what_the_event_stands_for_when_it_is_called(gpu: &Gpu<'_>) {
    let [held, free, waiter] = [(); 3].map(|()| gpu.stream());
    let event = gpu.event();
    let gate = gpu.hold(held);
    gpu.while_closed(&gate, || {
        // Recorded behind nothing: the wait is over, independent of later recordings.
        ok!(gpu.hipEventRecord(event, free));
        ok!(gpu.hipStreamWaitEvent(waiter, event, 0));
        ok!(gpu.hipEventRecord(event, held));
        ok!(gpu.hipStreamSynchronize(waiter));
        // Recorded behind the gate: recording it elsewhere does not end the wait.
        ok!(gpu.hipStreamWaitEvent(waiter, event, 0));
        ok!(gpu.hipEventRecord(event, free));
        ok!(gpu.hipEventSynchronize(event));
        assert_eq!(call!(gpu.hipStreamQuery(waiter)), NOT_READY);
    });
    drop(gate);
    ok!(gpu.hipStreamSynchronize(waiter));
    assert_eq!(call!(gpu.hipStreamQuery(held)), OK);
    ok!(gpu.hipEventDestroy(event));
    for stream in [held, free, waiter] {
        ok!(gpu.hipStreamDestroy(stream));
    }
}

pub(crate) fn a_query_is_about_the_latest_recording(gpu: &Gpu<'_>) {
    let [held, free] = [(); 2].map(|()| gpu.stream());
    let event = gpu.event();
    let gate = gpu.hold(held);
    gpu.while_closed(&gate, || {
        ok!(gpu.hipEventRecord(event, held));
        assert_eq!(call!(gpu.hipEventQuery(event)), NOT_READY);
        ok!(gpu.hipEventRecord(event, free));
        ok!(gpu.hipEventSynchronize(event));
        assert_eq!(call!(gpu.hipEventQuery(event)), OK);
    });
    drop(gate);
    ok!(gpu.hipStreamSynchronize(held));
    ok!(gpu.hipEventDestroy(event));
    ok!(gpu.hipStreamDestroy(held));
    ok!(gpu.hipStreamDestroy(free));
}

pub(crate) fn an_event_stands_for_what_is_before_it_and_nothing_behind(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    let [before, behind] = [(); 2].map(|()| gpu.event());
    let memory = gpu.device_memory(64);
    ok!(gpu.hipMemsetD8Async(memory, 1, 64, stream));
    ok!(gpu.hipEventRecord(before, stream));
    let gate = gpu.hold(stream);
    ok!(gpu.hipEventRecord(behind, stream));
    gpu.while_closed(&gate, || ok!(gpu.hipEventSynchronize(before)));
    assert_eq!(call!(gpu.hipEventQuery(behind)), NOT_READY);
    gpu.returns_behind(&gate, {
        let behind = Handle::new(behind);
        move || ok!(gpu.hipEventSynchronize(behind.get()))
    });
    assert_eq!(call!(gpu.hipEventQuery(behind)), OK);
    ok!(gpu.hipEventDestroy(before));
    ok!(gpu.hipEventDestroy(behind));
    ok!(gpu.hipFree(memory));
    ok!(gpu.hipStreamDestroy(stream));
}

pub(crate) fn an_event_may_be_destroyed_while_a_stream_waits_for_it(hip: &Hip) {
    let (producer, consumer, event) = (hip.stream(), hip.stream(), hip.event());
    let memory = hip.device_memory(1 << 20);
    ok!(hip.hipMemsetD8Async(memory, 1, 1 << 20, producer));
    ok!(hip.hipEventRecord(event, producer));
    ok!(hip.hipStreamWaitEvent(consumer, event, 0));
    ok!(hip.hipEventDestroy(event));
    ok!(hip.hipStreamSynchronize(consumer));
    assert_eq!(call!(hip.hipStreamQuery(producer)), OK, "the consumer came after the producer's work");
    ok!(hip.hipFree(memory));
    ok!(hip.hipStreamDestroy(consumer));
    ok!(hip.hipStreamDestroy(producer));
}

pub(crate) fn an_event_orders_the_work_of_two_streams(hip: &Hip) {
    const COUNT: usize = 1 << 18;
    let (producer, consumer, event) = (hip.stream(), hip.stream(), hip.event());
    let memory = hip.device_memory(COUNT * 4);
    let mut host = vec![0_u32; COUNT];
    for value in 1..=8 {
        ok!(hip.hipMemsetD32Async(memory, value, COUNT, producer));
        ok!(hip.hipEventRecord(event, producer));
        ok!(hip.hipStreamWaitEvent(consumer, event, 0));
        ok!(hip.hipMemcpyAsync(host.as_mut_ptr().cast(), memory, COUNT * 4, DEVICE_TO_HOST, consumer));
        ok!(hip.hipStreamSynchronize(consumer));
        assert!(host.iter().all(|found| *found == value.cast_unsigned()), "value {value}");
    }
    ok!(hip.hipFree(memory));
    ok!(hip.hipEventDestroy(event));
    ok!(hip.hipStreamDestroy(consumer));
    ok!(hip.hipStreamDestroy(producer));
}

pub(crate) fn many_streams_may_wait_for_one_event(gpu: &Gpu<'_>) {
    let producer = gpu.stream();
    let consumers = [(); 3].map(|()| gpu.stream());
    let event = gpu.event();
    let gate = gpu.hold(producer);
    ok!(gpu.hipEventRecord(event, producer));
    gpu.while_closed(&gate, || {
        for consumer in consumers {
            ok!(gpu.hipStreamWaitEvent(consumer, event, 0));
            assert_eq!(call!(gpu.hipStreamQuery(consumer)), NOT_READY);
        }
    });
    drop(gate);
    for consumer in consumers {
        ok!(gpu.hipStreamSynchronize(consumer));
        ok!(gpu.hipStreamDestroy(consumer));
    }
    ok!(gpu.hipEventDestroy(event));
    ok!(gpu.hipStreamDestroy(producer));
}
