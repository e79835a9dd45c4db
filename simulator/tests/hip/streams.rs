// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams and events: ordered work, unordered work, and completion.

use std::ptr::null_mut;

use crate::common::{Log, Machine, signal};
use windlass_hip_sys::bindings::*;

#[test]
fn a_stream_runs_in_order() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let log = Log::default();
    let gate = machine.gate(stream);
    for word in ["one", "two", "three"] {
        machine.log_on(stream, &log, word);
    }
    fails!(hipErrorNotReady, machine, hipStreamQuery(stream));
    assert!(log.words().is_empty());
    drop(gate);
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(log.words(), ["one", "two", "three"]);
    ok!(machine, hipStreamQuery(stream));
}

#[test]
fn streams_progress_independently() {
    let machine = Machine::new("");
    let (first, second) = (machine.stream(), machine.stream());
    let (send, receive) = signal();
    // The first stream waits for the second one, which was filled later.
    machine.call_on(first, move || receive.recv().unwrap());
    machine.call_on(second, move || send.send(()).unwrap());
    ok!(machine, hipStreamSynchronize(first));
    ok!(machine, hipStreamSynchronize(second));
}

#[test]
fn host_functions_progress_independently_under_a_seed() {
    let machine = Machine::new("gfx942?seed=5");
    let (first, second) = (machine.stream(), machine.stream());
    let (send, receive) = signal();
    machine.call_on(first, move || receive.recv().unwrap());
    machine.call_on(second, move || send.send(()).unwrap());
    ok!(machine, hipDeviceSynchronize());
}

#[test]
fn an_event_orders_two_streams() {
    let machine = Machine::new("");
    let (first, second) = (machine.stream(), machine.stream());
    let event = machine.event();
    let log = Log::default();
    let gate = machine.gate(first);
    machine.log_on(first, &log, "before");
    ok!(machine, hipEventRecord(event, first));
    ok!(machine, hipStreamWaitEvent(second, event, 0));
    machine.log_on(second, &log, "after");
    fails!(hipErrorNotReady, machine, hipEventQuery(event));
    fails!(hipErrorNotReady, machine, hipStreamQuery(second));
    drop(gate);
    ok!(machine, hipStreamSynchronize(second));
    assert_eq!(log.words(), ["before", "after"]);
    ok!(machine, hipEventQuery(event));
}

#[test]
fn an_unrecorded_event_is_no_wait() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let event = machine.event();
    ok!(machine, hipEventQuery(event));
    ok!(machine, hipEventSynchronize(event));
    ok!(machine, hipStreamWaitEvent(stream, event, 0));
    ok!(machine, hipStreamSynchronize(stream));
}

#[test]
fn a_wait_keeps_the_recording_of_its_moment() {
    let machine = Machine::new("");
    let (first, second, third) = (machine.stream(), machine.stream(), machine.stream());
    let event = machine.event();
    let early = machine.gate(first);
    ok!(machine, hipEventRecord(event, first));
    ok!(machine, hipStreamWaitEvent(third, event, 0));
    // Recorded again behind a gate that stays shut: the earlier wait must not follow.
    let late = machine.gate(second);
    ok!(machine, hipEventRecord(event, second));
    drop(early);
    ok!(machine, hipStreamSynchronize(third));
    fails!(hipErrorNotReady, machine, hipEventQuery(event));
    drop(late);
    ok!(machine, hipEventSynchronize(event));
}

#[test]
fn an_event_may_go_while_a_stream_waits_for_it() {
    let machine = Machine::new("");
    let (first, second) = (machine.stream(), machine.stream());
    let event = machine.event();
    let log = Log::default();
    let gate = machine.gate(first);
    machine.log_on(first, &log, "before");
    ok!(machine, hipEventRecord(event, first));
    ok!(machine, hipStreamWaitEvent(second, event, 0));
    machine.log_on(second, &log, "after");
    ok!(machine, hipEventDestroy(event));
    drop(gate);
    ok!(machine, hipStreamSynchronize(second));
    assert_eq!(log.words(), ["before", "after"]);
}

