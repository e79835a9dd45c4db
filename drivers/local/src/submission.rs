// SPDX-License-Identifier: MIT OR Apache-2.0
//! Submissions: operations whose waits are reached, from the first part of their work to their signals.
//!
//! A thread runs a submission as a loop. Work in several parts becomes a [`Batch`] that other threads are asked to help
//! with. The thread that ends the batch goes on with the submission, so no thread waits for another. A device without
//! threads runs the loop to its end on the thread that made the submission ready.

use std::{
    mem,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use windlass_hal::{Error, Notifications, Operation, Points, Result, panics, witness::Witness};

use crate::{
    batch::Batch,
    queue::{self, Work},
    queues::Queues,
    replay::{self, Next, Replay},
    threads::Task,
};

/// An operation whose waits are reached.
pub(crate) struct Submission {
    pub(crate) owed: Owed,
    pub(crate) operation: Operation,
}

/// The end that a submission owes: its signals, and its entry among the operations in flight.
pub(crate) struct Owed {
    pub(crate) queues: Arc<Queues>,
    pub(crate) signals: Points,
    /// The key in [`Queues::in_flight`].
    pub(crate) flight: usize,
    /// A thread of the device runs the submission, and nothing else meanwhile.
    pub(crate) on_worker: bool,
}

/// A task of a device's thread.
pub(crate) enum Job {
    Begin(Box<Submission>),
    Help(Arc<Batch<SharedWork>>),
}

/// Work whose parts threads share, until the last part is done.
pub(crate) struct SharedWork {
    owed: Owed,
    work: Work,
    failure: Failure,
}

/// The error of the lowest-numbered part that failed.
#[derive(Default)]
struct Failure {
    failed: AtomicBool,
    first: Mutex<Option<(u64, Error)>>,
}

impl Task for Job {
    fn run(self) {
        match self {
            Self::Begin(submission) => submission.run(),
            Self::Help(batch) => {
                let ended = batch.help(SharedWork::run_part);
                drop(batch);
                share(ended.and_then(SharedWork::go_on));
            }
        }
    }
}

/// Shares work among the threads, and then the work that follows it, as long as this thread ends each of them.
fn share(mut next: Option<SharedWork>) {
    while let Some(shared) = next {
        next = shared.start().and_then(SharedWork::go_on);
    }
}

impl Submission {
    /// Runs the operation until another thread takes over, or to its end. Does not panic.
    pub(crate) fn run(self) {
        let Self { owed, operation } = self;
        if let Some(witness) = Witness::of(&owed.signals) {
            witness.begin();
        }
        let shared = match operation {
            Operation::Execute { command_buffer, bindings } => {
                let replay = guarded("queue_execute", || Replay::begin(command_buffer.as_ref(), bindings));
                drop(command_buffer);
                match replay {
                    Ok(replay) => replay_on(replay, owed),
                    Err(error) => owed.signal(Err(error)),
                }
            }
            operation => {
                let name = operation.name();
                let (threads, limits) = (owed.queues.thread_count(), owed.queues.limits());
                match guarded(name, || queue::run(operation, threads, limits)) {
                    Ok(None) => owed.signal(Ok(())),
                    Ok(Some(work)) => Some(SharedWork { owed, work, failure: Failure::default() }),
                    Err(error) => owed.signal(Err(error)),
                }
            }
        };
        share(shared);
    }
}

/// Runs a replay up to a stage that other threads help with, or to its end.
fn replay_on(mut replay: Replay, owed: Owed) -> Option<SharedWork> {
    let queues = owed.queues.clone();
    loop {
        let next = guarded("queue_execute", || {
            let next = replay.next(queues.thread_count(), queues.limits())?;
            if let Some(Next::Serial(steps)) = &next {
                replay.serial(steps.clone(), queues.limits())?;
            }
            Ok(next)
        });
        match next {
            Ok(Some(Next::Serial(_))) => {}
            Ok(Some(Next::Parallel(shares))) if replay::parts(&shares) == 0 => {}
            Ok(Some(Next::Parallel(shares))) => {
                let work = Work::Stage { replay, shares };
                return Some(SharedWork { owed, work, failure: Failure::default() });
            }
            end => {
                let result = end.map(|_| ());
                let dropped = guarded("queue_execute", || {
                    drop(replay);
                    Ok(())
                });
                return owed.signal(result.and(dropped));
            }
        }
    }
}

impl SharedWork {
    /// Asks other threads for help and runs parts. Returns the work if this thread ended the last part.
    fn start(self) -> Option<Self> {
        let (parts, queues) = (self.work.parts(), self.owed.queues.clone());
        let batch = Arc::new(Batch::new(self, parts));
        queues.ask_for_help(parts - 1, || Job::Help(batch.clone()));
        batch.help(Self::run_part)
    }

    /// Runs one part, unless another has failed.
    fn run_part(&self, part: u64) {
        if self.failure.failed.load(Relaxed) {
            return;
        }
        if let Err(error) = guarded(self.work.name(), || self.work.run_part(part)) {
            self.failure.note(part, error);
        }
    }

    /// Continues the submission once all parts are done. Returns the next work to share, if there is more.
    fn go_on(self) -> Option<Self> {
        let Self { owed, work, mut failure } = self;
        let result = failure.take();
        match (work, result) {
            (Work::Stage { replay, .. }, Ok(())) => replay_on(replay, owed),
            (work, result) => {
                let dropped = guarded("an operation", || {
                    drop(work);
                    Ok(())
                });
                owed.signal(result.and(dropped))
            }
        }
    }
}

impl Failure {
    fn note(&self, part: u64, error: Error) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(known, _)| part < *known) {
            *first = Some((part, error));
        }
        self.failed.store(true, Relaxed);
    }

    fn take(&mut self) -> Result<()> {
        match mem::take(self.first.get_mut().unwrap_or_else(PoisonError::into_inner)) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

impl Owed {
    /// Reaches or fails the signals. The caller has dropped everything that the operation held. Returns no further work.
    fn signal(self, result: Result<()>) -> Option<SharedWork> {
        let Self { queues, signals, flight, on_worker } = self;
        if let Some(witness) = Witness::of(&signals) {
            witness.end();
        }
        let mut notifications = Notifications::new();
        for signal in signals.iter() {
            match &result {
                Ok(()) => signal.semaphore.advance(signal.value, &mut notifications),
                Err(error) => signal.semaphore.fail_into(error.clone(), &mut notifications),
            }
        }
        // A waker may take its time. So may other work of this thread, unless the thread is a worker at the end of its job.
        let is_free_next = on_worker && !notifications.has_wakers();
        let tell = || notifications.fire();
        if is_free_next {
            queues.ending(tell)
        } else {
            tell()
        }
        queues.in_flight.end(flight);
        None
    }
}

/// Runs code that may panic: kernels, and destructors of objects that an operation held.
pub(crate) fn guarded<T>(name: &str, run: impl FnOnce() -> Result<T>) -> Result<T> {
    panics::caught(run).unwrap_or_else(|text| Err(Error::aborted(format!("{name} panicked: {text}"))))
}
