// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads of a device: each has a queue of tasks, and takes from the others' where its own is empty.
//!
//! What a task makes ready goes to the queue of the thread that runs it; what other threads hand in, to a queue that all
//! share. A thread that finds nothing looks around for a few microseconds, which is less than waking it costs, and then
//! sleeps. Whoever adds a task wakes a sleeper unless a thread is looking around already.
//!
//! No wake is lost, for three reasons. A thread counts as asleep before it looks for the last time, and looking takes the
//! queues' locks: either it finds the task, or whoever added it sees the thread counted. A thread that was seen looking
//! looks once more after it stops counting as such. And the last one that stops looking because it found a task wakes a
//! sleeper if there are more. `tests` has the models.
//!
//! Closing a pool ends its threads once nothing is queued. Nobody joins them.

use std::{collections::VecDeque, sync::Arc};

use windlass_hal::{Error, Result};

use crate::sync::{AtomicUsize, Condvar, Mutex, Ordering::SeqCst, fence, lock, thread_local};

/// What threads run.
pub(crate) trait Task: Send + 'static {
    /// Does the work. Must not panic: a thread would be lost.
    fn run(self);
}

/// How often an idle thread looks around before it sleeps: as long as waking it costs, ten to fifteen microseconds on the
/// machines that this was measured on.
const LOOKS: u32 = if cfg!(loom) { 1 } else { 200 };

/// What a thread's stack may grow to: as much as kernels have where a program's main thread runs them.
const STACK: usize = 8 << 20;

/// A handle of a pool. Threads have handles of their own.
pub(crate) struct Pool<T: Task>(Arc<Shared<T>>);

struct Shared<T> {
    /// One queue for each thread, and behind them the one for tasks from elsewhere.
    queues: Box<[Mutex<VecDeque<T>>]>,
    /// Tasks in all queues, or about to be.
    queued: AtomicUsize,
    /// Threads that look around.
    looking: AtomicUsize,
    /// Threads that sleep, or will unless they find something at last.
    asleep: AtomicUsize,
    idle: Mutex<Idle>,
    wake: Condvar,
}

struct Idle {
    /// Sleepers that are to wake and have not yet.
    woken: usize,
    closed: bool,
}

/// What a thread of a pool knows of itself.
struct Worker {
    pool: Arc<dyn Announce>,
    index: usize,
    end: End,
}

/// Whether a thread's task is at its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// It is not, or nobody knows how long the end takes.
    Far,
    /// The first task that it adds now, it runs itself next.
    Near,
    /// It has added one, and told nobody.
    Kept,
}

/// A pool of any tasks.
trait Announce: Send + Sync {
    /// Wakes a sleeper, unless somebody is looking for tasks.
    fn wake_one(&self);
}

thread_local! {
    // Loom's has no constant form.
    #[allow(clippy::missing_const_for_thread_local)]
    static WORKER: std::cell::RefCell<Option<Worker>> = std::cell::RefCell::new(None);
}

/// What the calling thread knows of itself, if it is one of a pool's.
fn with_worker<R>(look: impl FnOnce(&mut Worker) -> R) -> Option<R> {
    WORKER.try_with(|worker| worker.borrow_mut().as_mut().map(look)).ok().flatten()
}

/// Whether the calling thread is one of a pool's.
pub(crate) fn is_worker() -> bool {
    with_worker(|_| ()).is_some()
}

/// The calling thread begins something that may take its time: a task that it kept for itself is anybody's.
pub(crate) fn announce() {
    let kept = with_worker(|worker| {
        let kept = worker.end == End::Kept;
        worker.end = End::Far;
        kept.then(|| worker.pool.clone())
    });
    if let Some(pool) = kept.flatten() {
        pool.wake_one();
    }
}

