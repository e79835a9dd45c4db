// SPDX-License-Identifier: MIT OR Apache-2.0
//! When operations run: in the order of their streams, and once all ranks have reached them.

use std::ffi::c_void;
use std::ptr::null_mut;

use windlass_hip_sys::bindings::*;
use windlass_hip_sys::rccl::*;

use crate::common::Log;
use crate::world::{World, goes, rccl};
use crate::{fails, hip, ok};

const I32: ncclDataType_t = ncclDataType_t::ncclInt32;
const SUM: ncclRedOp_t = ncclRedOp_t::ncclSum;

fn all_reduce(world: &World, rank: usize, memory: *mut c_void, count: usize) -> ncclResult_t {
    let own = world.ranks[rank];
    rccl!(world.machine, ncclAllReduce(memory, memory, count, I32, SUM, own.comm, own.stream))
}

#[test]
fn an_operation_waits_for_the_streams_of_all_ranks() {
    for options in ["", "&seed=1", "&seed=2"] {
        let world = World::with(2, options);
        let memory = world.upload(|_| vec![0_i32]);
        let log = Log::default();
        let gate = world.machine.gate(world.ranks[1].stream);
        for rank in 0..2 {
            let own = world.ranks[rank];
            // The values that the operation sees are those that earlier work of the streams writes.
            ok!(world.machine, hipMemsetD32Async(memory[rank], 5 + rank as i32, 1, own.stream));
            assert_eq!(
                all_reduce(&world, rank, memory[rank], 1),
                ncclResult_t::ncclSuccess,
                "it does not wait"
            );
            world.machine.log_on(own.stream, &log, "behind");
        }
        assert!(!world.is_done(0), "{options}: rank 1 has not come");
        assert_eq!(log.words(), [""; 0], "{options}");
        drop(gate);
        for (rank, place) in memory.iter().enumerate() {
            ok!(world.machine, hipStreamSynchronize(world.ranks[rank].stream));
            assert_eq!(world.machine.download::<i32>(*place, 1), [11], "{options}");
        }
        assert_eq!(log.words(), ["behind", "behind"], "{options}");
    }
}

#[test]
fn other_streams_of_the_device_go_on_meanwhile() {
    let world = World::new(2);
    let memory = world.upload(|_| vec![1_i32]);
    assert_eq!(all_reduce(&world, 0, memory[0], 1), ncclResult_t::ncclSuccess);
    ok!(world.machine, hipSetDevice(0));
    let other = world.machine.stream();
    ok!(world.machine, hipMemsetAsync(world.machine.malloc(4), 0, 4, other));
    ok!(world.machine, hipStreamSynchronize(other));
    assert!(!world.is_done(0));
    assert_eq!(all_reduce(&world, 1, memory[1], 1), ncclResult_t::ncclSuccess);
    ok!(world.machine, hipStreamSynchronize(world.ranks[0].stream));
}

#[test]
fn threads_of_their_own_make_and_use_a_communicator() {
    for options in ["gfx942?devices=4", "gfx942?devices=4&seed=7"] {
        let machine = &crate::common::Machine::new(options);
        let mut id = ncclUniqueId::default();
        goes!(machine, ncclGetUniqueId(&mut id));
        std::thread::scope(|scope| {
            for rank in 0..4 {
                scope.spawn(move || {
                    ok!(machine, hipSetDevice(rank));
                    let mut comm = null_mut();
                    goes!(machine, ncclCommInitRank(&mut comm, 4, id, rank));
                    let (stream, memory) = (machine.stream(), machine.upload(&[1 << rank, 7]));
                    for _ in 0..3 {
                        goes!(machine, ncclAllReduce(memory, memory, 2, I32, SUM, comm, stream));
                    }
                    ok!(machine, hipStreamSynchronize(stream));
                    assert_eq!(machine.download::<i32>(memory, 2), [15 * 16, 7 * 64], "{options}");
                    let (mut count, mut own, mut device) = (0, 0, 0);
                    goes!(machine, ncclCommCount(comm, &mut count));
                    goes!(machine, ncclCommUserRank(comm, &mut own));
                    goes!(machine, ncclCommCuDevice(comm, &mut device));
                    assert_eq!((count, own, device), (4, rank, rank));
                    goes!(machine, ncclCommFinalize(comm));
                    goes!(machine, ncclCommDestroy(comm));
                });
            }
        });
    }
}

