// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of channels and collective operations.

use std::{sync::Arc, time::Duration};

use windlass_hal::{
    ChannelId, ChannelParams, Collective, CollectiveKind, Command, Operation, Reduction, Result, driver,
    pending,
};

use super::{
    command_buffer::{Records, all},
    sabotage::{Change, Inner, LetsGo, Only, Sabotage, Submission, Submit},
};

saboteurs! {
    collectives_do_nothing: "A group is a barrier.",
        Change(|o| if let Operation::Collective { .. } = o { *o = Operation::Barrier }),
        [
            "collective.all_gather", "collective.all_to_all", "collective.broadcast", "collective.order",
            "collective.reduce_scatter", "collective.send_and_recv", "collective.unaligned_lengths",
            "channel.split", "channel.wrong_count", "channel.absent_rank", "channel.absent_from_a_group",
            "channel.closed_before_the_join",
        ];
    reductions_are_sums: "Every reduction is a sum.",
        Change(|o| each(o, |kind| match kind {
            CollectiveKind::AllReduce(reduction) | CollectiveKind::ReduceScatter(reduction) => {
                *reduction = Reduction::Sum;
            }
            _ => {}
        })),
        ["collective.all_reduce", "collective.reduce_scatter"];
    reduces_everywhere: "Each rank gets the reduction, over its source where it has no target.",
        Change(|o| if let Operation::Collective { operations, .. } = o {
            for operation in operations {
                if let CollectiveKind::Reduce { reduction, .. } = operation.kind {
                    operation.kind = CollectiveKind::AllReduce(reduction);
                    operation.target = operation.target.take().or_else(|| operation.source.clone());
                }
            }
        }),
        ["collective.reduce"];
    nobody_sends_no_zeros: "Receiving from nobody leaves the target as it was.",
        Change(|o| if let Operation::Collective { operations, .. } = o {
            for operation in operations.iter_mut() {
                let of_nobody = |operation: &Collective| (operation.kind, operation.source.is_some());
                match of_nobody(operation) {
                    (CollectiveKind::SendRecv { to: Some(to), from: None }, true) => {
                        operation.kind = CollectiveKind::Send { to };
                        operation.target = None;
                    }
                    (CollectiveKind::SendRecv { to: None, from: None }, _) => operation.target = None,
                    _ => {}
                }
            }
        }),
        ["collective.send_recv"];
    groups_lose_broadcasts: "A group of several operations carries no broadcasts out.",
        Change(|o| if let Operation::Collective { operations, .. } = o
            && operations.len() > 1
        {
            operations.retain(|operation| !matches!(operation.kind, CollectiveKind::Broadcast { .. }));
        }),
        ["collective.groups"];
    groups_do_not_wait: "A group starts at once.",
        Only("queue_collective", |inner, s| Submission { waits: &[], ..s }.to(inner)),
        ["collective.order", "collective.failed_waits"];
    groups_signal_at_once: "A group reaches its signals when it is submitted.",
        Only("queue_collective", |inner, s| {
            let signals = s.signals;
            Submission { signals: &[], ..s }.to(inner)?;
            pending::reach(signals);
            Ok(())
        }),
        ["channel.absent_rank", "channel.closed_before_the_join", "collective.failed_waits"];
    groups_let_go: "A group whose channel has no other handle when its waits are reached does nothing.",
        LetsGo(|o| matches!(o, Operation::Collective { channel, .. } if Arc::strong_count(channel) == 1)),
        ["collective.work_keeps_objects"];
    ranks_are_reversed: "The last rank of a channel is the first.",
        Channels(|params| params.rank = params.count - 1 - params.rank),
        ["channel.ranks", "collective.all_gather"];
    channels_have_no_patience: "A rank waits a millisecond for the others.",
        Channels(|params| params.timeout = Duration::from_millis(1)),
        ["channel.absent_rank"];
    recorded_groups_are_lost: "A command buffer leaves its groups of collective operations out.",
        Records(|commands, edited| {
            all(commands.filter(|command| !matches!(command, Command::Collective { .. })), edited)
        }),
        [
            "command_buffer_collective.between_commands", "command_buffer_collective.slots",
            "command_buffer_collective.recorded_order", "command_buffer_collective.beside_groups_of_queues",
            "command_buffer_collective.split_channels", "command_buffer_collective.receives_from_nobody",
            "command_buffer_collective.keeps_objects", "command_buffer_collective.in_flight_many_times",
            "command_buffer_collective.writes_a_workgroup_count", "command_buffer_collective.absent_rank",
        ];
    recorded_groups_come_last: "A command buffer carries its groups out at its end.",
        Records(|commands, edited| {
            let is_group = |command: &Command<'_>| matches!(command, Command::Collective { .. });
            let (groups, others): (Vec<_>, Vec<_>) = commands.partition(is_group);
            others.into_iter().chain([Command::Barrier]).chain(groups).try_for_each(|one| edited.push(one))
        }),
        ["command_buffer_collective.between_commands"];
    recorded_groups_do_not_wait: "A command buffer with groups of collective operations starts at once.",
        Submit(|inner, s| {
            let has_groups = matches!(&s.operation, Operation::Execute { command_buffer, .. }
                if command_buffer.list().channels().len() > 0);
            if has_groups { Submission { waits: &[], ..s }.to(inner) } else { s.to(inner) }
        }),
        ["command_buffer_collective.failed_wait"];
    channels_have_one_name: "All channels have the same name.", OneName, ["channel.ranks"];
}

fn each(operation: &mut Operation, change: fn(&mut CollectiveKind)) {
    if let Operation::Collective { operations, .. } = operation {
        operations.iter_mut().for_each(|operation| change(&mut operation.kind));
    }
}

/// Changes the parameters of channels.
struct Channels(fn(&mut ChannelParams));

impl Sabotage for Channels {
    fn create_channel(&self, inner: &Inner, params: &ChannelParams) -> Result<Arc<dyn driver::RawChannel>> {
        let mut params = *params;
        (self.0)(&mut params);
        inner.create_channel(&params)
    }
}

struct OneName;

impl Sabotage for OneName {
    fn channel_id(&self, inner: &Inner) -> Result<ChannelId> {
        inner.channel_id().map(|_| ChannelId::from_bytes([1; ChannelId::BYTES]))
    }
}
