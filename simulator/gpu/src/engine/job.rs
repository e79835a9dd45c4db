// SPDX-License-Identifier: MIT OR Apache-2.0
//! A dispatch in flight, shared by the threads that run its workgroups.

use super::fault::Fault;
use super::float_mode::DefaultFloatMode;
use super::grid::Grid;
use super::launch::Statistics;
use super::order::Order;
use super::workgroup::{Progress, Workgroup};
use crate::exec::Cause;
use crate::memory::Windows;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// The most workgroups that one thread keeps in flight, unless all must be.
const RESIDENT: usize = 1024;

/// A dispatch in flight.
pub(super) struct Job {
    /// The data that its workgroups share.
    pub(super) grid: Grid,
    order: Order,
    /// Workgroups started.
    next: AtomicU64,
    /// The number of workgroups.
    total: u64,
    crew: Arc<Crew>,
}

/// The threads that work on a dispatch, and its outcome. A late helper may hold it after the dispatch has ended.
#[derive(Default)]
struct Crew {
    state: Mutex<CrewState>,
    idle: Condvar,
}

#[derive(Default)]
struct CrewState {
    /// Helping threads, without the caller's.
    helpers: usize,
    /// Whether helpers come too late.
    closed: bool,
    statistics: Statistics,
    fault: Option<Box<Fault>>,
}

impl Crew {
    fn lock(&self) -> MutexGuard<'_, CrewState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An invitation to help with a dispatch. It does not keep the dispatch alive.
pub(super) struct Invitation {
    job: Weak<Job>,
    crew: Arc<Crew>,
}

impl Invitation {
    /// Helps, unless the dispatch has ended.
    pub(super) fn redeem(self) {
        {
            let mut state = self.crew.lock();
            if state.closed {
                return;
            }
            state.helpers += 1;
        }
        // Dropped last: once no helper is left, only the caller holds the dispatch.
        let _helper = Helper(&self.crew);
        if let Some(job) = self.job.upgrade() {
            let watch = Watch(&job);
            job.share();
            drop(watch);
        }
    }
}

impl Job {
    /// A dispatch that has not begun. With a seed, the order of its workgroups is drawn from it.
    pub(super) fn new(grid: Grid, seed: Option<u64>) -> Self {
        let total = grid.start.grid.iter().map(|&extent| u64::from(extent)).product();
        Self { grid, order: Order::new(total, seed), next: AtomicU64::new(0), total, crew: Arc::default() }
    }

    /// The number of workgroups.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Whether workgroups are left to start.
    pub(super) fn has_more(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.total
    }

    /// An invitation for another thread.
    pub(super) fn invitation(self: &Arc<Self>) -> Invitation {
        Invitation { job: Arc::downgrade(self), crew: self.crew.clone() }
    }

    /// Runs the dispatch to its end, on the caller's thread and with the helpers that come.
    pub(super) fn finish(&self) -> Result<Statistics, Box<Fault>> {
        self.share();
        let mut state = self.crew.lock();
        state.closed = true;
        while state.helpers > 0 {
            state = self.crew.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        match state.fault.take() {
            Some(fault) => Err(fault),
            None if self.grid.stop.load(Ordering::Relaxed) => {
                Err(Fault::before_start(self.grid.kernel.name(), Cause::Cancelled))
            }
            None => Ok(state.statistics),
        }
    }

    /// Runs workgroups until none are left.
    fn share(&self) {
        let _mode = DefaultFloatMode::enter();
        let mut waiting: VecDeque<Workgroup> = VecDeque::new();
        let mut done = Statistics::default();
        let mut windows = self.windows();
        while !self.grid.stop.load(Ordering::Relaxed) {
            let fresh = if waiting.len() < self.resident() { self.start_next() } else { None };
            let Some(mut workgroup) = fresh.or_else(|| waiting.pop_front()) else { break };
            match workgroup.run(&self.grid, &mut windows) {
                Ok(Progress::Done) => {
                    done.workgroups += 1;
                    done.waves += workgroup.waves();
                    done.instructions += workgroup.instructions();
                }
                Ok(Progress::Waiting) => waiting.push_back(workgroup),
                Err(fault) => {
                    self.crew.lock().fault.get_or_insert(fault);
                    self.grid.stop.store(true, Ordering::Relaxed);
                }
            }
        }
        let mut state = self.crew.lock();
        state.statistics.workgroups += done.workgroups;
        state.statistics.waves += done.waves;
        state.statistics.instructions += done.instructions;
    }

    /// Windows for a thread that runs workgroups.
    pub(super) fn windows(&self) -> Windows {
        Windows::new(self.grid.start.reach)
    }

    /// The most workgroups that one thread keeps in flight while they wait for one another.
    pub(super) fn resident(&self) -> usize {
        if self.grid.start.together { usize::MAX } else { RESIDENT }
    }

    /// Starts the next workgroup, if one is left.
    pub(super) fn start_next(&self) -> Option<Workgroup> {
        // Late helpers must not make the counter wrap.
        if self.next.load(Ordering::Relaxed) >= self.total {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.total).then(|| Workgroup::new(&self.grid, self.order.place(number)))
    }
}

/// Counts a helper off, even if it panics.
struct Helper<'a>(&'a Crew);

impl Drop for Helper<'_> {
    fn drop(&mut self) {
        self.0.lock().helpers -= 1;
        self.0.idle.notify_all();
    }
}

/// Stops the dispatch if a helper panics. Otherwise the caller would report success.
struct Watch<'a>(&'a Job);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.grid.stop.store(true, Ordering::Relaxed);
        }
    }
}
