// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of command buffers: their recording, their replay, and their tables.

use std::sync::{Arc, Mutex};

use windlass_hal::{
    BindingTable, Command, CommandList, CommandListBuilder, Commands, DebugGroup, Error, Operation, Pattern,
    RecordedRange, Result, Semaphore, driver,
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
    runs_command_buffers_once: "A command buffer runs only for its first submission.", OnlyOnce::default(),
        ["command_buffer.slot_ranges", "command_buffer.transient_memory_in_a_table"];
    replays_with_the_first_table: "Every submission of a command buffer gets the table of its first.",
        FirstTable::default(), ["threads.record_at_once"];
    replays_with_the_last_table: "A submission gets the table of the submission before it.", LastTable::default(),
        ["command_buffer.slot_ranges", "command_buffer.transient_memory_in_a_table"];
    tables_lose_their_offsets: "A bound range begins at the start of its allocation.",
        Only(EXECUTE, |inner, mut s| {
            if let Operation::Execute { bindings, .. } = &mut s.operation {
                *bindings = bindings.iter().map(from_the_start).collect::<Vec<_>>().into();
            }
            s.to(inner)
        }), ["command_buffer.slot_ranges"];
    tables_are_turned_round: "The slots of a table are bound in reverse order.",
        Only(EXECUTE, |inner, mut s| {
            if let Operation::Execute { bindings, .. } = &mut s.operation {
                *bindings = bindings.iter().rev().cloned().collect::<Vec<_>>().into();
            }
            s.to(inner)
        }), ["command_buffer.copy_table", "command_buffer.unused_slots_need_no_binding"];
    runs_while_recording: "A command buffer also runs when its recording ends.", Prepares(|inner, list| {
        let prepared = inner.pass_list(list)?;
        let operation =
            Operation::Execute { command_buffer: prepared.clone(), bindings: BindingTable::empty() };
        if prepared.list().slots().iter().all(|slot| !slot.used) {
            inner.pass(windlass_hal::QueueAffinity::ANY, &[], &[], operation)?;
        }
        Ok(prepared)
    }), ["command_buffer.submitted_many_times", "operation.waits_execute"];
    prepares_the_recording_before: "A command buffer runs the commands of the recording before it.", OneBehind::default(),
        ["threads.record_at_once"];
    drops_the_last_command: "The last command of a recording is lost.",
        Records(|commands, edited| {
            let kept = commands.len().saturating_sub(1);
            all(commands.take(kept), edited)
        }),
        ["command_buffer.fill_direct", "command_buffer.fill_table"];
    drops_the_first_command: "The first command of a recording is lost.", Records(|commands, edited| all(commands.skip(1), edited)), ["command_buffer.fill_direct", "command_buffer.fill_table"];
    drops_long_recordings: "Commands after the five hundredth are lost.",
        Records(|commands, edited| all(commands.take(500), edited)), ["command_buffer.many_commands"];
    drops_debug_groups: "The commands of a debug group are lost.", Records(drop_groups),
        [
            "command_buffer.debug_groups", "debug_group.nests", "debug_group.orders_nothing",
            "debug_group.replayed_many_times",
        ];
    renames_debug_groups: "A debug group loses its name.",
        Records(|mut commands, edited| commands.try_for_each(|command| match command {
            Command::BeginDebugGroup(group) => {
                let mut group: DebugGroup = group.clone();
                group.label.clear();
                edited.push(Command::BeginDebugGroup(&group))
            }
            other => edited.push(other),
        })), ["debug_group.keeps_what_tools_show"];
    recorded_fills_lose_their_offset: "Recorded fills begin at the start of their allocation.",
        Records(|commands, edited| each(commands, edited, |command| {
            if let Command::Fill { target, .. } = command { lose_offset(target) }
        })), ["command_buffer.fill_direct", "command_buffer.slot_ranges"];
    recorded_fills_take_one_byte: "Recorded fills repeat the first byte of their pattern.",
        Records(|commands, edited| each(commands, edited, |command| {
            if let Command::Fill { pattern, .. } = command { *pattern = Pattern::from(pattern.bytes()[0]) }
        })), ["command_buffer.fill_direct", "command_buffer.fill_table"];
    recorded_updates_lose_their_offset: "Recorded updates begin at the start of their allocation.",
        Records(|commands, edited| each(commands, edited, |command| {
            if let Command::Update { target, .. } = command { lose_offset(target) }
        })), ["command_buffer.update_direct", "command_buffer.slot_ranges"];
    recorded_updates_share_their_bytes: "Every recorded update writes the bytes of the first one.",
        Prepares(|inner, list| {
            let edited = list.edited(|commands, edited| each(commands, edited, |command| {
                if let Command::Update { source, .. } = command {
                    *source = list.data().get(..source.len()).unwrap_or(source);
                }
            }));
            inner.pass_list(edited?)
        }), ["command_buffer.update_direct", "command_buffer.update_table"];
    recorded_copies_lose_their_source_offset: "Recorded copies read from the start of their allocation.",
        Records(|commands, edited| each(commands, edited, |command| {
            if let Command::Copy { source, .. } = command { lose_offset(source) }
        })), ["command_buffer.copy_direct"];
    recorded_copies_lose_their_target_offset: "Recorded copies write to the start of their allocation.",
        Records(|commands, edited| each(commands, edited, |command| {
            if let Command::Copy { target, .. } = command { lose_offset(target) }
        })), ["command_buffer.copy_direct", "command_buffer.many_commands"];
    recorded_copies_swap_their_ends: "Recorded copies write their source and read their target.",
        Records(|commands, edited| each(commands, edited, |command| {
            if let Command::Copy { source, target } = command { std::mem::swap(source, target) }
        })), ["command_buffer.barriers_order_direct", "command_buffer.keeps_what_it_recorded"];
    recorded_slots_lose_their_offset: "A slot's offset is forgotten.",
        Records(|commands, edited| each(commands, edited, |command| match command {
            Command::Fill { target, .. } | Command::Update { target, .. } => lose_slot_offset(target),
            Command::Copy { source, target } => {
                lose_slot_offset(source);
                lose_slot_offset(target);
            }
            _ => {}
        })), ["command_buffer.table_is_captured", "command_buffer.slot_ranges"];
    refuses_empty_recordings: "A recording without commands is refused.", Prepares(|inner, list| {
        if list.commands().len() == 0 {
            return Err(Error::invalid_argument("nothing was recorded"));
        }
        inner.pass_list(list)
    }), ["driver.foreign_command_buffer_refused", "command_buffer.empty"];
    lets_go_of_command_buffers: "A command buffer whose last other handle is dropped before its waits are reached does not run.",
        LetsGo(|o| matches!(o, Operation::Execute { command_buffer, .. } if is_last(command_buffer))),
        [
            "command_buffer.submission_keeps_command_buffer", "operation.keeps_execute",
            "command_buffer_indirect.keeps_what_it_uses",
        ];
    lets_go_of_tables: "A command buffer whose table has the last handles of its buffers does not run.",
        LetsGo(|o| matches!(o, Operation::Execute { bindings, .. } if alone(&bindings[..]))),
        ["command_buffer.in_flight_at_once"];
}

