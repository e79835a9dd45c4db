// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for semaphores: as a future, or on the calling thread with a deadline and a policy.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use smallvec::SmallVec;

use crate::{
    order::{
        deadline::Deadline,
        notifications::{Resolution, Target, Timepoint},
        point::Point,
        semaphore::{Registration, Semaphore},
    },
    words::{
        error::{Error, Result},
        sync::{Condvar, Mutex, lock},
    },
};

/// The future of [`Semaphore::wait`]. It is ready when the semaphore has reached the value or has failed.
///
/// Any executor may poll it from any thread, and it needs no runtime. It is `'static`. Dropping it leaves nothing
/// behind in the semaphore. A waker may run on a thread that other work depends on, so it must not block.
#[must_use = "a wait does nothing until it is polled"]
pub struct Wait {
    semaphore: Semaphore,
    value: u64,
    registration: Option<Registration>,
}

impl Semaphore {
    /// Returns a future that ends when the payload reaches `value`, or with the error of the semaphore. The value need
    /// not be promised yet.
    pub fn wait(&self, value: u64) -> Wait {
        Wait { semaphore: self.clone(), value, registration: None }
    }

    /// Blocks the calling thread until the payload reaches `value`. Ends with the error of the semaphore if it fails
    /// first, and with `DEADLINE_EXCEEDED` when the deadline passes. Spins briefly, then sleeps.
    pub fn wait_blocking(&self, value: u64, deadline: impl Into<Deadline>) -> Result<()> {
        self.wait_blocking_with(value, deadline, WaitPolicy::default())
    }

    /// [`wait_blocking`](Self::wait_blocking) with a [`WaitPolicy`].
    pub fn wait_blocking_with(
        &self,
        value: u64,
        deadline: impl Into<Deadline>,
        policy: WaitPolicy,
    ) -> Result<()> {
        if self.has_reached(value) {
            return Ok(());
        }
        // The most usual wait: the work is done when the device is asked for the first time.
        self.poll_sources(value);
        match self.has_reached(value) {
            true => Ok(()),
            false => wait_all(&[self.at(value)], deadline, policy),
        }
    }
}

impl Future for Wait {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = &mut *self;
        if this.semaphore.reached(this.value).is_none() {
            this.semaphore.poll_sources(this.value);
        }
        loop {
            if let Some(result) = this.semaphore.reached(this.value) {
                this.forget_registration();
                return Poll::Ready(result);
            }
            if let Some(registration) = &this.registration {
                if this.semaphore.update_waker(registration, cx.waker()) {
                    return Poll::Pending;
                }
                // The wait ended between the check above and here.
                this.registration = None;
                continue;
            }
            match this.semaphore.register(this.value, Target::Waker(cx.waker().clone())) {
                Ok(registration) => {
                    this.registration = Some(registration);
                    return Poll::Pending;
                }
                Err(_) => continue,
            }
        }
    }
}

impl Wait {
    fn forget_registration(&mut self) {
        if let Some(registration) = self.registration.take() {
            self.semaphore.cancel(&registration);
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        self.forget_registration();
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wait({:?} for {})", self.semaphore, self.value)
    }
}

/// How a blocking wait spends its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitPolicy {
    /// Polls until the end. Has the lowest latency and uses a whole core.
    Spin,
    /// Polls for one or two microseconds, then sleeps.
    #[default]
    SpinThenBlock,
    /// Sleeps at once.
    Block,
}

/// Blocks until all points are reached. Ends with the error of the first failed semaphore that it finds, and with
/// `DEADLINE_EXCEEDED` when the deadline passes.
pub fn wait_all(points: &[Point], deadline: impl Into<Deadline>, policy: WaitPolicy) -> Result<()> {
    wait_until(points, deadline.into(), policy, |points| {
        let mut all = true;
        for point in points {
            match point.semaphore.reached(point.value) {
                Some(Ok(())) => {}
                Some(Err(error)) => return Some(Err(error)),
                None => all = false,
            }
        }
        all.then_some(Ok(()))
    })
}

