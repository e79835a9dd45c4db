// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contents of memory after each operation.

use half::{bf16, f16};
use windlass_hip_sys::rccl::*;

use crate::common::Machine;
use crate::world::{World, goes, rccl};

const F32: ncclDataType_t = ncclDataType_t::ncclFloat32;
const I32: ncclDataType_t = ncclDataType_t::ncclInt32;
const SUM: ncclRedOp_t = ncclRedOp_t::ncclSum;

/// Numbers that tell rank and place.
fn numbers(rank: usize, count: usize) -> Vec<i32> {
    (0..count).map(|place| (rank * 100 + place) as i32).collect()
}

/// The result of an all-reduce of one element from each rank, by bytes.
fn reduced<T: Copy + Default>(world: &World, datatype: ncclDataType_t, op: ncclRedOp_t, of: &[T]) -> T {
    let memory = world.upload(|rank| vec![of[rank]]);
    world.group(|rank, own| {
        rccl!(world.machine, ncclAllReduce(memory[rank], memory[rank], 1, datatype, op, own.comm, own.stream))
    });
    world.machine.download::<T>(memory[world.ranks.len() - 1], 1)[0]
}

macro_rules! checks {
    ($world:expr, $datatype:ident, $values:expr, $wanted:expr) => {
        for (op, wanted) in [
            ncclRedOp_t::ncclSum,
            ncclRedOp_t::ncclProd,
            ncclRedOp_t::ncclMax,
            ncclRedOp_t::ncclMin,
            ncclRedOp_t::ncclAvg,
        ]
        .into_iter()
        .zip($wanted)
        {
            let found = reduced($world, ncclDataType_t::$datatype, op, &$values);
            assert_eq!(found, wanted, "{op:?} of {}", stringify!($datatype));
        }
    };
}

#[test]
fn every_type_has_every_reduction() {
    let world = &World::new(3);
    checks!(world, ncclInt8, [-4_i8, 3, -5], [-6, 60, 3, -5, -2]);
    checks!(world, ncclUint8, [200_u8, 3, 2], [205, 176, 200, 2, 68]);
    checks!(world, ncclInt32, [-4, 3, -50_000], [-50_001, 600_000, 3, -50_000, -16_667]);
    checks!(world, ncclUint32, [1 << 31, 3_u32, 2], [(1 << 31) + 5, 0, 1 << 31, 2, 715_827_884]);
    checks!(world, ncclInt64, [-4, 3, 1_i64 << 40], [(1 << 40) - 1, -12 << 40, 1 << 40, -4, 366_503_875_925]);
    checks!(world, ncclUint64, [6, 3, 1_u64 << 63], [(1 << 63) + 9, 0, 1 << 63, 3, ((1 << 63) + 9) / 3]);
    checks!(world, ncclFloat32, [1.5_f32, -2.0, 4.0], [3.5, -12.0, 4.0, -2.0, 3.5 / 3.0]);
    checks!(world, ncclFloat64, [1.5_f64, -2.0, 4.0], [3.5, -12.0, 4.0, -2.0, 3.5 / 3.0]);
    let f16s = |values: [f32; 5]| values.map(f16::from_f32);
    let wanted = f16s([3.5, -12.0, 4.0, -2.0, 3.5 / 3.0]);
    checks!(world, ncclFloat16, [1.5, -2.0, 4.0].map(f16::from_f32), wanted);
    let wanted = [3.5, -12.0, 4.0, -2.0, 3.5 / 3.0].map(bf16::from_f32);
    checks!(world, ncclBfloat16, [1.5, -2.0, 4.0].map(bf16::from_f32), wanted);
    // 1, 2 and -4 with 4 bits of exponent as gfx942 has them: -1, -8, 2, -4, and -1/3 rounded to -0.34375.
    checks!(world, ncclFloat8e4m3, [0x40_u8, 0x48, 0xd0], [0xc0, 0xd8, 0x48, 0xd0, 0xb3]);
    // The same with 5 bits: -1/3 is rounded to -0.3125.
    checks!(world, ncclFloat8e5m2, [0x40_u8, 0x44, 0xc8], [0xc0, 0xcc, 0x44, 0xc8, 0xb9]);
}

#[test]
fn ranks_on_gpus_of_two_parts_reduce_together() {
    let world = &World::over(2, Machine::new("gfx942,gfx908"));
    assert_eq!(reduced(world, F32, SUM, &[1.5_f32, -4.0]), -2.5);
}

