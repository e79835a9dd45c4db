// SPDX-License-Identifier: MIT OR Apache-2.0
//! A recording in the making: each operation from its submission to its end.
//!
//! The device below gets each operation with a signal of the recorder in the place of the program's, and, where a wait is
//! not reached yet, with one more wait. So the recorder sees the memory before an operation starts, and after it ended
//! and before the program knows.

use std::{
    cell::Cell,
    collections::{BTreeMap, HashMap},
    ops::Range,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use windlass_hal::{
    Buffer, BufferParams, BufferUsage, Deadline, Error, HostCall, Notifications, OperationRef, Point, Points,
    Probe, QueueAffinity, Result, Semaphore, driver, pending,
};

use super::{
    describe::{Describer, Uses},
    log::Log,
    objects::{Dropped, Objects},
    task::Task,
    tee::{Passed, tee},
};
use crate::{
    format::{
        coding::Bytes,
        event::{Ended, Event, Failed, Readback, Submission, Work},
    },
    ranges::{joined, without},
};

/// Everything that the calls of a device share.
pub(super) struct Session {
    state: Mutex<State>,
    settled: Condvar,
}

pub(super) struct State {
    pub(super) objects: Objects,
    pub(super) log: Log,
    operations: HashMap<u32, Submitted>,
    /// The mapped buffers of operations that have not started, and how many use each.
    waiting: BTreeMap<u32, u32>,
    /// The ranges of mapped buffers that operations may write which have started and not ended.
    running: BTreeMap<u32, Vec<(u32, Range<u64>)>>,
    next_operation: u32,
    /// The number of operations that have ended.
    ended: u64,
}

/// An operation that has not ended.
struct Submitted {
    waits: Points,
    signals: Points,
    ended: Semaphore,
    uses: Uses,
    started: bool,
    settling: bool,
    is_host_call: bool,
    /// The buffer of an alloca or a dealloca, and whether its memory is its own then.
    owns: Option<(u32, bool)>,
    passed: Option<Passed>,
    tasks: Vec<Arc<Task>>,
}

thread_local! {
    /// Whether this thread ends an operation. A waker of the program may drain the device then.
    static SETTLING: Cell<u32> = const { Cell::new(0) };
}

impl Session {
    pub(super) fn new(log: Log) -> Arc<Self> {
        let state = State {
            objects: Objects::default(),
            log,
            operations: HashMap::new(),
            waiting: BTreeMap::new(),
            running: BTreeMap::new(),
            next_operation: 0,
            ended: 0,
        };
        Arc::new(Self { state: Mutex::new(state), settled: Condvar::new() })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an operation and submits it.
    ///
    /// # Safety
    /// As for [`driver::RawDevice::submit`] of `inner`.
    pub(super) unsafe fn submit(
        self: &Arc<Self>,
        inner: &dyn driver::RawDevice,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        let ended = Semaphore::new(0);
        let mut dropped = Dropped::new();
        let mut state = self.lock();
        let number = state.next_operation;
        state.next_operation += 1;
        let State { objects, log, .. } = &mut *state;
        let mut describer = Describer { objects, log, uses: Uses::default() };
        let work = describer.operation(&operation);
        let mut uses = describer.uses;
        let captures = std::mem::take(&mut uses.captures);
        state.scan(&uses.mapped, true, &mut dropped);
        state.explain(waits);
        let started = waits.iter().all(is_reached);
        let owns = match work {
            Work::Alloca { buffer } => Some((buffer, true)),
            Work::Dealloca { buffer } => Some((buffer, false)),
            _ => None,
        };
        let submission = Submission {
            operation: number,
            affinity: affinity.bits(),
            waits: waits.iter().map(|wait| state.objects.at(wait)).collect(),
            signals: signals.iter().map(|signal| state.objects.at(signal)).collect(),
            work,
        };
        state.log.add(&Event::Submit { submission });
        let (file, passed) = match &operation {
            OperationRef::Read { file, .. } | OperationRef::Write { file, .. } => {
                let (file, passed) = tee(file);
                (Some(file), Some(passed))
            }
            _ => (None, None),
        };
        let mut inner_waits = Points::from(waits);
        let mut tasks = self.ending(number, &ended);
        if !started {
            let gate = Semaphore::new(0).at(1);
            tasks.extend(self.starting(number, waits, &gate));
            inner_waits.push(gate);
        }
        let is_host_call = matches!(operation, OperationRef::HostCall(_));
        let submitted = Submitted {
            waits: Points::from(waits),
            signals: Points::from(signals),
            ended: ended.clone(),
            uses,
            started: false,
            settling: false,
            is_host_call,
            owns,
            passed,
            tasks: tasks.clone(),
        };
        for buffer in &submitted.uses.mapped {
            *state.waiting.entry(*buffer).or_default() += 1;
        }
        state.operations.insert(number, submitted);
        if started {
            state.begin(number);
        }
        drop(state);
        drop(dropped);
        for (buffer, memory) in captures {
            inner_waits.push(self.capture(inner, affinity, waits, buffer, memory));
        }
        tasks.iter().for_each(Task::begin);
        let operation = match (operation, &file) {
            (OperationRef::Read { file_offset, target, .. }, Some(file)) => {
                OperationRef::Read { file, file_offset, target }
            }
            (OperationRef::Write { source, file_offset, .. }, Some(file)) => {
                OperationRef::Write { source, file, file_offset }
            }
            (OperationRef::HostCall(call), _) => {
                OperationRef::HostCall(self.host_call(number, call, ended.clone(), Points::from(signals)))
            }
            (operation, _) => operation,
        };
        // SAFETY: the caller vouches for the operation. It has the same work, at least the same waits, and a signal of the
        // recorder, which passes it on when it is reached or failed.
        let result = unsafe { inner.submit(affinity, &inner_waits, &[ended.at(1)], operation) };
        if result.is_err() {
            let mut state = self.lock();
            state.stop(number);
            let submitted = state.operations.remove(&number);
            state.log.add(&Event::Refused { operation: number });
            drop(state);
            submitted.iter().flat_map(|submitted| &submitted.tasks).for_each(|task| task.cancel());
        }
        result
    }

    /// The task that ends an operation.
    fn ending(self: &Arc<Self>, number: u32, ended: &Semaphore) -> Vec<Arc<Task>> {
        let session = self.clone();
        vec![Task::new(&ended.at(1), move |result| session.settle(number, result))]
    }

    /// The tasks that let an operation start, which waits for `gate` too, when its waits are reached. If a wait fails, the
    /// device fails the operation.
    fn starting(self: &Arc<Self>, number: u32, waits: &[Point], gate: &Point) -> Vec<Arc<Task>> {
        let left = Arc::new(AtomicUsize::new(waits.len()));
        let task = |wait: &Point| {
            let (session, left, gate) = (self.clone(), left.clone(), gate.clone());
            Task::new(wait, move |result| {
                if result.is_ok() && left.fetch_sub(1, Ordering::AcqRel) == 1 {
                    session.start(number);
                    pending::reach(&[gate]);
                }
            })
        };
        waits.iter().map(task).collect()
    }

    /// Looks at the memory before an operation starts.
    fn start(&self, number: u32) {
        let mut dropped = Dropped::new();
        let mut state = self.lock();
        let Some(submitted) = state.operations.get(&number) else { return };
        let (waits, mapped) = (submitted.waits.clone(), submitted.uses.mapped.clone());
        // A signal of the program lets later work start too, which needs no further look.
        let by_program = waits.iter().any(|wait| !state.objects.explains(wait));
        state.scan(&mapped, by_program, &mut dropped);
        state.explain(&waits);
        state.begin(number);
        drop(state);
        drop(dropped);
    }

    /// Records the end of an operation, and passes it on.
    fn settle(&self, number: u32, result: Result<()>) {
        let mut dropped = Dropped::new();
        let mut state = self.lock();
        let Some(submitted) = state.operations.get_mut(&number) else { return };
        submitted.settling = true;
        let (waits, signals) = (submitted.waits.clone(), submitted.signals.clone());
        let tasks = std::mem::take(&mut submitted.tasks);
        let is_host_call = submitted.is_host_call;
        if is_host_call {
            state.scan(&[], true, &mut dropped);
        }
        state.explain(&waits);
        let failure = result.as_ref().err().map(failed);
        let readbacks = match failure {
            None => state.readbacks(number, &mut dropped),
            Some(_) => Vec::new(),
        };
        // The program knows of the end from here on. Its next call waits for the lock, so the recording has the end first. A
        // semaphore that the program failed before is failed now too.
        let mut notifications = Notifications::new();
        for signal in signals.iter() {
            match &result {
                Ok(()) => signal.semaphore.advance(signal.value, &mut notifications),
                Err(error) => signal.semaphore.fail_into(error.clone(), &mut notifications),
            }
        }
        if result.is_ok() {
            state.explain_failures(&signals);
        }
        state.stop(number);
        state.end(number, failure, readbacks, &signals);
        drop(state);
        drop(dropped);
        tasks.iter().for_each(|task| task.cancel());
        SETTLING.with(|settling| settling.set(settling.get() + 1));
        notifications.fire();
        SETTLING.with(|settling| settling.set(settling.get() - 1));
        let mut state = self.lock();
        let gone = state.operations.remove(&number);
        state.ended += 1;
        drop(state);
        self.settled.notify_all();
        drop(gone);
    }

    /// A call around a host call, which records its beginning. An error behind the early end of the signal list still
    /// fails the program's signals.
    fn host_call(
        self: &Arc<Self>,
        number: u32,
        call: HostCall,
        ended: Semaphore,
        signals: Points,
    ) -> HostCall {
        let session = self.clone();
        HostCall::new(call.flags(), move |context| {
            session.lock().log.add(&Event::Began { operation: number });
            let result = match windlass_hal::panics::caught(|| call.call(context)) {
                Ok(result) => result,
                Err(text) => Err(Error::aborted(format!("a host call panicked: {text}"))),
            };
            if let (Err(error), true) = (&result, is_reached(&ended.at(1))) {
                pending::fail(&signals, error);
            }
            result
        })
    }

    /// Copies memory whose contents the recorder does not know to the host, when the waits are reached. Returns a point
    /// that is reached then, whether or not the copy has succeeded.
    fn capture(
        self: &Arc<Self>,
        inner: &dyn driver::RawDevice,
        affinity: QueueAffinity,
        waits: &[Point],
        buffer: u32,
        memory: Buffer,
    ) -> Point {
        let (copied, over) = (Semaphore::new(0), Semaphore::new(0).at(1));
        let params = BufferParams::host();
        let result = inner.allocate(&params, memory.len()).map(|raw| Buffer::from_driver(raw, params));
        let result = result.and_then(|staging| {
            let source = Buffer::from_driver(
                memory.raw().clone(),
                memory.params().with_usage(memory.params().usage | BufferUsage::TRANSFER),
            );
            let (session, over, bytes) = (self.clone(), over.clone(), staging.clone());
            let task = Task::new(&copied.at(1), move |result| {
                if let (Ok(()), Ok(mapping)) = (result, bytes.map()) {
                    let bytes = Bytes::Here(mapping.to_vec());
                    session.lock().log.add(&Event::Contents { buffer, bytes });
                }
                pending::reach(&[over]);
            });
            task.begin();
            let copy = OperationRef::Copy { source: &source, target: &staging };
            // SAFETY: both ranges are whole buffers of this device, of one size.
            unsafe { inner.submit(affinity, waits, &[copied.at(1)], copy) }.inspect_err(|_| task.cancel())
        });
        if let Err(error) = result {
            tracing::warn!(target: "windlass::record", buffer, %error, "the contents of imported memory are not recorded");
            pending::reach(std::slice::from_ref(&over));
        }
        over
    }

    /// Waits until the operations have ended whose work the device has ended.
    pub(super) fn drain(&self, inner: &dyn driver::RawDevice, deadline: Deadline) -> Result<()> {
        loop {
            let before = self.lock().ended;
            inner.drain(deadline)?;
            let inside = SETTLING.with(|settling| settling.get() > 0);
            let mut state = self.lock();
            while !inside && state.operations.values().any(Submitted::has_ended) {
                let step = std::time::Duration::from_millis(20);
                state = match self.settled.wait_timeout(state, step) {
                    Ok((state, _)) => state,
                    Err(poisoned) => poisoned.into_inner().0,
                };
                if deadline.passed() {
                    return Err(Error::deadline_exceeded("draining a recorded device"));
                }
            }
            // An operation that ended may have let others start.
            if inside || state.ended == before {
                return Ok(());
            }
        }
    }
}

fn stop_waiting(waiting: &mut BTreeMap<u32, u32>, mapped: &[u32]) {
    for buffer in mapped {
        if let Some(count) = waiting.get_mut(buffer) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(buffer);
            }
        }
    }
}

