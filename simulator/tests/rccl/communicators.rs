// SPDX-License-Identifier: MIT OR Apache-2.0
//! How communicators come about: blocking and not, in groups, by splits; and who is refused.

use std::ptr::null_mut;

use windlass_hip_sys::rccl::*;

use crate::common::Machine;
use crate::ok;
use crate::world::{World, goes, rccl};

const I32: ncclDataType_t = ncclDataType_t::ncclInt32;

fn id_of(machine: &Machine) -> ncclUniqueId {
    let mut id = ncclUniqueId::default();
    goes!(machine, ncclGetUniqueId(&mut id));
    id
}

fn state(machine: &Machine, comm: ncclComm_t) -> ncclResult_t {
    let mut state = ncclResult_t(99);
    goes!(machine, ncclCommGetAsyncError(comm, &mut state));
    state
}

fn last(machine: &Machine) -> String {
    machine.api.rccl().and_then(|rccl| rccl.last_error()).unwrap_or_default()
}

#[test]
fn one_thread_makes_a_communicator_within_a_group() {
    for options in ["gfx942?devices=2", "gfx942?devices=2&seed=4"] {
        let machine = &Machine::new(options);
        let id = id_of(machine);
        let mut comms = [null_mut(); 2];
        goes!(machine, ncclGroupStart());
        for (rank, comm) in comms.iter_mut().enumerate() {
            ok!(machine, hipSetDevice(rank as i32));
            goes!(machine, ncclCommInitRank(comm, 2, id, rank as i32));
        }
        goes!(machine, ncclGroupEnd());
        for comm in comms {
            assert_eq!(state(machine, comm), ncclResult_t::ncclSuccess);
            goes!(machine, ncclCommDestroy(comm));
        }
    }
}

/// A configuration that does not wait.
fn unblocked() -> ncclConfig_t {
    ncclConfig_t { blocking: 0, ..ncclConfig_t::undefined(22_707) }
}

#[test]
fn an_unblocked_communicator_is_in_progress_until_all_ranks_have_come() {
    let machine = &Machine::new("gfx942?devices=2");
    let id = id_of(machine);
    let mut comms = [null_mut(); 2];
    let init = |comm: &mut ncclComm_t, rank| {
        ok!(machine, hipSetDevice(rank));
        rccl!(machine, ncclCommInitRankConfig(comm, 2, id, rank, &mut unblocked()))
    };
    assert_eq!(init(&mut comms[0], 0), ncclResult_t::ncclInProgress);
    assert_eq!(state(machine, comms[0]), ncclResult_t::ncclInProgress);
    let mut count = 0;
    assert_eq!(
        rccl!(machine, ncclCommCount(comms[0], &mut count)),
        ncclResult_t::ncclInvalidArgument,
        "it is not ready"
    );
    assert_eq!(init(&mut comms[1], 1), ncclResult_t::ncclSuccess);
    assert_eq!(state(machine, comms[0]), ncclResult_t::ncclSuccess);
    goes!(machine, ncclCommCount(comms[0], &mut count));
    assert_eq!(count, 2);
}

/// A thread waits for a rank that gives up.
#[test]
fn an_abort_while_a_communicator_is_made_wakes_the_ranks_that_wait() {
    let machine = &Machine::new("gfx942?devices=3");
    let id = id_of(machine);
    let mut unready = null_mut();
    let result = rccl!(machine, ncclCommInitRankConfig(&mut unready, 3, id, 0, &mut unblocked()));
    assert_eq!(result, ncclResult_t::ncclInProgress);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            ok!(machine, hipSetDevice(1));
            let mut comm = null_mut();
            (rccl!(machine, ncclCommInitRank(&mut comm, 3, id, 1)), comm.is_null())
        });
        goes!(machine, ncclCommAbort(unready));
        assert_eq!(waits.join().expect("it returns"), (ncclResult_t::ncclRemoteError, true));
    });
    let mut late = null_mut();
    ok!(machine, hipSetDevice(2));
    assert_eq!(rccl!(machine, ncclCommInitRank(&mut late, 3, id, 2)), ncclResult_t::ncclRemoteError);
}