impl<T: Task> Pool<T> {
    /// Starts so many threads: one at least. `RESOURCE_EXHAUSTED` where the system has none.
    pub(crate) fn start(threads: usize) -> Result<Self> {
        let pool = Self::new(threads);
        for index in 0..threads {
            let shared = pool.0.clone();
            let thread =
                std::thread::Builder::new().name(format!("windlass-local-{index}")).stack_size(STACK);
            if let Err(error) = thread.spawn(move || shared.work(index)) {
                pool.close();
                return Err(Error::resource_exhausted(format!(
                    "starting thread {index} of {threads}: {error}; ask for fewer with local://?threads=N, or for none \
                     with threads=0"
                )));
            }
        }
        Ok(pool)
    }

    fn new(threads: usize) -> Self {
        Self(Arc::new(Shared {
            queues: (0..=threads).map(|_| Mutex::new(VecDeque::new())).collect(),
            queued: AtomicUsize::new(0),
            looking: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            idle: Mutex::new(Idle { woken: 0, closed: false }),
            wake: Condvar::new(),
        }))
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.0.queues.len() - 1
    }

    /// Adds a task.
    pub(crate) fn push(&self, task: T) {
        let index = self.if_own(|worker| worker.index);
        self.0.push(index, task);
        let keeps = |worker: &mut Worker| {
            let keeps = worker.end == End::Near;
            worker.end = if keeps { End::Kept } else { worker.end };
            keeps
        };
        if self.if_own(keeps) != Some(true) {
            self.0.wake_one();
        }
    }

    /// Runs the end of a task, which may add others. The first of them needs no other thread, for this one is free next:
    /// whoever calls this does nothing behind it, and `end` calls [`announce`] before anything that may take its time.
    pub(crate) fn ending(&self, end: impl FnOnce()) {
        self.if_own(|worker| worker.end = End::Near);
        end();
        self.if_own(|worker| worker.end = End::Far);
    }

    /// Ends the threads once nothing is queued. Does not wait.
    pub(crate) fn close(&self) {
        lock(&self.0.idle).closed = true;
        self.0.wake.notify_all();
    }

    /// What the calling thread knows of itself, if it is one of this pool's.
    fn if_own<R>(&self, look: impl FnOnce(&mut Worker) -> R) -> Option<R> {
        let own = Arc::as_ptr(&self.0).addr();
        with_worker(|worker| (Arc::as_ptr(&worker.pool).addr() == own).then(|| look(worker))).flatten()
    }
}

impl<T: Task> Announce for Shared<T> {
    fn wake_one(&self) {
        fence(SeqCst);
        if self.looking.load(SeqCst) > 0 || self.asleep.load(SeqCst) == 0 {
            return;
        }
        let mut idle = lock(&self.idle);
        if idle.woken < self.asleep.load(SeqCst) {
            idle.woken += 1;
            drop(idle);
            self.wake.notify_one();
        }
    }
}

impl<T: Task> Shared<T> {
    fn push(&self, index: Option<usize>, task: T) {
        self.queued.fetch_add(1, SeqCst);
        lock(&self.queues[index.unwrap_or(self.queues.len() - 1)]).push_back(task);
    }

    /// A thread's life.
    fn work(self: Arc<Self>, index: usize) {
        let pool: Arc<dyn Announce> = self.clone();
        let _ = WORKER.try_with(|worker| worker.replace(Some(Worker { pool, index, end: End::Far })));
        while let Some(task) = self.find(index).or_else(|| self.look(index)) {
            task.run();
        }
    }

    /// The oldest task of the thread's own queue, of those from elsewhere, or of another thread's.
    fn find(&self, index: usize) -> Option<T> {
        let count = self.queues.len();
        let own_first =
            [index, count - 1].into_iter().chain((1..count - 1).map(|step| (index + step) % (count - 1)));
        let task = own_first.into_iter().find_map(|queue| lock(&self.queues[queue]).pop_front());
        if task.is_some() {
            self.queued.fetch_sub(1, SeqCst);
        }
        task
    }

