// SPDX-License-Identifier: MIT OR Apache-2.0
//! Making communicators: joining the ranks, and waiting for the others.

use std::ffi::c_int;
use std::sync::Arc;

use windlass_hip_sys::rccl::*;

use super::config::is_blocking;
use super::frame::{Answer, hip, member, misuse, put, rccl, seat, wrong};
use crate::hip::boundary::call::Call;
use crate::hip::collectives::gathering::{Comer, Gathering};
use crate::hip::collectives::group::Making;
use crate::hip::collectives::member::{Member, Trouble};

/// Joins a gathering and gives the client its handle. Waits for the other ranks as the client wants it.
fn join(
    call: &Call,
    (gathering, ranks, rank): (&Arc<Gathering>, usize, usize),
    (color, key): (i32, i32),
    (made, comm): (Arc<Member>, *mut ncclComm_t),
) -> Answer {
    let handle = enter(call, &made)?;
    put(call, comm, handle as ncclComm_t, "to the communicator")?;
    let joined = gathering.join(ranks, rank, Comer { color, key, member: Some(made.clone()) });
    call.runtime.scheduler.notice();
    if let Err(trouble) = joined {
        call.runtime.collectives.members.remove(handle);
        put(call, comm, std::ptr::null_mut(), "to the communicator")?;
        return Err(trouble);
    }
    let making = Making { member: made, handle };
    {
        let mut group = call.thread.group.borrow_mut();
        if group.depth > 0 {
            group.making.push(making);
            return Ok(());
        }
    }
    let settled = settle(call, &making);
    if settled.as_ref().is_err_and(|trouble| trouble.result != ncclResult_t::ncclInProgress) {
        put(call, comm, std::ptr::null_mut(), "to the communicator")?;
    }
    settled
}

fn enter(call: &Call, made: &Arc<Member>) -> Answer<u64> {
    let handle = call.runtime.collectives.members.insert(made.clone());
    let none = || Trouble::new(ncclResult_t::ncclSystemError, "there are too many communicators");
    Ok(handle.ok_or_else(none)?.get())
}

/// Waits for the other ranks, unless the client does not want to. A communicator that does not come about is gone.
pub(super) fn settle(call: &Call, making: &Making) -> Answer {
    let member = &making.member;
    if !member.blocking && !member.is_settled() {
        return Err(Trouble::new(ncclResult_t::ncclInProgress, "other ranks have not come"));
    }
    call.runtime
        .scheduler
        .wait_until(&|| member.is_settled(), None)
        .map_err(|refusal| hip(refusal.into()))?;
    match member.trouble().filter(|_| member.seat().is_none()) {
        Some(trouble) => {
            if member.blocking {
                call.runtime.collectives.members.remove(making.handle);
            }
            Err(trouble.clone())
        }
        None => Ok(()),
    }
}

fn init(
    call: &Call,
    comm: *mut ncclComm_t,
    (ranks, rank): (c_int, c_int),
    id: &ncclUniqueId,
    blocking: bool,
) -> Answer {
    put(call, comm, std::ptr::null_mut(), "to the communicator")?;
    let count = usize::try_from(ranks).ok().filter(|ranks| *ranks > 0);
    let index = usize::try_from(rank).ok();
    let (Some(count), Some(index)) = (count, index.filter(|index| count.is_some_and(|count| *index < count)))
    else {
        return wrong(format!("there is no rank {rank} of {ranks}"));
    };
    // More ranks than devices can never come.
    let devices = call.runtime.machine.devices.len();
    if count > devices {
        return misuse(format!(
            "{ranks} ranks need as many devices, and the machine has {devices}; the option devices= gives it more"
        ));
    }
    let device = call.device().map_err(hip)?.index;
    let gathering = call.runtime.collectives.gathering(id, count)?;
    join(call, (&gathering, count, index), (0, rank), (Member::new(device, blocking), comm))
}

pub(super) unsafe extern "C" fn ncclGetUniqueId(id: *mut ncclUniqueId) -> ncclResult_t {
    rccl!(ncclGetUniqueId, |call| {
        if id.is_null() {
            return wrong("the pointer to the unique id is null");
        }
        put(call, id, call.runtime.collectives.new_id(), "to the unique id")
    })
}

pub(super) unsafe extern "C" fn ncclCommInitRank(
    comm: *mut ncclComm_t,
    ranks: c_int,
    id: ncclUniqueId,
    rank: c_int,
) -> ncclResult_t {
    rccl!(ncclCommInitRank, |call| init(call, comm, (ranks, rank), &id, true))
}

pub(super) unsafe extern "C" fn ncclCommInitRankConfig(
    comm: *mut ncclComm_t,
    ranks: c_int,
    id: ncclUniqueId,
    rank: c_int,
    config: *mut ncclConfig_t,
) -> ncclResult_t {
    rccl!(ncclCommInitRankConfig, |call| {
        let blocking = is_blocking(call, config, true)?;
        init(call, comm, (ranks, rank), &id, blocking)
    })
}

pub(super) unsafe extern "C" fn ncclCommInitAll(
    comms: *mut ncclComm_t,
    devices: c_int,
    list: *const c_int,
) -> ncclResult_t {
    rccl!(ncclCommInitAll, |call| {
        let count = usize::try_from(devices).unwrap_or(0);
        if comms.is_null() || count == 0 {
            return wrong(format!("there must be a place for each communicator, and {devices} devices"));
        }
        let mut members = Vec::new();
        for rank in 0..devices {
            let device = match list.is_null() {
                true => rank,
                false => call.get(list.wrapping_add(rank as usize)).map_err(hip)?,
            };
            let Ok(device) = call.device_at(device) else {
                return wrong(format!("there is no device {device}"));
            };
            members.push(Member::new(device.index, true));
        }
        let gathering = Gathering::new(count);
        for (rank, member) in members.iter().enumerate() {
            gathering.join(count, rank, Comer { color: 0, key: 0, member: Some(member.clone()) })?;
        }
        for (rank, member) in members.iter().enumerate() {
            let handle = enter(call, member)?;
            put(call, comms.wrapping_add(rank), handle as ncclComm_t, "to the communicators")?;
        }
        Ok(())
    })
}

pub(super) unsafe extern "C" fn ncclCommSplit(
    comm: ncclComm_t,
    color: c_int,
    key: c_int,
    split: *mut ncclComm_t,
    config: *mut ncclConfig_t,
) -> ncclResult_t {
    rccl!(ncclCommSplit, |call| {
        let member = member(call, comm)?;
        let seat = seat(&member)?;
        let blocking = is_blocking(call, config, member.blocking)?;
        if color < 0 && color != NCCL_SPLIT_NOCOLOR {
            return wrong(format!("the color {color} is negative, and not NCCL_SPLIT_NOCOLOR"));
        }
        put(call, split, std::ptr::null_mut(), "to the communicator")?;
        let gathering = seat.clique.next_split(seat.rank);
        let place = (&gathering, seat.clique.ranks, seat.rank);
        if color == NCCL_SPLIT_NOCOLOR {
            let joined = gathering.join(place.1, place.2, Comer { color, key, member: None });
            call.runtime.scheduler.notice();
            return joined;
        }
        join(call, place, (color, key), (Member::new(member.device, blocking), split))
    })
}