/// Whether this is the last handle of a command buffer.
fn is_last(command_buffer: &Arc<dyn driver::RawCommandBuffer>) -> bool {
    Arc::strong_count(command_buffer) == 1
}

/// Records these commands.
pub(super) fn all<'a>(
    mut commands: impl Iterator<Item = Command<'a>>,
    edited: &mut CommandListBuilder,
) -> Result<()> {
    commands.try_for_each(|command| edited.push(command))
}

/// Records the commands, each after a change.
pub(super) fn each<'a>(
    commands: Commands<'a>,
    edited: &mut CommandListBuilder,
    mut change: impl FnMut(&mut Command<'a>),
) -> Result<()> {
    let changed = commands.map(|mut command| {
        change(&mut command);
        command
    });
    all(changed, edited)
}

fn lose_offset(range: &mut RecordedRange<'_>) {
    let (RecordedRange::Direct { offset, .. } | RecordedRange::Slot { offset, .. }) = range;
    *offset = 0;
}

fn lose_slot_offset(range: &mut RecordedRange<'_>) {
    if let RecordedRange::Slot { offset, .. } = range {
        *offset = 0;
    }
}

fn drop_groups(commands: Commands<'_>, edited: &mut CommandListBuilder) -> Result<()> {
    let mut depth = 0_u32;
    let kept = commands.filter(|command| match command {
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
    all(kept, edited)
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

/// Remembers the command buffers that have run.
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

/// Records other commands than it was given.
pub(super) struct Records(pub(super) fn(Commands<'_>, &mut CommandListBuilder) -> Result<()>);

impl Sabotage for Records {
    fn prepare(&self, inner: &Inner, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        inner.pass_list(list.edited(self.0)?)
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
