// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events, which carry every edge between streams.

use super::{OK, device_memory, event, on_each_hip, stream};
use windlass_hip_sys::bindings::*;

#[test]
fn an_event_that_was_never_recorded_is_complete() {
    on_each_hip(|api| {
        let (stream, event) = (stream(api), event(api));
        // SAFETY: the handles are alive until destroyed.
        unsafe {
            assert_eq!(api.hipEventQuery(event), OK);
            assert_eq!(api.hipEventSynchronize(event), OK);
            assert_eq!(api.hipStreamWaitEvent(stream, event, 0), OK);
            assert_eq!(api.hipStreamSynchronize(stream), OK);
            assert_eq!(api.hipEventDestroy(event), OK);
            assert_eq!(api.hipStreamDestroy(stream), OK);
        }
    });
}

#[test]
fn an_event_may_be_destroyed_while_a_stream_waits_for_it() {
    on_each_hip(|api| {
        let (producer, consumer, event) = (stream(api), stream(api), event(api));
        let memory = device_memory(api, 1 << 20);
        // SAFETY: the handles are alive until destroyed; the fill is within the memory.
        unsafe {
            assert_eq!(api.hipMemsetD8Async(memory, 1, 1 << 20, producer), OK);
            assert_eq!(api.hipEventRecord(event, producer), OK);
            assert_eq!(api.hipStreamWaitEvent(consumer, event, 0), OK);
            assert_eq!(api.hipEventDestroy(event), OK);
            assert_eq!(api.hipStreamSynchronize(consumer), OK);
            assert_eq!(api.hipStreamQuery(producer), OK, "the consumer came after the producer's work");
            assert_eq!(api.hipFree(memory), OK);
            assert_eq!(api.hipStreamDestroy(consumer), OK);
            assert_eq!(api.hipStreamDestroy(producer), OK);
        }
    });
}

#[test]
fn an_event_orders_the_work_of_two_streams() {
    const COUNT: usize = 1 << 18;
    on_each_hip(|api| {
        let (producer, consumer, event) = (stream(api), stream(api), event(api));
        let memory = device_memory(api, COUNT * 4);
        let mut host = vec![0_u32; COUNT];
        for value in 1..=8 {
            // SAFETY: the handles are alive; fill and copy are within their ranges, which outlive the synchronisation.
            unsafe {
                assert_eq!(api.hipMemsetD32Async(memory, value, COUNT, producer), OK);
                assert_eq!(api.hipEventRecord(event, producer), OK);
                assert_eq!(api.hipStreamWaitEvent(consumer, event, 0), OK);
                let to_host = hipMemcpyKind::hipMemcpyDeviceToHost;
                let copied =
                    api.hipMemcpyAsync(host.as_mut_ptr().cast(), memory, COUNT * 4, to_host, consumer);
                assert_eq!(copied, OK);
                assert_eq!(api.hipStreamSynchronize(consumer), OK);
            }
            assert!(host.iter().all(|found| *found == value.cast_unsigned()), "value {value}");
        }
        // SAFETY: each is given up once.
        unsafe {
            assert_eq!(api.hipFree(memory), OK);
            assert_eq!(api.hipEventDestroy(event), OK);
            assert_eq!(api.hipStreamDestroy(consumer), OK);
            assert_eq!(api.hipStreamDestroy(producer), OK);
        }
    });
}