/// Blocks until one point is reached, and returns its index. Ends with the error of a failed semaphore if no point is
/// reached, and with `DEADLINE_EXCEEDED` when the deadline passes. An empty list is `INVALID_ARGUMENT`.
pub fn wait_any(points: &[Point], deadline: impl Into<Deadline>, policy: WaitPolicy) -> Result<usize> {
    if points.is_empty() {
        return Err(Error::invalid_argument("wait_any needs at least one point to wait for"));
    }
    wait_until(points, deadline.into(), policy, |points| {
        let reached =
            || points.iter().position(|point| matches!(point.semaphore.reached(point.value), Some(Ok(()))));
        if let Some(index) = reached() {
            return Some(Ok(index));
        }
        let failure = points.iter().find_map(|point| point.semaphore.reached(point.value)?.err())?;
        // Looks again, because a point may have been reached before that failure.
        Some(reached().ok_or(failure))
    })
}

/// Rounds of polling before a thread sleeps: one to two microseconds where devices answer at once. Waking a thread
/// costs the waker a system call and the sleeper tens of microseconds.
const SPINS: u32 = 64;

fn wait_until<T>(
    points: &[Point],
    deadline: Deadline,
    policy: WaitPolicy,
    judge: impl Fn(&[Point]) -> Option<Result<T>>,
) -> Result<T> {
    let poll = || points.iter().for_each(|point| point.semaphore.poll_sources(point.value));
    let mut spins = 0;
    loop {
        if let Some(result) = judge(points) {
            return result;
        }
        poll();
        if let Some(result) = judge(points) {
            return result;
        }
        if deadline.passed() {
            return Err(late(points));
        }
        spins += 1;
        match policy {
            WaitPolicy::Spin => std::hint::spin_loop(),
            WaitPolicy::SpinThenBlock if spins < SPINS && !cfg!(loom) => std::hint::spin_loop(),
            _ => break,
        }
    }
    let sleeper = Arc::new(Sleeper::default());
    let mut registrations = SmallVec::<[(&Point, Registration); 4]>::new();
    for point in points {
        let target = Target::Timepoint { sink: sleeper.clone(), token: 0, accepts: None };
        match point.semaphore.register(point.value, target) {
            Ok(registration) => registrations.push((point, registration)),
            Err(resolution) => sleeper.resolved(0, resolution),
        }
    }
    let mut span = LOOK_AGAIN;
    let result = loop {
        if let Some(result) = judge(points) {
            break result;
        }
        if deadline.passed() {
            break Err(late(points));
        }
        sleeper.sleep(span, deadline);
        span = (span * 2).min(LOOK_AT_LEAST);
        poll();
    };
    for (point, registration) in &registrations {
        point.semaphore.cancel(registration);
    }
    result
}

/// The most points that an error names.
const MOST_NAMED: usize = 8;

#[cold]
fn late(points: &[Point]) -> Error {
    let open = || points.iter().filter(|point| point.semaphore.reached(point.value).is_none());
    let mut text: Vec<_> = open()
        .take(MOST_NAMED)
        .map(|point| format!("{:?} to reach {}", point.semaphore, point.value))
        .collect();
    let more = open().skip(MOST_NAMED).count();
    if more > 0 {
        text.push(format!("and {more} more"));
    }
    Error::deadline_exceeded(format!("the deadline passed while waiting for {}", text.join(", ")))
}

/// A thread that sleeps on several semaphores.
#[derive(Default)]
struct Sleeper {
    woken: Mutex<bool>,
    changed: Condvar,
}

/// How long a thread first sleeps before it polls again; each further sleep is twice as long. Usually the thread of a
/// device wakes the sleeper. Polling helps where that thread is stuck in a foreign waker that blocks.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// The longest such sleep, so that a wait of hours costs next to nothing.
const LOOK_AT_LEAST: Duration = Duration::from_secs(1);

impl Sleeper {
    /// Sleeps until [`Timepoint::resolved`] is called, the deadline passes, or `span` is over.
    fn sleep(&self, span: Duration, deadline: Deadline) {
        let span = deadline.remaining().map_or(span, |remaining| remaining.min(span));
        let mut woken = lock(&self.woken);
        if !*woken {
            let wait = self.changed.wait_timeout(woken, span);
            woken = wait.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        *woken = false;
    }
}

impl Timepoint for Sleeper {
    fn resolved(&self, _token: u32, _resolution: Resolution) {
        *lock(&self.woken) = true;
        self.changed.notify_one();
    }
}
