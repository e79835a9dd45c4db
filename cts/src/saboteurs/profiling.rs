// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of profiles: drivers that tell the witness of a submission something wrong, or nothing.

use std::sync::Arc;

use windlass_hal::{
    Accounts, Command, CommandList, Error, Point, Result, TimeSpan, driver,
    pool::{SlabRequest, SlabSource},
    witness::{self, Witness},
};

use crate::pass::Pass;

use super::sabotage::{Inner, Sabotage, Submission, Submit, reach, signal_all};

saboteurs! {
    forgets_the_witness: "Profiles hear nothing of the end of operations.", Submit(|inner, submission| {
            let signals = rest(submission.signals);
            Submission { signals, ..submission }.to(inner)
        }), [
            "profiling.records_each_operation_once", "profiling.operations_of_many_threads",
            "profiling.flush_delivers_completed_work", "profiling.one_after_another", "profiling.failed_work_is_told",
        ];
    witnesses_too_early: "Profiles hear of the end of operations at their submission.", Submit(|inner, submission| {
            let (witnesses, signals) = submission.signals.split_at(Witness::count(submission.signals));
            Submission { signals, ..submission }.to(inner)?;
            reach(witnesses);
            Ok(())
        }), ["profiling.retires_after_its_work", "profiling.end_tells_work_in_flight"];
    witnesses_refused_work: "Profiles hear of the end of refused operations.", Submit(|inner, submission| {
            let (witnesses, refused) = (submission.signals, submission.to(inner));
            if refused.is_err() {
                reach(&witnesses[..Witness::count(witnesses)]);
            }
            refused
        }), ["profiling.refused_work_is_not_told"];
    witnesses_no_failure: "Profiles hear of failed operations as if they had succeeded.", Submit(|inner, submission| {
            submission.pass_then(inner, |result, signals| {
                let (witnesses, signals) = signals.split_at(Witness::count(signals));
                reach(witnesses);
                signal_all(signals, result);
            })
        }), ["profiling.failed_work_is_told", "profiling.host_calls"];
    tells_times_backwards: "The times of the device end before they begin.",
        Submit(|inner, submission| ran(inner, submission, |now| TimeSpan { begun: now, ended: now - 500 })),
        ["profiling.times_are_ordered"];
    tells_one_early_time: "All operations begin on the device at the first moment.",
        Submit(|inner, submission| ran(inner, submission, |now| TimeSpan { begun: 1, ended: now })),
        ["profiling.behind_an_edge"];
    tells_late_times_of_commands: "Commands run on the device after their operation.",
        Submit(|inner, submission| {
            let list = match &submission.operation {
                windlass_hal::Operation::Execute { command_buffer, .. } => Some(command_buffer.clone()),
                _ => None,
            };
            submission.pass_then(inner, move |result, signals| {
                if let (Some(buffer), Some(witness)) = (&list, Witness::of(signals)) {
                    let now = witness::now();
                    witness.ran(0, TimeSpan { begun: now - 1_000, ended: now }, now);
                    let late = TimeSpan { begun: now + 1_000_000, ended: now + 2_000_000 };
                    let times: Vec<_> = buffer.list().positions().map(|(position, _)| (position, late)).collect();
                    buffer.list().tell(witness, &times);
                }
                signal_all(signals, result);
            })
        }), ["profiling.commands_run_within_their_operation"];
    forgets_debug_groups: "Prepared lists have no debug groups.", DropsGroups, ["profiling.groups_nest"];
    forgets_the_last_command: "Profiles hear of all commands but the last.", Submit(|inner, submission| {
            let list = match &submission.operation {
                windlass_hal::Operation::Execute { command_buffer, .. } => Some(command_buffer.clone()),
                _ => None,
            };
            submission.pass_then(inner, move |result, signals| {
                if let (Some(buffer), Some(witness)) = (&list, Witness::of(signals))
                    && let Ok(shorter) = without_last(buffer.list())
                {
                    shorter.tell(witness, &[]);
                }
                signal_all(signals, result);
            })
        }), ["profiling.commands_are_told"];
    hides_its_memory: "The source of slabs has accounts that nobody fills.", HidesMemory, ["profiling.memory"];
}

/// The signals without witnesses.
fn rest(signals: &[Point]) -> &[Point] {
    &signals[Witness::count(signals)..]
}

/// Forwards a submission, and tells a time of its own at its end.
fn ran(inner: &Inner, submission: Submission<'_>, time: fn(u64) -> TimeSpan) -> Result<()> {
    submission.pass_then(inner, move |result, signals| {
        if let Some(witness) = Witness::of(signals) {
            let now = witness::now();
            witness.ran(0, time(now), now);
        }
        signal_all(signals, result);
    })
}

fn without_last(list: &CommandList) -> Result<CommandList> {
    list.edited(|commands, edited| {
        let commands: Vec<_> = commands.collect();
        commands.iter().take(commands.len().saturating_sub(1)).try_for_each(|command| edited.push(*command))
    })
}

struct DropsGroups;

impl Sabotage for DropsGroups {
    fn prepare(&self, inner: &Inner, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        let is_group =
            |command: &Command<'_>| matches!(command, Command::BeginDebugGroup(_) | Command::EndDebugGroup);
        inner.pass_list(list.edited(|commands, edited| {
            commands.filter(|command| !is_group(command)).try_for_each(|command| edited.push(command))
        })?)
    }
}

struct HidesMemory;

/// A source with accounts of its own.
struct Hidden(Arc<dyn SlabSource>, Accounts);

impl SlabSource for Hidden {
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Arc<dyn driver::RawBuffer>> {
        self.0.allocate_slab(request)
    }

    fn has_retired(&self, lane: u32, epoch: u64) -> bool {
        self.0.has_retired(lane, epoch)
    }

    fn poll(&self) {
        self.0.poll();
    }

    fn usable(&self) -> Result<(), Error> {
        self.0.usable()
    }

    fn accounts(&self) -> &Accounts {
        &self.1
    }
}

impl Sabotage for HidesMemory {
    fn memory(&self, inner: &Inner) -> Arc<dyn SlabSource> {
        Arc::new(Hidden(inner.memory(), Accounts::default()))
    }
}