fn is_reached(point: &Point) -> bool {
    matches!(point.semaphore.probe(point.value, None), Probe::Reached)
}

fn failed(error: &Error) -> Failed {
    Failed { code: error.code() as u32, message: error.message().to_owned() }
}

impl Submitted {
    fn has_ended(&self) -> bool {
        self.settling || !matches!(self.ended.probe(1, None), Probe::Unresolved)
    }
}

impl State {
    /// Records changes of mapped memory by the program: of these buffers, and with `all` also of those that waiting
    /// operations use.
    fn scan(&mut self, own: &[u32], all: bool, dropped: &mut Dropped) {
        let mut numbers = own.to_vec();
        if all {
            numbers.extend(self.waiting.keys());
        }
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            let running = self.running_writes(number, None);
            let Some(entry) = self.objects.entry(number) else { continue };
            let ranges = without(0..entry.size, &running);
            let changes = entry.changes(&ranges, dropped);
            if !changes.is_empty() {
                self.log.add(&Event::HostWrite { buffer: number, changes });
            }
        }
    }

    /// The ranges of a buffer that running operations may write, except for one operation.
    fn running_writes(&self, buffer: u32, except: Option<u32>) -> Vec<Range<u64>> {
        let others = self.running.iter().filter(|(number, _)| Some(**number) != except);
        let writes = others.flat_map(|(_, writes)| writes);
        writes.filter(|(number, _)| *number == buffer).map(|(_, range)| range.clone()).collect()
    }

    /// Records signals and failures of these points that no operation explains.
    fn explain(&mut self, waits: &[Point]) {
        for wait in waits {
            match wait.semaphore.probe(wait.value, None) {
                Probe::Reached if !self.objects.explains(wait) => {
                    let at = self.objects.at(wait);
                    self.log.add(&Event::HostSignal { at });
                    self.objects.reached(wait);
                }
                _ => {}
            }
        }
        self.explain_failures(waits);
    }

    fn explain_failures(&mut self, points: &[Point]) {
        for point in points {
            if let Probe::Failed(error) = point.semaphore.probe(point.value, None)
                && let Some(semaphore) = self.objects.failed(&point.semaphore)
            {
                self.log.add(&Event::HostFail { semaphore, failure: failed(&error) });
            }
        }
    }

    /// Marks an operation as started.
    fn begin(&mut self, number: u32) {
        let Some(operation) = self.operations.get_mut(&number) else { return };
        if std::mem::replace(&mut operation.started, true) {
            return;
        }
        stop_waiting(&mut self.waiting, &operation.uses.mapped);
        if !operation.uses.writes.is_empty() {
            self.running.insert(number, operation.uses.writes.clone());
        }
        if let Some((buffer, false)) = operation.owns
            && let Some(entry) = self.objects.entry(buffer)
        {
            entry.end();
        }
    }

    /// Takes an operation out of the account of those that wait and those that run.
    fn stop(&mut self, number: u32) {
        self.running.remove(&number);
        if let Some(operation) = self.operations.get_mut(&number)
            && !std::mem::replace(&mut operation.started, true)
        {
            stop_waiting(&mut self.waiting, &operation.uses.mapped);
        }
    }

    /// The bytes that an operation left in mapped memory.
    fn readbacks(&mut self, number: u32, dropped: &mut Dropped) -> Vec<Readback> {
        let Some(operation) = self.operations.get(&number) else { return Vec::new() };
        if let Some((buffer, true)) = operation.owns {
            self.objects.entry(buffer).into_iter().for_each(|entry| entry.begin(dropped));
            return Vec::new();
        }
        let writes = operation.uses.writes.clone();
        let mut buffers: Vec<u32> = writes.iter().map(|(buffer, _)| *buffer).collect();
        buffers.sort_unstable();
        buffers.dedup();
        let mut readbacks = Vec::new();
        for buffer in buffers {
            let own = writes.iter().filter(|(number, _)| *number == buffer).map(|(_, range)| range.clone());
            let running = self.running_writes(buffer, Some(number));
            let Some(entry) = self.objects.entry(buffer) else { continue };
            let size = entry.size;
            let ranges: Vec<_> = joined(own.collect())
                .into_iter()
                .flat_map(|range| without(range.start..range.end.min(size), &running))
                .collect();
            let kept = dropped.len();
            let changes = entry.changes(&ranges, dropped);
            // Nobody can read a buffer without handles.
            if dropped.len() > kept {
                let ranges = ranges.iter().map(|range| [range.start, range.end - range.start]).collect();
                readbacks.push(Readback { buffer, ranges, changes });
            }
        }
        readbacks
    }

    /// Records the end of an operation. Its signals count as explained from now on.
    fn end(&mut self, number: u32, failure: Option<Failed>, readbacks: Vec<Readback>, signals: &[Point]) {
        for signal in signals {
            match failure {
                None => self.objects.reached(signal),
                Some(_) => _ = self.objects.failed(&signal.semaphore),
            }
        }
        let passed = self.operations.get(&number).and_then(|operation| operation.passed.clone());
        let pieces = passed
            .map(|passed| std::mem::take(&mut *passed.lock().unwrap_or_else(PoisonError::into_inner)))
            .unwrap_or_default();
        self.log.add(&Event::Ended { ended: Ended { operation: number, failure, readbacks, pieces } });
    }
}
