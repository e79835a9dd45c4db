// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hardware queues that streams share: the streams that block each other.

use std::ptr::null_mut;

use crate::common::{Log, Machine};
use windlass_hip_sys::bindings::*;

/// Runs all work that can run, by querying a blocked stream. Returns whether that stream has finished. Needs
/// a seed.
fn gets_on(machine: &Machine, stream: hipStream_t) -> bool {
    (0..2500).any(|_| hip!(machine, hipStreamQuery(stream)) == hipError_t::hipSuccess)
}

#[test]
fn streams_of_one_hardware_queue_run_in_the_order_in_which_they_were_asked() {
    const WORDS: [&str; 4] = ["one", "two", "three", "four"];
    for options in ["?hardware_queues=1", "?hardware_queues=1&seed=3"] {
        let machine = Machine::new(options);
        let streams = [(); 4].map(|()| machine.stream());
        let log = Log::default();
        for _ in 0..50 {
            for (stream, word) in streams.into_iter().zip(WORDS) {
                machine.log_on(stream, &log, word);
            }
        }
        ok!(machine, hipDeviceSynchronize());
        assert_eq!(log.words(), WORDS.repeat(50), "{options}");
    }
}

#[test]
fn the_fifth_stream_is_held_up_by_the_first() {
    for seed in [1, 2] {
        let machine = Machine::new(&format!("?seed={seed}"));
        let streams = [(); 10].map(|()| machine.stream());
        let gate = machine.gate(streams[0]);
        let log = Log::default();
        streams.iter().skip(1).for_each(|stream| machine.log_on(*stream, &log, "ran"));
        let held: Vec<usize> = (0..10).filter(|index| !gets_on(&machine, streams[*index])).collect();
        assert_eq!(held, [0, 4, 8], "as over AMD's HIP");
        drop(gate);
        ok!(machine, hipDeviceSynchronize());
        assert_eq!(log.words().len(), 9);
    }
}

#[test]
fn as_many_hardware_queues_as_streams_hold_nothing_up() {
    for seed in ["", "&seed=4"] {
        let machine = Machine::new(&format!("?hardware_queues=0{seed}"));
        let streams = [(); 10].map(|()| machine.stream());
        let gates = [0, 1, 2, 3, 4].map(|index| machine.gate(streams[index]));
        for stream in &streams[5..] {
            machine.log_on(*stream, &Log::default(), "ran");
            ok!(machine, hipStreamSynchronize(*stream));
        }
        drop(gates);
        ok!(machine, hipDeviceSynchronize());
    }
}

#[test]
fn a_wait_for_an_event_holds_up_the_streams_behind_it() {
    let machine = Machine::new("?hardware_queues=2&seed=1");
    let [held, waiting, _, behind] = [(); 4].map(|()| machine.stream());
    let event = machine.event();
    let gate = machine.gate(held);
    ok!(machine, hipEventRecord(event, held));
    ok!(machine, hipStreamWaitEvent(waiting, event, 0));
    machine.log_on(behind, &Log::default(), "ran");
    assert!(!gets_on(&machine, behind));
    drop(gate);
    ok!(machine, hipStreamSynchronize(behind));
}

#[test]
fn a_graph_is_one_piece_of_its_hardware_queue() {
    let machine = Machine::new("?hardware_queues=1&seed=2");
    let [launching, other] = [(); 2].map(|()| machine.stream());
    let relaxed = hipStreamCaptureMode::hipStreamCaptureModeRelaxed;
    ok!(machine, hipStreamBeginCapture(launching, relaxed));
    let gate = machine.gate(launching);
    let (mut graph, mut exec) = (null_mut(), null_mut());
    ok!(machine, hipStreamEndCapture(launching, &mut graph));
    ok!(machine, hipGraphInstantiate(&mut exec, graph, null_mut(), null_mut(), 0));
    ok!(machine, hipGraphLaunch(exec, launching));
    machine.log_on(other, &Log::default(), "ran");
    assert!(!gets_on(&machine, other));
    drop(gate);
    ok!(machine, hipStreamSynchronize(other));
}

#[test]
fn a_new_stream_gets_the_hardware_queue_with_the_fewest() {
    let machine = Machine::new("?hardware_queues=2&seed=6");
    let [held, second, _, fourth] = [(); 4].map(|()| machine.stream());
    ok!(machine, hipStreamDestroy(second));
    ok!(machine, hipStreamDestroy(fourth));
    let [fifth, sixth, seventh] = [(); 3].map(|()| machine.stream());
    let gate = machine.gate(held);
    for stream in [fifth, sixth, seventh] {
        machine.log_on(stream, &Log::default(), "ran");
    }
    // The first and the third share the other hardware queue.
    assert_eq!([fifth, sixth, seventh].map(|stream| gets_on(&machine, stream)), [true, true, false]);
    drop(gate);
    ok!(machine, hipDeviceSynchronize());
}

#[test]
fn streams_of_other_priorities_and_devices_have_their_own() {
    for seed in ["", "&seed=5"] {
        let machine = Machine::new(&format!("?devices=2&hardware_queues=1{seed}"));
        let held = machine.stream();
        let mut high = null_mut();
        ok!(machine, hipStreamCreateWithPriority(&mut high, 1, -1));
        ok!(machine, hipSetDevice(1));
        let elsewhere = machine.stream();
        let gate = machine.gate(held);
        for stream in [high, elsewhere] {
            machine.log_on(stream, &Log::default(), "ran");
            ok!(machine, hipStreamSynchronize(stream));
        }
        drop(gate);
        ok!(machine, hipStreamSynchronize(held));
    }
}

#[test]
fn the_null_stream_takes_its_share_when_it_is_used_first() {
    let machine = Machine::new("?hardware_queues=2&seed=7");
    let [_, held] = [(); 2].map(|()| machine.stream());
    let log = Log::default();
    // It shares the hardware queue of the first stream, so the third shares that of the second.
    machine.log_on(null_mut(), &log, "null");
    let third = machine.stream();
    let gate = machine.gate(held);
    machine.log_on(null_mut(), &log, "null");
    ok!(machine, hipStreamSynchronize(null_mut()));
    machine.log_on(third, &log, "third");
    assert!(!gets_on(&machine, third));
    drop(gate);
    ok!(machine, hipStreamSynchronize(third));
    assert_eq!(log.words(), ["null", "null", "third"]);
}