    /// Waits for a task. `None` when the pool is closed and empty.
    fn look(&self, index: usize) -> Option<T> {
        loop {
            self.looking.fetch_add(1, SeqCst);
            for _ in 0..LOOKS {
                if self.queued.load(SeqCst) > 0
                    && let Some(task) = self.find(index)
                {
                    self.stop_looking();
                    return Some(task);
                }
                #[cfg(not(loom))]
                std::hint::spin_loop();
            }
            self.asleep.fetch_add(1, SeqCst);
            self.looking.fetch_sub(1, SeqCst);
            fence(SeqCst);
            let found = self.find(index);
            if found.is_some() {
                self.asleep.fetch_sub(1, SeqCst);
                if self.queued.load(SeqCst) > 0 {
                    self.wake_one();
                }
                return found;
            }
            let mut idle = lock(&self.idle);
            while idle.woken == 0 && !idle.closed {
                idle = self.wake.wait(idle).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            idle.woken = idle.woken.saturating_sub(1);
            self.asleep.fetch_sub(1, SeqCst);
            if idle.closed {
                drop(idle);
                return self.find(index);
            }
        }
    }

    fn stop_looking(&self) {
        let others = self.looking.fetch_sub(1, SeqCst) - 1;
        fence(SeqCst);
        if others == 0 && self.queued.load(SeqCst) > 0 {
            self.wake_one();
        }
    }
}

#[cfg(all(test, loom))]
mod tests {
    use loom::{
        sync::{Condvar, Mutex},
        thread,
    };

    use super::*;

    impl Task for Box<dyn FnOnce() + Send> {
        fn run(self) {
            self();
        }
    }

    type Tasks = Pool<Box<dyn FnOnce() + Send>>;

    fn model(
        check: impl Fn(Arc<Tasks>, Vec<thread::JoinHandle<()>>) + Sync + Send + 'static,
        threads: usize,
    ) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let pool = Arc::new(Tasks::new(threads));
            let threads = (0..threads).map(|index| {
                let shared = pool.0.clone();
                thread::spawn(move || shared.work(index))
            });
            let threads = threads.collect();
            check(pool, threads);
        });
    }

    fn counting(count: &Arc<AtomicUsize>) -> Box<dyn FnOnce() + Send> {
        let count = count.clone();
        Box::new(move || {
            count.fetch_add(1, SeqCst);
        })
    }

    fn end(pool: &Tasks, threads: Vec<thread::JoinHandle<()>>) {
        pool.close();
        for thread in threads {
            thread.join().unwrap();
        }
    }

    #[test]
    fn one_thread_runs_all_before_it_ends() {
        model(
            |pool, threads| {
                let count = Arc::new(AtomicUsize::new(0));
                pool.push(counting(&count));
                pool.push(counting(&count));
                end(&pool, threads);
                assert_eq!(count.load(SeqCst), 2);
            },
            1,
        );
    }

    #[test]
    fn what_a_task_adds_runs_too() {
        model(
            |pool, threads| {
                let done = Arc::new((Mutex::new(false), Condvar::new()));
                let (again, told) = (pool.clone(), done.clone());
                pool.push(Box::new(move || {
                    let inner = again.clone();
                    again.ending(move || {
                        inner.push(Box::new(move || {
                            *told.0.lock().unwrap() = true;
                            told.1.notify_one();
                        }));
                    });
                }));
                let mut waits = done.0.lock().unwrap();
                while !*waits {
                    waits = done.1.wait(waits).unwrap();
                }
                drop(waits);
                end(&pool, threads);
            },
            1,
        );
    }

    /// Each of two tasks waits until the other runs: a wake that is lost leaves one of them alone for ever.
    #[test]
    fn two_tasks_run_at_once_on_two_threads() {
        model(
            |pool, threads| {
                let met = Arc::new((Mutex::new(0), Condvar::new()));
                let meet = |met: &(Mutex<u32>, Condvar), add| {
                    let mut here = met.0.lock().unwrap();
                    *here += add;
                    met.1.notify_all();
                    while *here < 2 {
                        here = met.1.wait(here).unwrap();
                    }
                };
                for _ in 0..2 {
                    let met = met.clone();
                    pool.push(Box::new(move || meet(&met, 1)));
                }
                // Closing wakes everybody: not before they have met.
                meet(&met, 0);
                end(&pool, threads);
            },
            2,
        );
    }
}
