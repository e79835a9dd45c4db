// SPDX-License-Identifier: MIT OR Apache-2.0
//! The profiler: it keeps the records of one profile in chunks, and hands full chunks to the sink.
//!
//! Records are added under a lock of this file, whatever locks the adding thread holds. The sink is the program's code, so
//! it is called with no lock held: by a thread that carries out its notifications, or by a flush. One thread at a time
//! calls it. At most [`MOST_CHUNKS`] chunks wait for the sink. Further ones are dropped and counted, so a slow sink costs
//! records and no memory.

use std::{
    collections::{HashMap, VecDeque},
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, ThreadId},
};

use slab::Slab;

use crate::{
    order::{
        notifications::{Deliver, Notifications},
        point::Point,
        semaphore::Semaphore,
        witness::{Witness, Witnessed},
    },
    words::{
        buffer_params::MemoryType,
        clock,
        error::{Error, Result},
        panics::contain,
        profile::{
            CommandRecord, HostCallRecord, MemoryEvent, MemoryRecord, OperationRecord, ProfileChunk,
            ProfileOptions, ProfileRecord, ProfileSink, ProfiledDevice, TimeSpan,
        },
        sync::lock_std,
    },
};

/// The records of a chunk, unless an operation has many commands.
const CHUNK: usize = 256;
/// The most chunks that wait for the sink.
const MOST_CHUNKS: usize = 64;
/// The most witnesses that are kept for the next operations.
const KEPT: usize = 1024;

/// One profile of one device.
pub(crate) struct Profiler {
    device: Arc<ProfiledDevice>,
    options: ProfileOptions,
    state: Mutex<ProfilerState>,
    /// Signalled when a thread has stopped to call the sink.
    rested: Condvar,
}

#[derive(Default)]
struct ProfilerState {
    /// The chunk that is being filled.
    records: Vec<ProfileRecord>,
    full: VecDeque<Vec<ProfileRecord>>,
    dropped: u64,
    /// The thread that calls the sink.
    delivering: Option<ThreadId>,
    /// The witnesses of operations in flight.
    live: Slab<Semaphore>,
    /// Witnesses for the next operations, the one that retired first in front. Another thread may still hold one.
    spare: VecDeque<Semaphore>,
    submissions: u64,
    /// The host calls that run, by submission.
    calls: HashMap<u64, RunningCall>,
    /// `None` once it has had everything.
    sink: Option<Arc<dyn ProfileSink>>,
    ended: bool,
}

/// A host call that has begun, and has neither returned nor settled its signals.
struct RunningCall {
    thread: u64,
    begun: u64,
}

impl ProfilerState {
    /// Adds the record of a host call, unless it was added before.
    fn end_host_call(&mut self, submission: u64, ended: u64, failure: Option<Error>) {
        if let Some(RunningCall { thread, begun }) = self.calls.remove(&submission) {
            let time = TimeSpan { begun, ended };
            self.add(ProfileRecord::HostCall(HostCallRecord::new(submission, thread, time, failure)));
        }
    }

    /// Adds a record. Returns whether a chunk is full.
    fn add(&mut self, record: ProfileRecord) -> bool {
        self.records.push(record);
        self.records.len() >= CHUNK && self.close_chunk()
    }

    /// Hands the chunk on that is being filled. Returns whether a chunk waits for the sink.
    fn close_chunk(&mut self) -> bool {
        let chunk = mem::replace(&mut self.records, Vec::with_capacity(CHUNK));
        match chunk.len() {
            0 => {}
            lost if self.full.len() >= MOST_CHUNKS => self.dropped += lost as u64,
            _ => self.full.push_back(chunk),
        }
        !self.full.is_empty()
    }
}

impl Profiler {
    pub(crate) fn new(device: ProfiledDevice, options: ProfileOptions, sink: Arc<dyn ProfileSink>) -> Self {
        let state = ProfilerState { sink: Some(sink), ..ProfilerState::default() };
        Self { device: Arc::new(device), options, state: Mutex::new(state), rested: Condvar::new() }
    }

    pub(crate) fn options(&self) -> &ProfileOptions {
        &self.options
    }