#[test]
fn a_scaled_sum_multiplies_each_rank_by_its_factor() {
    let world = World::new(2);
    let memory = world.upload(|rank| vec![1.0_f32 + rank as f32; 3]);
    let in_memory = world.upload(|_| vec![100.0_f32]);
    let mut ops = [ncclRedOp_t(0); 2];
    let mut ten = 10.0_f32;
    let immediate = ncclScalarResidence_t::ncclScalarHostImmediate;
    let [first, second] = [world.ranks[0].comm, world.ranks[1].comm];
    goes!(world.machine, ncclRedOpCreatePreMulSum(&mut ops[0], (&raw mut ten).cast(), F32, immediate, first));
    let device = ncclScalarResidence_t::ncclScalarDevice;
    goes!(world.machine, ncclRedOpCreatePreMulSum(&mut ops[1], in_memory[1], F32, device, second));
    // The first factor was read by the call.
    ten = 0.0;
    let _ = ten;
    world.group(|rank, own| {
        let result = rccl!(
            world.machine,
            ncclAllReduce(memory[rank], memory[rank], 3, F32, ops[rank], own.comm, own.stream)
        );
        goes!(world.machine, ncclRedOpDestroy(ops[rank], own.comm));
        result
    });
    for place in memory {
        assert_eq!(world.machine.download::<f32>(place, 3), [210.0; 3]);
    }
    assert_eq!(
        rccl!(world.machine, ncclRedOpDestroy(ops[0], first)),
        ncclResult_t::ncclInvalidArgument,
        "it is gone"
    );
}

#[test]
fn an_all_reduce_of_more_than_a_piece_is_right_everywhere() {
    const COUNT: usize = (1 << 20) / 4 * 2 + 77;
    let world = World::new(2);
    let sent = world.upload(|rank| numbers(rank, COUNT));
    let received = world.upload(|_| vec![0_i32; COUNT]);
    world.group(|rank, own| {
        rccl!(world.machine, ncclAllReduce(sent[rank], received[rank], COUNT, I32, SUM, own.comm, own.stream))
    });
    let wanted: Vec<i32> = (0..COUNT as i32).map(|place| 100 + 2 * place).collect();
    for place in received {
        assert!(world.machine.download::<i32>(place, COUNT) == wanted);
    }
    assert!(world.machine.download::<i32>(sent[1], COUNT) == numbers(1, COUNT), "it is only read");
}

/// Runs an operation over 3 ranks with 2 elements for each block. Memory has 6 elements of each rank.
fn three(
    call: impl Fn(&World, usize, *mut std::ffi::c_void, *mut std::ffi::c_void) -> ncclResult_t,
    wanted: [[i32; 6]; 3],
) {
    let world = World::new(3);
    let sent = world.upload(|rank| numbers(rank, 6));
    let received = world.upload(|_| vec![-1_i32; 6]);
    world.group(|rank, _| call(&world, rank, sent[rank], received[rank]));
    let found: Vec<Vec<i32>> = received.iter().map(|place| world.machine.download(*place, 6)).collect();
    assert_eq!(found, wanted.map(Vec::from));
}

const NOT: i32 = -1;

#[test]
fn a_broadcast_gives_everyone_the_memory_of_the_root() {
    let all = [100, 101, NOT, NOT, NOT, NOT];
    three(
        |world, rank, sent, received| {
            let own = world.ranks[rank];
            let sent = if rank == 1 { sent } else { std::ptr::null_mut() };
            rccl!(world.machine, ncclBroadcast(sent, received, 2, I32, 1, own.comm, own.stream))
        },
        [all; 3],
    );
}

#[test]
fn a_reduce_gives_the_root_alone_the_sum() {
    let none = [NOT; 6];
    three(
        |world, rank, sent, received| {
            let own = world.ranks[rank];
            let received = if rank == 2 { received } else { std::ptr::null_mut() };
            rccl!(world.machine, ncclReduce(sent, received, 2, I32, SUM, 2, own.comm, own.stream))
        },
        [none, none, [300, 303, NOT, NOT, NOT, NOT]],
    );
}

#[test]
fn an_all_gather_puts_the_ranks_one_after_the_other() {
    three(
        |world, rank, sent, received| {
            let own = world.ranks[rank];
            rccl!(world.machine, ncclAllGather(sent, received, 2, I32, own.comm, own.stream))
        },
        [[0, 1, 100, 101, 200, 201]; 3],
    );
}

