// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collective operations, sends and receives.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use windlass_hip_sys::bindings::hipStream_t;
use windlass_hip_sys::rccl::*;

use super::frame::{Answer, hip, member, misuse, rccl, seat, wrong};
use super::group::submit;
use crate::hip::boundary::call::Call;
use crate::hip::collectives::element::Reduction;
use crate::hip::collectives::group::Task;
use crate::hip::collectives::member::{Factor, Match, Member};
use crate::hip::collectives::operation::{Kind, Operation};
use crate::hip::objects::stream::Stream;

/// The arguments that all operations have.
struct Common {
    /// Null if the function has no such parameter.
    send: *const c_void,
    receive: *mut c_void,
    count: usize,
    datatype: ncclDataType_t,
    comm: ncclComm_t,
    stream: hipStream_t,
}

/// The stream of an operation. Null is the null stream of the communicator's device, whatever the thread's device is.
fn stream(call: &Call, member: &Member, handle: hipStream_t) -> Answer<Arc<Stream>> {
    let own = call.thread.device.replace(member.device);
    let found = call.working_stream(handle);
    call.thread.device.set(own);
    let stream = found.map_err(hip)?;
    if stream.device != member.device {
        return wrong(format!(
            "the stream is of device {}, and the communicator's rank has device {}",
            stream.device, member.device
        ));
    }
    Ok(stream)
}

/// Checks an operation and submits it. `kind` tells the operation from the member, its rank and the number of ranks.
fn collective(
    call: &Call,
    common: &Common,
    kind: impl FnOnce(&Member, usize, usize) -> Answer<(Kind, Match, Option<Factor>)>,
) -> Answer {
    let Common { send, receive, count, datatype, comm, .. } = *common;
    let member = member(call, comm)?;
    let seat = seat(&member)?;
    if member.is_finalized() {
        return misuse("the communicator was finalized, and takes no more operations");
    }
    if datatype.size().is_none() {
        return wrong(format!("{datatype:?} is no type of elements"));
    }
    let (kind, of, factor) = kind(&member, seat.rank, seat.clique.ranks)?;
    let stream = stream(call, &member, common.stream)?;
    let operation = Operation { kind, element: datatype, count: count as u64 };
    let slot = match of {
        Match::All => seat.rank,
        Match::Sent { .. } => 0,
        Match::Received { .. } => 1,
    };
    let Some(sides) = operation.sides(slot, seat.clique.ranks) else {
        return wrong(format!("no memory holds {count} elements of {datatype:?} for each rank"));
    };
    if sides.sent > 0 && send.is_null() {
        return wrong("the pointer to the memory that is sent is null");
    }
    if sides.received > 0 && receive.is_null() {
        return wrong("the pointer to the memory that is received is null");
    }
    // No rank takes part in a collective operation on nothing.
    if count == 0 && of == Match::All {
        return Ok(());
    }
    let task = Task {
        stream,
        operation,
        of,
        sent: send as u64,
        received: receive as u64,
        factor,
        call: call.name,
        member: member.clone(),
    };
    submit(call, task)
}

/// The reduction of a number, with the factor of a scaled sum.
fn reduction(
    member: &Member,
    op: ncclRedOp_t,
    datatype: ncclDataType_t,
) -> Answer<(Reduction, Option<Factor>)> {
    if let Some(known) = Reduction::from_op(op) {
        return Ok((known, None));
    }
    let number = op.0.checked_sub(ncclRedOp_t::ncclNumOps);
    match number.and_then(|number| member.factor(number as usize)) {
        Some((element, factor)) if element == datatype => Ok((Reduction::ScaledSum, Some(factor))),
        Some((element, _)) => {
            wrong(format!("{op:?} was made for {element:?}, and the elements are {datatype:?}"))
        }
        None => wrong(format!("{op:?} is no reduction of this communicator")),
    }
}

/// The index of a rank that an argument names.
fn rank_at(rank: c_int, ranks: usize, name: &str) -> Answer<usize> {
    match usize::try_from(rank).ok().filter(|rank| *rank < ranks) {
        Some(rank) => Ok(rank),
        None => wrong(format!("the {name} {rank} is no rank of {ranks}")),
    }
}

pub(super) unsafe extern "C" fn ncclAllReduce(
    send: *const c_void,
    receive: *mut c_void,
    count: usize,
    datatype: ncclDataType_t,
    op: ncclRedOp_t,
    comm: ncclComm_t,
    stream: hipStream_t,
) -> ncclResult_t {
    rccl!(ncclAllReduce, |call| {
        let common = Common { send, receive, count, datatype, comm, stream };
        collective(call, &common, |member, _, _| {
            let (reduction, factor) = reduction(member, op, datatype)?;
            Ok((Kind::AllReduce(reduction), Match::All, factor))
        })
    })
}

pub(super) unsafe extern "C" fn ncclReduce(
    send: *const c_void,
    receive: *mut c_void,
    count: usize,
    datatype: ncclDataType_t,
    op: ncclRedOp_t,
    root: c_int,
    comm: ncclComm_t,
    stream: hipStream_t,
) -> ncclResult_t {
    rccl!(ncclReduce, |call| {
        let common = Common { send, receive, count, datatype, comm, stream };
        collective(call, &common, |member, _, ranks| {
            let (reduction, factor) = reduction(member, op, datatype)?;
            Ok((Kind::Reduce(reduction, rank_at(root, ranks, "root")?), Match::All, factor))
        })
    })
}