    fn lock(&self) -> MutexGuard<'_, ProfilerState> {
        lock_std(&self.state)
    }

    /// Begins the record of an operation. The point goes before its signal list.
    pub(crate) fn begin(
        self: &Arc<Self>,
        mut operation: Box<OperationRecord>,
        mut commands: Vec<CommandRecord>,
    ) -> (u64, Point) {
        let mut state = self.lock();
        state.submissions += 1;
        let submission = state.submissions;
        operation.submission = submission;
        commands.iter_mut().for_each(|command| command.submission = submission);
        // A profile that ends meanwhile makes no record of it.
        let witnessed = (!state.ended).then_some(Witnessed { operation, commands });
        let mut semaphore = match state.spare.pop_front() {
            Some(spare) if spare.is_only_handle() => spare,
            Some(held) => {
                state.spare.push_back(held);
                Semaphore::of_witness(Witness::new(self.clone()))
            }
            None => Semaphore::of_witness(Witness::new(self.clone())),
        };
        if let Some(witnessed) = witnessed {
            let entry = state.live.vacant_entry();
            semaphore.renew_witness(entry.key(), witnessed);
            entry.insert(semaphore.clone());
        }
        (submission, Point { semaphore, value: 1 })
    }

    /// Takes the record of an operation back that was refused.
    pub(crate) fn withdraw(&self, witness: &Point) {
        let Some(witness) = witness.semaphore.witness() else { return };
        if witness.take(None, None).is_some() {
            self.lock().live.try_remove(witness.key);
        }
    }

    /// Adds the records of an operation that has retired.
    pub(super) fn finish(
        self: &Arc<Self>,
        key: usize,
        witnessed: Witnessed,
        notifications: &mut Notifications,
    ) {
        let mut state = self.lock();
        let semaphore = state.live.try_remove(key);
        if state.ended {
            return;
        }
        if state.spare.len() < KEPT {
            state.spare.extend(semaphore);
        }
        let Witnessed { operation, commands } = witnessed;
        // A host call that settles its signals before it returns: waits for them find its record.
        if !state.calls.is_empty() {
            let ended = operation.retired.unwrap_or_else(clock::now);
            state.end_host_call(operation.submission, ended, operation.failure.clone());
        }
        state.records.extend(commands.into_iter().map(ProfileRecord::Command));
        if state.add(ProfileRecord::Operation(operation)) {
            notifications.deliver(self.clone());
        }
    }

    /// Notes that a host call begins.
    pub(crate) fn begin_host_call(&self, submission: u64, thread: u64) {
        let begun = clock::now();
        let mut state = self.lock();
        if !state.ended {
            state.calls.insert(submission, RunningCall { thread, begun });
        }
    }

    /// Adds the record of a host call that returned. The end of its operation follows, so this calls no sink.
    pub(crate) fn end_host_call(&self, submission: u64, failure: Option<Error>) {
        self.lock().end_host_call(submission, clock::now(), failure);
    }

    /// Adds a record of memory. The caller may hold locks, so this calls no sink.
    pub(crate) fn add_memory(&self, event: MemoryEvent, memory_type: MemoryType, bytes: u64) {
        if !self.options.memory {
            return;
        }
        let record = MemoryRecord::new(event, bytes, memory_type, clock::now());
        let mut state = self.lock();
        if !state.ended {
            state.add(ProfileRecord::Memory(record));
        }
    }

    fn deliver_all<'a>(&'a self, mut state: MutexGuard<'a, ProfilerState>) {
        state.delivering = Some(thread::current().id());
        while let Some(records) = state.full.pop_front() {
            let dropped = mem::take(&mut state.dropped);
            let sink = state.sink.clone();
            drop(state);
            let chunk = ProfileChunk { device: self.device.clone(), records, dropped };
            contain("the sink of a profile", || {
                if let Some(sink) = sink {
                    sink.records(chunk);
                }
            });
            state = self.lock();
        }
        state.delivering = None;
        let gone = if state.ended { state.sink.take() } else { None };
        drop(state);
        // The program's code again: its sink may do something when it is dropped.
        contain("the end of a profile's sink", || drop(gone));
        self.rested.notify_all();
    }

    /// Hands everything to the sink that is recorded by now. Waits for a thread that calls the sink.
    /// `FAILED_PRECONDITION` within a call of the sink.
    pub(crate) fn flush(&self) -> Result<()> {
        let mut state = self.lock();
        // A call of the sink that fails to flush must not cause another call.
        if state.delivering != Some(thread::current().id()) {
            state.close_chunk();
        }
        self.deliver_rest(state)
    }

    fn deliver_rest<'a>(&'a self, mut state: MutexGuard<'a, ProfilerState>) -> Result<()> {
        while let Some(thread) = state.delivering {
            if thread == thread::current().id() {
                return Err(Error::failed_precondition(
                    "the sink of a profile cannot flush or end the profile: do it on another thread, or after the call",
                ));
            }
            state = self.rested.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.deliver_all(state);
        Ok(())
    }

    /// Whether this thread is in a call of the sink.
    pub(crate) fn is_in_sink(&self) -> bool {
        self.lock().delivering == Some(thread::current().id())
    }

    /// Ends the profile: adds a record of each operation in flight, hands everything to the sink, and takes no record any
    /// more. Within a call of the sink, the rest follows when the call returns.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        if mem::replace(&mut state.ended, true) {
            return;
        }
        let live = mem::take(&mut state.live);
        let spare = mem::take(&mut state.spare);
        let mut in_flight: Vec<Witnessed> =
            live.iter().filter_map(|(_, semaphore)| semaphore.witness()?.take(None, None)).collect();
        in_flight.sort_by_key(|witnessed| witnessed.operation.submission);
        let mut running: Vec<u64> = state.calls.keys().copied().collect();
        running.sort_unstable();
        let now = clock::now();
        running.into_iter().for_each(|submission| state.end_host_call(submission, now, None));
        for Witnessed { operation, commands } in in_flight {
            state.records.extend(commands.into_iter().map(ProfileRecord::Command));
            state.add(ProfileRecord::Operation(operation));
        }
        state.close_chunk();
        // Within the sink, the call that is running delivers the rest.
        let _ = self.deliver_rest(state);
        drop((live, spare));
    }
}

impl Deliver for Profiler {
    /// Calls the sink for all full chunks, unless another thread does.
    fn deliver(&self) {
        let state = self.lock();
        if state.delivering.is_none() {
            self.deliver_all(state);
        }
    }
}
