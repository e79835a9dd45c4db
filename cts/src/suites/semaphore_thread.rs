// SPDX-License-Identifier: MIT OR Apache-2.0
//! Semaphores between threads.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use windlass_hal::{Code, Deadline, Error, Point, Semaphore, WaitPolicy, wait_all, wait_any};

use crate::{
    check::{ensure_eq, refused},
    context::Context,
    outcome::{Outcome, Stop},
};

suite! { "semaphore_thread";
    #[smoke] wait_later_signalled_beyond: "A waiting thread wakes when the payload jumps past its value.";
    wait_any_later_signalled: "A thread that waits for any of several wakes for the one that is signalled.";
    #[smoke] ping_pong: "Two threads hand a timeline to and fro a thousand times.";
    many_wait_for_one_value: "One signal wakes every thread that waits for the value.";
    many_wait_for_all: "Threads that wait for all of several semaphores wake when other threads signal them.";
    each_waits_for_its_value: "Many waiters with different values each wake at their value, neither before nor after.";
    wait_then_fail: "A failure wakes a waiting thread with the error.";
    wait_all_then_fail: "A failure of one semaphore wakes a thread that waits for all of several.";
    wait_any_then_fail: "A failure of one semaphore wakes a thread that waits for any.";
    racing_signals_take_maximum: "Of signals that race, the greatest stays.";
    racing_failures_agree: "Of failures that race, every thread sees the same one.";
}

/// Runs `body` on `count` threads and returns the first failure.
pub(super) fn on_threads(count: usize, body: impl Fn(usize) -> Outcome + Sync) -> Outcome {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|index| {
                scope.spawn({
                    let body = &body;
                    move || body(index)
                })
            })
            .collect();
        // All threads are joined before the first failure is returned.
        let ends: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        ends.into_iter().try_for_each(|end| end.unwrap_or_else(|_| Err(Stop::fail("a thread panicked"))))
    })
}

fn wait_later_signalled_beyond(ctx: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    on_threads(2, |index| match index {
        0 => ctx.wait(&semaphore.at(3)),
        _ => {
            ctx.until("the other thread waits, or has waited", || semaphore.waiter_count() > 0)?;
            Ok(semaphore.signal(10)?)
        }
    })
}

fn wait_any_later_signalled(ctx: &Context) -> Outcome {
    let semaphores = [Semaphore::new(0), Semaphore::new(0), Semaphore::new(0)];
    on_threads(2, |index| match index {
        0 => {
            let points = semaphores.each_ref().map(|semaphore| semaphore.at(1));
            let first = wait_any(&points, ctx.deadline(), WaitPolicy::Block)?;
            ensure_eq!(first, 2, "the index of the signalled semaphore");
            for semaphore in &semaphores {
                ensure_eq!(semaphore.waiter_count(), 0, "waiters left behind");
            }
            Ok(())
        }
        _ => {
            ctx.until("the other thread waits", || semaphores[2].waiter_count() > 0)?;
            Ok(semaphores[2].signal(1)?)
        }
    })
}

fn ping_pong(ctx: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    on_threads(2, |player| {
        for round in 0..1000 {
            let mine = 2 * round + player as u64;
            ctx.wait(&semaphore.at(mine))?;
            ensure_eq!(semaphore.query()?, mine, "the payload in this player's turn");
            semaphore.signal(mine + 1)?;
        }
        Ok(())
    })?;
    ensure_eq!(semaphore.query()?, 2000, "the payload after the game");
    Ok(())
}

fn many_wait_for_one_value(ctx: &Context) -> Outcome {
    let (semaphore, woken) = (Semaphore::new(0), AtomicUsize::new(0));
    on_threads(9, |index| {
        if index == 0 {
            ctx.until("eight threads wait", || semaphore.waiter_count() == 8)?;
            return Ok(semaphore.signal(1)?);
        }
        semaphore.wait_blocking_with(1, ctx.deadline(), WaitPolicy::Block)?;
        woken.fetch_add(1, Ordering::Relaxed);
        Ok(())
    })?;
    ensure_eq!(woken.load(Ordering::Relaxed), 8, "threads that woke");
    ensure_eq!(semaphore.waiter_count(), 0, "waiters left behind");
    Ok(())
}