pub(super) unsafe extern "C" fn ncclReduceScatter(
    send: *const c_void,
    receive: *mut c_void,
    count: usize,
    datatype: ncclDataType_t,
    op: ncclRedOp_t,
    comm: ncclComm_t,
    stream: hipStream_t,
) -> ncclResult_t {
    rccl!(ncclReduceScatter, |call| {
        let common = Common { send, receive, count, datatype, comm, stream };
        collective(call, &common, |member, _, _| {
            let (reduction, factor) = reduction(member, op, datatype)?;
            Ok((Kind::ReduceScatter(reduction), Match::All, factor))
        })
    })
}

pub(super) unsafe extern "C" fn ncclBroadcast(
    send: *const c_void,
    receive: *mut c_void,
    count: usize,
    datatype: ncclDataType_t,
    root: c_int,
    comm: ncclComm_t,
    stream: hipStream_t,
) -> ncclResult_t {
    rccl!(ncclBroadcast, |call| {
        let common = Common { send, receive, count, datatype, comm, stream };
        collective(call, &common, |_, _, ranks| {
            Ok((Kind::Broadcast(rank_at(root, ranks, "root")?), Match::All, None))
        })
    })
}

pub(super) unsafe extern "C" fn ncclBcast(
    buffer: *mut c_void,
    count: usize,
    datatype: ncclDataType_t,
    root: c_int,
    comm: ncclComm_t,
    stream: hipStream_t,
) -> ncclResult_t {
    rccl!(ncclBcast, |call| {
        let common = Common { send: buffer, receive: buffer, count, datatype, comm, stream };
        collective(call, &common, |_, _, ranks| {
            Ok((Kind::Broadcast(rank_at(root, ranks, "root")?), Match::All, None))
        })
    })
}

pub(super) unsafe extern "C" fn ncclAllGather(
    send: *const c_void,
    receive: *mut c_void,
    count: usize,
    datatype: ncclDataType_t,
    comm: ncclComm_t,
    stream: hipStream_t,
) -> ncclResult_t {
    rccl!(ncclAllGather, |call| {
        let common = Common { send, receive, count, datatype, comm, stream };
        collective(call, &common, |_, _, _| Ok((Kind::AllGather, Match::All, None)))
    })
}

pub(super) unsafe extern "C" fn ncclAllToAll(
    send: *const c_void,
    receive: *mut c_void,
    count: usize,
    datatype: ncclDataType_t,
    comm: ncclComm_t,
    stream: hipStream_t,
) -> ncclResult_t {
    rccl!(ncclAllToAll, |call| {
        let common = Common { send, receive, count, datatype, comm, stream };
        collective(call, &common, |_, _, _| Ok((Kind::AllToAll, Match::All, None)))
    })
}

pub(super) unsafe extern "C" fn ncclGather(
    send: *const c_void,
    receive: *mut c_void,
    count: usize,
    datatype: ncclDataType_t,
    root: c_int,
    comm: ncclComm_t,
    stream: hipStream_t,
) -> ncclResult_t {
    rccl!(ncclGather, |call| {
        let common = Common { send, receive, count, datatype, comm, stream };
        collective(call, &common, |_, _, ranks| {
            Ok((Kind::Gather(rank_at(root, ranks, "root")?), Match::All, None))
        })
    })
}

pub(super) unsafe extern "C" fn ncclScatter(
    send: *const c_void,
    receive: *mut c_void,
    count: usize,
    datatype: ncclDataType_t,
    root: c_int,
    comm: ncclComm_t,
    stream: hipStream_t,
) -> ncclResult_t {
    rccl!(ncclScatter, |call| {
        let common = Common { send, receive, count, datatype, comm, stream };
        collective(call, &common, |_, _, ranks| {
            Ok((Kind::Scatter(rank_at(root, ranks, "root")?), Match::All, None))
        })
    })
}

pub(super) unsafe extern "C" fn ncclSend(
    send: *const c_void,
    count: usize,
    datatype: ncclDataType_t,
    peer: c_int,
    comm: ncclComm_t,
    stream: hipStream_t,
) -> ncclResult_t {
    rccl!(ncclSend, |call| {
        let common = Common { send, receive: std::ptr::null_mut(), count, datatype, comm, stream };
        collective(call, &common, |_, from, ranks| {
            let to = rank_at(peer, ranks, "peer")?;
            Ok((Kind::Send, Match::Sent { from, to }, None))
        })
    })
}

pub(super) unsafe extern "C" fn ncclRecv(
    receive: *mut c_void,
    count: usize,
    datatype: ncclDataType_t,
    peer: c_int,
    comm: ncclComm_t,
    stream: hipStream_t,
) -> ncclResult_t {
    rccl!(ncclRecv, |call| {
        let common = Common { send: std::ptr::null(), receive, count, datatype, comm, stream };
        collective(call, &common, |_, to, ranks| {
            let from = rank_at(peer, ranks, "peer")?;
            Ok((Kind::Send, Match::Received { from, to }, None))
        })
    })
}
