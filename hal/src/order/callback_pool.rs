// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads that run host calls: as many as are busy at once, kept for a while, never joined.
//!
//! A host call may block on another one, so no call queues behind a busy thread: a call that finds nobody idle gets a
//! thread of its own. Only where the system has no thread left do calls queue for those that there are. They never run
//! on the thread that made them ready, which may be a reaper or somebody with a deadline.

use std::{
    io,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, TrySendError, select};

use crate::words::panics::contain;

type Job = Box<dyn FnOnce() + Send>;

/// How long an idle thread stays.
const KEEP: Duration = Duration::from_secs(10);

struct Pool {
    /// A rendezvous: sending succeeds only into the hands of an idle thread.
    idle: (Sender<Job>, Receiver<Job>),
    /// Jobs on their way to a new thread, or for which the system had none.
    queue: (Sender<Job>, Receiver<Job>),
    started: AtomicUsize,
    /// Threads that look at the queue before they end.
    alive: AtomicUsize,
}

/// Runs a job on a thread of the pool, which the job may block.
pub fn spawn(job: Box<dyn FnOnce() + Send>) {
    let pool = Pool::get();
    let Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) = pool.idle.0.try_send(job) else {
        return;
    };
    let _ = pool.queue.0.send(job);
    pool.alive.fetch_add(1, Ordering::SeqCst);
    if let Err(error) = pool.start(|| pool.work()) {
        tracing::error!(target: "windlass::queue", %error, "no thread for a host call; it waits for another to end");
        if pool.alive.fetch_sub(1, Ordering::SeqCst) == 1 {
            // There is no other to wait for.
            pool.run_queued();
        }
    }
}

/// Runs a job on a thread of the pool that has nothing else to do, or says that there is none.
pub(crate) fn try_spawn(job: fn()) -> bool {
    let pool = Pool::get();
    if pool.idle.0.try_send(Box::new(job)).is_ok() {
        return true;
    }
    let started = pool.start(move || {
        contain("a host call", job);
        pool.alive.fetch_add(1, Ordering::SeqCst);
        pool.work();
    });
    started.is_ok()
}

impl Pool {
    fn get() -> &'static Self {
        static POOL: OnceLock<Pool> = OnceLock::new();
        POOL.get_or_init(|| Self {
            idle: crossbeam_channel::bounded(0),
            queue: crossbeam_channel::unbounded(),
            started: AtomicUsize::new(0),
            alive: AtomicUsize::new(0),
        })
    }

    fn start(&self, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        thread::Builder::new().name(format!("windlass-call-{number}")).spawn(work).map(drop)
    }

    fn work(&self) {
        loop {
            let job = select! {
                recv(self.queue.1) -> job => job.ok(),
                recv(self.idle.1) -> job => job.ok(),
                default(KEEP) => None,
            };
            if let Some(job) = job {
                contain("a host call", job);
                continue;
            }
            self.alive.fetch_sub(1, Ordering::SeqCst);
            if self.queue.1.is_empty() {
                return;
            }
            // Somebody counted on this thread just before.
            self.alive.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn run_queued(&self) {
        while let Ok(job) = self.queue.1.try_recv() {
            contain("a host call", job);
        }
    }
}
