// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups, and the way of operations onto streams.

use std::sync::Arc;

use windlass_hip_sys::rccl::ncclResult_t;

use super::frame::{Answer, hip, misuse, rccl, seat};
use super::making::settle;
use crate::hip::boundary::call::Call;
use crate::hip::collectives::group::{Group, Task};
use crate::hip::collectives::member::{Member, Trouble};
use crate::hip::collectives::round::Entry;
use crate::hip::collectives::side::{Arrive, Leave, Rounds};
use crate::hip::objects::stream::Stream;
use crate::hip::work::item::Work;
use crate::packet::Edge;

/// Enqueues an operation, or keeps it for the end of the thread's group.
pub(super) fn submit(call: &Call, task: Task) -> Answer {
    {
        let mut group = call.thread.group.borrow_mut();
        if group.depth > 0 {
            group.tasks.push(task);
            return Ok(());
        }
    }
    let member = task.member.clone();
    enqueue(call, &member, vec![task])
}

/// Enqueues a rank's side of operations that it does together.
fn enqueue(call: &Call, member: &Arc<Member>, tasks: Vec<Task>) -> Answer {
    let seat = seat(member)?;
    let mut streams: Vec<Arc<Stream>> = Vec::new();
    for task in &tasks {
        if !streams.iter().any(|stream| Arc::ptr_eq(stream, &task.stream)) {
            streams.push(task.stream.clone());
        }
    }
    let Some((first, others)) = streams.split_first() else { return Ok(()) };
    let rounds: Vec<_> = tasks.iter().map(|task| seat.clique.next_round(seat.rank, task.of)).collect();
    let entry = |task: Task| Entry {
        operation: task.operation,
        sent: task.sent,
        received: task.received,
        factor: task.factor,
        member: task.member,
        rank: seat.rank,
        call: task.call,
    };
    let entries = tasks.into_iter().map(entry).collect();
    let rounds =
        Rounds { machine: call.runtime.machine.clone(), member: member.clone(), rounds: rounds.into() };
    let scheduler = &call.runtime.scheduler;
    // The operations run between the work of all their streams.
    let before: Vec<Edge> = others.iter().map(|stream| Edge::Point(scheduler.tail(stream))).collect();
    let arrive = Work::Errand(Box::new(Arrive { rounds: rounds.clone(), entries }));
    let condition = Edge::Condition(Arc::new(rounds.clone()));
    let leave = Work::Errand(Box::new(Leave(rounds)));
    let done = call
        .runtime
        .enqueue(first, arrive, &before)
        .and_then(|_| call.runtime.enqueue(first, leave, &[condition]))
        .map_err(hip)?;
    for stream in others {
        call.runtime.enqueue(stream, Work::Nothing, &[Edge::Point(done.clone())]).map_err(hip)?;
    }
    Ok(())
}

/// Makes the calls of a group.
fn end(call: &Call, group: Group) -> Answer {
    if let Some(result) = group.error {
        for making in &group.making {
            making.member.abort();
            call.runtime.collectives.members.remove(making.handle);
        }
        call.runtime.scheduler.notice();
        return Err(Trouble::new(result, "a call within the group failed, so the group does nothing"));
    }
    let mut in_progress = None;
    for making in &group.making {
        match settle(call, making) {
            Err(trouble) if trouble.result == ncclResult_t::ncclInProgress => in_progress = Some(trouble),
            other => other?,
        }
    }
    let mut left = group.tasks;
    while let Some(member) = left.first().map(|task| task.member.clone()) {
        let (of_member, others) = left.into_iter().partition(|task| Arc::ptr_eq(&task.member, &member));
        enqueue(call, &member, of_member)?;
        left = others;
    }
    in_progress.map_or(Ok(()), Err)
}

pub(super) unsafe extern "C" fn ncclGroupStart() -> ncclResult_t {
    rccl!(ncclGroupStart, |call| {
        let mut group = call.thread.group.borrow_mut();
        group.depth = group.depth.saturating_add(1);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn ncclGroupEnd() -> ncclResult_t {
    rccl!(ncclGroupEnd, |call| {
        let group = {
            let mut group = call.thread.group.borrow_mut();
            match group.depth {
                0 => return misuse("there is no group: ncclGroupStart was not called on this thread"),
                1 => std::mem::take(&mut *group),
                _ => {
                    group.depth -= 1;
                    return Ok(());
                }
            }
        };
        end(call, group)
    })
}
