// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of command buffers: what is recorded, what is replayed, and with which table.

use std::sync::{Arc, Mutex};

use windlass_hal::{
    BindingTable, BufferRef, Command, CommandList, Error, Operation, Pattern, Result, Semaphore, driver,
};

use crate::pass::Pass;

use super::{
    sabotage::{Inner, LetsGo, Only, Sabotage, Submission, alone, lock},
    transfer::from_the_start,
};

const EXECUTE: &str = "queue_execute";

saboteurs! {
    forgets_command_buffers: "Command buffers are never run, and their signals are reached.",
        Only(EXECUTE, |inner, s| Submission { operation: Operation::Barrier, ..s }.to(inner)),
        ["command_buffer.fill_direct"];
    runs_command_buffers_twice: "A command buffer is run twice for each submission.", Only(EXECUTE, run_twice),
        ["command_buffer.submitted_many_times"];
    runs_command_buffers_once: "A command buffer runs for its first submission alone.", OnlyOnce::default(),
        ["command_buffer.slot_ranges", "command_buffer.transient_memory_in_a_table"];
    replays_with_the_first_table: "Every submission of a command buffer gets the table of its first.",
        FirstTable::default(), ["threads.record_at_once"];
    replays_with_the_last_table: "A submission gets the table of the submission before it.", LastTable::default(),
        ["command_buffer.slot_ranges", "command_buffer.transient_memory_in_a_table"];
    tables_lose_their_offsets: "A bound range begins where its allocation does.",
        Only(EXECUTE, |inner, mut s| {
            if let Operation::Execute { bindings, .. } = &mut s.operation {
                *bindings = bindings.iter().map(from_the_start).collect::<Vec<_>>().into();
            }
            s.to(inner)
        }), ["command_buffer.slot_ranges"];
    tables_are_turned_round: "The first slot of a table is bound to the last buffer, and so on.",
        Only(EXECUTE, |inner, mut s| {
            if let Operation::Execute { bindings, .. } = &mut s.operation {
                *bindings = bindings.iter().rev().cloned().collect::<Vec<_>>().into();
            }
            s.to(inner)
        }), ["command_buffer.copy_table", "command_buffer.unused_slots_need_no_binding"];
    runs_while_recording: "A command buffer runs when its recording ends, too.", Prepares(|inner, list| {
        let prepared = inner.pass_list(list)?;
        let operation =
            Operation::Execute { command_buffer: prepared.clone(), bindings: BindingTable::empty() };
        if prepared.list().slots().iter().all(|slot| !slot.used) {
            inner.pass(windlass_hal::QueueAffinity::ANY, &[], &[], operation)?;
        }
        Ok(prepared)
    }), ["command_buffer.submitted_many_times", "operation.waits_execute"];
    prepares_the_recording_before: "What is run is the recording that ended before.", OneBehind::default(),
        ["threads.record_at_once"];
    drops_the_last_command: "The last command of a recording is lost.",
        Records(|commands, _| drop(commands.pop())),
        ["command_buffer.fill_direct", "command_buffer.fill_table"];
    drops_the_first_command: "The first command of a recording is lost.", Records(|commands, _| {
        commands.drain(..commands.len().min(1));
    }), ["command_buffer.fill_direct", "command_buffer.fill_table"];
    drops_long_recordings: "Commands after the five hundredth are lost.",
        Records(|commands, _| commands.truncate(500)), ["command_buffer.many_commands"];
    drops_debug_groups: "What stands between the ends of a debug group is lost.", Records(drop_groups),
        [
            "command_buffer.debug_groups", "debug_group.nests", "debug_group.orders_nothing",
            "debug_group.replayed_many_times",
        ];
    renames_debug_groups: "A debug group loses its name.",
        Records(|commands, _| each(commands, |command| {
            if let Command::BeginDebugGroup(group) = command { group.label.clear() }
        })), ["debug_group.keeps_what_tools_show"];
    recorded_fills_lose_their_offset: "Recorded fills begin where their allocation does.",
        Records(|commands, _| each(commands, |command| {
            if let Command::Fill { target, .. } = command { lose_offset(target) }
        })), ["command_buffer.fill_direct", "command_buffer.slot_ranges"];
    recorded_fills_take_one_byte: "Recorded fills repeat the first byte of their pattern.",
        Records(|commands, _| each(commands, |command| {
            if let Command::Fill { pattern, .. } = command { *pattern = Pattern::from(pattern.bytes()[0]) }
        })), ["command_buffer.fill_direct", "command_buffer.fill_table"];
    recorded_updates_lose_their_offset: "Recorded updates begin where their allocation does.",
        Records(|commands, _| each(commands, |command| {
            if let Command::Update { target, .. } = command { lose_offset(target) }
        })), ["command_buffer.update_direct", "command_buffer.slot_ranges"];
    recorded_updates_share_their_bytes: "Recorded updates write the first bytes that were recorded.",
        Records(|commands, _| each(commands, |command| {
            if let Command::Update { source, .. } = command { *source = 0..source.len() }
        })), ["command_buffer.update_direct", "command_buffer.update_table"];
    recorded_copies_lose_their_source_offset: "Recorded copies read from where their allocation begins.",
        Records(|commands, _| each(commands, |command| {
            if let Command::Copy { source, .. } = command { lose_offset(source) }
        })), ["command_buffer.copy_direct"];
    recorded_copies_lose_their_target_offset: "Recorded copies write to where their allocation begins.",
        Records(|commands, _| each(commands, |command| {
            if let Command::Copy { target, .. } = command { lose_offset(target) }
        })), ["command_buffer.copy_direct", "command_buffer.many_commands"];
    recorded_copies_swap_their_ends: "Recorded copies write their source and read their target.",
        Records(|commands, _| each(commands, |command| {
            if let Command::Copy { source, target } = command { std::mem::swap(source, target) }
        })), ["command_buffer.barriers_order_direct", "command_buffer.keeps_what_it_recorded"];
    recorded_slots_lose_their_offset: "A slot's offset is forgotten.",
        Records(|commands, _| each(commands, |command| match command {
            Command::Fill { target, .. } | Command::Update { target, .. } => lose_slot_offset(target),
            Command::Copy { source, target } => {
                lose_slot_offset(source);
                lose_slot_offset(target);
            }
            _ => {}
        })), ["command_buffer.table_is_captured", "command_buffer.slot_ranges"];
    refuses_empty_recordings: "A recording without commands is refused.", Prepares(|inner, list| {
        if list.commands().is_empty() {
            return Err(Error::invalid_argument("nothing was recorded"));
        }
        inner.pass_list(list)
    }), ["driver.foreign_command_buffer_refused", "command_buffer.empty"];
    lets_go_of_command_buffers: "A command buffer that nobody else holds when its waits are reached does not run.",
        LetsGo(|o| matches!(o, Operation::Execute { command_buffer, .. } if is_last(command_buffer))),
        [
            "command_buffer.submission_keeps_command_buffer", "operation.keeps_execute",
            "command_buffer_indirect.keeps_what_it_uses",
        ];
    lets_go_of_tables: "A command buffer with a table whose buffers nobody else holds does not run.",
        LetsGo(|o| matches!(o, Operation::Execute { bindings, .. } if alone(&bindings[..]))),
        ["command_buffer.in_flight_at_once"];
}

