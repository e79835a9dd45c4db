// SPDX-License-Identifier: MIT OR Apache-2.0
//! The number of threads that a machine starts. The test has a process to itself, whose threads it counts.

mod common;

use std::path::Path;

use common::Machine;

/// Threads of this process that run packets.
fn threads() -> usize {
    let tasks = Path::new("/proc/self/task").read_dir().expect("a list of threads");
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("windlass-sim-")).count()
}

#[test]
fn there_are_no_more_threads_than_streams() {
    const STREAMS: usize = 4;
    let machine = Machine::new("");
    let streams = [(); STREAMS].map(|()| machine.stream());
    let memory = machine.malloc(STREAMS * 64);
    for round in 0..500_usize {
        for (at, stream) in streams.into_iter().enumerate() {
            let own = memory.wrapping_byte_add(at * 64);
            ok!(machine, hipMemsetAsync(own, round as i32, 64, stream));
        }
    }
    ok!(machine, hipDeviceSynchronize());
    let threads = threads();
    assert!(threads <= STREAMS, "{threads} threads for {STREAMS} streams");
}
