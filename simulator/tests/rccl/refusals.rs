// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that are refused, and the words about them.

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use windlass_hip_sys::bindings::*;
use windlass_hip_sys::rccl::*;

use crate::common::Machine;
use crate::ok;
use crate::world::{World, goes, rccl};

const I32: ncclDataType_t = ncclDataType_t::ncclInt32;
const SUM: ncclRedOp_t = ncclRedOp_t::ncclSum;

#[test]
fn wrong_arguments_are_refused_and_named() {
    let world = World::new(2);
    let machine = &world.machine;
    let memory = world.upload(|_| vec![1_i32; 4]);
    let (own, place) = (world.ranks[0], memory[0]);
    let wrong = |result: ncclResult_t, words: &str| {
        assert_eq!(result, ncclResult_t::ncclInvalidArgument, "{words}");
        let said = world.last_error().unwrap_or_default();
        assert!(said.contains(words), "{words} is not in: {said}");
    };
    let reduce = |send, receive, count, datatype, op, comm, stream| {
        rccl!(machine, ncclAllReduce(send, receive, count, datatype, op, comm, stream))
    };
    let place_const = place.cast_const();
    wrong(reduce(null(), place, 1, I32, SUM, own.comm, own.stream), "that is sent is null");
    wrong(reduce(place_const, null_mut(), 1, I32, SUM, own.comm, own.stream), "that is received is null");
    wrong(reduce(place_const, place, 1, ncclDataType_t(77), SUM, own.comm, own.stream), "ncclDataType_t(77)");
    wrong(reduce(place_const, place, 1, I32, ncclRedOp_t(9), own.comm, own.stream), "ncclRedOp_t(9)");
    wrong(reduce(place_const, place, usize::MAX, I32, SUM, own.comm, own.stream), "no memory holds");
    wrong(reduce(place_const, place, 1, I32, SUM, null_mut(), own.stream), "no communicator");
    wrong(reduce(place_const, place, 1, I32, SUM, own.comm, world.ranks[1].stream), "of device 1");
    wrong(rccl!(machine, ncclBcast(place, 1, I32, 2, own.comm, own.stream)), "the root 2 is no rank of 2");
    wrong(rccl!(machine, ncclSend(place, 1, I32, -1, own.comm, own.stream)), "the peer -1 is no rank of 2");
    wrong(rccl!(machine, ncclCommCount(own.comm, null_mut())), "null");
    let stale = 0x1234 as hipStream_t;
    assert_eq!(
        reduce(place_const, place, 1, I32, SUM, own.comm, stale),
        ncclResult_t::ncclUnhandledCudaError,
        "HIP knows no such stream"
    );
    // Nothing of this was enqueued.
    ok!(machine, hipDeviceSynchronize());
    goes!(machine, ncclAllReduce(null(), null_mut(), 0, I32, SUM, own.comm, own.stream));
    ok!(machine, hipStreamSynchronize(own.stream));
}

#[test]
fn the_null_stream_is_that_of_the_communicators_device() {
    let world = World::new(2);
    let memory = world.upload(|rank| vec![rank as i32 + 1]);
    ok!(world.machine, hipSetDevice(0));
    world.enqueue(|rank, own| {
        rccl!(world.machine, ncclAllReduce(memory[rank], memory[rank], 1, I32, SUM, own.comm, null_mut()))
    });
    let mut device = -1;
    ok!(world.machine, hipGetDevice(&mut device));
    assert_eq!(device, 0, "the thread's device is as it was");
    for place in memory {
        assert_eq!(world.machine.download::<i32>(place, 1), [3]);
    }
}

#[test]
fn a_group_with_an_error_does_nothing() {
    let world = World::new(2);
    let machine = &world.machine;
    let memory = world.upload(|_| vec![1_i32]);
    goes!(machine, ncclGroupStart());
    // Groups nest.
    goes!(machine, ncclGroupStart());
    for (rank, own) in world.ranks.iter().enumerate() {
        let place = memory[rank];
        goes!(machine, ncclAllReduce(place, place, 1, I32, SUM, own.comm, own.stream));
    }
    let refused = rccl!(machine, ncclBcast(memory[0], 1, I32, 5, world.ranks[0].comm, world.ranks[0].stream));
    assert_eq!(refused, ncclResult_t::ncclInvalidArgument);
    goes!(machine, ncclGroupEnd());
    assert_eq!(rccl!(machine, ncclGroupEnd()), ncclResult_t::ncclInvalidArgument);
    for own in &world.ranks {
        ok!(machine, hipStreamSynchronize(own.stream));
    }
    assert_eq!(machine.download::<i32>(memory[0], 1), [1]);
    assert_eq!(rccl!(machine, ncclGroupEnd()), ncclResult_t::ncclInvalidUsage, "there is no group");
    // The next group is a new one.
    world.group(|rank, own| {
        rccl!(machine, ncclAllReduce(memory[rank], memory[rank], 1, I32, SUM, own.comm, own.stream))
    });
    assert_eq!(machine.download::<i32>(memory[0], 1), [2]);
}

#[test]
fn a_finalized_communicator_takes_no_operation() {
    let world = World::new(2);
    let memory = world.upload(|_| vec![1_i32]);
    let own = world.ranks[0];
    goes!(world.machine, ncclCommFinalize(own.comm));
    let result = rccl!(world.machine, ncclAllReduce(memory[0], memory[0], 1, I32, SUM, own.comm, own.stream));
    assert_eq!(result, ncclResult_t::ncclInvalidUsage);
    assert_eq!(rccl!(world.machine, ncclCommFinalize(own.comm)), ncclResult_t::ncclInvalidUsage);
}

#[test]
fn results_have_words_and_the_version_follows_that_of_hip() {
    for (hip, wanted) in [("5.2", 21_104), ("6.2", 22_005), ("7.1", 22_707)] {
        let machine = Machine::new(&format!("gfx942?hip={hip}"));
        let mut version = 0;
        goes!(machine, ncclGetVersion(&mut version));
        assert_eq!(version, wanted, "HIP {hip}");
        let rccl = machine.api.rccl().expect("it has one");
        assert_eq!(rccl.origin().version, Version::from_number(wanted));
        // SAFETY: the function gives C strings that stay in place.
        let words = |result| unsafe { CStr::from_ptr(rccl.ncclGetErrorString(result)) }.to_string_lossy();
        assert_eq!(words(ncclResult_t::ncclSuccess), "no error");
        assert_eq!(words(ncclResult_t(1234)), "an unknown result");
    }
}