#[test]
fn a_group_over_two_streams_of_a_rank_orders_both() {
    let world = World::new(2);
    let (first, second) = (world.upload(|_| vec![1_i32]), world.upload(|_| vec![10_i32]));
    let mut others = [null_mut(); 2];
    for (rank, other) in others.iter_mut().enumerate() {
        ok!(world.machine, hipSetDevice(rank as i32));
        *other = world.machine.stream();
    }
    let gate = world.machine.gate(others[0]);
    world.enqueue(|rank, own| {
        goes!(world.machine, ncclAllReduce(first[rank], first[rank], 1, I32, SUM, own.comm, own.stream));
        rccl!(world.machine, ncclAllReduce(second[rank], second[rank], 1, I32, SUM, own.comm, others[rank]))
    });
    assert!(!world.is_done(0) && !world.is_done(1), "the operations are one, and its second stream is held");
    drop(gate);
    for stream in others {
        ok!(world.machine, hipStreamSynchronize(stream));
    }
    assert_eq!(world.machine.download::<i32>(first[0], 1), [2]);
    assert_eq!(world.machine.download::<i32>(second[1], 1), [20]);
}

#[test]
fn an_abort_lets_a_held_stream_go_on_and_tells_the_others() {
    for options in ["", "&seed=3"] {
        let world = World::with(3, options);
        let memory = world.upload(|_| vec![1_i32]);
        for rank in [0, 1] {
            assert_eq!(all_reduce(&world, rank, memory[rank], 1), ncclResult_t::ncclSuccess);
        }
        assert!(!world.is_done(0) && !world.is_done(1));
        assert_eq!(world.state(1), ncclResult_t::ncclSuccess);
        goes!(world.machine, ncclCommAbort(world.ranks[0].comm));
        ok!(world.machine, hipStreamSynchronize(world.ranks[0].stream));
        assert_eq!(world.machine.download::<i32>(memory[0], 1), [1], "nothing was reduced");
        assert!(!world.is_done(1), "{options}: as on hardware, it waits until it aborts too");
        assert_eq!(world.state(1), ncclResult_t::ncclRemoteError);
        assert!(
            world.last_error().is_some_and(|words| words.contains("rank 0 of 3")),
            "{:?}",
            world.last_error()
        );
        let refused = all_reduce(&world, 1, memory[1], 1);
        assert_eq!(refused, ncclResult_t::ncclRemoteError, "{options}");
        goes!(world.machine, ncclCommAbort(world.ranks[1].comm));
        ok!(world.machine, hipStreamSynchronize(world.ranks[1].stream));
        // A rank that comes after the abort uses no memory of the others.
        let state = world.state(2);
        assert_eq!(state, ncclResult_t::ncclRemoteError);
    }
}

#[test]
fn a_rank_that_comes_after_an_abort_is_held_and_touches_nothing() {
    let world = World::new(2);
    let memory = world.upload(|_| vec![1_i32]);
    let gate = world.machine.gate(world.ranks[1].stream);
    for rank in [0, 1] {
        assert_eq!(all_reduce(&world, rank, memory[rank], 1), ncclResult_t::ncclSuccess);
    }
    goes!(world.machine, ncclCommAbort(world.ranks[0].comm));
    ok!(world.machine, hipStreamSynchronize(world.ranks[0].stream));
    ok!(world.machine, hipFree(memory[0]));
    drop(gate);
    ok!(world.machine, hipSetDevice(1));
    let other = world.machine.stream();
    ok!(world.machine, hipStreamSynchronize(other));
    assert!(!world.is_done(1));
    goes!(world.machine, ncclCommAbort(world.ranks[1].comm));
    ok!(world.machine, hipStreamSynchronize(world.ranks[1].stream));
    assert_eq!(world.machine.simulator.last_fault(), None, "no freed memory was used");
}

#[test]
fn work_in_flight_outlives_its_communicator() {
    let world = World::new(2);
    let memory = world.upload(|_| vec![3_i32]);
    let gate = world.machine.gate(world.ranks[1].stream);
    for rank in [0, 1] {
        assert_eq!(all_reduce(&world, rank, memory[rank], 1), ncclResult_t::ncclSuccess);
        goes!(world.machine, ncclCommDestroy(world.ranks[rank].comm));
    }
    drop(gate);
    ok!(world.machine, hipStreamSynchronize(world.ranks[0].stream));
    assert_eq!(world.machine.download::<i32>(memory[1], 1), [6]);
    assert_eq!(all_reduce(&world, 0, memory[0], 1), ncclResult_t::ncclInvalidArgument, "the handle is stale");
}

