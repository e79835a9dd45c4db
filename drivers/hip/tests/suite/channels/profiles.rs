// SPDX-License-Identifier: MIT OR Apache-2.0
//! The times of the GPU that profiles have of collective operations.

use std::{thread, time::Duration};

use windlass_hal::{BufferRef, Collective, CommandKind, Reduction, Semaphore};

use super::{U8, World, sum};
use crate::{common::SOON, common::eventually, profiling};

/// How much later than the end of a group its queue learns of it. Profiles correct the clock of a GPU by up to 1 ms at a time, so
/// times of two operations compare only so far.
const LATE: Duration = Duration::from_millis(40);

#[test]
fn a_recorded_group_has_a_time_between_those_of_the_commands_around_it() {
    let world = World::new("gfx942?memory=64M");
    let channel = &world.channels(1).expect("simulated RCCL")[0];
    let (data, copied) = (world.bytes(0, 4096, 1), world.bytes(0, 4096, 2));
    let notes = profiling::begin(&world.device, true);
    let mut recorder = world.device.record().expect("recorder");
    let range = BufferRef::from(&data);
    recorder.fill(&data, 3_u8).expect("records");
    for _ in 0..2 {
        recorder.barrier();
        let sum = Collective::all_reduce(Reduction::Sum, U8, &range, &range);
        recorder.collective(channel, &[sum]).expect("records");
    }
    recorder.barrier();
    recorder.copy(&data, &copied).expect("records");
    let (commands, done) = (recorder.finish().expect("finishes"), Semaphore::new(0));
    world.queue(0).execute(&[], &[done.at(1)], &commands, Vec::new()).expect("submits");
    done.wait_blocking(1, SOON).expect("completes");
    world.device.profiling_end().expect("ends");
    let told = notes.commands();
    let kinds: Vec<_> = told.iter().map(|record| record.kind).collect();
    let group = CommandKind::Collective;
    assert_eq!(kinds, [CommandKind::Fill, group, group, CommandKind::Copy]);
    let times: Vec<_> = told.iter().map(|record| record.device.expect("each has a time")).collect();
    assert!(times.windows(2).all(|pair| pair[0].ended <= pair[1].begun), "{times:?}");
    assert!(times.iter().all(|time| time.begun <= time.ended), "{times:?}");
}

#[test]
fn the_time_of_a_group_does_not_depend_on_the_moment_at_which_its_queue_learns_of_it() {
    let world = World::new("gfx942?devices=2&memory=64M");
    let channels = world.channels(2).expect("simulated RCCL");
    let data = [world.bytes(0, 4096, 1), world.bytes(1, 4096, 2)];
    let notes = profiling::begin(&world.device, false);
    let before = world.interposer.count("hipEventRecord");
    let go = Semaphore::new(0);
    let gate = go.clone();
    // The line has recorded the start and the end of the group. The next one is that of the queue, before it waits for
    // the end.
    world.interposer.on_call(move |call| {
        if call.name == "hipEventRecord" && call.nth == before + 3 {
            gate.wait_blocking(1, SOON).expect("the test goes on");
        }
        None
    });
    let [first, second, filled] = [(); 3].map(|()| Semaphore::new(0));
    let queue = |index| world.device.queue(index).expect("a queue");
    queue(0).collective(&[], &[first.at(1)], &channels[0], &sum(&data[0])).expect("submits");
    eventually("it is in its stream", || world.interposer.count("hipEventRecord") >= before + 3);
    world.queue(1).collective(&[], &[second.at(1)], &channels[1], &sum(&data[1])).expect("submits");
    second.wait_blocking(1, SOON).expect("both ranks are there");
    queue(1).fill(&[], &[filled.at(1)], &world.bytes_of_nobody(), 1_u8).expect("submits");
    filled.wait_blocking(1, SOON).expect("completes");
    thread::sleep(LATE);
    go.signal(1).expect("signals");
    first.wait_blocking(1, SOON).expect("completes");
    world.device.profiling_end().expect("ends");
    let told = notes.operations();
    let time = |operation: &str, gpu| {
        let is_it = |record: &&windlass_hal::OperationRecord| {
            record.operation == operation && record.gpu == Some(gpu)
        };
        told.iter().find(is_it).and_then(|record| record.device).expect("it has a time")
    };
    let (group, fill) = (time("queue_collective", 0), time("queue_fill", 0));
    assert!(group.begun <= group.ended, "{group:?}");
    let behind_fill = Duration::from_nanos(group.ended.saturating_sub(fill.ended));
    assert!(behind_fill < LATE / 2, "{group:?} {fill:?}");
}
