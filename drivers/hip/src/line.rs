// SPDX-License-Identifier: MIT OR Apache-2.0
//! The line of a channel: its communicator, its stream, and the thread that issues its groups and watches them.
//!
//! RCCL may block until other ranks answer, so no thread of a caller calls it. A line borrows a thread of the callback
//! pool while it has something to do: joining, groups to issue, groups in flight, leaving. Groups go into a stream of the
//! line, behind the events of their waits. The queue of the submission then waits for the event behind the group, and
//! retires it like all other work.

use std::{
    collections::VecDeque,
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use windlass_hal::{
    Buffer, ChannelId, Collective, Error, Result, callback_pool, edge::Edge, pending, witness::Witness,
};
use windlass_hip_sys::rccl::Rccl;

use crate::{
    call::{Event, EventStatus, StreamHandle},
    event_pool::EventPool,
    gpu::Gpu,
    group::Group,
    rccl::{self, Communicator, Place, Stage},
    stream::Stream,
    submission::{Submission, Unfinished},
    sync::lock,
};

/// The longest pause between two looks at work that other ranks must answer.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);
/// The first such pause.
const FIRST_PAUSE: Duration = Duration::from_micros(50);

/// The device, as a line sees it.
pub(crate) trait Owner: Send + Sync {
    /// Remembers a line, to close it with the device.
    fn add(&self, line: &Arc<Line>);

    /// The event that a stream waits for to honour an edge.
    fn event_of(&self, edge: &Edge) -> Result<Option<Arc<Event>>>;

    /// Lets a drain wait for a group until the returned entry is dropped.
    fn unfinished(&self) -> Unfinished;

    /// Enqueues a submission whose group is in the stream of its channel. Returns whether it is in its queue, where it retires
    /// behind the end of the group. Otherwise the device is lost or gone.
    fn enqueue_group(&self, submission: Box<Submission>) -> bool;

    /// Takes the box of a submission that has ended.
    fn give_back(&self, submission: Box<Submission>);
}

/// How a line gets its communicator.
pub(crate) enum Start {
    Join {
        id: ChannelId,
        rank: u32,
        count: u32,
    },
    /// By a split of another line, which hands it over.
    Split,
}

/// The place of a rank in a split.
#[derive(Clone, Copy)]
pub(crate) struct Membership {
    pub(crate) color: u32,
    pub(crate) rank: u32,
    pub(crate) count: u32,
}

enum Task {
    Group(Box<Submission>, Arc<dyn Owner>),
    /// The line of the new channel, unless this rank is none of its members.
    Split(Option<(Arc<Line>, Membership)>),
}

/// See the [module's text](self).
pub(crate) struct Line {
    gpu: Arc<Gpu>,
    rccl: Rccl,
    timeout: Duration,
    state: Mutex<State>,
    changed: Condvar,
    /// Only the thread of the line locks it.
    own: Mutex<Own>,
}

struct State {
    tasks: VecDeque<Task>,
    /// A thread does the work, or a split will start one.
    running: bool,
    joined: bool,
    /// Nobody has a handle any more.
    left: bool,
    /// Why groups are refused: a failure, or the end of the device.
    failure: Option<Error>,
}

/// The objects of RCCL and HIP.
struct Own {
    start: Option<Start>,
    communicator: Option<Communicator>,
    stream: Option<StreamHandle>,
    events: EventPool,
    /// The events of groups that are profiled.
    timed_events: EventPool,
    in_flight: Vec<InFlight>,
}

struct InFlight {
    group: Group,
    /// When its start was seen to be reached.
    started: Option<Instant>,
    /// The buffers that the group uses until its end, and its bytes for fills. `None` once a queue has its submission, which
    /// keeps the same.
    kept: Option<(Arc<[Collective]>, Option<Buffer>)>,
}

impl Line {
    pub(crate) fn new(gpu: Arc<Gpu>, rccl: Rccl, start: Start, timeout: Duration) -> Arc<Self> {
        let running = matches!(start, Start::Split);
        Arc::new(Self {
            gpu,
            rccl,
            timeout,
            state: Mutex::new(State {
                tasks: VecDeque::new(),
                running,
                joined: false,
                left: false,
                failure: None,
            }),
            changed: Condvar::new(),
            own: Mutex::new(Own {
                start: Some(start),
                communicator: None,
                stream: None,
                events: EventPool::default(),
                timed_events: EventPool::timed(),
                in_flight: Vec::new(),
            }),
        })
    }

    /// Adds a group. It fails at once if the channel has failed.
    pub(crate) fn push(self: &Arc<Self>, mut submission: Box<Submission>, owner: &Arc<dyn Owner>) {
        let mut state = lock(&self.state);
        if let Some(error) = state.failure.clone() {
            drop(state);
            return give_up(submission, owner, &error);
        }
        if state.joined {
            submission.unfinished.get_or_insert_with(|| owner.unfinished());
        }
        state.tasks.push_back(Task::Group(submission, owner.clone()));
        self.wake(state);
    }

    /// Adds a split, and returns the line of the new channel.
    pub(crate) fn split(self: &Arc<Self>, membership: Option<Membership>) -> Result<Option<Arc<Self>>> {
        rccl::check_splits(&self.rccl)?;
        let mut state = lock(&self.state);
        if let Some(error) = &state.failure {
            return Err(error.clone());
        }
        let new = membership.map(|membership| {
            let line = Self::new(self.gpu.clone(), self.rccl.clone(), Start::Split, self.timeout);
            (line, membership)
        });
        let line = new.as_ref().map(|(line, _)| line.clone());
        state.tasks.push_back(Task::Split(new));
        self.wake(state);
        Ok(line)
    }

    /// Ends the line once its tasks are done. Nobody adds tasks any more.
    pub(crate) fn leave(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        state.left = true;
        self.wake(state);
    }

    /// Fails all groups that were not issued, and refuses new ones.
    pub(crate) fn close(self: &Arc<Self>, error: &Error) {
        let tasks = self.refuse(error);
        self.changed.notify_all();
        drop_tasks(tasks, error);
    }

    /// Starts the thread, unless there is one.
    pub(crate) fn run(self: &Arc<Self>) {
        self.wake(lock(&self.state));
    }

    fn wake(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        if mem::replace(&mut state.running, true) {
            self.changed.notify_all();
            return;
        }
        drop(state);
        let line = self.clone();
        callback_pool::spawn(Box::new(move || line.work()));
    }

    /// Keeps the first error for later groups. Returns the tasks, to drop without the lock.
    fn refuse(&self, error: &Error) -> VecDeque<Task> {
        let mut state = lock(&self.state);
        state.failure.get_or_insert_with(|| error.clone());
        mem::take(&mut state.tasks)
    }

    /// The body of the thread.
    fn work(self: &Arc<Self>) {
        let mut own = lock(&self.own);
        if let Some(start) = own.start.take()
            && let Err(error) = self.begin(&mut own, start)
        {
            self.fail(&mut own, error);
        }
        let mut pause = FIRST_PAUSE;
        loop {
            if let Err(error) = self.watch(&mut own) {
                self.fail(&mut own, error);
            }
            let mut state = lock(&self.state);
            if let Some(task) = state.tasks.pop_front() {
                drop(state);
                pause = FIRST_PAUSE;
                if let Err(error) = self.perform(&mut own, task) {
                    self.fail(&mut own, error);
                }
                continue;
            }
            if own.in_flight.is_empty() {
                if state.left {
                    // `running` stays set: no thread follows.
                    drop(state);
                    return self.end(&mut own);
                }
                state.running = false;
                return;
            }
            drop(self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Joins, or takes a communicator over.
    fn begin(self: &Arc<Self>, own: &mut Own, start: Start) -> Result<()> {
        if let Start::Join { id, rank, count } = start {
            let _current = self.gpu.hip.current()?;
            let communicator = Communicator::join(&self.rccl, &id, rank, count)?;
            let joined = self.await_stage(&communicator, |state| {
                // A rank without handles and without tasks is of use to nobody who has not come yet.
                let is_vain = state.left && state.tasks.is_empty();
                let vain = || Error::cancelled("the last handle of the channel was dropped");
                failed(state).or_else(|| is_vain.then(vain))
            });
            if let Err(error) = joined {
                communicator.abort();
                return Err(error.context(format!("joining a channel as rank {rank} of {count}")));
            }
            own.communicator = Some(communicator);
        }
        own.stream = Some(self.gpu.hip.create_stream()?);
        let mut state = lock(&self.state);
        state.joined = true;
        for task in &mut state.tasks {
            if let Task::Group(submission, owner) = task {
                submission.unfinished.get_or_insert_with(|| owner.unfinished());
            }
        }
        Ok(())
    }

    /// Waits until other ranks have answered, or `stop` gives an error. `ABORTED` after the timeout.
    fn await_stage(&self, communicator: &Communicator, stop: impl Fn(&State) -> Option<Error>) -> Result<()> {
        let deadline = Instant::now().checked_add(self.timeout);
        let mut pause = FIRST_PAUSE;
        loop {
            if let Stage::Done = communicator.stage()? {
                return Ok(());
            }
            self.usable()?;
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(self.late("answer"));
            }
            let state = lock(&self.state);
            if let Some(error) = stop(&state) {
                return Err(error);
            }
            drop(self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn late(&self, act: &str) -> Error {
        Error::aborted(format!(
            "another rank of the channel did not {act} within {:?}: see whether it runs, and create a new channel, with a \
             longer timeout if it only is slow",
            self.timeout
        ))
    }

    /// The error of a device that takes no more calls.
    fn usable(&self) -> Result<()> {
        if let Some(error) = self.gpu.hip.lost() {
            return Err(error.clone());
        }
        match self.gpu.hip.keeps_all() {
            true => Err(Error::failed_precondition("the process is ending, and HIP with it")),
            false => Ok(()),
        }
    }

    fn perform(self: &Arc<Self>, own: &mut Own, task: Task) -> Result<()> {
        let failed = lock(&self.state).failure.clone();
        let task = match (task, failed) {
            (task, None) => task,
            (task, Some(error)) => {
                drop_tasks([task], &error);
                return Ok(());
            }
        };
        match task {
            Task::Group(mut submission, owner) => {
                let issued = self.usable().and_then(|()| self.issue(own, &mut submission, &*owner));
                match issued {
                    Ok(issued) => {
                        // A part of a failed group may be in the stream, so it retires like others.
                        let is_kept = owner.enqueue_group(submission);
                        if let Some(newest) = own.in_flight.last_mut().filter(|_| is_kept) {
                            newest.kept = None;
                        }
                        issued
                    }
                    Err(error) => {
                        give_up(submission, &owner, &error);
                        Err(error)
                    }
                }
            }
            Task::Split(child) => {
                let membership = child.as_ref().map(|(_, membership)| *membership);
                let (result, communicator) = match self.perform_split(own, membership) {
                    Ok(communicator) => (Ok(()), communicator),
                    Err(error) => (Err(error.clone()), Err(error)),
                };
                if let Some((line, _)) = child {
                    line.take_over(communicator);
                }
                result
            }
        }
    }

    /// Puts a group into the stream. The inner error is that of a group of which a part may be in the stream.
    fn issue(&self, own: &mut Own, submission: &mut Submission, owner: &dyn Owner) -> Result<Result<()>> {
        let Own { communicator: joined, stream, events, timed_events, in_flight, .. } = own;
        let witness = Witness::of(&submission.order.signals);
        let events = if witness.is_some_and(Witness::wants_device_times) { timed_events } else { events };
        let hip = &self.gpu.hip;
        let (Some(communicator), Some(stream)) = (joined.as_ref(), *stream) else {
            return Err(Error::internal("a group of a channel without a communicator"));
        };
        let edges = submission.order.edges.iter();
        let waits: Vec<_> =
            edges.filter_map(|edge| owner.event_of(edge).transpose()).collect::<Result<_>>()?;
        let submitted =
            submission.group.as_mut().ok_or_else(|| Error::internal("a channel was given other work"))?;
        let _current = hip.current()?;
        waits.iter().try_for_each(|event| hip.wait_event(stream, **event))?;
        // The pool hands the events out again once it is the only owner.
        let mut next_event = || events.acquire(hip).inspect(|event| events.release(event.clone()));
        let new = Group::new(next_event()?, next_event()?);
        hip.record(*new.start, stream)?;
        let of_gpu = Stream { gpu: &self.gpu, handle: stream };
        let begun = communicator.begin_group(of_gpu, &submitted.operations, submitted.zeros.as_ref());
        let issued = begun.and_then(|()| self.await_stage(communicator, failed));
        let recorded = match &issued {
            Ok(()) => hip.record(*new.end, stream),
            Err(error) => {
                // RCCL may launch a part later, so the end has its place behind the abort, which waits for RCCL's threads.
                new.fail(error);
                joined.take().into_iter().for_each(Communicator::abort);
                hip.record(*new.end, stream)
            }
        };
        if let Err(error) = recorded {
            // Nothing tells the end of the group any more, so it ends here. Fills of its targets may be in the stream, and the
            // caller gives the targets back.
            new.fail(&error);
            joined.take().into_iter().for_each(Communicator::abort);
            hip.drain(stream);
            return Err(error);
        }
        let kept = Some((submitted.operations.clone(), submitted.zeros.clone()));
        in_flight.push(InFlight { group: new.clone(), started: None, kept });
        submitted.issued = Some(new);
        Ok(issued)
    }

    /// Takes part in a split. Returns the communicator of the new channel, if this rank is a member. The inner error is that
    /// of the new channel, and leaves this one as it is.
    fn perform_split(
        &self,
        own: &mut Own,
        membership: Option<Membership>,
    ) -> Result<Result<Option<Communicator>>> {
        // RCCL splits no communicator with work in flight.
        let mut pause = FIRST_PAUSE;
        while !own.in_flight.is_empty() {
            self.watch(own)?;
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.usable()?;
        let _current = self.gpu.hip.current()?;
        let communicator = own.communicator.as_ref();
        let communicator =
            communicator.ok_or_else(|| Error::internal("a split of a channel without a communicator"))?;
        let place = Place::default();
        let of_color = membership.map(|membership| (membership.color, membership.rank));
        let ended = communicator
            .split(of_color, &place)
            .and_then(|()| self.await_stage(communicator, failed))
            .map_err(|error| error.context("splitting a channel"));
        if let Err(error) = ended {
            // First the old one, which may still make the new one.
            own.communicator.take().into_iter().for_each(Communicator::abort);
            place.abort(&self.rccl);
            return Err(error);
        }
        let Some(Membership { rank, count, .. }) = membership else { return Ok(Ok(None)) };
        let new = communicator.split_off(place, rank, count)?;
        let checked = self.await_stage(&new, failed).and_then(|()| new.check_ranks());
        Ok(match checked {
            Ok(()) => Ok(Some(new)),
            Err(error) => {
                new.abort();
                Err(error)
            }
        })
    }

    /// Starts a line with the communicator that a split made for it.
    fn take_over(self: &Arc<Self>, communicator: Result<Option<Communicator>>) {
        {
            let mut own = lock(&self.own);
            match communicator {
                Ok(communicator) => own.communicator = communicator,
                Err(error) => {
                    own.start = None;
                    let tasks = self.refuse(&error);
                    drop_tasks(tasks, &error);
                }
            }
        }
        let line = self.clone();
        callback_pool::spawn(Box::new(move || line.work()));
    }

    /// Looks at the groups in flight. An error is that of the communicator, or a rank that is late.
    fn watch(&self, own: &mut Own) -> Result<()> {
        if own.in_flight.is_empty() {
            return Ok(());
        }
        // Its queues retire what is in flight.
        if self.usable().is_err() {
            own.in_flight.clear();
            return Ok(());
        }
        let hip = &self.gpu.hip;
        let is_reached = |event: &Event| !matches!(hip.query(*event), Ok(EventStatus::Running));
        let done = own.in_flight.iter().take_while(|one| is_reached(&one.group.end)).count();
        own.in_flight.drain(..done);
        let Some(oldest) = own.in_flight.first_mut() else { return Ok(()) };
        // Once it is aborted, the groups end by themselves.
        let Some(communicator) = &own.communicator else { return Ok(()) };
        communicator.stage()?;
        match oldest.started {
            Some(started) if started.elapsed() >= self.timeout => {
                Err(self.late("finish a group with this one"))
            }
            None if is_reached(&oldest.group.start) => {
                oldest.started = Some(Instant::now());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Fails everything that has not ended, and all that follows.
    fn fail(&self, own: &mut Own, error: Error) {
        tracing::debug!(target: "windlass::hip", %error, "a channel failed");
        own.in_flight.iter().for_each(|one| one.group.fail(&error));
        // It ends the work of RCCL in the stream, after which the queues retire the groups.
        own.communicator.take().into_iter().for_each(Communicator::abort);
        let tasks = self.refuse(&error);
        drop_tasks(tasks, &error);
    }

    /// Leaves the channel, and gives everything back.
    fn end(&self, own: &mut Own) {
        if let Some(communicator) = own.communicator.take() {
            let finalized = self
                .usable()
                .and_then(|()| communicator.finalize())
                // Also behind the end of the device: other ranks may still need this one.
                .and_then(|()| self.await_stage(&communicator, |_| None));
            match finalized {
                Ok(()) => communicator.destroy(),
                Err(_) if self.gpu.hip.keeps_all() => {}
                Err(_) => communicator.abort(),
            }
        }
        let (stream, mut events) = (own.stream.take(), own.events.take());
        events.append(&mut own.timed_events.take());
        self.gpu.hip.give_back(|hip| {
            events.iter().for_each(|event| hip.destroy_event(**event));
            stream.into_iter().for_each(|stream| hip.destroy_stream(stream));
        });
    }
}

fn failed(state: &State) -> Option<Error> {
    state.failure.clone()
}

fn drop_tasks(tasks: impl IntoIterator<Item = Task>, error: &Error) {
    for task in tasks {
        match task {
            Task::Group(submission, owner) => give_up(submission, &owner, error),
            Task::Split(Some((line, _))) => line.take_over(Err(error.clone())),
            Task::Split(None) => {}
        }
    }
}

/// Drops a group that will not be issued, then fails its signals.
fn give_up(mut submission: Box<Submission>, owner: &Arc<dyn Owner>, error: &Error) {
    let error = error.clone().context(submission.work.name());
    let signals = mem::take(&mut submission.order.signals);
    owner.give_back(submission);
    pending::fail(&signals, &error);
}
