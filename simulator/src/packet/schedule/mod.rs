// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams under a seed: one thing happens at a time, and what happens next is chosen among all that is legal.
//!
//! Work goes on at the scheduling points alone, on the thread that is there: when a call begins, when it ends, and
//! while it waits. At each point a number of steps is drawn, then which stream each step is for, and in a dispatch which
//! workgroup, which wave and how far. A step is an item of a stream (a copy, a fill, an event, a host function) or a
//! turn of one wave. What nobody waits for may stay undone, and anything may be done at once.
//!
//! A client that calls from one thread gets the same order again from the same seed. For several threads the order in
//! which they call is part of what is recorded, and a replay holds calls back until it is their turn.

mod choices;
mod clients;
mod log;
mod log_file;
mod report;
mod stage;
mod strategy;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::{Choose, Step};
use crate::options::Options;

use super::queue::{Point, Queue};
use super::scheduler::{Refusal, Scheduler};
use super::work::{Begun, Going, HostFunction};
use crate::tally;
use choices::Choices;
pub(crate) use choices::mix;
use clients::Clients;
use log::{Recorder, Replay};
pub use report::{ScheduleReport, Schedules, schedules};
use stage::{Entered, Request, Stage};
use strategy::{ALL, Strategy};

/// How often a client that stays away is looked at.
const LOOK: Duration = Duration::from_millis(1);
/// Looks in a row at which all of a client's threads sleep before work goes on without them.
const ASLEEP: u32 = 3;
/// Steps in a row that only spin before a point that runs all there is gives up.
const SPINS: usize = 8;
/// Steps that only spin before a kernel is taken for one that waits for something.
const LONG_SPIN: usize = 2000;

/// The schedule of one simulator that has a seed.
pub(crate) struct Schedule {
    stage: Stage,
    clients: Clients,
    /// How long clients may compute without a call before work goes on without them.
    patience: Duration,
    /// Only whoever is on the stage touches it.
    flight: Mutex<Flight>,
    host_functions: AtomicU64,
    /// Whether the thread runs that goes on when all clients wait outside HIP.
    attended: AtomicBool,
}

/// What has begun and not ended, and how to go on with it.
#[derive(Default)]
struct Flight {
    strategy: Strategy,
    /// By queue.
    going: BTreeMap<u64, Item>,
    /// Steps that only spun since a packet has begun or ended.
    spun: usize,
}

/// A packet of a queue that goes on by steps.
struct Item {
    number: u64,
    queue: Arc<Queue>,
    going: Box<dyn Going>,
}

thread_local! {
    /// The schedule whose stage this thread is on, and the thread's number there.
    static TURN: Cell<Option<(*const Schedule, u64)>> = const { Cell::new(None) };
    /// The host function that this thread runs, and its schedule.
    static HOST_FUNCTION: Cell<Option<(*const Schedule, u64)>> = const { Cell::new(None) };
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ran {
    Something,
    /// Something that may be waiting.
    Spun,
    Nothing,
}

impl Schedule {
    /// The schedule that options ask for, if they ask for one. Work goes on without clients that have computed for longer
    /// than `patience` since the last call.
    ///
    /// # Errors
    /// A sentence where the log to be written or read cannot be.
    pub(crate) fn new(options: &Options, patience: Duration) -> Result<Option<Self>, String> {
        let replay = options.replay.as_deref().map(Replay::open).transpose()?;
        let Some(seed) = replay.as_ref().map(|replay| replay.seed).or(options.seed) else { return Ok(None) };
        let recorder = options.record.as_deref().map(|path| Recorder::create(path, seed)).transpose()?;
        Ok(Some(Self {
            stage: Stage::new(Choices::new(seed, recorder, replay)),
            clients: Clients::default(),
            patience,
            flight: Mutex::default(),
            host_functions: AtomicU64::new(0),
            attended: AtomicBool::new(false),
        }))
    }

    /// The seed of a log.
    ///
    /// # Errors
    /// A sentence where it cannot be read.
    pub(crate) fn seed_of(log: &Path) -> Result<u64, String> {
        Ok(Replay::open(log)?.seed)
    }

    /// Whether [`new`](Self::new) finds the files that options name as it needs them. Changes none of them.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn check(options: &Options) -> Result<(), String> {
        options.replay.as_deref().map(Replay::open).transpose()?;
        options.record.as_deref().map(Recorder::check).transpose()?;
        Ok(())
    }

    /// What was chosen and done so far.
    pub(crate) fn report(&self) -> ScheduleReport {
        ScheduleReport::of(&self.stage.choices())
    }

    /// Lets nobody wait any more, and drops what has begun.
    pub(crate) fn close(&self) {
        self.stage.close();
        // Whoever is on the stage ends its step first.
        let flight = std::mem::take(&mut *self.flight());
        drop(flight);
        let mut choices = self.stage.choices();
        report::note(&ScheduleReport::of(&choices));
        choices.close();
    }

    /// Wakes those who wait for a turn, to ask anew whether they can go on.
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

    /// Gives the stage up within a call, if the call has it, until what this gives is dropped.
    pub(super) fn step_aside<'a>(&'a self, scheduler: &Arc<Scheduler>) -> Option<Aside<'a>> {
        let thread = self.turn()?;
        self.set_turn(None);
        self.stage.leave();
        scheduler.attend(self);
        Some(Aside { schedule: self, thread })
    }

    fn set_turn(&self, thread: Option<u64>) {
        let _ = TURN.try_with(|turn| turn.set(thread.map(|thread| (std::ptr::from_ref(self), thread))));
    }
}

