// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of the order within a command buffer: barriers and events.
//!
//! A driver that runs commands in their order keeps every rule by doing so. These run them one after the other in the
//! worst order that a rule allows which is wrong, so that what the right one forbids shows.

use std::sync::Arc;

use windlass_hal::{Command, CommandList, Error, Result, driver};

use crate::pass::Pass;

use super::sabotage::{Inner, Sabotage};

saboteurs! {
    ignores_barriers: "Barriers of a recording order nothing.",
        Misorders(|commands, rule| {
            if commands.iter().any(|command| matches!(command, Command::Barrier)) {
                rule.barriers = false;
            }
        }),
        [
            "command_buffer.barriers_order_direct", "command_buffer.barriers_order_table",
            "command_buffer_event.among_barriers",
        ];
    ignores_events: "Events of a recording order nothing.",
        Misorders(|commands, rule| {
            if has_events(commands) {
                rule.waits = |_, _, _| 0;
            }
        }),
        [
            "command_buffer_event.orders_direct", "command_buffer_event.orders_table",
            "command_buffer_event.both_directions", "command_buffer_event.one_signal_many_waits",
            "command_buffer_event.signal_covers_earlier_waits", "command_buffer_event.chain",
            "command_buffer_event.submitted_many_times",
        ];
    waits_for_the_last_event: "Of the events that a command waits for, the last of the list alone orders it.",
        Misorders(|commands, rule| {
            if has_events(commands) {
                rule.waits = |signals, events, _| events.last().map_or(0, |event| signalled(signals, *event));
            }
        }), ["command_buffer_event.waits_for_several", "command_buffer_event.tells_the_order"];
    events_keep_their_first_signal: "A wait for an event that was signalled again means its first signal.",
        Misorders(|commands, rule| {
            if has_events(commands) {
                rule.first_signal = true;
            }
        }), ["command_buffer_event.signalled_again"];
    resets_undo_earlier_waits: "A reset takes back what a wait before it ordered.",
        Misorders(|commands, rule| {
            if has_events(commands) {
                rule.waits = |signals, events, rest| {
                    let is_reset = |event: &usize| {
                        rest.iter().any(|command| matches!(command, Command::ResetEvent { event: reset } if reset == event))
                    };
                    let kept = events.iter().filter(|event| !is_reset(event));
                    kept.map(|event| signalled(signals, *event)).max().unwrap_or(0)
                };
            }
        }), ["command_buffer_event.reset_leaves_earlier_waits"];
    refuses_unused_events: "A recording with an event that nobody waits for is refused.", RefusesUnused,
        ["command_buffer_event.unused_events"];
}

fn has_events(commands: &[Command]) -> bool {
    commands.iter().any(|command| matches!(command, Command::WaitEvents { .. }))
}

/// How many commands came before the signal of an event.
fn signalled(signals: &[usize], event: usize) -> usize {
    signals.get(event).copied().unwrap_or(0)
}

/// What orders commands, in the end: see [`CommandList::predecessors`].
struct Rule {
    barriers: bool,
    /// Whether an event means its first signal instead of its last.
    first_signal: bool,
    /// How many commands must have completed, from the signals so far, the events that are waited for, and the commands
    /// behind the wait.
    waits: fn(&[usize], &[usize], &[Command]) -> usize,
}

impl Rule {
    const RIGHT: Self = Self {
        barriers: true,
        first_signal: false,
        waits: |signals, events, _| events.iter().map(|event| signalled(signals, *event)).max().unwrap_or(0),
    };

    /// The number of commands that each has to wait for.
    fn predecessors(&self, commands: &[Command]) -> Vec<usize> {
        let (mut signals, mut before) = (Vec::new(), 0);
        let mut places = Vec::new();
        for (index, command) in commands.iter().enumerate() {
            match command {
                Command::Barrier if self.barriers => before = index,
                Command::SignalEvent { event } => {
                    if signals.len() <= *event {
                        signals.resize(event + 1, 0);
                    }
                    if signals[*event] == 0 || !self.first_signal {
                        signals[*event] = index;
                    }
                }
                Command::WaitEvents { events } => {
                    before = before.max((self.waits)(&signals, events, &commands[index + 1..]));
                }
                _ => {}
            }
            places.push(before);
        }
        places
    }
}

/// The worst order that a wrong rule allows: whatever the right rule forbids comes as soon as the wrong one lets it, and
/// all else in its turn.
fn worst(wrong: &[usize], right: &[usize]) -> Vec<usize> {
    let mut placed = vec![false; wrong.len()];
    let mut order = Vec::new();
    while order.len() < wrong.len() {
        let completed = placed.iter().take_while(|placed| **placed).count();
        let forbidden =
            |index: &usize| !placed[*index] && wrong[*index] <= completed && right[*index] > completed;
        let next = (0..wrong.len()).find(forbidden).unwrap_or(completed);
        placed[next] = true;
        order.push(next);
    }
    order
}

/// Runs what is recorded in the worst order that a wrong rule allows; a recording that the rule is right for stays as it
/// is.
struct Misorders(fn(&[Command], &mut Rule));

impl Sabotage for Misorders {
    fn prepare(&self, inner: &Inner, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        let mut rule = Rule::RIGHT;
        (self.0)(list.commands(), &mut rule);
        let (wrong, right) = (rule.predecessors(list.commands()), list.predecessors());
        if wrong == right {
            return inner.pass_list(list);
        }
        let order = worst(&wrong, &right);
        inner.pass_list(list.edited(|commands, _| {
            let work = |index: &usize| {
                matches!(commands[*index], Command::Fill { .. } | Command::Update { .. })
                    || matches!(commands[*index], Command::Copy { .. } | Command::Dispatch(_))
            };
            let in_turn = |index: usize| [commands[index].clone(), Command::Barrier];
            *commands = order.into_iter().filter(work).flat_map(in_turn).collect();
        }))
    }
}

struct RefusesUnused;

impl Sabotage for RefusesUnused {
    fn prepare(&self, inner: &Inner, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        let signals = |command: &Command| matches!(command, Command::SignalEvent { .. });
        if list.commands().iter().any(signals) && !has_events(list.commands()) {
            return Err(Error::invalid_argument("nobody waits for an event"));
        }
        inner.pass_list(list)
    }
}
