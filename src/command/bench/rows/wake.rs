// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of wakes: two threads signal each other in turns, so a round is two wakes. The floors are the same with the
//! bare means of the system.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use windlass::{Deadline, Semaphore, WaitPolicy};

use crate::command::bench::{
    baton::{self, Baton},
    row::{Prepared, Row},
    stop::{Stop, Work},
    subject::{Floor, whole},
};

pub(super) fn add(rows: &mut Vec<Row>) {
    rows.push(row("sleeping", || Sleeping(Semaphore::new(0)), futex));
    rows.push(row("hot", || Hot(Semaphore::new(0)), spin_then_futex));
    rows.push(row(
        "future",
        || Awaited(Semaphore::new(0)),
        || floor("std::thread::park", baton::Parked::default),
    ));
}

fn row<B: Baton>(waiter: &str, new: fn() -> B, floor: fn() -> Work<Option<Floor>>) -> Row {
    let name = format!("semaphore/wake waiter={waiter}");
    let prepare = move |_: &_| {
        let mut rally = Rally::new(new)?;
        Ok(Prepared::Timed(whole(move || rally.round()), floor()?))
    };
    Row::new(name, (2, "wake"), prepare).uncounted()
}

fn floor<B: Baton>(name: &'static str, new: fn() -> B) -> Work<Option<Floor>> {
    let mut rally = Rally::new(new)?;
    Ok(Some(Floor::new(name, 2, whole(move || rally.round()))))
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

/// A waiter that polls for a while before it sleeps.
struct Hot(Semaphore);

impl Baton for Hot {
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

/// Two batons between this thread and another one.
struct Rally<B: Baton> {
    there: Arc<B>,
    back: Arc<B>,
    ends: Arc<AtomicBool>,
    value: u64,
    thread: Option<JoinHandle<()>>,
}

impl<B: Baton> Rally<B> {
    fn new(new: fn() -> B) -> Work<Self> {
        let (there, back, ends) = (Arc::new(new()), Arc::new(new()), Arc::new(AtomicBool::new(false)));
        let (theirs, ours, end) = (there.clone(), back.clone(), ends.clone());
        let answer = move || {
            let mut value = 0;
            loop {
                value += 1;
                // A baton that fails would leave the other thread waiting; the semaphores here have nobody to fail them.
                if theirs.take(value).is_err() || end.load(Ordering::Acquire) || ours.post(value).is_err() {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("windlass-rally".to_owned()).spawn(answer);
        let thread = thread.map_err(|error| Stop::Failed(format!("starting the other thread: {error}")))?;
        Ok(Self { there, back, ends, value: 0, thread: Some(thread) })
    }

    fn round(&mut self) -> Work {
        self.value += 1;
        self.there.post(self.value)?;
        self.back.take(self.value)
    }
}

impl<B: Baton> Drop for Rally<B> {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if self.there.post(self.value + 1).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}
