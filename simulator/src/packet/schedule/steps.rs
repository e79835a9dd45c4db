// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work under a seed: one step at a time, on the thread that has the stage.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::clients;
use super::stage::{Entered, Purpose};
use super::strategy::ALL;
use super::{Flight, Schedule, SteppedPacket};
use crate::engine::{Choose, StepOutcome};
use crate::packet::queue::{Point, Queue};
use crate::packet::refusal::Refusal;
use crate::packet::scheduler::Scheduler;
use crate::packet::work::{Begun, HostFunction};

/// The interval at which absent clients are checked.
const LOOK: Duration = Duration::from_millis(1);
/// Steps in a row that only spin before running all work gives up.
const SPINS: usize = 8;
/// Steps that only spin before a kernel is reported as waiting.
const LONG_SPIN: usize = 2000;

thread_local! {
    /// The host function that this thread runs, and its schedule.
    static HOST_FUNCTION: Cell<Option<(*const Schedule, u64)>> = const { Cell::new(None) };
}

/// The host function of a schedule that this thread runs.
pub(super) fn host_function(schedule: &Schedule) -> Option<u64> {
    let (of, name) = HOST_FUNCTION.try_with(Cell::get).ok()??;
    std::ptr::eq(of, schedule).then_some(name)
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ran {
    Something,
    /// A step ran that may be waiting.
    Spun,
    Nothing,
}

impl Scheduler {
    /// Runs all work that can run, within a call.
    pub(crate) fn let_all_run(self: &Arc<Self>) {
        if let Some(schedule) = self.schedule.as_ref().filter(|schedule| schedule.turn().is_some()) {
            self.run_steps(schedule, ALL);
        }
    }

    /// Waits until `reached` holds, while work advances step by step. Other threads may call in between.
    /// `reached` is also checked at `time`, if there is one.
    pub(in crate::packet) fn wait_by_steps(
        self: &Arc<Self>,
        schedule: &Schedule,
        (points, time): (&[Point], Option<Instant>),
        reached: &dyn Fn() -> bool,
    ) -> Result<(), Refusal> {
        let Some(thread) = schedule.turn() else { return Err(Refusal::Defect) };
        schedule.stage.set_waiting(true);
        let outcome = loop {
            schedule.stage.leave();
            if !reached() && !self.has_ready() {
                self.tell_held_up(points);
            }
            // Another process may make a condition true, and tells nobody.
            let look = time.or_else(|| self.lock().has_conditions().then(Instant::now));
            let entered = schedule.stage.enter_by(look, || {
                if reached() {
                    Some(Purpose::Back { thread })
                } else {
                    self.has_ready().then_some(Purpose::Step)
                }
            });
            match entered {
                None => break Err(Refusal::Closed),
                Some(Entered::Step) => {
                    self.run_steps(schedule, 1);
                }
                Some(_) => break Ok(()),
            }
        };
        schedule.stage.set_waiting(false);
        outcome
    }

    /// Runs up to `steps` steps, on the stage.
    pub(super) fn run_steps(self: &Arc<Self>, schedule: &Schedule, steps: usize) {
        let mut spins = 0;
        for _ in 0..steps {
            match self.run_step(schedule) {
                Ran::Something => spins = 0,
                Ran::Spun if spins < SPINS => spins += 1,
                Ran::Spun | Ran::Nothing => return,
            }
        }
    }

    /// Whether a step can run.
    pub(in crate::packet) fn has_ready(&self) -> bool {
        !self.lock().ready_queues().is_empty()
    }

    fn run_step(self: &Arc<Self>, schedule: &Schedule) -> Ran {
        let mut flight = schedule.flight();
        let flight = &mut *flight;
        let queues = self.lock().ready_queues();
        if queues.is_empty() {
            return Ran::Nothing;
        }
        let mut choices = schedule.stage.choices();
        let id = flight.strategy.pick(&mut *choices, &queues);
        choices.happened(&[id]);
        self.clock.turn();
        if let Some(item) = flight.going.get_mut(&id) {
            match item.going.step(&mut *choices) {
                StepOutcome::Progress => return Ran::Something,
                StepOutcome::Spun => {
                    flight.strategy.demote(id);
                    flight.spun += 1;
                    if flight.spun.is_multiple_of(LONG_SPIN) {
                        drop(choices);
                        self.tell_spinning(id);
                    }
                    return Ran::Spun;
                }
                StepOutcome::Done => {}
            }
            let (number, queue) = (item.number, item.queue.clone());
            // The packet's arguments are released before any thread learns of its end.
            flight.going.remove(&id);
            self.end(flight, &queue, number);
            return Ran::Something;
        }
        let taken = self.lock().take_next(id);
        let Some((queue, item)) = taken else { return Ran::Nothing };
        let number = item.number;
        flight.spun = 0;
        choices.happened(&[number]);
        match item.packet.begin(&mut *choices) {
            Begun::Ended => self.end(flight, &queue, number),
            Begun::Going(going) => {
                flight.going.insert(id, SteppedPacket { number, queue, going });
                self.lock().set_stepped(id);
            }
            Begun::HostFunction(function) => {
                drop(choices);
                return self.start_host_function(schedule, flight, queue, number, function);
            }
        }
        Ran::Something
    }

    /// Ends a packet of a queue.
    fn end(&self, flight: &mut Flight, queue: &Queue, number: u64) {
        flight.spun = 0;
        if self.lock().finish(queue, number) {
            flight.strategy.forget(queue.id);
        }
    }

    /// Calls a host function on a thread of its own. Waits for its end unless the function itself waits.
    fn start_host_function(
        self: &Arc<Self>,
        schedule: &Schedule,
        flight: &mut Flight,
        queue: Arc<Queue>,
        number: u64,
        function: Box<dyn HostFunction>,
    ) -> Ran {
        let name = schedule.host_functions.fetch_add(1, Ordering::Relaxed);
        schedule.stage.watch(name);
        let (scheduler, on) = (self.clone(), queue.clone());
        // Shared with the new thread, which may fail to start.
        let function = Arc::new(Mutex::new(function));
        let shared = function.clone();
        let run = move || scheduler.run_host_function(name, &on, number, &shared);
        if let Err(error) = std::thread::Builder::new().name("windlass-sim-host".to_owned()).spawn(run) {
            let mut function = function.lock().unwrap_or_else(PoisonError::into_inner);
            function.give_up(format!("no thread for a host function: {error}"));
            self.end(flight, &queue, number);
        } else if schedule.stage.see_end(name) {
            self.end(flight, &queue, number);
            if function.lock().unwrap_or_else(PoisonError::into_inner).looks_again() {
                return Ran::Spun;
            }
        }
        Ran::Something
    }

    /// The thread of a host function.
    fn run_host_function(
        self: &Arc<Self>,
        name: u64,
        queue: &Queue,
        number: u64,
        function: &Mutex<Box<dyn HostFunction>>,
    ) {
        let Some(schedule) = &self.schedule else { return };
        self.enter_thread();
        HOST_FUNCTION.set(Some((std::ptr::from_ref(schedule), name)));
        schedule.stage.host_begins(name);
        self.run_on_thread(queue, || function.lock().unwrap_or_else(PoisonError::into_inner).call());
        HOST_FUNCTION.set(None);
        if !schedule.stage.host_ends(name) {
            return;
        }
        if schedule.stage.enter(|| Some(Purpose::Ended { function: name })).is_some() {
            self.end(&mut schedule.flight(), queue, number);
            schedule.stage.leave();
        } else {
            // The schedule is closed, so that no order is left.
            self.lock().finish(queue, number);
        }
        self.finished.notify_all();
    }

    /// Starts or wakes the thread that continues work while all clients wait outside HIP.
    pub(super) fn attend(self: &Arc<Self>, schedule: &Schedule) {
        if !self.has_ready() {
            return;
        }
        if schedule.attended.swap(true, Ordering::AcqRel) {
            self.ring();
            return;
        }
        let scheduler = self.clone();
        let run = move || scheduler.go_on_alone();
        if let Err(error) = std::thread::Builder::new().name("windlass-sim-0".to_owned()).spawn(run) {
            schedule.attended.store(false, Ordering::Release);
            tracing::warn!(target: "windlass::sim", %error, "no thread: work advances only inside calls");
        }
    }

    /// The thread that continues work while all clients wait outside HIP.
    fn go_on_alone(self: &Arc<Self>) {
        let Some(schedule) = &self.schedule else { return };
        let (mut asleep, mut since, mut before) = (0, None, None);
        while self.wait_for_ready() {
            std::thread::sleep(LOOK);
            let Some(idle) = schedule.stage.idle_since() else {
                asleep = 0;
                continue;
            };
            let computed = schedule.clients.computed();
            // The time of ended threads is lost.
            if since != Some(idle) || computed < before {
                (since, before) = (Some(idle), computed);
            }
            // CPU time counts, not the clock: a thread that gets no CPU is not absent.
            let away = match (before, computed) {
                (Some(before), Some(computed)) => computed.saturating_sub(before),
                _ => idle.elapsed(),
            };
            let away = away > schedule.patience;
            asleep = if schedule.clients.all_sleep() { asleep + 1 } else { 0 };
            // A log has a step for work that advanced without clients.
            let replayed = schedule.stage.choices().expected().is_some();
            if !(away || clients::waits(asleep) || replayed) {
                continue;
            }
            while self.has_ready() && schedule.stage.try_step() {
                self.run_steps(schedule, 1);
                schedule.stage.leave();
                let still = away || replayed || schedule.clients.all_sleep();
                if !still || schedule.stage.idle_since().is_none() {
                    break;
                }
            }
        }
    }
}