/// Whether nobody else holds a command buffer.
fn is_last(command_buffer: &Arc<dyn driver::RawCommandBuffer>) -> bool {
    Arc::strong_count(command_buffer) == 1
}

fn each(commands: &mut [Command], change: impl FnMut(&mut Command)) {
    commands.iter_mut().for_each(change);
}

fn lose_offset(reference: &mut BufferRef) {
    match reference {
        BufferRef::Direct(buffer) => *buffer = from_the_start(buffer),
        BufferRef::Slot { offset, .. } => *offset = 0,
    }
}

fn lose_slot_offset(reference: &mut BufferRef) {
    if let BufferRef::Slot { offset, .. } = reference {
        *offset = 0;
    }
}

fn drop_groups(commands: &mut Vec<Command>, _: &mut [u8]) {
    let mut depth = 0_u32;
    commands.retain(|command| match command {
        Command::BeginDebugGroup { .. } => {
            depth += 1;
            true
        }
        Command::EndDebugGroup => {
            depth = depth.saturating_sub(1);
            true
        }
        _ => depth == 0,
    });
}

fn run_twice(inner: &Inner, s: Submission<'_>) -> Result<()> {
    if let Operation::Execute { command_buffer, bindings } = &s.operation {
        let again = Operation::Execute { command_buffer: command_buffer.clone(), bindings: bindings.clone() };
        let first = Semaphore::new(0).at(1);
        inner.pass(s.affinity, s.waits, std::slice::from_ref(&first), again)?;
        return Submission { waits: &[first], ..s }.to(inner);
    }
    s.to(inner)
}

