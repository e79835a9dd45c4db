// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device: it holds work back, and a loop releases the work.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use windlass_hal::{
    Code, CommandList, Deadline, DeviceInfo, Error, Feature, Lack, Operation, OperationRef, Point, Points,
    Probe, QueueAffinity, Result, Semaphore, driver, edge::Domain, pending, witness::Witness,
};

use crate::pass::Pass;

use super::{
    command_buffer::{self, CommandBuffer},
    completion::Completion,
    ending::{InFlight, ending},
    idle::{self, Activity},
    poison::{self, Released},
    promise,
    schedule::{Choice, Held, Schedule},
};

/// The longest time that work without a demand is held back.
pub(super) const PATIENCE: Duration = Duration::from_millis(50);

/// A device behind a schedule of its own. See the [module's text](super).
pub struct Device {
    me: Weak<Self>,
    raw: Arc<dyn driver::RawDevice>,
    info: DeviceInfo,
    patience: Duration,
    /// The domain of promises of submissions that are held back.
    held: Domain,
    /// The domain of promises of submissions that went to the wrapped device and whose signals are not held back.
    promised: Domain,
    activity: Activity,
    state: Mutex<LoopState>,
}

struct LoopState {
    schedule: Schedule,
    released: Released,
    /// Completions that were released and whose work has not ended.
    completions: Vec<Weak<Completion>>,
    /// Whether a thread is in the loop. It serves all requests.
    running: bool,
    /// Whether the client of that thread only waits until the loop ends.
    waiting: bool,
    in_flight: Vec<InFlight>,
    /// The number of submissions in flight at which ended ones are removed.
    remembered: usize,
    /// The number of clients that are submitting now. A demand that a submission causes is not a wait of the client.
    submitting: u32,
    watched: bool,
    closing: Closing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Closing {
    Open,
    /// Refuses work. The wrapped device is closed once nothing is held back.
    Asked,
    Done,
}

impl LoopState {
    /// Records work that goes to the wrapped device.
    fn note(&mut self, work: InFlight) {
        self.in_flight.push(work);
        // Removing ended work costs time for each entry, so it happens only when their number has doubled.
        if self.in_flight.len() > self.remembered {
            self.forget_ended();
            self.remembered = 64.max(2 * self.in_flight.len());
        }
    }

    /// Records released signals.
    fn remember(&mut self, completion: &Arc<Completion>) {
        // As for work in flight, ended completions are removed when their number has doubled.
        if self.completions.len() == self.completions.capacity() {
            self.completions.retain(|completion| completion.strong_count() > 0);
            self.completions.reserve(64.max(self.completions.len()));
        }
        self.completions.push(Arc::downgrade(completion));
    }

    fn forget_ended(&mut self) {
        self.in_flight.retain(|work| matches!(work.ended.probe(1, None), Probe::Unresolved));
    }

    /// The work in flight that will end by itself. Empty if there is too much work to find out in time.
    fn ending(&mut self, promised: Domain) -> Vec<InFlight> {
        const MUCH: usize = 256;
        if self.in_flight.len() <= 2 * MUCH {
            self.forget_ended();
        }
        if self.in_flight.len() > MUCH { Vec::new() } else { ending(&self.in_flight, promised) }
    }
}

/// Counts a submitting client while it lives.
struct Submitting<'a>(&'a Device);

impl Drop for Submitting<'_> {
    fn drop(&mut self) {
        self.0.lock().submitting -= 1;
    }
}

impl Device {
    /// Shuffles a device.
    pub fn new(raw: Arc<dyn driver::RawDevice>, seed: u64) -> Arc<Self> {
        Self::with_patience(raw, seed, PATIENCE)
    }

