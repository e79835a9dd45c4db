// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads that run host calls: as many as are busy at once, kept for a while, never joined.
//!
//! A host call may block on another one, so no call may queue behind a busy thread: a call that finds nobody idle
//! gets a thread of its own.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, TrySendError};

type Job = Box<dyn FnOnce() + Send>;

/// How long an idle thread stays.
const KEEP: Duration = Duration::from_secs(10);

struct Pool {
    /// A rendezvous: sending succeeds only into the hands of an idle thread.
    sender: Sender<Job>,
    receiver: Receiver<Job>,
    started: AtomicUsize,
}

/// Runs a job on a thread of the pool, which the job may block.
pub fn spawn(job: Box<dyn FnOnce() + Send>) {
    static POOL: OnceLock<Pool> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        let (sender, receiver) = crossbeam_channel::bounded(0);
        Pool { sender, receiver, started: AtomicUsize::new(0) }
    });
    let Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) = pool.sender.try_send(job) else {
        return;
    };
    let number = pool.started.fetch_add(1, Ordering::Relaxed);
    let receiver = pool.receiver.clone();
    // A job that finds no thread must still run exactly once: it waits in a cell that both sides can reach.
    let cell = std::sync::Arc::new(std::sync::Mutex::new(Some(job)));
    let taken = cell.clone();
    let take = |cell: &std::sync::Mutex<Option<Job>>| crate::sync::lock_std(cell).take();
    let spawned = thread::Builder::new().name(format!("windlass-call-{number}")).spawn(move || {
        if let Some(job) = take(&taken) {
            job();
        }
        while let Ok(job) = receiver.recv_timeout(KEEP) {
            job();
        }
    });
    if let Err(error) = spawned {
        tracing::error!(target: "windlass::queue", %error, "no thread for a host call; it runs on this one");
        if let Some(job) = take(&cell) {
            job();
        }
    }
}
