// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work whose waits are reached, from its first part to its signals.
//!
//! A thread runs it as a loop: what can be shared becomes a [`Batch`] that other threads are asked to help with, and
//! whoever ends the batch goes on with the work. No thread waits for another. Without a pool nothing is shared, and the
//! loop runs to the end on the thread that made the work ready.

use std::{
    mem,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use smallvec::SmallVec;
use windlass_hal::{
    Dispatch, Error, Notifications, Operation, Points, Result, panics,
    pool::{Frontier, placed},
};

use crate::{
    batch::Batch,
    block::Blocks,
    cut::Cut,
    dispatch::{self, Launch},
    pool::Task,
    queue::Queues,
    replay::{self, Next, Replay, Share},
    transfer::Transfer,
    workgroup_count,
};

/// An operation whose waits are reached.
pub(crate) struct Ready {
    pub(crate) owed: Owed,
    pub(crate) operation: Operation,
}

/// Who is told of the end.
pub(crate) struct Owed {
    pub(crate) queues: Arc<Queues>,
    pub(crate) signals: Points,
    /// The key among what is in flight.
    pub(crate) flight: usize,
    /// A thread of the device's runs it, and nothing else meanwhile.
    pub(crate) on_pool: bool,
}

/// What the threads of a pool do.
pub(crate) enum Job {
    Begin(Box<Ready>),
    Help(Arc<Batch<Shared>>),
}

/// Work that threads share, until its last part is done.
pub(crate) struct Shared {
    owed: Owed,
    what: What,
    failure: Failure,
}

enum What {
    Dispatch { submitted: Dispatch, blocks: Blocks, workgroup_count: [u32; 3], cut: Cut },
    Transfer { transfer: Transfer<'static>, cut: Cut },
    Stage { replay: Replay, shares: SmallVec<[Share; 4]> },
}

/// The failure of the first part, by number, among those that failed.
#[derive(Default)]
struct Failure {
    failed: AtomicBool,
    first: Mutex<Option<(u64, Error)>>,
}

impl Task for Job {
    fn run(self) {
        match self {
            Self::Begin(ready) => ready.run(),
            Self::Help(batch) => {
                let ended = batch.help(Shared::part);
                drop(batch);
                share(ended.and_then(Shared::go_on));
            }
        }
    }
}

/// Shares work among the threads, and then what comes behind it, as long as this thread is the one that ends it.
fn share(mut next: Option<Shared>) {
    while let Some(shared) = next {
        next = shared.start().and_then(Shared::go_on);
    }
}

impl Ready {
    /// Runs the operation, or the part of it that no other thread ends. Does not panic.
    pub(crate) fn run(self) {
        let Self { owed, operation } = self;
        let shared = match operation {
            Operation::Execute { command_buffer, bindings } => {
                let replay = guarded("queue_execute", || Replay::begin(command_buffer.as_ref(), bindings));
                drop(command_buffer);
                match replay {
                    Ok(replay) => replay_on(replay, owed),
                    Err(error) => owed.settle(Err(error)),
                }
            }
            operation => {
                let name = operation.name();
                match guarded(name, || begin(operation, &owed.queues)) {
                    Ok(None) => owed.settle(Ok(())),
                    Ok(Some(what)) => Some(Shared { owed, what, failure: Failure::default() }),
                    Err(error) => owed.settle(Err(error)),
                }
            }
        };
        share(shared);
    }
}

/// Runs what needs no help; gives what does.
fn begin(operation: Operation, queues: &Queues) -> Result<Option<What>> {
    let threads = queues.threads();
    let operation = match Transfer::submitted(operation) {
        Err(operation) => operation,
        Ok(transfer) => {
            let cut = Cut::bytes(transfer.len(), threads);
            if cut.parts() <= 1 {
                return transfer.run(0..transfer.len()).map(|()| None);
            }
            return Ok(Some(What::Transfer { transfer, cut }));
        }
    };
    match operation {
        // The memory was there from `reserve` on.
        Operation::Barrier | Operation::Alloca { .. } => Ok(None),
        Operation::Dealloca { buffer } => {
            // Whatever used it is done: whoever gets it next has nothing to wait for.
            if let Some(placed) = placed(&buffer) {
                placed.release(Frontier::new());
            }
            Ok(None)
        }
        Operation::Dispatch(submitted) => {
            let (function, size) =
                ((submitted.executable.as_ref(), submitted.function), submitted.workgroup_size);
            let count = &submitted.workgroup_count;
            let Some(workgroup_count) =
                workgroup_count::resolve(count, &[], function, size, queues.limits())?
            else {
                return Ok(None);
            };
            let blocks = Blocks::of(&submitted.arguments);
            let cut = Cut::grid(workgroup_count, threads);
            if cut.parts() <= 1 {
                return dispatch::run(&launch(&submitted, &blocks, workgroup_count), cut.range(0))
                    .map(|()| None);
            }
            Ok(Some(What::Dispatch { submitted, blocks, workgroup_count, cut }))
        }
        other => Err(Error::internal(format!("{} was accepted and cannot be run", other.name()))),
    }
}

fn launch<'a>(submitted: &'a Dispatch, blocks: &'a Blocks, workgroup_count: [u32; 3]) -> Launch<'a> {
    Launch {
        executable: submitted.executable.as_ref(),
        function: submitted.function,
        workgroup_count,
        workgroup_size: submitted.workgroup_size,
        dynamic_local_memory: submitted.dynamic_local_memory,
        arguments: &blocks.bytes()[..submitted.arguments.len()],
    }
}

/// Runs a replay up to a stage that other threads help with, or to its end.
fn replay_on(mut replay: Replay, owed: Owed) -> Option<Shared> {
    let queues = owed.queues.clone();
    loop {
        let next = guarded("queue_execute", || {
            let next = replay.next(queues.threads(), queues.limits())?;
            if let Some(Next::Serial(steps)) = &next {
                replay.serial(steps.clone(), queues.limits())?;
            }
            Ok(next)
        });
        match next {
            Ok(Some(Next::Serial(_))) => {}
            Ok(Some(Next::Parallel(shares))) if replay::parts(&shares) == 0 => {}
            Ok(Some(Next::Parallel(shares))) => {
                let what = What::Stage { replay, shares };
                return Some(Shared { owed, what, failure: Failure::default() });
            }
            end => {
                let result = end.map(|_| ());
                let dropped = guarded("queue_execute", || {
                    drop(replay);
                    Ok(())
                });
                return owed.settle(result.and(dropped));
            }
        }
    }
}

impl Shared {
    /// Asks for help and takes part. Comes back if this thread is the one that ends it.
    fn start(self) -> Option<Self> {
        let (parts, queues) = (self.parts(), self.owed.queues.clone());
        let batch = Arc::new(Batch::new(self, parts));
        queues.ask_for_help(parts - 1, || Job::Help(batch.clone()));
        batch.help(Self::part)
    }

    fn parts(&self) -> u64 {
        match &self.what {
            What::Dispatch { cut, .. } | What::Transfer { cut, .. } => cut.parts(),
            What::Stage { shares, .. } => replay::parts(shares),
        }
    }

    /// Runs one part, unless another has failed.
    fn part(&self, part: u64) {
        if self.failure.failed.load(Relaxed) {
            return;
        }
        let result = guarded(self.name(), || match &self.what {
            What::Dispatch { submitted, blocks, workgroup_count, cut } => {
                dispatch::run(&launch(submitted, blocks, *workgroup_count), cut.range(part))
            }
            What::Transfer { transfer, cut } => transfer.run(cut.range(part)),
            What::Stage { replay, shares } => replay.part(shares, part),
        });
        if let Err(error) = result {
            self.failure.note(part, error);
        }
    }

    /// All parts are done: what is to be shared next, if there is more.
    fn go_on(self) -> Option<Self> {
        let Self { owed, what, mut failure } = self;
        let result = failure.take();
        match (what, result) {
            (What::Stage { replay, .. }, Ok(())) => replay_on(replay, owed),
            (what, result) => {
                let dropped = guarded("an operation", || {
                    drop(what);
                    Ok(())
                });
                owed.settle(result.and(dropped))
            }
        }
    }

    fn name(&self) -> &'static str {
        match &self.what {
            What::Dispatch { .. } => "queue_dispatch",
            What::Transfer { .. } => "a transfer",
            What::Stage { .. } => "queue_execute",
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
    /// Settles the signals. What the work held is gone by then. Nothing comes behind.
    fn settle(self, result: Result<()>) -> Option<Shared> {
        let Self { queues, signals, flight, on_pool } = self;
        let mut notifications = Notifications::new();
        for signal in signals.iter() {
            match &result {
                Ok(()) => signal.semaphore.advance(signal.value, &mut notifications),
                Err(error) => signal.semaphore.fail_into(error.clone(), &mut notifications),
            }
        }
        // Wakers may take their time, and so may the work that this is the end of a part of.
        let is_free_next = on_pool && !notifications.has_wakers();
        let tell = || notifications.fire();
        if is_free_next {
            queues.ending(tell)
        } else {
            tell()
        }
        queues.in_flight().end(flight);
        None
    }
}

/// Runs foreign code: kernels, and whatever is dropped with an operation.
fn guarded<T>(name: &str, run: impl FnOnce() -> Result<T>) -> Result<T> {
    panics::caught(run).unwrap_or_else(|text| Err(Error::aborted(format!("{name} panicked: {text}"))))
}