#[test]
fn a_destroyed_stream_finishes_what_it_holds() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let event = machine.event();
    let log = Log::default();
    let gate = machine.gate(stream);
    machine.log_on(stream, &log, "done");
    ok!(machine, hipEventRecord(event, stream));
    ok!(machine, hipStreamDestroy(stream));
    fails!(hipErrorContextIsDestroyed, machine, hipStreamQuery(stream));
    drop(gate);
    ok!(machine, hipEventSynchronize(event));
    assert_eq!(log.words(), ["done"]);
}

#[test]
fn the_null_stream_waits_for_blocking_streams_and_they_for_it() {
    let machine = Machine::new("");
    let (blocking, other, apart) = (machine.stream_with(0), machine.stream_with(0), machine.stream());
    let log = Log::default();
    let gate = machine.gate(blocking);
    machine.log_on(blocking, &log, "blocking");
    machine.log_on(null_mut(), &log, "null");
    machine.log_on(other, &log, "other");
    // A non-blocking stream does not wait for the null stream.
    machine.log_on(apart, &log, "apart");
    ok!(machine, hipStreamSynchronize(apart));
    assert_eq!(log.words(), ["apart"]);
    drop(gate);
    ok!(machine, hipStreamSynchronize(other));
    assert_eq!(log.words(), ["apart", "blocking", "null", "other"]);
}

#[test]
fn the_stream_of_a_thread_is_its_own() {
    let machine = Machine::new("");
    let per_thread = || 2 as hipStream_t;
    let gate = machine.gate(per_thread());
    fails!(hipErrorNotReady, machine, hipStreamQuery(per_thread()));
    std::thread::scope(|scope| {
        scope.spawn(|| ok!(machine, hipStreamSynchronize(per_thread())));
    });
    drop(gate);
    ok!(machine, hipStreamSynchronize(per_thread()));
}

#[test]
fn device_synchronize_waits_for_every_stream_of_its_device_alone() {
    let machine = Machine::new("gfx942?devices=2");
    let here = machine.stream();
    ok!(machine, hipSetDevice(1));
    let there = machine.stream();
    let gate = machine.gate(there);
    ok!(machine, hipSetDevice(0));
    let log = Log::default();
    machine.log_on(here, &log, "here");
    ok!(machine, hipDeviceSynchronize());
    assert_eq!(log.words(), ["here"]);
    fails!(hipErrorNotReady, machine, hipStreamQuery(there));
    drop(gate);
    ok!(machine, hipSetDevice(1));
    ok!(machine, hipDeviceSynchronize());
    ok!(machine, hipStreamQuery(there));
}

#[test]
fn an_event_orders_streams_of_two_devices() {
    let machine = Machine::new("gfx942?devices=2");
    let here = machine.stream();
    let event = machine.event();
    ok!(machine, hipSetDevice(1));
    let there = machine.stream();
    let log = Log::default();
    let gate = machine.gate(here);
    machine.log_on(here, &log, "here");
    ok!(machine, hipEventRecord(event, here));
    ok!(machine, hipStreamWaitEvent(there, event, 0));
    machine.log_on(there, &log, "there");
    // An event records on streams of its own device only.
    fails!(hipErrorInvalidHandle, machine, hipEventRecord(event, there));
    drop(gate);
    ok!(machine, hipStreamSynchronize(there));
    assert_eq!(log.words(), ["here", "there"]);
}

#[test]
fn elapsed_time_needs_two_reached_recordings_with_timing() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let (start, stop) = (machine.event(), machine.event());
    let mut ms = -1.0;
    fails!(hipErrorInvalidHandle, machine, hipEventElapsedTime(&mut ms, start, stop));
    ok!(machine, hipEventRecord(start, stream));
    let gate = machine.gate(stream);
    ok!(machine, hipEventRecord(stop, stream));
    fails!(hipErrorNotReady, machine, hipEventElapsedTime(&mut ms, start, stop));
    drop(gate);
    ok!(machine, hipEventSynchronize(stop));
    ok!(machine, hipEventElapsedTime(&mut ms, start, stop));
    assert!(ms >= 0.0, "{ms}");
    let mut untimed = null_mut();
    ok!(machine, hipEventCreateWithFlags(&mut untimed, 2));
    ok!(machine, hipEventRecord(untimed, stream));
    ok!(machine, hipEventSynchronize(untimed));
    fails!(hipErrorInvalidHandle, machine, hipEventElapsedTime(&mut ms, start, untimed));
}

