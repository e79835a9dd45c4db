// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client's call under a seed: it waits for its turn, and work goes on at its beginning and at its end.

use std::cell::Cell;
use std::sync::Arc;

use super::Schedule;
use super::stage::{Entered, Request};
use super::steps::host_function;
use crate::packet::scheduler::Scheduler;
use crate::tally;

impl Scheduler {
    /// Waits for this thread's turn to call a function, where there is a seed.
    pub(crate) fn turn<'a>(
        self: &'a Arc<Self>,
        thread: &Cell<Option<u64>>,
        function: &'static str,
    ) -> Option<Turn<'a>> {
        Turn::new(self, self.schedule.as_ref()?, thread, function)
    }

    /// Has the client do something within a call: it may call anything there, and wait for anything that does.
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
    /// Gives the stage up within a call, if the call has it, until what this gives is dropped.
    fn step_aside<'a>(&'a self, scheduler: &Arc<Scheduler>) -> Option<Aside<'a>> {
        let thread = self.turn()?;
        self.set_turn(None);
        self.stage.leave();
        scheduler.attend(self);
        Some(Aside { schedule: self, thread })
    }
}

/// A call that has given the stage up; takes it again when dropped.
struct Aside<'a> {
    schedule: &'a Schedule,
    thread: u64,
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        let schedule = self.schedule;
        // What the client has set going there comes first, as at the beginning of a call.
        schedule.stage.settle();
        if schedule.stage.enter(|| Some(Request::Back { thread: self.thread })).is_some() {
            schedule.set_turn(Some(self.thread));
        }
    }
}

/// A call that is on the stage; leaves it when dropped.
pub(crate) struct Turn<'a> {
    scheduler: &'a Arc<Scheduler>,
    schedule: &'a Schedule,
    asks: bool,
}

impl<'a> Turn<'a> {
    /// Waits until it is the turn of this thread's call, and lets some work go on before it. `None` for a call within
    /// a call, and where the simulator is closed.
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
        schedule.stage.settle();
        let request = Request::Call { thread: thread.get(), function };
        let Entered::Call(number) = schedule.stage.enter(|| Some(request))? else { return None };
        thread.set(Some(number));
        schedule.set_turn(Some(number));
        scheduler.clock.turn();
        let turn = Self { scheduler, schedule, asks: asks(function) };
        turn.point();
        Some(turn)
    }

    /// Everything that can runs now.
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

/// Whether a function asks how far work has come, so that its callers may call it until something has ended.
fn asks(function: &str) -> bool {
    function.ends_with("Query")
        || function.starts_with("hsa_signal_load")
        || function.contains("_load_read_index")
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.schedule.turn().is_none() {
            // It stepped aside, and the simulator was closed meanwhile.
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
