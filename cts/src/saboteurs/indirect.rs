// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of indirect dispatches: the place and the time of reading the workgroup count.

use windlass_hal::{
    Buffer, BufferParams, BufferRef, BufferUsage, Command, CommandListBuilder, Commands, IndirectParameters,
    Operation, Result, Semaphore, WorkgroupCount,
};

use crate::pass::Pass;

use super::{
    command_buffer::Records,
    sabotage::{Change, Inner, Only, Submission},
    transfer::from_the_start,
};

saboteurs! {
    takes_one_workgroup_for_a_count: "A dispatch whose count is in a buffer launches one workgroup.",
        Change(|o| if let Operation::Dispatch(d) = o { one_workgroup(&mut d.workgroup_count) }),
        [
            "command_buffer_indirect.queue_dispatch",
            "command_buffer_indirect.queue_count_from_another_queue", "command_buffer_indirect.queue_chain",
        ];
    reads_counts_at_submission: "A count in a buffer is read when the dispatch is submitted.",
        Only("queue_dispatch", read_early), ["command_buffer_indirect.queue_waits_for_its_count"];
    counts_lose_their_offset: "A count in a buffer is read from the start of the allocation.",
        Change(|o| if let Operation::Dispatch(d) = o { lose_offset(&mut d.workgroup_count) }),
        ["command_buffer_indirect.queue_count_within_a_buffer"];
    recorded_counts_are_one: "A recorded dispatch whose count is in a buffer launches one workgroup.",
        Records(|commands, edited| each_count(commands, edited, one_workgroup)),
        [
            "command_buffer_indirect.static_direct", "command_buffer_indirect.static_table",
            "command_buffer_indirect.static_from_the_host", "command_buffer_indirect.many_in_flight",
            "command_buffer_indirect.three_dimensions", "command_buffer_indirect.zero_launches_nothing",
            "command_buffer_indirect.configuration", "command_buffer_indirect.drained_whole",
        ];
    recorded_counts_lose_their_offset: "A recorded dispatch reads its count from the start of the allocation.",
        Records(|commands, edited| each_count(commands, edited, lose_offset)),
        ["command_buffer_indirect.within_larger_buffers"];
    recorded_counts_are_read_first: "A count that earlier commands write is read before they run.",
        Records(|commands, edited| each_count(commands, edited, |count| change(count, |parameters| match parameters {
            IndirectParameters::Dynamic(range) => IndirectParameters::Static(range),
            other => other,
        }))),
        [
            "command_buffer_indirect.dynamic_direct", "command_buffer_indirect.dynamic_table",
            "command_buffer_indirect.dynamic_behind_an_event", "command_buffer_indirect.dynamic_chain",
            "command_buffer_indirect.both_kinds",
        ];
    recorded_counts_are_read_last: "A static count is read at the dispatch's turn, not when the list begins.",
        Records(|commands, edited| each_count(commands, edited, |count| change(count, |parameters| match parameters {
            IndirectParameters::Static(range) => IndirectParameters::Dynamic(range),
            other => other,
        }))), ["command_buffer_indirect.static_before_any_command"];
}

fn each_count(
    mut commands: Commands<'_>,
    edited: &mut CommandListBuilder,
    change: fn(&mut WorkgroupCount),
) -> Result<()> {
    commands.try_for_each(|command| match command {
        Command::Dispatch(mut dispatch) => {
            let mut count = dispatch.workgroup_count.to_owned();
            change(&mut count);
            dispatch.workgroup_count = count.as_ref();
            edited.push(Command::Dispatch(dispatch))
        }
        other => edited.push(other),
    })
}

fn change(count: &mut WorkgroupCount, change: fn(IndirectParameters) -> IndirectParameters) {
    if let WorkgroupCount::Indirect(parameters) = count {
        **parameters = change(parameters.as_ref().clone());
    }
}

fn one_workgroup(count: &mut WorkgroupCount) {
    if matches!(count, WorkgroupCount::Indirect(_)) {
        *count = WorkgroupCount::Direct([1; 3]);
    }
}

fn lose_offset(count: &mut WorkgroupCount) {
    let lose = |range: BufferRef| match range {
        BufferRef::Direct(buffer) => BufferRef::Direct(from_the_start(&buffer)),
        BufferRef::Slot { slot, length, .. } => BufferRef::slot(slot, 0, length),
    };
    if let WorkgroupCount::Indirect(parameters) = count {
        **parameters = match parameters.as_ref().clone() {
            IndirectParameters::Static(range) => IndirectParameters::Static(lose(range)),
            IndirectParameters::Dynamic(range) => IndirectParameters::Dynamic(lose(range)),
            other => other,
        };
    }
}

/// Copies the count at once, and launches with the copy.
fn read_early(inner: &Inner, mut s: Submission<'_>) -> Result<()> {
    let read = Semaphore::new(0).at(1);
    let mut waits = s.waits.to_vec();
    if let Operation::Dispatch(dispatch) = &mut s.operation
        && let Some(source) = dispatch.workgroup_count.buffer(&[])
    {
        let usage = BufferUsage::DEFAULT | BufferUsage::DISPATCH_INDIRECT_PARAMETERS;
        let params = BufferParams::device().with_usage(usage);
        let target = Buffer::from_driver(inner.allocate(&params, source.len())?, params);
        let copy = Operation::Copy { source, target: target.clone() };
        inner.pass(s.affinity, &[], std::slice::from_ref(&read), copy)?;
        waits.push(read);
        let parameters = IndirectParameters::Static(BufferRef::Direct(target));
        dispatch.workgroup_count = WorkgroupCount::Indirect(Box::new(parameters));
    }
    Submission { waits: &waits, ..s }.to(inner)
}
