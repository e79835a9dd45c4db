// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams under a seed: one step runs at a time, and the next one is chosen among all legal steps.
//!
//! Work advances only at scheduling points, on the calling thread: when a call begins, when it ends, and
//! while it waits. At each point a number of steps is drawn, then the stream of each step, and in a dispatch
//! the workgroup, the wave and the length of its turn. A step is an item of a stream (a copy, a fill, an
//! event, a host function) or a turn of one wave. Work that no caller waits for may never run, and any work
//! may run at once.
//!
//! A client that calls from one thread gets the same order from the same seed. For several threads the log
//! also records the order of their calls, and a replay delays each call until its turn.

mod begin;
mod choices;
mod clients;
mod log;
mod log_file;
mod report;
mod stage;
mod steps;
mod strategy;
mod turn;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::queue::Queue;
use super::work::Going;
use choices::Choices;
pub(crate) use choices::mix;
use clients::Clients;
pub use report::{ScheduleReport, Schedules, schedules};
use stage::Stage;
use strategy::Strategy;
pub(crate) use turn::Turn;

/// The schedule of one simulator that has a seed.
pub(crate) struct Schedule {
    stage: Stage,
    clients: Clients,
    /// How long clients may compute without a call before work continues without them.
    patience: Duration,
    /// Only the thread on the stage locks it.
    flight: Mutex<Flight>,
    host_functions: AtomicU64,
    /// Whether the thread runs that continues work while all clients wait outside HIP.
    attended: AtomicBool,
}

/// The packets in flight, and the strategy.
#[derive(Default)]
struct Flight {
    strategy: Strategy,
    /// By queue id.
    going: BTreeMap<u64, SteppedPacket>,
    /// Steps that only spun since a packet began or ended.
    spun: usize,
}

/// A packet of a queue that runs by steps.
struct SteppedPacket {
    number: u64,
    queue: Arc<Queue>,
    going: Box<dyn Going>,
}

thread_local! {
    /// The schedule whose stage this thread is on, and the thread's number there.
    static TURN: Cell<Option<(*const Schedule, u64)>> = const { Cell::new(None) };
}

impl Schedule {
    /// A schedule that draws from these choices. Work continues without clients that have computed for longer
    /// than `patience` since the last call.
    fn from_choices(choices: Choices, patience: Duration) -> Self {
        Self {
            stage: Stage::new(choices),
            clients: Clients::default(),
            patience,
            flight: Mutex::default(),
            host_functions: AtomicU64::new(0),
            attended: AtomicBool::new(false),
        }
    }

    /// The choices and steps so far.
    pub(crate) fn report(&self) -> ScheduleReport {
        self.stage.choices().report()
    }

    /// Ends all waits, and drops the packets in flight.
    pub(crate) fn close(&self) {
        self.stage.close();
        // The thread on the stage ends its step first.
        let flight = std::mem::take(&mut *self.flight());
        drop(flight);
        let mut choices = self.stage.choices();
        report::note(&choices.report());
        choices.close();
    }

    /// Wakes the threads that wait for a turn, to check again whether it has come.
    pub(super) fn notice(&self) {
        self.stage.notice();
    }

    fn flight(&self) -> MutexGuard<'_, Flight> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This thread's number, while it is on this stage.
    fn turn(&self) -> Option<u64> {
        let turn = TURN.try_with(Cell::get).ok()??;
        std::ptr::eq(turn.0, self).then_some(turn.1)
    }

    fn set_turn(&self, thread: Option<u64>) {
        let _ = TURN.try_with(|turn| turn.set(thread.map(|thread| (std::ptr::from_ref(self), thread))));
    }
}
