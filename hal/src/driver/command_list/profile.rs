// SPDX-License-Identifier: MIT OR Apache-2.0
//! The records that a profile has of the commands of a list.

use std::sync::Arc;

use super::{CommandList, Position};
use crate::{
    driver::{buffer_ref::BufferRef, collective::Collective, command::Command},
    order::witness::Witness,
    words::profile::{CommandKind, CommandRecord, TimeSpan},
};

impl CommandList {
    /// Tells the witness of a submission when the commands of this list ran on the device. The times are in the order of
    /// the list. A command without a time keeps its record.
    pub fn tell(&self, witness: &Witness, times: &[(Position, TimeSpan)]) {
        witness.tell_commands(self.records(times));
    }

    /// A record for each command that does work and for each group.
    pub(crate) fn records(&self, times: &[(Position, TimeSpan)]) -> Vec<CommandRecord> {
        let mut records: Vec<CommandRecord> = Vec::new();
        // The places of the open groups among the records.
        let mut open: Vec<usize> = Vec::new();
        let mut times = times.iter().peekable();
        for (index, (position, command)) in self.positions().enumerate() {
            let group = open.last().map(|place| records[*place].index);
            let new = |kind| CommandRecord::new(index as u32, kind, group);
            let mut record = match command {
                Command::Fill { target, .. } => sized(new(CommandKind::Fill), target.len()),
                Command::Update { target, .. } => sized(new(CommandKind::Update), target.len()),
                Command::Copy { target, .. } => sized(new(CommandKind::Copy), target.len()),
                Command::Dispatch(dispatch) => {
                    let functions = dispatch.executable().functions();
                    let function = functions.get(dispatch.function() as usize);
                    CommandRecord {
                        name: function.map(|function| Arc::from(function.name.as_str())),
                        workgroup_count: dispatch.workgroup_count.direct(),
                        workgroup_size: Some(dispatch.workgroup_size),
                        ..new(CommandKind::Dispatch)
                    }
                }
                Command::Collective { operations, .. } => {
                    let moved = |range: &Option<BufferRef>| range.as_ref().map_or(0, BufferRef::len);
                    let of = |one: &Collective<BufferRef>| moved(&one.source).max(moved(&one.target));
                    let bytes = operations.iter().map(of).fold(0, u64::saturating_add);
                    sized(new(CommandKind::Collective), bytes)
                }
                Command::BeginDebugGroup(group) => {
                    open.push(records.len());
                    CommandRecord {
                        name: Some(Arc::from(group.label.as_str())),
                        color: group.color,
                        ..new(CommandKind::Group)
                    }
                }
                Command::EndDebugGroup => {
                    open.pop();
                    continue;
                }
                _ => continue,
            };
            while times.next_if(|(at, _)| *at < position).is_some() {}
            let told = times.next_if(|(at, _)| *at == position).map(|(_, time)| *time);
            // The time of a group is that of its commands.
            if let (Some(time), false) = (told, record.kind == CommandKind::Group) {
                record.device = told;
                for place in &open {
                    widen(&mut records[*place], time);
                }
            }
            records.push(record);
        }
        records
    }
}

fn sized(record: CommandRecord, bytes: u64) -> CommandRecord {
    CommandRecord { bytes: Some(bytes), ..record }
}

/// Extends the time of a group by that of a command in it.
fn widen(group: &mut CommandRecord, time: TimeSpan) {
    let known = group.device.unwrap_or(time);
    let span = TimeSpan { begun: known.begun.min(time.begun), ended: known.ended.max(time.ended) };
    group.device = Some(span);
}