/// Neither the machine nor its threads wait for a rank that never comes.
#[test]
fn a_machine_ends_while_a_rank_is_held() {
    let world = World::new(2);
    let memory = world.upload(|_| vec![3_i32]);
    assert_eq!(all_reduce(&world, 0, memory[0], 1), ncclResult_t::ncclSuccess);
    assert!(!world.is_done(0));
    let kept = std::sync::Arc::downgrade(&world.machine.simulator);
    drop(world);
    assert!(kept.upgrade().is_none());
}

#[test]
fn freed_memory_fails_the_work_of_all_ranks_and_the_report_names_the_rank() {
    let world = World::new(2);
    let mut memory = world.upload(|_| vec![3_i32; 4]);
    ok!(world.machine, hipSetDevice(1));
    let other = world.machine.stream();
    ok!(world.machine, hipMallocAsync(&mut memory[1], 16, other));
    ok!(world.machine, hipStreamSynchronize(other));
    let gate = world.machine.gate(world.ranks[0].stream);
    for rank in [0, 1] {
        assert_eq!(all_reduce(&world, rank, memory[rank], 4), ncclResult_t::ncclSuccess);
    }
    // The memory of rank 1 is given back before the operation runs.
    ok!(world.machine, hipFreeAsync(memory[1], other));
    ok!(world.machine, hipStreamSynchronize(other));
    drop(gate);
    fails!(hipErrorIllegalAddress, world.machine, hipStreamSynchronize(world.ranks[1].stream));
    fails!(hipErrorLaunchFailure, world.machine, hipStreamSynchronize(world.ranks[0].stream));
    let report = world.machine.simulator.last_fault().expect("there is a report");
    assert!(report.contains("ncclAllReduce of rank 1") && report.contains("freed"), "{report}");
    assert_eq!(world.state(1), ncclResult_t::ncclUnhandledCudaError);
    assert_eq!(world.state(0), ncclResult_t::ncclRemoteError);
    assert_eq!(world.machine.download::<i32>(memory[0], 4), [3; 4], "nothing is written");
}

#[test]
fn memory_of_another_device_needs_peer_access() {
    let world = World::new(2);
    let memory = world.upload(|_| vec![3_i32]);
    let run = || {
        world.enqueue(|rank, own| {
            let sent = memory[1];
            rccl!(world.machine, ncclAllReduce(sent, memory[rank], 1, I32, SUM, own.comm, own.stream))
        });
        hip!(world.machine, hipStreamSynchronize(world.ranks[0].stream))
    };
    assert_eq!(run(), hipError_t::hipErrorIllegalAddress);
    let report = world.machine.simulator.last_fault().expect("there is a report");
    assert!(report.contains("rank 0") && report.contains("not open to its device 0"), "{report}");
}

#[test]
fn different_calls_of_the_ranks_fail_with_both_in_the_report() {
    let world = World::new(2);
    let memory = world.upload(|_| vec![3_i32; 4]);
    world.enqueue(|rank, own| {
        let count = 4 - rank;
        rccl!(world.machine, ncclAllReduce(memory[rank], memory[rank], count, I32, SUM, own.comm, own.stream))
    });
    fails!(hipErrorLaunchFailure, world.machine, hipStreamSynchronize(world.ranks[0].stream));
    let report = world.machine.simulator.last_fault().expect("there is a report");
    assert!(report.contains("of 4 ncclInt32") && report.contains("of 3 ncclInt32"), "{report}");
    assert_eq!(world.state(0), ncclResult_t::ncclInvalidUsage);
}

/// Whatever order a seed draws, the results are the same.
#[test]
fn results_do_not_depend_on_the_schedule() {
    for seed in 0..25 {
        let world = World::with(2, &format!("&seed={seed}"));
        let memory = world.upload(|rank| vec![rank as i32 + 1; 8]);
        for _ in 0..2 {
            for rank in [0, 1] {
                let own = world.ranks[rank];
                assert_eq!(all_reduce(&world, rank, memory[rank], 8), ncclResult_t::ncclSuccess);
                let last = memory[rank].wrapping_byte_add(28);
                ok!(world.machine, hipMemcpyDtoDAsync(last, memory[rank], 4, own.stream));
            }
        }
        for rank in [0, 1] {
            ok!(world.machine, hipStreamSynchronize(world.ranks[rank].stream));
            assert_eq!(world.machine.download::<i32>(memory[rank], 8), [6; 8], "seed {seed}");
        }
    }
}
