// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client's call under a seed: it waits for its turn, and work advances at its beginning and at its end.

use std::cell::Cell;
use std::sync::Arc;

use super::Schedule;
use super::stage::{Entered, Purpose};
use super::steps::host_function;
use crate::packet::scheduler::Scheduler;
use crate::tally;

impl Scheduler {
    /// Waits for this thread's turn to call a function, if there is a seed.
    pub(crate) fn turn<'a>(
        self: &'a Arc<Self>,
        thread: &Cell<Option<u64>>,
        function: &'static str,
    ) -> Option<Turn<'a>> {
        Turn::new(self, self.schedule.as_ref()?, thread, function)
    }

    /// Runs code of the client within a call. The client may call any function there, and wait for other callers.
    pub(crate) fn outside<T>(self: &Arc<Self>, client: impl FnOnce() -> T) -> T {
        match self.schedule.as_ref().and_then(|schedule| schedule.step_aside(self)) {
            Some(aside) => {
                let done = client();
                drop(aside);
                done
            }
            None => client(),
        }
    }
}

impl Schedule {
    /// Leaves the stage within a call, if the call has it, until the result is dropped.
    fn step_aside<'a>(&'a self, scheduler: &Arc<Scheduler>) -> Option<Aside<'a>> {
        let thread = self.turn()?;
        self.set_turn(None);
        self.stage.leave();
        scheduler.attend(self);
        Some(Aside { schedule: self, thread })
    }
}

/// A call that has left the stage. It enters again when dropped.
struct Aside<'a> {
    schedule: &'a Schedule,
    thread: u64,
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        let schedule = self.schedule;
        // Calls that the client has begun meanwhile come first, as at the beginning of a call.
        schedule.stage.await_host_functions();
        if schedule.stage.enter(|| Some(Purpose::Back { thread: self.thread })).is_some() {
            schedule.set_turn(Some(self.thread));
        }
    }
}

/// A call that is on the stage. It leaves when dropped.
pub(crate) struct Turn<'a> {
    scheduler: &'a Arc<Scheduler>,
    schedule: &'a Schedule,
    asks: bool,
}

impl<'a> Turn<'a> {
    /// Waits for the turn of this thread's call, and lets some work run before it. `None` for a call within a
    /// call, and if the simulator is closed.
    pub(crate) fn new(
        scheduler: &'a Arc<Scheduler>,
        schedule: &'a Schedule,
        thread: &Cell<Option<u64>>,
        function: &'static str,
    ) -> Option<Self> {
        if schedule.turn().is_some() {
            return None;
        }
        if let Some(host_function) = host_function(schedule) {
            schedule.stage.host_calls(host_function);
        }
        if thread.get().is_none() {
            schedule.clients.add();
        }
        schedule.stage.await_host_functions();
        let request = Purpose::Call { thread: thread.get(), function };
        let Entered::Call(number) = schedule.stage.enter(|| Some(request))? else { return None };
        thread.set(Some(number));
        schedule.set_turn(Some(number));
        scheduler.clock.turn();
        let turn = Self { scheduler, schedule, asks: asks(function) };
        turn.point();
        Some(turn)
    }

    /// Runs all work that can run.
    pub(crate) fn let_all_run(&self) {
        self.scheduler.let_all_run();
    }

    /// A scheduling point.
    fn point(&self) {
        if self.scheduler.has_ready() {
            let budget =
                self.schedule.flight().strategy.budget(&mut *self.schedule.stage.choices(), self.asks);
            self.scheduler.run_steps(self.schedule, budget);
        }
    }
}

/// Whether a function asks for the progress of work, so that callers may poll it.
fn asks(function: &str) -> bool {
    function.ends_with("Query")
        || function.starts_with("hsa_signal_load")
        || function.contains("_load_read_index")
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.schedule.turn().is_none() {
            // The call stepped aside, and the simulator was closed meanwhile.
            return;
        }
        if !std::thread::panicking() {
            self.point();
        }
        tally::schedule(|| self.schedule.report());
        self.schedule.set_turn(None);
        self.schedule.stage.leave();
        self.scheduler.attend(self.schedule);
    }
}