#[test]
fn a_callback_learns_stream_and_status() {
    unsafe extern "C" fn callback(stream: hipStream_t, status: hipError_t, data: *mut std::ffi::c_void) {
        // SAFETY: the pointer is to the sender that outlives the synchronisation below.
        let send = unsafe { &*data.cast::<std::sync::mpsc::Sender<(usize, u32)>>() };
        send.send((stream as usize, status.0)).unwrap();
    }
    let machine = Machine::new("");
    let stream = machine.stream();
    let (send, receive) = std::sync::mpsc::channel::<(usize, u32)>();
    ok!(machine, hipStreamAddCallback(stream, Some(callback), (&raw const send).cast_mut().cast(), 0));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(receive.recv().unwrap(), (stream as usize, 0));
}

#[test]
fn a_seed_repeats_its_order() {
    let order = |seed: u32| {
        let machine = Machine::new(&format!("gfx942?seed={seed}"));
        let streams: Vec<_> = (0..6).map(|_| machine.stream()).collect();
        let event = machine.event();
        let first = machine.stream();
        let gate = machine.gate(first);
        ok!(machine, hipEventRecord(event, first));
        let size = 64;
        let memory = machine.malloc(size);
        for (index, stream) in streams.iter().enumerate() {
            ok!(machine, hipStreamWaitEvent(*stream, event, 0));
            ok!(machine, hipMemsetAsync(memory, index as i32 + 1, size, *stream));
        }
        drop(gate);
        ok!(machine, hipDeviceSynchronize());
        machine.download::<u8>(memory, 1)[0]
    };
    let winners: Vec<u8> = (0..8).map(order).collect();
    assert_eq!(winners, (0..8).map(order).collect::<Vec<_>>());
    assert!(winners.iter().any(|winner| *winner != winners[0]), "all seeds gave the same order: {winners:?}");
}

#[test]
fn many_threads_use_one_machine() {
    let machine = Machine::new("");
    std::thread::scope(|scope| {
        for thread in 0..8_u32 {
            let machine = &machine;
            scope.spawn(move || {
                let stream = machine.stream();
                for round in 0..50_u32 {
                    let memory = machine.malloc(4096);
                    let value = (thread << 16 | round) as i32;
                    ok!(machine, hipMemsetD32Async(memory, value, 1024, stream));
                    let mut words = vec![0_i32; 1024];
                    ok!(machine, hipMemcpyDtoHAsync(words.as_mut_ptr().cast(), memory, 4096, stream));
                    ok!(machine, hipStreamSynchronize(stream));
                    assert!(words.iter().all(|word| *word == value));
                    ok!(machine, hipFree(memory));
                }
                ok!(machine, hipStreamDestroy(stream));
            });
        }
    });
}

#[test]
fn no_call_waits_for_work_on_a_devices_memory() {
    let machine = Machine::new("");
    let (memory, other) = (machine.malloc(4096), machine.malloc(4096));
    let gate = machine.gate(null_mut());
    let pending = || fails!(hipErrorNotReady, machine, hipStreamQuery(null_mut()));
    ok!(machine, hipMemset(memory, 1, 4096));
    ok!(machine, hipMemsetD32(memory, 1, 16));
    pending();
    ok!(machine, hipMemcpy(other, memory, 4096, hipMemcpyKind::hipMemcpyDeviceToDevice));
    ok!(machine, hipMemcpy2D(other, 64, memory, 64, 64, 4, hipMemcpyKind::hipMemcpyDeviceToDevice));
    pending();
    drop(gate);
    let mut word = 0_u32;
    let to = (&raw mut word).cast();
    // The null stream is in order, and host memory is read before this returns.
    ok!(machine, hipMemcpy(to, other, 4, hipMemcpyKind::hipMemcpyDeviceToHost));
    assert_eq!(word, 1);
}
