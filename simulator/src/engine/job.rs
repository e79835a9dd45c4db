// SPDX-License-Identifier: MIT OR Apache-2.0
//! A dispatch in flight, shared by the threads that run its workgroups.

use super::fault::{Cause, Fault};
use super::kernel::Kernel;
use super::launch::Statistics;
use super::scene::Scene;
use super::start::Start;
use super::workgroup::{Progress, Workgroup};
use crate::exec::Position;
use crate::memory::Memory;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// Workgroups that one thread keeps in flight at most, when they wait for one another.
pub(super) const RESIDENT: usize = 1024;

/// A dispatch in flight.
pub(super) struct Job {
    pub(super) memory: Arc<Memory>,
    pub(super) kernel: Kernel,
    start: Start,
    entry: Position,
    order: Order,
    /// Workgroups started.
    next: AtomicU64,
    total: u64,
    /// Set to stop all of its waves.
    pub(super) stop: Arc<AtomicBool>,
    crew: Arc<Crew>,
}

/// Who works on a dispatch, and what came of it. It outlives the dispatch where helpers come late.
#[derive(Default)]
struct Crew {
    state: Mutex<State>,
    idle: Condvar,
}

#[derive(Default)]
struct State {
    /// Threads at work, the caller's not counted.
    helpers: usize,
    /// Whether help comes too late.
    closed: bool,
    statistics: Statistics,
    fault: Option<Box<Fault>>,
    /// What did not stop it, by the instruction's place.
    findings: BTreeMap<Option<i64>, Box<Fault>>,
}

impl Crew {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An invitation to help with a dispatch. It keeps nothing of the dispatch alive.
pub(super) struct Ticket {
    job: Weak<Job>,
    crew: Arc<Crew>,
}

impl Ticket {
    /// Takes part, unless the dispatch is over.
    pub(super) fn redeem(self) {
        {
            let mut state = self.crew.lock();
            if state.closed {
                return;
            }
            state.helpers += 1;
        }
        // Signs off last of all: once no helper is left, only the caller holds the dispatch.
        let _helper = Helper(&self.crew);
        if let Some(job) = self.job.upgrade() {
            let watch = Watch(&job);
            job.share();
            drop(watch);
        }
    }
}

impl Job {
    /// A dispatch whose arguments are in place.
    pub(super) fn new(
        memory: Arc<Memory>,
        kernel: Kernel,
        start: Start,
        entry: Position,
        seed: Option<u64>,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let total = start.grid.iter().map(|&extent| u64::from(extent)).product();
        Self {
            memory,
            kernel,
            start,
            entry,
            order: Order::new(total, seed),
            next: AtomicU64::new(0),
            total,
            stop,
            crew: Arc::default(),
        }
    }

    /// Workgroups.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Whether workgroups are left to start.
    pub(super) fn has_more(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.total
    }

    /// An invitation for another thread.
    pub(super) fn ticket(self: &Arc<Self>) -> Ticket {
        Ticket { job: Arc::downgrade(self), crew: self.crew.clone() }
    }

    /// What there is to tell about a wave of a workgroup.
    pub(super) fn scene(&self, workgroup: [u32; 3]) -> Scene<'_> {
        Scene { memory: &self.memory, kernel: &self.kernel, start: &self.start, workgroup }
    }

    /// Notes what did not stop it, the first time for each instruction.
    pub(super) fn note(&self, finding: Box<Fault>) {
        let instruction = finding.location.as_ref().map(|location| location.offset);
        self.crew.lock().findings.entry(instruction).or_insert(finding);
    }

    /// What was noted since this was last asked.
    pub(super) fn findings(&self) -> Vec<Fault> {
        std::mem::take(&mut self.crew.lock().findings).into_values().map(|finding| *finding).collect()
    }

    /// Runs the dispatch on the caller's thread, with what help there is, to its end.
    pub(super) fn finish(&self) -> Result<Statistics, Box<Fault>> {
        self.share();
        let mut state = self.crew.lock();
        state.closed = true;
        while state.helpers > 0 {
            state = self.crew.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        match state.fault.take() {
            Some(fault) => Err(fault),
            None if self.stop.load(Ordering::Relaxed) => {
                Err(Fault::before_start(self.kernel.name(), Cause::Cancelled))
            }
            None => Ok(state.statistics),
        }
    }

    /// Runs workgroups until none are left.
    fn share(&self) {
        let mut waiting: VecDeque<Workgroup> = VecDeque::new();
        let mut done = Statistics::default();
        while !self.stop.load(Ordering::Relaxed) {
            let fresh = if waiting.len() < RESIDENT { self.take() } else { None };
            let Some(mut workgroup) = fresh.or_else(|| waiting.pop_front()) else { break };
            match workgroup.run(self) {
                Ok(Progress::Done) => {
                    done.workgroups += 1;
                    done.waves += workgroup.waves();
                    done.instructions += workgroup.instructions();
                }
                Ok(Progress::Waiting) => waiting.push_back(workgroup),
                Err(fault) => {
                    self.crew.lock().fault.get_or_insert(fault);
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
        }
        let mut state = self.crew.lock();
        state.statistics.workgroups += done.workgroups;
        state.statistics.waves += done.waves;
        state.statistics.instructions += done.instructions;
    }

    /// Starts the next workgroup, if one is left.
    pub(super) fn take(&self) -> Option<Workgroup> {
        // Not past the end: helpers that come late must not make the counter wrap.
        if self.next.load(Ordering::Relaxed) >= self.total {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.total).then(|| Workgroup::new(&self.start, self.order.place(number), &self.entry))
    }
}

/// Signs a helper off, even if it panics.
struct Helper<'a>(&'a Crew);

impl Drop for Helper<'_> {
    fn drop(&mut self) {
        self.0.lock().helpers -= 1;
        self.0.idle.notify_all();
    }
}

/// Stops the dispatch if a helper panics, so that its caller does not take it for done.
struct Watch<'a>(&'a Job);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// The order in which workgroups start.
#[derive(Clone, Copy, Debug)]
struct Order {
    total: u64,
    factor: u64,
    first: u64,
}

impl Order {
    /// Ascending, or a permutation drawn from a seed.
    fn new(total: u64, seed: Option<u64>) -> Self {
        let Some(seed) = seed else { return Self { total, factor: 1, first: 0 } };
        let mut state = seed;
        let mut draw = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ mixed >> 31) % total.max(1)
        };
        let first = draw();
        // A factor without a common divisor visits every workgroup once.
        let mut factor = draw().max(1);
        while gcd(factor, total) != 1 {
            factor = factor % total + 1;
        }
        Self { total, factor, first }
    }

    /// The workgroup that starts as the `number`th.
    fn place(&self, number: u64) -> u64 {
        let place = u128::from(number) * u128::from(self.factor) + u128::from(self.first);
        (place % u128::from(self.total.max(1))) as u64
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_visits_every_workgroup_once() {
        for total in [1, 2, 7, 12, 360] {
            let mut orders = std::collections::HashSet::new();
            for seed in [None, Some(0), Some(1), Some(2), Some(u64::MAX)] {
                let order = Order::new(total, seed);
                let visited: Vec<u64> = (0..total).map(|number| order.place(number)).collect();
                let mut sorted = visited.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..total).collect::<Vec<_>>(), "{total} {seed:?}");
                orders.insert(visited);
            }
            assert!(total < 360 || orders.len() > 3, "seeds give the same order of {total}");
        }
    }
}