/// Knows which command buffers have run.
#[derive(Default)]
struct OnlyOnce(Mutex<Vec<Arc<dyn driver::RawCommandBuffer>>>);

impl Sabotage for OnlyOnce {
    fn submit(&self, inner: &Inner, mut s: Submission<'_>) -> Result<()> {
        if let Operation::Execute { command_buffer, .. } = &s.operation {
            let mut known = lock(&self.0);
            if known.iter().any(|known| Arc::ptr_eq(known, command_buffer)) {
                s.operation = Operation::Barrier;
            } else {
                known.push(command_buffer.clone());
            }
        }
        s.to(inner)
    }
}

#[derive(Default)]
struct FirstTable(Mutex<Vec<(Arc<dyn driver::RawCommandBuffer>, BindingTable)>>);

impl Sabotage for FirstTable {
    fn submit(&self, inner: &Inner, mut s: Submission<'_>) -> Result<()> {
        if let Operation::Execute { command_buffer, bindings } = &mut s.operation {
            let mut known = lock(&self.0);
            match known.iter().find(|(known, _)| Arc::ptr_eq(known, command_buffer)) {
                Some((_, first)) => *bindings = first.clone(),
                None => known.push((command_buffer.clone(), bindings.clone())),
            }
        }
        s.to(inner)
    }
}

#[derive(Default)]
struct LastTable(Mutex<Option<(Arc<dyn driver::RawCommandBuffer>, BindingTable)>>);

impl Sabotage for LastTable {
    fn submit(&self, inner: &Inner, mut s: Submission<'_>) -> Result<()> {
        if let Operation::Execute { command_buffer, bindings } = &mut s.operation {
            let last = lock(&self.0).replace((command_buffer.clone(), bindings.clone()));
            if let Some((_, table)) = last.filter(|(last, _)| Arc::ptr_eq(last, command_buffer)) {
                *bindings = table;
            }
        }
        s.to(inner)
    }
}

/// Changes how a recording is prepared.
struct Prepares(fn(&Inner, CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>>);

impl Sabotage for Prepares {
    fn prepare(&self, inner: &Inner, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        (self.0)(inner, list)
    }
}

/// Changes what is recorded: commands, and their argument blocks.
pub(super) struct Records(pub(super) fn(&mut Vec<Command>, &mut [u8]));

impl Sabotage for Records {
    fn prepare(&self, inner: &Inner, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        inner.pass_list(list.edited(self.0))
    }
}

/// Remembers the last recording.
#[derive(Default)]
struct OneBehind(Mutex<Option<Arc<dyn driver::RawCommandBuffer>>>);

impl Sabotage for OneBehind {
    fn prepare(&self, inner: &Inner, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        let prepared = inner.pass_list(list)?;
        let before = lock(&self.0).replace(prepared.clone());
        Ok(before.filter(|before| before.domain() == prepared.domain()).unwrap_or(prepared))
    }
}