fn many_wait_for_all(ctx: &Context) -> Outcome {
    let semaphores = [Semaphore::new(0), Semaphore::new(0), Semaphore::new(0)];
    let start = Barrier::new(6);
    on_threads(6, |index| {
        start.wait();
        if index < 3 {
            return Ok(semaphores[index].signal(1)?);
        }
        let points = semaphores.each_ref().map(|semaphore| semaphore.at(1));
        wait_all(&points, ctx.deadline(), WaitPolicy::Block)?;
        for semaphore in &semaphores {
            ensure_eq!(semaphore.query()?, 1, "a payload after waiting for all");
        }
        Ok(())
    })
}

fn each_waits_for_its_value(ctx: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    on_threads(9, |index| {
        if index == 0 {
            for value in 1..=800 {
                semaphore.signal(value)?;
            }
            return Ok(());
        }
        for round in 0..100 {
            let value = round * 8 + index as u64;
            ctx.wait(&semaphore.at(value))?;
            let payload = semaphore.query()?;
            if payload < value {
                return Err(Stop::fail(format!("a wait for {value} ended at {payload}")));
            }
        }
        Ok(())
    })?;
    ensure_eq!(semaphore.waiter_count(), 0, "waiters left behind");
    Ok(())
}

fn wait_then_fail(ctx: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    on_threads(4, |index| {
        if index == 0 {
            ctx.until("three threads wait", || semaphore.waiter_count() == 3)?;
            semaphore.fail(Error::resource_exhausted("on purpose"));
            return Ok(());
        }
        let waited = semaphore.wait_blocking_with(1, ctx.deadline(), WaitPolicy::Block);
        refused(waited, Code::ResourceExhausted, "a wait that a failure ends")?;
        Ok(())
    })
}

fn wait_all_then_fail(ctx: &Context) -> Outcome {
    wait_then_fail_by(ctx, |points, deadline| wait_all(points, deadline, WaitPolicy::Block))
}

fn wait_any_then_fail(ctx: &Context) -> Outcome {
    wait_then_fail_by(ctx, |points, deadline| wait_any(points, deadline, WaitPolicy::Block).map(|_| ()))
}

fn wait_then_fail_by(ctx: &Context, wait: fn(&[Point], Deadline) -> Result<(), Error>) -> Outcome {
    let (quiet, failing) = (Semaphore::new(0), Semaphore::new(0));
    on_threads(2, |index| {
        if index == 0 {
            ctx.until("the other thread waits", || failing.waiter_count() == 1)?;
            failing.fail(Error::unavailable("on purpose"));
            return Ok(());
        }
        let waited = wait(&[quiet.at(1), failing.at(1)], ctx.deadline());
        refused(waited, Code::Unavailable, "a wait for several that a failure ends")?;
        ensure_eq!(quiet.waiter_count(), 0, "waiters left behind at the other semaphore");
        Ok(())
    })
}

fn racing_signals_take_maximum(ctx: &Context) -> Outcome {
    let queue = ctx.queue(0)?;
    for _ in 0..50 {
        let semaphore = Semaphore::new(0);
        let start = Barrier::new(4);
        on_threads(4, |index| {
            start.wait();
            for value in (index as u64..100).step_by(4) {
                if index == 3 {
                    queue.barrier(&[], &[semaphore.at(value)])?;
                } else {
                    semaphore.signal(value)?;
                }
            }
            Ok(())
        })?;
        ctx.wait(&semaphore.at(99))?;
        ensure_eq!(semaphore.query()?, 99, "the payload after racing signals");
    }
    Ok(())
}

fn racing_failures_agree(_: &Context) -> Outcome {
    for _ in 0..50 {
        let semaphore = Semaphore::new(0);
        let start = Barrier::new(4);
        let seen = std::sync::Mutex::new(Vec::new());
        on_threads(4, |index| {
            start.wait();
            semaphore.fail(Error::aborted(format!("of thread {index}")));
            let error = refused(semaphore.query(), Code::Aborted, "a query of a failed semaphore")?;
            seen.lock().map_err(|_| Stop::fail("poisoned"))?.push(error.message().to_owned());
            Ok(())
        })?;
        let seen = seen.into_inner().map_err(|_| Stop::fail("poisoned"))?;
        if seen.iter().any(|message| *message != seen[0]) {
            return Err(Stop::fail(format!("threads saw different failures: {seen:?}")));
        }
    }
    Ok(())
}
