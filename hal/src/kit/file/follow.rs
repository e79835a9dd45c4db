// SPDX-License-Identifier: MIT OR Apache-2.0
//! What goes on between the steps of transfers: short jobs that may call a driver, on a few threads however many there are.

use std::{collections::VecDeque, sync::Mutex};

use crate::{
    order::callback_pool,
    words::{panics::contain, sync::lock_std},
};

type Job = Box<dyn FnOnce() + Send>;

/// Threads of the callback pool that do such jobs at once.
const THREADS: usize = 8;

struct Following {
    jobs: VecDeque<Job>,
    threads: usize,
}

static FOLLOWING: Mutex<Following> = Mutex::new(Following { jobs: VecDeque::new(), threads: 0 });

/// Has a thread of the callback pool do the job soon; the calling one, where the system has no thread left.
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
        // The others end only when nothing is left.
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
