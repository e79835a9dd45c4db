// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads of a device. Each has a queue of tasks, and takes tasks from other queues when its own is empty.
//!
//! A task that a worker adds goes to that worker's queue. Tasks from other threads go to a queue that all workers share. A
//! worker that finds no task looks again for a few microseconds, about as long as a wake takes, and then sleeps. Adding a
//! task wakes a sleeper unless a worker is looking already.
//!
//! No wake is lost, for three reasons:
//! 1. A worker counts as asleep before it looks for the last time, and looking takes the locks of the queues. Either the
//!    worker finds the task, or the thread that added the task sees the worker counted as asleep.
//! 2. A worker that was counted as looking looks once more after it stops counting as such.
//! 3. The last worker that stops looking because it found a task wakes a sleeper if there are more tasks.
//!
//! `tests` has the models. Closing ends the workers once no task is queued. Nobody joins them.

use std::{collections::VecDeque, sync::Arc};

use windlass_hal::{Error, Result};

use crate::sync::{AtomicUsize, Condvar, Mutex, Ordering::SeqCst, fence, lock, thread_local};

/// A piece of work for a thread.
pub(crate) trait Task: Send + 'static {
    /// Does the work. Must not panic: the panic would end the thread.
    fn run(self);
}

/// The number of times that an idle worker looks for tasks before it sleeps. The looks take as long as a wake: 10 to 15
/// microseconds on the machines where this was measured.
const LOOKS: u32 = if cfg!(loom) { 1 } else { 200 };

/// The largest stack of a worker, in bytes. It equals the usual stack of a main thread, on which the inline form runs kernels.
const STACK_BYTES: usize = 8 << 20;

/// A handle of the threads. Dropping it does not end them.
pub(crate) struct Threads<T: Task>(Arc<Shared<T>>);

struct Shared<T> {
    /// One queue for each worker, and then the queue for tasks from other threads.
    queues: Box<[Mutex<VecDeque<T>>]>,
    /// The number of tasks in all queues. It grows before a task is in its queue.
    queued: AtomicUsize,
    /// The number of workers that look for a task.
    looking: AtomicUsize,
    /// The number of workers that sleep, or will sleep unless their last look finds a task.
    asleep: AtomicUsize,
    idle: Mutex<Idle>,
    wake: Condvar,
}

struct Idle {
    /// The number of sleepers that were told to wake and have not yet woken.
    woken: usize,
    closed: bool,
}

/// A device's thread, in its own thread-local variable.
struct Worker {
    owner: Arc<dyn Announce>,
    index: usize,
    end: End,
}

/// The distance of a worker from the end of its task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The task goes on for an unknown time.
    Far,
    /// The task ends soon. The worker will run the first task that it adds now, and wakes no other worker for it.
    Near,
    /// The worker has added such a task.
    Kept,
}

/// The threads without the type of their tasks.
trait Announce: Send + Sync {
    /// Wakes a sleeper, unless a worker is looking for tasks.
    fn wake_one(&self);
}

thread_local! {
    // Loom's macro has no constant form.
    #[allow(clippy::missing_const_for_thread_local)]
    static WORKER: std::cell::RefCell<Option<Worker>> = std::cell::RefCell::new(None);
}

/// Calls `look` with the calling thread's worker, if the thread is one.
fn with_worker<R>(look: impl FnOnce(&mut Worker) -> R) -> Option<R> {
    WORKER.try_with(|worker| worker.borrow_mut().as_mut().map(look)).ok().flatten()
}

/// Whether the calling thread is a worker of any device.
pub(crate) fn is_worker() -> bool {
    with_worker(|_| ()).is_some()
}

/// Offers the task that the calling worker kept for itself to other workers. To be called before work that may take long.
pub(crate) fn announce() {
    let kept = with_worker(|worker| {
        let kept = worker.end == End::Kept;
        worker.end = End::Far;
        kept.then(|| worker.owner.clone())
    });
    if let Some(owner) = kept.flatten() {
        owner.wake_one();
    }
}

