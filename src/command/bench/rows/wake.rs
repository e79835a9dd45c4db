// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of wakes: two threads signal each other in turns, so a round is two wakes. The floors are the same with the
//! bare means of the system.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{Deadline, Semaphore, WaitPolicy};

use crate::command::bench::{
    baton::{self, Baton},
    cpus::Pair,
    row::{Prepared, Row},
    stop::{Stop, Work},
    subject::{Floor, Subject},
};

pub(super) fn add(rows: &mut Vec<Row>) {
    rows.push(row("sleeping", || Sleeping(Semaphore::new(0)), futex));
    rows.push(row("hot", || Hot(Semaphore::new(0)), spin_then_futex));
    rows.push(row("default", || Default(Semaphore::new(0)), spin_then_futex));
    rows.push(row(
        "future",
        || Awaited(Semaphore::new(0)),
        || floor("std::thread::park", baton::Parked::default),
    ));
}

fn row<B: Baton>(waiter: &str, new: fn() -> B, floor: fn() -> Work<Option<Floor>>) -> Row {
    let name = format!("semaphore/wake waiter={waiter}");
    let needs_two = waiter == "hot";
    let prepare = move |_: &_| {
        if needs_two && !Pair::new().is_apart() {
            return Err(Stop::Lacks("two threads that poll need two CPUs".to_owned()));
        }
        Ok(Prepared::Timed(rally(new)?, floor()?))
    };
    Row::new(name, (2, "wake"), prepare).uncounted()
}

fn floor<B: Baton>(name: &'static str, new: fn() -> B) -> Work<Option<Floor>> {
    Ok(Some(Floor::new(name, 2, rally(new)?)))
}

fn rally<B: Baton>(new: fn() -> B) -> Work<Subject> {
    let rally = Rally::new(new)?;
    Ok(Box::new(move |rounds| rally.run(rounds)))
}

#[cfg(target_os = "linux")]
fn futex() -> Work<Option<Floor>> {
    floor("futex", baton::Futex::default)
}

#[cfg(target_os = "linux")]
fn spin_then_futex() -> Work<Option<Floor>> {
    floor("spin, then futex", baton::SpinThenFutex::default)
}

#[cfg(not(target_os = "linux"))]
fn futex() -> Work<Option<Floor>> {
    Ok(None)
}

#[cfg(not(target_os = "linux"))]
fn spin_then_futex() -> Work<Option<Floor>> {
    Ok(None)
}

/// A waiter that sleeps at once.
struct Sleeping(Semaphore);

impl Baton for Sleeping {
    fn post(&self, value: u64) -> Work {
        Ok(self.0.signal(value)?)
    }

    fn take(&self, value: u64) -> Work {
        Ok(self.0.wait_blocking_with(value, Deadline::NEVER, WaitPolicy::Block)?)
    }
}

/// A waiter that polls until the end.
struct Hot(Semaphore);

impl Baton for Hot {
    fn post(&self, value: u64) -> Work {
        Ok(self.0.signal(value)?)
    }

    fn take(&self, value: u64) -> Work {
        Ok(self.0.wait_blocking_with(value, Deadline::NEVER, WaitPolicy::Spin)?)
    }
}

/// A waiter that polls for a while before it sleeps, as waiters do unless they are told otherwise.
struct Default(Semaphore);

impl Baton for Default {
    fn post(&self, value: u64) -> Work {
        Ok(self.0.signal(value)?)
    }

    fn take(&self, value: u64) -> Work {
        Ok(self.0.wait_blocking(value, Deadline::NEVER)?)
    }
}

/// A waiter that polls the future and parks its thread.
struct Awaited(Semaphore);

impl Baton for Awaited {
    fn post(&self, value: u64) -> Work {
        Ok(self.0.signal(value)?)
    }

    fn take(&self, value: u64) -> Work {
        Ok(baton::block_on(self.0.wait(value))?)
    }
}

/// Two threads with a baton each way.
struct Rally {
    /// The numbers of rounds to do; its end ends both threads.
    orders: Option<Sender<u64>>,
    times: Receiver<Work<Duration>>,
    threads: Vec<JoinHandle<()>>,
}

impl Rally {
    fn new<B: Baton>(new: fn() -> B) -> Work<Self> {
        let (there, back, ends) = (Arc::new(new()), Arc::new(new()), Arc::new(AtomicBool::new(false)));
        let (orders, taken) = mpsc::channel();
        let (done, times) = mpsc::channel();
        let cpus = Pair::new();
        let (theirs, ours, end) = (there.clone(), back.clone(), ends.clone());
        let answer = move || {
            cpus.pin(1);
            for value in 1.. {
                // The batons here fail for nobody: no other thread has their semaphores.
                if theirs.take(value).is_err() || end.load(Ordering::Acquire) || ours.post(value).is_err() {
                    return;
                }
            }
        };
        let call = move || {
            cpus.pin(0);
            let mut value = 0;
            let mut round = || -> Work {
                value += 1;
                there.post(value)?;
                back.take(value)
            };
            while let Ok(rounds) = taken.recv() {
                let start = Instant::now();
                let ended = (0..rounds).try_for_each(|_| round());
                if done.send(ended.map(|()| start.elapsed())).is_err() {
                    break;
                }
            }
            ends.store(true, Ordering::Release);
            let _ = there.post(value + 1);
        };
        let threads = vec![started(answer)?, started(call)?];
        Ok(Self { orders: Some(orders), times, threads })
    }

    fn run(&self, rounds: u64) -> Work<Duration> {
        let ended = || Stop::Failed("a thread of the row has ended".to_owned());
        self.orders.as_ref().and_then(|orders| orders.send(rounds).ok()).ok_or_else(ended)?;
        self.times.recv().map_err(|_| ended())?
    }
}

fn started(work: impl FnOnce() + Send + 'static) -> Work<JoinHandle<()>> {
    let thread = thread::Builder::new().name("windlass-rally".to_owned()).spawn(work);
    thread.map_err(|error| Stop::Failed(format!("starting a thread: {error}")))
}

impl Drop for Rally {
    fn drop(&mut self) {
        self.orders = None;
        for thread in self.threads.drain(..).rev() {
            let _ = thread.join();
        }
    }
}