#[test]
fn a_split_makes_communicators_by_color_in_the_order_of_keys() {
    let world = World::new(4);
    let machine = &world.machine;
    let mut split = [null_mut(); 4];
    goes!(machine, ncclGroupStart());
    for (rank, made) in split.iter_mut().enumerate() {
        let color = if rank == 3 { NCCL_SPLIT_NOCOLOR } else { rank as i32 % 2 };
        // Keys against the order of the ranks.
        goes!(machine, ncclCommSplit(world.ranks[rank].comm, color, -(rank as i32), made, null_mut()));
    }
    goes!(machine, ncclGroupEnd());
    assert!(split[3].is_null());
    let facts = |comm| {
        let (mut count, mut rank, mut device) = (0, 0, 0);
        goes!(machine, ncclCommCount(comm, &mut count));
        goes!(machine, ncclCommUserRank(comm, &mut rank));
        goes!(machine, ncclCommCuDevice(comm, &mut device));
        (count, rank, device)
    };
    assert_eq!(
        split[..3].iter().map(|comm| facts(*comm)).collect::<Vec<_>>(),
        [(2, 1, 0), (1, 0, 1), (2, 0, 2)]
    );

    // Both communicators of a device work beside each other.
    let memory = world.upload(|rank| vec![1 << rank]);
    for rank in [0, 2] {
        let (own, place) = (world.ranks[rank], memory[rank]);
        let op = ncclRedOp_t::ncclSum;
        goes!(machine, ncclAllReduce(place, place, 1, I32, op, split[rank], own.stream));
    }
    for rank in [0, 2] {
        ok!(machine, hipStreamSynchronize(world.ranks[rank].stream));
        assert_eq!(machine.download::<i32>(memory[rank], 1), [5]);
    }
}

#[test]
fn wrong_ranks_and_ids_are_refused_with_words() {
    let machine = &Machine::new("gfx942?devices=2");
    let id = id_of(machine);
    let mut comm = null_mut();
    let mut refused = |id, ranks, rank, wanted, words: &str| {
        assert_eq!(rccl!(machine, ncclCommInitRank(&mut comm, ranks, id, rank)), wanted, "{words}");
        assert!(comm.is_null());
        assert!(last(machine).contains(words), "{words} is not in: {}", last(machine));
    };
    let wrong = ncclResult_t::ncclInvalidArgument;
    refused(id, 2, 2, wrong, "no rank 2 of 2");
    refused(id, 0, 0, wrong, "no rank 0 of 0");
    refused(id, 2, -1, wrong, "no rank -1 of 2");
    refused(ncclUniqueId::default(), 2, 0, wrong, "not one that ncclGetUniqueId");
    refused(id, 3, 0, ncclResult_t::ncclInvalidUsage, "the machine has 2");
    let other = Machine::new("gfx942?devices=2");
    refused(id_of(&other), 2, 0, wrong, "another simulated machine");
    assert_eq!(rccl!(machine, ncclGetUniqueId(null_mut())), wrong);

    let mut single = null_mut();
    goes!(machine, ncclCommInitRank(&mut single, 1, id, 0));
    let mut again = null_mut();
    let result = rccl!(machine, ncclCommInitRank(&mut again, 1, id, 0));
    assert_eq!(result, ncclResult_t::ncclInvalidUsage, "the id is used up");
}

#[test]
fn two_ranks_on_one_device_are_refused() {
    let machine = &Machine::new("gfx942?devices=2");
    let mut comms = [null_mut(); 2];
    let result = rccl!(machine, ncclCommInitAll(comms.as_mut_ptr(), 2, [1, 1].as_ptr()));
    assert_eq!(result, ncclResult_t::ncclInvalidUsage);
    assert!(last(machine).contains("ranks 0 and 1 both have device 1"), "{}", last(machine));

    let id = id_of(machine);
    goes!(machine, ncclGroupStart());
    goes!(machine, ncclCommInitRank(&mut comms[0], 2, id, 0));
    let result = rccl!(machine, ncclCommInitRank(&mut comms[1], 2, id, 1));
    assert_eq!(result, ncclResult_t::ncclInvalidUsage);
    assert_eq!(rccl!(machine, ncclGroupEnd()), ncclResult_t::ncclInvalidUsage);
    assert_eq!(
        rccl!(machine, ncclCommDestroy(comms[0])),
        ncclResult_t::ncclInvalidArgument,
        "the group made none"
    );
}

#[test]
fn a_configuration_that_was_not_set_up_is_refused() {
    let machine = &Machine::new("gfx942?devices=1");
    let mut comm = null_mut();
    for broken in [
        ncclConfig_t { magic: 0, ..unblocked() },
        ncclConfig_t { blocking: 2, ..unblocked() },
        ncclConfig_t { size: 8, ..unblocked() },
    ] {
        let mut config = broken;
        let result = rccl!(machine, ncclCommInitRankConfig(&mut comm, 1, id_of(machine), 0, &mut config));
        assert_eq!(result, ncclResult_t::ncclInvalidArgument, "{broken:?}: {}", last(machine));
    }
}
