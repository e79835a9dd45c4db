// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads that call, and whether they sleep.
//!
//! A client may wait outside HIP, for a host function or for bytes in its own memory. Work must then continue
//! although no thread calls. But a client that merely computes must not see work continue by the clock: such
//! a run could not be repeated.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Looks in a row, about a millisecond apart, that find a thread asleep before it counts as one that waits.
const LOOKS: u32 = 5;
/// The same while another thread of the process runs, which may be about to wake that thread: it may have lost its CPU
/// while it holds a lock of the memory allocator.
const LOOKS_AMONG_OTHERS: u32 = 25;
/// About the least time that Linux gives a thread on a CPU before it is preempted.
const LEFT: Duration = Duration::from_millis(1);

/// Threads that have called, by their thread ids.
#[derive(Debug, Default)]
pub(crate) struct Clients(Mutex<Vec<i32>>);

impl Clients {
    /// Adds the calling thread.
    pub(crate) fn add(&self) {
        let thread = this_thread();
        let mut threads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !threads.contains(&thread) {
            threads.push(thread);
        }
    }

    /// Whether no thread runs. Ended threads are forgotten. Where the system does not report states, all
    /// threads are: work continues there, and the run cannot be repeated.
    pub(crate) fn all_sleep(&self) -> bool {
        let mut threads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| state(*thread).is_some());
        threads.iter().all(|thread| sleeps(*thread))
    }

    /// The CPU time that the threads which still run have had so far; `None` where the system does not report
    /// it. A thread that yields uses almost no time, so each time that a thread yields or is preempted counts
    /// as [`LEFT`].
    pub(crate) fn computed(&self) -> Option<Duration> {
        let threads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let each = threads.iter().filter_map(|thread| Some(on_cpu(*thread)? + LEFT * preempted(*thread)?));
        each.reduce(|sum, more| sum + more)
    }
}

/// The calling thread's id.
#[cfg(target_os = "linux")]
pub(crate) fn this_thread() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// A number for the calling thread.
#[cfg(not(target_os = "linux"))]
pub(crate) fn this_thread() -> i32 {
    use std::sync::atomic::{AtomicI32, Ordering};

    static NEXT: AtomicI32 = AtomicI32::new(1);
    thread_local!(static NUMBER: i32 = NEXT.fetch_add(1, Ordering::Relaxed));
    NUMBER.with(|number| *number)
}

/// Whether a thread that so many looks in a row found asleep waits for something that may need more work.
pub(crate) fn waits(looks: u32) -> bool {
    looks > LOOKS_AMONG_OTHERS || (looks > LOOKS && !others_run())
}

/// Whether another thread of this process runs, or would if it had a CPU.
fn others_run() -> bool {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return false };
    let numbers = threads.filter_map(|thread| thread.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|thread| *thread != this_thread()).any(|thread| state(thread) == Some('R'))
}

/// Whether a thread of this process sleeps. False where the system does not report states.
pub(crate) fn sleeps(thread: i32) -> bool {
    matches!(state(thread), Some('S'))
}

/// The state letter of a thread in `/proc`; `None` where the thread does not exist.
fn state(thread: i32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?;
    // The name of the thread is in parentheses and may contain parentheses.
    stat.rsplit_once(") ")?.1.chars().next()
}

/// How often a thread has left a CPU without sleeping.
fn preempted(thread: i32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/self/task/{thread}/status")).ok()?;
    let count = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?;
    count.trim().parse().ok()
}

/// The time that a thread has been on a CPU.
fn on_cpu(thread: i32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    stat.split_ascii_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_thread_that_waits_sleeps_and_one_that_runs_does_not() {
        let (tell, told) = channel();
        let (wake, woken) = channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(this_thread()).unwrap();
            woken.recv().unwrap();
        });
        let number = told.recv().unwrap();
        while !sleeps(number) {
            std::thread::yield_now();
        }
        assert!(!sleeps(this_thread()), "this thread runs");
        wake.send(()).unwrap();
        thread.join().unwrap();
        assert!(!sleeps(number), "it is gone");
    }

    #[test]
    fn a_thread_that_yields_computes() {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

        const YIELDS: u32 = 1000;
        let allowed = sched_getaffinity(None).unwrap();
        let cpu = (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).unwrap();
        let on_one_cpu = move || {
            let mut one = CpuSet::new();
            one.set(cpu);
            sched_setaffinity(None, &one).unwrap();
        };
        let (tell, told) = channel();
        let thread = std::thread::spawn(move || {
            on_one_cpu();
            let clients = Clients::default();
            clients.add();
            let before = clients.computed().unwrap();
            // Until the other has ended, one of them yields to the other.
            (0..YIELDS).for_each(|_| std::thread::yield_now());
            tell.send(clients.computed().unwrap() - before).unwrap();
        });
        on_one_cpu();
        let computed = loop {
            match told.try_recv() {
                Ok(computed) => break computed,
                Err(_) => std::thread::yield_now(),
            }
        };
        thread.join().unwrap();
        assert!(computed > LEFT * (YIELDS / 10), "{YIELDS} yields counted {computed:?}");
    }
}
