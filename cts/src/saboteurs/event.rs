// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of the order within a command buffer: barriers and events.
//!
//! A driver that runs commands in their recorded order keeps every rule. These saboteurs run the commands one after
//! the other in the worst order that a wrong rule allows, so that the violations of the right rule show.

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
    waits_for_the_last_event: "A command that waits for several events is ordered only by the last of them.",
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
    resets_undo_earlier_waits: "A reset undoes the order of earlier waits.",
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
    refuses_unused_events: "A recording with an event without a wait is refused.", RefusesUnused,
        ["command_buffer_event.unused_events"];
}

fn has_events(commands: &[Command<'_>]) -> bool {
    commands.iter().any(|command| matches!(command, Command::WaitEvents { .. }))
}

/// The number of commands before the signal of an event.
fn signalled(signals: &[usize], event: usize) -> usize {
    signals.get(event).copied().unwrap_or(0)
}

/// A rule by which events and barriers order commands: see [`CommandList::predecessors`].
struct Rule {
    barriers: bool,
    /// Whether an event means its first signal instead of its last.
    first_signal: bool,
    /// The number of commands that must have completed for a wait. Its arguments are the signals so far, the awaited
    /// events, and the commands after the wait.
    waits: fn(&[usize], &[usize], &[Command<'_>]) -> usize,
}

impl Rule {
    const RIGHT: Self = Self {
        barriers: true,
        first_signal: false,
        waits: |signals, events, _| events.iter().map(|event| signalled(signals, *event)).max().unwrap_or(0),
    };

    /// The number of commands that each command has to wait for.
    fn predecessors(&self, commands: &[Command<'_>]) -> Vec<usize> {
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

/// The worst order that a wrong rule allows. A command that the right rule would delay runs as early as the wrong
/// rule lets it. All others run in recorded order.
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

/// Runs each recording in the worst order that a wrong rule allows. A recording for which the rule is right stays
/// unchanged.
struct Misorders(fn(&[Command<'_>], &mut Rule));

impl Sabotage for Misorders {
    fn prepare(&self, inner: &Inner, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        let mut rule = Rule::RIGHT;
        let commands: Vec<_> = list.commands().collect();
        (self.0)(&commands, &mut rule);
        let (wrong, right) = (rule.predecessors(&commands), list.predecessors());
        if wrong == right {
            return inner.pass_list(list);
        }
        let work = |command: &Command<'_>| {
            matches!(command, Command::Fill { .. } | Command::Update { .. })
                || matches!(command, Command::Copy { .. } | Command::Dispatch(_))
        };
        let order = worst(&wrong, &right).into_iter().map(|index| commands[index]).filter(work);
        inner.pass_list(list.edited(|_, edited| {
            order.flat_map(|command| [command, Command::Barrier]).try_for_each(|command| edited.push(command))
        })?)
    }
}

struct RefusesUnused;

impl Sabotage for RefusesUnused {
    fn prepare(&self, inner: &Inner, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        let commands: Vec<_> = list.commands().collect();
        let signals = |command: &Command<'_>| matches!(command, Command::SignalEvent { .. });
        if commands.iter().any(signals) && !has_events(&commands) {
            return Err(Error::invalid_argument("nobody waits for an event"));
        }
        inner.pass_list(list)
    }
}