/// A call that has given the stage up; takes it again when dropped.
pub(super) struct Aside<'a> {
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
        if let Ok(Some((of, host_function))) = HOST_FUNCTION.try_with(Cell::get)
            && std::ptr::eq(of, schedule)
        {
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

impl Scheduler {
    /// Runs everything that can run, within a call.
    pub(crate) fn let_all_run(self: &Arc<Self>) {
        if let Some(schedule) = self.schedule.as_ref().filter(|schedule| schedule.turn().is_some()) {
            self.run_steps(schedule, ALL);
        }
    }

    /// Waits until something is reached while work goes on, step by step. Other threads may call in between. `reached` is
    /// asked at a time too, where there is one.
    pub(super) fn wait_by_steps(
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
            let entered = schedule.stage.enter_by(time, || {
                if reached() {
                    Some(Request::Back { thread })
                } else {
                    self.has_ready().then_some(Request::Step)
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

    /// Runs so many steps, on the stage, as long as there are any.
    fn run_steps(self: &Arc<Self>, schedule: &Schedule, steps: usize) {
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
    pub(super) fn has_ready(&self) -> bool {
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
                Step::Progress => return Ran::Something,
                Step::Spun => {
                    flight.strategy.demote(id);
                    flight.spun += 1;
                    if flight.spun.is_multiple_of(LONG_SPIN) {
                        drop(choices);
                        self.tell_spinning(id);
                    }
                    return Ran::Spun;
                }
                Step::Done => {}
            }
            let (number, queue) = (item.number, item.queue.clone());
            // Its arguments go back before anybody learns of its end.
            flight.going.remove(&id);
            self.end(flight, &queue, number);
            return Ran::Something;
        }
        let taken = self.lock().take(id);
        let Some((queue, item)) = taken else { return Ran::Nothing };
        let number = item.number;
        flight.spun = 0;
        choices.happened(&[number]);
        match item.packet.begin(&mut *choices) {
            Begun::Ended => self.end(flight, &queue, number),
            Begun::Going(going) => {
                flight.going.insert(id, Item { number, queue, going });
                self.lock().set_stepped(id);
            }
            Begun::HostFunction(function) => {
                drop(choices);
                return self.start_host_function(schedule, flight, queue, number, function);
            }
        }
        Ran::Something
    }

    /// A packet of a queue is done.
    fn end(&self, flight: &mut Flight, queue: &Queue, number: u64) {
        flight.spun = 0;
        if self.lock().finish(queue, number) {
            flight.strategy.forget(queue.id);
        }
    }

    /// Calls a host function on a thread of its own, and waits for its end unless it waits for something itself.
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
        // Shared with a thread that may not start.
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

    /// What the thread of a host function does.
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
        if schedule.stage.enter(|| Some(Request::Ended { function: name })).is_some() {
            self.end(&mut schedule.flight(), queue, number);
            schedule.stage.leave();
        } else {
            // It is closed: there is no order any more.
            self.lock().finish(queue, number);
        }
        self.finished.notify_all();
    }

    /// Sees to it that work goes on when all clients wait outside HIP.
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
            tracing::warn!(target: "windlass::sim", %error, "no thread: work goes on inside calls alone");
        }
    }

    /// What the thread does that goes on when all clients wait outside HIP.
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
            // Threads that ended count no more.
            if since != Some(idle) || computed < before {
                (since, before) = (Some(idle), computed);
            }
            // Not by the clock: a thread that gets no CPU is not away.
            let away = match (before, computed) {
                (Some(before), Some(computed)) => computed.saturating_sub(before),
                _ => idle.elapsed(),
            };
            let away = away > schedule.patience;
            asleep = if schedule.clients.all_sleep() { asleep + 1 } else { 0 };
            // A log has a step where work went on alone.
            let replayed = schedule.stage.choices().expected().is_some();
            if !(away || asleep > ASLEEP || replayed) {
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
