// SPDX-License-Identifier: MIT OR Apache-2.0
//! Follow-up jobs: the short steps between the pieces of transfers. They may call a driver, and share a few threads.

use std::{collections::VecDeque, sync::Mutex};

use crate::{
    order::callback_pool,
    words::{panics::contain, sync::lock_std},
};

type Job = Box<dyn FnOnce() + Send>;

/// The most threads of the callback pool that run such jobs at once.
const THREADS: usize = 8;

struct Following {
    jobs: VecDeque<Job>,
    threads: usize,
}

static FOLLOWING: Mutex<Following> = Mutex::new(Following { jobs: VecDeque::new(), threads: 0 });

/// Runs the job soon on a thread of the callback pool, or on the calling thread where the system can start none.
pub(super) fn follow(job: Job) {
    let mut following = lock_std(&FOLLOWING);
    following.jobs.push_back(job);
    if following.threads == THREADS {
        return;
    }
    following.threads += 1;
    let alone = following.threads == 1;
    drop(following);
    if callback_pool::try_spawn(work) {
        return;
    }
    if alone {
        work();
    } else {
        // The other threads end only when no job is left.
        lock_std(&FOLLOWING).threads -= 1;
    }
}

fn work() {
    loop {
        let mut following = lock_std(&FOLLOWING);
        let Some(job) = following.jobs.pop_front() else {
            following.threads -= 1;
            return;
        };
        drop(following);
        contain("a step of a transfer", job);
    }
}
