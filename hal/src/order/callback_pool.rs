// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads that run host calls. The pool has as many threads as calls are busy, keeps idle threads for ten seconds
//! and never joins them.
//!
//! A host call may block on another host call, so no call queues behind a busy thread: a call that finds no idle thread
//! starts a new one. Calls queue for existing threads only when the system can start no more. A call never runs on the
//! thread that made it ready, which may be a reaper or a thread with a deadline.

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

/// How long an idle thread lives.
const KEEP: Duration = Duration::from_secs(10);

struct CallbackPool {
    /// A rendezvous: a send succeeds only when an idle thread takes the job.
    idle: (Sender<Job>, Receiver<Job>),
    /// Jobs for threads that are starting, and jobs for which the system had no thread.
    queue: (Sender<Job>, Receiver<Job>),
    started: AtomicUsize,
    /// Threads that will look at the queue before they end.
    alive: AtomicUsize,
}

/// Runs a job on a thread of the pool. The job may block. Returns at once, unless the system can start no thread and
/// the pool has none: then the job runs before this returns.
pub fn spawn(job: Box<dyn FnOnce() + Send>) {
    let pool = CallbackPool::get();
    let Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) = pool.idle.0.try_send(job) else {
        return;
    };
    let _ = pool.queue.0.send(job);
    pool.alive.fetch_add(1, Ordering::SeqCst);
    if let Err(error) = pool.start(|| pool.work()) {
        tracing::error!(target: "windlass::queue", %error, "no thread for a host call; it waits for another to end");
        if pool.alive.fetch_sub(1, Ordering::SeqCst) == 1 {
            // No other thread will run the job.
            pool.run_queued();
        }
    }
}

/// Runs a job on an idle or a new thread of the pool. Returns `false`, without running the job, when the system can
/// start no thread.
pub(crate) fn try_spawn(job: fn()) -> bool {
    let pool = CallbackPool::get();
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

impl CallbackPool {
    fn get() -> &'static Self {
        static POOL: OnceLock<CallbackPool> = OnceLock::new();
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
            // A job was queued for this thread just before.
            self.alive.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn run_queued(&self) {
        while let Ok(job) = self.queue.1.try_recv() {
            contain("a host call", job);
        }
    }
}