    /// Shuffles a device. Work without a demand goes on when nothing was submitted or demanded for `patience`.
    pub fn with_patience(raw: Arc<dyn driver::RawDevice>, seed: u64, patience: Duration) -> Arc<Self> {
        let mut info = raw.info().clone();
        info.uri = format!("shuffle://?seed={seed}&over={}", info.uri);
        info.name = format!("{} (shuffled)", info.name);
        if !info.lacks.iter().any(|lack| lack.feature == Feature::ExternalTimepoints) {
            let reason = "the schedule holds work back, and a stream of another library cannot demand it";
            info.lacks.push(Lack::new(Feature::ExternalTimepoints, reason));
        }
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            raw,
            info,
            patience,
            held: Domain::unique(),
            promised: Domain::unique(),
            activity: Activity::default(),
            state: Mutex::new(LoopState {
                schedule: Schedule::new(seed),
                released: Released::default(),
                completions: Vec::new(),
                running: false,
                waiting: false,
                in_flight: Vec::new(),
                remembered: 64,
                submitting: 0,
                watched: false,
                closing: Closing::Open,
            }),
        })
    }

    /// Starts the choices of another seed, as if the device had just been opened. Work that is held back goes on
    /// first.
    pub fn reseed(&self, seed: u64) {
        self.flush("reseeded");
        let mut state = self.lock();
        if state.schedule.is_empty() {
            state.schedule = Schedule::new(seed);
        }
    }

    pub(super) fn activity(&self) -> &Activity {
        &self.activity
    }

    pub(super) fn raw_domain(&self) -> Domain {
        self.raw.domain()
    }

    pub(super) fn poll_raw(&self) {
        self.raw.poll();
    }

    /// Runs the loop until the signals of submission `id` no longer wait for the schedule.
    pub(super) fn demand(&self, id: u64) {
        self.activity.note();
        let mut state = self.lock();
        // Work that went to the wrapped device needs no help, and its remaining demand depends on timing.
        if !state.schedule.demand(id) {
            return;
        }
        let waiting = state.submitting == 0;
        drop(state);
        self.run(waiting);
    }

    /// Gives everything to the wrapped device, in some order.
    pub(super) fn flush(&self, why: &str) {
        let mut state = self.lock();
        if state.schedule.is_empty() {
            return;
        }
        tracing::debug!(target: "windlass::shuffle", why, "flush");
        state.schedule.demand_all();
        drop(state);
        self.run(false);
    }

    /// Whether the watching thread may end.
    pub(super) fn unwatch(&self) -> bool {
        let mut state = self.lock();
        state.watched = !state.schedule.is_empty();
        !state.watched
    }

    fn lock(&self) -> MutexGuard<'_, LoopState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows the schedule until nobody requests more. Only one thread at a time is in here. It also serves the
    /// requests of other threads and of the submissions that it makes itself. `waiting` says that the client of this
    /// thread does nothing until it has its result, so the loop may wait for work in flight.
    fn run(&self, waiting: bool) {
        /// Ends this thread's turn in the loop, also if the wrapped device panics.
        struct Turn<'a>(&'a Device, bool);
        impl Drop for Turn<'_> {
            fn drop(&mut self) {
                if self.1 {
                    self.0.lock().running = false;
                }
            }
        }
        let mut state = self.lock();
        if state.running {
            return;
        }
        (state.running, state.waiting) = (true, waiting);
        let mut turn = Turn(self, true);
        loop {
            let waiting = state.waiting;
            match state.schedule.choose(self.promised, waiting) {
                Some(Choice::HandOn { held, withhold, random }) => {
                    drop(state);
                    self.hand_on(*held, withhold, random);
                }
                Some(Choice::Release(completion)) => {
                    state.remember(&completion);
                    drop(state);
                    tracing::debug!(target: "windlass::shuffle", id = completion.id, "release the signals");
                    promise::attach(&self.me, self.promised, completion.id, completion.signals());
                    completion.release();
                }
                Some(Choice::AwaitEnds) => {
                    let ending = state.ending(self.promised);
                    drop(state);
                    self.await_ends(&ending);
                }
                None if state.closing == Closing::Asked => {
                    state.closing = Closing::Done;
                    drop(state);
                    self.raw.close();
                }
                None => {
                    state.running = false;
                    turn.1 = false;
                    return;
                }
            }
            state = self.lock();
        }
    }

    /// Waits until this work has ended, for at most the patience. Some orders occur only in this way.
    fn await_ends(&self, work: &[InFlight]) {
        tracing::debug!(target: "windlass::shuffle", "let work in flight end");
        let deadline = Deadline::after(self.patience);
        for work in work {
            let late = work.ended.wait_blocking(1, deadline);
            if late.is_err_and(|error| error.code() == Code::DeadlineExceeded) {
                // The work may be a host call that waits for the client, so the loop does not wait for it again.
                self.lock()
                    .in_flight
                    .iter_mut()
                    .filter(|other| other.id == work.id)
                    .for_each(|other| other.stubborn = true);
            }
        }
    }

    /// Gives one submission to the wrapped device. A refusal fails the signals, because the client's call has
    /// returned already.
    fn hand_on(&self, held: Held, withhold: bool, random: u64) {
        let Held { id, affinity, waits, signals, operation, .. } = held;
        tracing::debug!(target: "windlass::shuffle", id, operation = operation.name(), withhold, "hand on");
        // A profile hears of the work itself, and not of the release of its signals.
        let (witnesses, signals) = signals.split_at(Witness::count(&signals));
        let (witnesses, signals) = (Points::from(witnesses), Points::from(signals));
        let completion = withhold.then(|| {
            let mut state = self.lock();
            let completion = Completion::new(id, state.schedule.turn_of_signals(), signals.clone());
            state.schedule.withhold(completion.clone());
            completion
        });
        let (own, ended) = match &completion {
            // Refused work fails through its completion, like work that failed.
            Some(completion) => (witnesses, completion.ended()),
            None => {
                promise::attach(&self.me, self.promised, id, &signals);
                let mut all = witnesses;
                all.extend(&signals);
                (all, Semaphore::new(0).at(1))
            }
        };
        if let Err(error) = self.submit_raw(id, affinity, &waits, (&own, &ended), operation, random) {
            tracing::debug!(target: "windlass::shuffle", id, %error, "refused");
            pending::fail(&own, &error);
            pending::fail(&[ended], &error);
        }
    }

    /// Submits to the wrapped device, and records the work while it is in flight.
    fn submit_raw(
        &self,
        id: u64,
        affinity: QueueAffinity,
        waits: &[Point],
        (signals, ended): (&[Point], &Point),
        operation: Operation,
        random: u64,
    ) -> Result<()> {
        let work = InFlight {
            id,
            waits: Points::from(waits),
            ended: ended.semaphore.clone(),
            stubborn: needs_others(&operation),
        };
        self.lock().note(work);
        let signals = &[signals, std::slice::from_ref(ended)].concat();
        let affinity = self.narrow(affinity, random);
        // A profile of commands needs the list that the client recorded.
        let as_recorded = Witness::of(signals).is_some_and(Witness::wants_commands);
        let choice = if as_recorded { 0 } else { (random >> 16) as usize };
        match command_buffer::choose(operation, choice) {
            Operation::Alloca { buffer } => poison::alloca(&*self.raw, affinity, waits, signals, buffer),
            Operation::Dealloca { buffer } if self.lock().released.insert(&buffer) => {
                poison::dealloca(&*self.raw, affinity, waits, signals, buffer)
            }
            operation => self.raw.pass(affinity, waits, signals, operation),
        }
    }

    /// One of the allowed queues, or all of them so that the wrapped device picks.
    fn narrow(&self, affinity: QueueAffinity, random: u64) -> QueueAffinity {
        let queues = self.raw.limits().queues.clamp(1, 64);
        let lanes: Vec<u32> = (0..queues).filter(|queue| affinity.bits() >> queue & 1 == 1).collect();
        let lane = lanes.get((random & 0xff) as usize % lanes.len().max(1));
        lane.filter(|_| random >> 8 & 1 == 0).map_or(affinity, |lane| QueueAffinity::queue(*lane))
    }

    /// Whether the wrapped device declares to lack the operation. Its refusal must come at once.
    fn lacks(&self, operation: &Operation) -> bool {
        let feature = match operation {
            Operation::Alloca { .. } | Operation::Dealloca { .. } => Feature::Alloca,
            Operation::Read { .. } | Operation::Write { .. } => Feature::Files,
            Operation::HostCall(_) => Feature::HostCalls,
            Operation::Dispatch(_) => Feature::Dispatch,
            Operation::Execute { .. } => Feature::CommandBuffers,
            Operation::Collective { .. } => Feature::Collectives,
            _ => return false,
        };
        self.info.lacks.iter().any(|lack| lack.feature == feature)
    }

    /// Starts the thread that releases work without a demand. `false` if the system refuses a thread.
    fn watch(&self) -> bool {
        if std::mem::replace(&mut self.lock().watched, true) {
            return true;
        }
        let started = idle::watch(self.me.clone(), self.patience).is_ok();
        if !started {
            self.lock().watched = false;
        }
        started
    }
}