#[test]
fn a_reduce_scatter_gives_each_rank_its_block() {
    let block = |first, second| [first, second, NOT, NOT, NOT, NOT];
    three(
        |world, rank, sent, received| {
            let own = world.ranks[rank];
            rccl!(world.machine, ncclReduceScatter(sent, received, 2, I32, SUM, own.comm, own.stream))
        },
        [block(300, 303), block(306, 309), block(312, 315)],
    );
}

#[test]
fn an_all_to_all_sends_block_j_to_rank_j() {
    three(
        |world, rank, sent, received| {
            let own = world.ranks[rank];
            rccl!(world.machine, ncclAllToAll(sent, received, 2, I32, own.comm, own.stream))
        },
        [[0, 1, 100, 101, 200, 201], [2, 3, 102, 103, 202, 203], [4, 5, 104, 105, 204, 205]],
    );
}

#[test]
fn gather_and_scatter_go_to_and_from_the_root() {
    let none = [NOT; 6];
    three(
        |world, rank, sent, received| {
            let own = world.ranks[rank];
            rccl!(world.machine, ncclGather(sent, received, 2, I32, 0, own.comm, own.stream))
        },
        [[0, 1, 100, 101, 200, 201], none, none],
    );
    let block = |first| [first, first + 1, NOT, NOT, NOT, NOT];
    three(
        |world, rank, sent, received| {
            let own = world.ranks[rank];
            rccl!(world.machine, ncclScatter(sent, received, 2, I32, 1, own.comm, own.stream))
        },
        [block(100), block(102), block(104)],
    );
}

#[test]
fn operations_work_in_place() {
    let world = World::new(2);
    let machine = &world.machine;
    let both = |memory: &[*mut std::ffi::c_void]| -> Vec<Vec<i32>> {
        memory.iter().map(|place| machine.download(*place, 4)).collect()
    };
    // A rank's block is 2 elements, 8 bytes.
    let block = |memory: &[*mut std::ffi::c_void], rank: usize| memory[rank].wrapping_byte_add(8 * rank);

    let memory = world.upload(|rank| numbers(rank, 4));
    world.group(|rank, own| {
        let sent = block(&memory, rank);
        rccl!(machine, ncclAllGather(sent, memory[rank], 2, I32, own.comm, own.stream))
    });
    assert_eq!(both(&memory), [[0, 1, 102, 103]; 2]);

    let memory = world.upload(|rank| numbers(rank, 4));
    world.group(|rank, own| {
        let received = block(&memory, rank);
        rccl!(machine, ncclReduceScatter(memory[rank], received, 2, I32, SUM, own.comm, own.stream))
    });
    assert_eq!(both(&memory), [[100, 102, 2, 3], [100, 101, 104, 106]]);

    let memory = world.upload(|rank| numbers(rank, 4));
    world.group(|rank, own| rccl!(machine, ncclBcast(memory[rank], 4, I32, 0, own.comm, own.stream)));
    assert_eq!(both(&memory), [[0, 1, 2, 3]; 2]);

    let memory = world.upload(|rank| numbers(rank, 4));
    world.group(|rank, own| {
        rccl!(machine, ncclAllToAll(memory[rank], memory[rank], 2, I32, own.comm, own.stream))
    });
    assert_eq!(both(&memory), [[0, 1, 100, 101], [2, 3, 102, 103]]);
}

#[test]
fn sends_and_receives_of_a_group_cross() {
    let world = World::new(2);
    let machine = &world.machine;
    let sent = world.upload(|rank| numbers(rank, 2));
    let received = world.upload(|_| vec![NOT; 3]);
    world.group(|rank, own| {
        let peer = 1 - rank as i32;
        // Two messages between the same ranks stay in their order; the second is to oneself.
        goes!(machine, ncclSend(sent[rank], 1, I32, peer, own.comm, own.stream));
        goes!(machine, ncclSend(sent[rank].wrapping_byte_add(4), 1, I32, peer, own.comm, own.stream));
        goes!(machine, ncclSend(sent[rank], 1, I32, rank as i32, own.comm, own.stream));
        goes!(machine, ncclRecv(received[rank], 1, I32, peer, own.comm, own.stream));
        goes!(machine, ncclRecv(received[rank].wrapping_byte_add(4), 1, I32, peer, own.comm, own.stream));
        rccl!(
            machine,
            ncclRecv(received[rank].wrapping_byte_add(8), 1, I32, rank as i32, own.comm, own.stream)
        )
    });
    assert_eq!(machine.download::<i32>(received[0], 3), [100, 101, 0]);
    assert_eq!(machine.download::<i32>(received[1], 3), [0, 1, 100]);
}