impl<T: Task> Threads<T> {
    /// Starts `count` threads, at least one. `RESOURCE_EXHAUSTED` if the system refuses one of them.
    pub(crate) fn start(count: usize) -> Result<Self> {
        let threads = Self::new(count);
        for index in 0..count {
            let shared = threads.0.clone();
            let thread =
                std::thread::Builder::new().name(format!("windlass-local-{index}")).stack_size(STACK_BYTES);
            if let Err(error) = thread.spawn(move || shared.work(index)) {
                threads.close();
                return Err(Error::resource_exhausted(format!(
                    "starting thread {index} of {count}: {error}; ask for fewer with local://?threads=N, or for none \
                     with threads=0"
                )));
            }
        }
        Ok(threads)
    }

    fn new(count: usize) -> Self {
        Self(Arc::new(Shared {
            queues: (0..=count).map(|_| Mutex::new(VecDeque::new())).collect(),
            queued: AtomicUsize::new(0),
            looking: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            idle: Mutex::new(Idle { woken: 0, closed: false }),
            wake: Condvar::new(),
        }))
    }

    /// The number of threads.
    pub(crate) fn count(&self) -> usize {
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

    /// Runs the end of a task, which may add tasks. This worker runs the first of them next, so no other worker is woken for
    /// it. The caller must do nothing afterwards, and `end` must call [`announce`] before work that may take long.
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

    /// Calls `look` with the calling thread's worker, if it is one of these threads.
    fn if_own<R>(&self, look: impl FnOnce(&mut Worker) -> R) -> Option<R> {
        let own = Arc::as_ptr(&self.0).addr();
        with_worker(|worker| (Arc::as_ptr(&worker.owner).addr() == own).then(|| look(worker))).flatten()
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

    /// The loop of one worker.
    fn work(self: Arc<Self>, index: usize) {
        let owner: Arc<dyn Announce> = self.clone();
        let _ = WORKER.try_with(|worker| worker.replace(Some(Worker { owner, index, end: End::Far })));
        while let Some(task) = self.find(index).or_else(|| self.look(index)) {
            task.run();
        }
    }

    /// The oldest task of the worker's own queue, else of the shared queue, else of another worker's.
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

    /// Waits for a task. `None` when the threads are closed and no task is left.
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

    type Tasks = Threads<Box<dyn FnOnce() + Send>>;

    fn model(check: impl Fn(Arc<Tasks>, Vec<thread::JoinHandle<()>>) + Sync + Send + 'static, count: usize) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(move || {
            let threads = Arc::new(Tasks::new(count));
            let handles = (0..count).map(|index| {
                let shared = threads.0.clone();
                thread::spawn(move || shared.work(index))
            });
            let handles = handles.collect();
            check(threads, handles);
        });
    }

    fn counting(count: &Arc<AtomicUsize>) -> Box<dyn FnOnce() + Send> {
        let count = count.clone();
        Box::new(move || {
            count.fetch_add(1, SeqCst);
        })
    }

    fn end(threads: &Tasks, handles: Vec<thread::JoinHandle<()>>) {
        threads.close();
        for thread in handles {
            thread.join().unwrap();
        }
    }

    #[test]
    fn one_thread_runs_all_before_it_ends() {
        model(
            |threads, handles| {
                let count = Arc::new(AtomicUsize::new(0));
                threads.push(counting(&count));
                threads.push(counting(&count));
                end(&threads, handles);
                assert_eq!(count.load(SeqCst), 2);
            },
            1,
        );
    }

    #[test]
    fn a_task_that_a_task_adds_runs_too() {
        model(
            |threads, handles| {
                let done = Arc::new((Mutex::new(false), Condvar::new()));
                let (again, told) = (threads.clone(), done.clone());
                threads.push(Box::new(move || {
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
                end(&threads, handles);
            },
            1,
        );
    }

    /// Each of two tasks waits until the other runs, so a lost wake leaves one of them waiting for ever.
    #[test]
    fn two_tasks_run_at_once_on_two_threads() {
        model(
            |threads, handles| {
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
                    threads.push(Box::new(move || meet(&met, 1)));
                }
                // Closing wakes all workers, so it must come after the meeting.
                meet(&met, 0);
                end(&threads, handles);
            },
            2,
        );
    }
}