// SAFETY: domain, limits, buffers and executables are those of the inner device, whose keeping of objects and signals is
// passed on. Three changes stay within what the caller named: a list is prepared in orders that its predecessors allow,
// `Execute` picks one of them, and an alloca or a dealloca gets a fill of its own buffer while the contents are undefined.
unsafe impl driver::Wrapper for Device {
    fn inner(&self) -> &dyn driver::RawDevice {
        &*self.raw
    }

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        let mut random = crate::Random::new(self.lock().schedule.random.next_u64());
        Ok(Arc::new(CommandBuffer::new(&*self.raw, list, &mut random)?))
    }

    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        let operation = operation.into_owned();
        self.activity.note();
        let mut state = self.lock();
        if state.closing != Closing::Open {
            return Err(Error::cancelled(format!("{} was closed", self.info.uri)));
        }
        state.submitting += 1;
        let submitting = Submitting(self);
        let (id, hold) = state.schedule.arrive();
        if !hold || self.lacks(&operation) {
            let random = state.schedule.random.next_u64();
            drop(state);
            tracing::debug!(target: "windlass::shuffle", id, operation = operation.name(), "pass");
            let ended = Semaphore::new(0).at(1);
            self.submit_raw(id, affinity, waits, (signals, &ended), operation, random).inspect_err(
                |error| {
                    pending::fail(std::slice::from_ref(&ended), error);
                },
            )?;
            promise::attach(&self.me, self.promised, id, &Points::from(signals));
        } else {
            let signals = Points::from(signals);
            tracing::debug!(target: "windlass::shuffle", id, operation = operation.name(), "hold");
            state.schedule.hold(id, affinity, Points::from(waits), signals.clone(), operation);
            drop(state);
            promise::attach(&self.me, self.held, id, &signals);
            if !self.watch() {
                self.flush("no thread to watch");
            }
        }
        drop(submitting);
        self.run(false);
        Ok(())
    }

    /// Counts held work as issued, because the wrapped device would have issued it.
    fn drain(&self, deadline: Deadline) -> Result<()> {
        loop {
            self.flush("drain");
            self.raw.drain(deadline)?;
            let mut state = self.lock();
            let before = state.completions.len();
            state.completions.retain(|completion| {
                completion.upgrade().is_some_and(|completion| !completion.signal_if_ended())
            });
            let progress = state.completions.len() < before;
            let rest = state.schedule.is_empty();
            drop(state);
            if rest && !progress {
                return Ok(());
            }
            if deadline.passed() {
                return Err(Error::deadline_exceeded(
                    "the deadline passed while another thread handed work on",
                ));
            }
            std::thread::yield_now();
        }
    }

    /// Gives everything to the wrapped device first. The wrapped device issues the work that it can, and cancels the
    /// rest.
    fn close(&self) {
        let mut state = self.lock();
        if state.closing == Closing::Open {
            state.closing = Closing::Asked;
            state.schedule.demand_all();
        }
        drop(state);
        self.run(false);
    }
}

/// Whether an operation ends only when further work is handed on: a group whose other ranks have to come.
fn needs_others(operation: &Operation) -> bool {
    match operation {
        Operation::Collective { channel, .. } => channel.count() > 1,
        Operation::Execute { command_buffer, .. } => {
            command_buffer.list().channels().any(|channel| channel.count() > 1)
        }
        _ => false,
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // No client can demand any more.
        self.flush("dropped");
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.info.uri)
    }
}
