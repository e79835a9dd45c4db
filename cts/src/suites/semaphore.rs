// SPDX-License-Identifier: MIT OR Apache-2.0
//! The timeline: payload, blocking waits, failure. Futures are in `future`, threads in `semaphore_thread`.

use std::time::{Duration, Instant};

use windlass_hal::{Code, Deadline, Error, Fence, Point, Semaphore, WaitPolicy, wait_all, wait_any};

use crate::{
    check::{ensure, ensure_eq, refused},
    context::Context,
    outcome::Outcome,
};

suite! { "semaphore";
    starts_at_initial: "A new semaphore's payload is its initial value, at most MAX_VALUE.";
    #[smoke] signal_advances: "A host signal raises the payload to its value.";
    signal_below_does_nothing: "A host signal at or below the payload does nothing and is no error.";
    signal_above_maximum_refused: "A signal above MAX_VALUE is OUT_OF_RANGE and changes nothing, on a queue too.";
    wait_above_maximum_refused: "A wait for more than MAX_VALUE is OUT_OF_RANGE at once, on a queue too.";
    device_signal_takes_maximum: "A queue's signal below the payload does not lower it.";
    reached_wait_returns: "A wait for a reached value returns at once, even after its deadline.";
    #[smoke] unreached_wait_times_out: "A wait whose deadline passes is DEADLINE_EXCEEDED and leaves no waiter.";
    late_signal_after_timeout: "A wait that gave up does not disturb the signal that comes later.";
    policies_wait: "Every wait policy returns once the value is reached.";
    wait_all_needs_all: "Waiting for all of several points lasts until the last of them.";
    wait_all_of_none: "Waiting for all of no points returns at once.";
    wait_any_gives_index: "Waiting for any of several points returns the index of a reached point.";
    wait_any_of_none_refused: "Waiting for any of no points is INVALID_ARGUMENT.";
    wait_any_prefers_reached: "A reached point ends a wait for any, even if another semaphore has failed.";
    #[smoke] failure_ends_waits: "Waiting for a value of a failed semaphore returns the failure at once.";
    failure_preserves_error: "A failure arrives with its code, message and contexts.";
    first_failure_wins: "A second failure of a semaphore changes nothing.";
    failure_is_sticky: "A signal after the failure changes nothing.";
    reached_stays_reached: "A value that was reached before the failure stays reached.";
    fence_holds_greatest: "A fence keeps each semaphore once, with its greatest value.";
    fence_waits_for_all: "A fence is passed when each of its points is reached, and fails with the first failure among them.";
}

/// A short deadline, for a wait that must give up.
fn soon() -> Deadline {
    Deadline::after(Duration::from_millis(5))
}

fn starts_at_initial(_: &Context) -> Outcome {
    for initial in [0, 1, 1 << 40, Semaphore::MAX_VALUE] {
        ensure_eq!(Semaphore::new(initial).query()?, initial, "the payload of Semaphore::new({initial})");
    }
    ensure_eq!(Semaphore::new(u64::MAX).query()?, Semaphore::MAX_VALUE, "the greatest payload");
    ensure_eq!(Semaphore::default().query()?, 0, "the default payload");
    Ok(())
}

fn signal_advances(_: &Context) -> Outcome {
    let semaphore = Semaphore::new(2);
    for value in [3, 4, 40, Semaphore::MAX_VALUE] {
        semaphore.signal(value)?;
        ensure_eq!(semaphore.query()?, value, "the payload after a signal");
    }
    Ok(())
}

fn signal_below_does_nothing(_: &Context) -> Outcome {
    let semaphore = Semaphore::new(10);
    for value in [10, 9, 0] {
        semaphore.signal(value)?;
        ensure_eq!(semaphore.query()?, 10, "the payload after a signal of {value}");
    }
    Ok(())
}

fn signal_above_maximum_refused(ctx: &Context) -> Outcome {
    let semaphore = Semaphore::new(1);
    let beyond = Semaphore::MAX_VALUE + 1;
    refused(semaphore.signal(beyond), Code::OutOfRange, "a host signal above the maximum")?;
    refused(
        ctx.queue(0)?.barrier(&[], &[semaphore.at(2), semaphore.at(beyond)]),
        Code::OutOfRange,
        "a queue's signal above the maximum",
    )?;
    ensure_eq!(semaphore.query()?, 1, "the payload after refused signals");
    Ok(())
}

fn wait_above_maximum_refused(ctx: &Context) -> Outcome {
    let (semaphore, done) = (Semaphore::new(0), Semaphore::new(0));
    for value in [Semaphore::MAX_VALUE + 1, u64::MAX] {
        let code = Code::OutOfRange;
        refused(semaphore.wait_blocking(value, ctx.deadline()), code, "a blocking wait")?;
        refused(pollster::block_on(semaphore.wait(value)), code, "a future")?;
        refused(ctx.queue(0)?.barrier(&[semaphore.at(value)], &[done.at(1)]), code, "a barrier's wait")?;
    }
    ensure_eq!((done.query()?, semaphore.waiter_count()), (0, 0), "the signal's payload, and the waiters");
    Ok(())
}

fn device_signal_takes_maximum(ctx: &Context) -> Outcome {
    let (semaphore, done) = (Semaphore::new(0), Semaphore::new(0));
    semaphore.signal(10)?;
    ctx.queue(0)?.barrier(&[], &[semaphore.at(4), done.at(1)])?;
    ctx.wait(&done.at(1))?;
    ensure_eq!(semaphore.query()?, 10, "the payload after a queue's signal of 4");
    ctx.queue(0)?.barrier(&[], &[semaphore.at(11), done.at(2)])?;
    ctx.wait(&done.at(2))?;
    ensure_eq!(semaphore.query()?, 11, "the payload after a queue's signal of 11");
    Ok(())
}

fn reached_wait_returns(_: &Context) -> Outcome {
    let semaphore = Semaphore::new(5);
    for deadline in [Deadline::now(), Deadline::NEVER] {
        semaphore.wait_blocking(5, deadline)?;
        semaphore.wait_blocking(1, deadline)?;
        semaphore.wait_blocking(0, deadline)?;
    }
    Ok(())
}

fn unreached_wait_times_out(_: &Context) -> Outcome {
    let semaphore = Semaphore::new(5);
    for policy in [WaitPolicy::Spin, WaitPolicy::SpinThenBlock, WaitPolicy::Block] {
        for deadline in [Deadline::now(), soon(), Deadline::from(Instant::now())] {
            let waited = semaphore.wait_blocking_with(6, deadline, policy);
            refused(waited, Code::DeadlineExceeded, "a wait for an unsignalled value")?;
            ensure_eq!(semaphore.waiter_count(), 0, "waiters left behind under {policy:?}");
        }
    }
    ensure_eq!(semaphore.query()?, 5, "the payload after waits that gave up");
    Ok(())
}

fn late_signal_after_timeout(ctx: &Context) -> Outcome {
    let (gate, semaphore) = (Semaphore::new(0), Semaphore::new(0));
    ctx.queue(0)?.barrier(&[gate.at(1)], &[semaphore.at(1)])?;
    refused(semaphore.wait_blocking(1, soon()), Code::DeadlineExceeded, "a wait for blocked work")?;
    gate.signal(1)?;
    ctx.wait(&semaphore.at(1))
}

fn policies_wait(ctx: &Context) -> Outcome {
    let queue = ctx.queue(0)?;
    let semaphore = Semaphore::new(0);
    for (value, policy) in (1..).zip([WaitPolicy::Spin, WaitPolicy::SpinThenBlock, WaitPolicy::Block]) {
        queue.barrier(&[], &[semaphore.at(value)])?;
        semaphore.wait_blocking_with(value, ctx.deadline(), policy)?;
        ensure!(semaphore.query()? >= value, "{policy:?} returned before value {value} was reached");
    }
    Ok(())
}

fn all(points: &[Point], deadline: Deadline) -> windlass_hal::Result<()> {
    wait_all(points, deadline, WaitPolicy::default())
}

fn any(points: &[Point], deadline: Deadline) -> windlass_hal::Result<usize> {
    wait_any(points, deadline, WaitPolicy::default())
}

fn wait_all_needs_all(ctx: &Context) -> Outcome {
    let (a, b) = (Semaphore::new(0), Semaphore::new(0));
    let points = [a.at(1), b.at(2), a.at(3)];
    refused(all(&points, soon()), Code::DeadlineExceeded, "waiting for three unreached points")?;
    a.signal(3)?;
    b.signal(1)?;
    refused(all(&points, soon()), Code::DeadlineExceeded, "waiting for all with one unreached")?;
    b.signal(2)?;
    all(&points, ctx.deadline())?;
    ensure_eq!(a.waiter_count() + b.waiter_count(), 0, "waiters left behind");
    Ok(())
}

fn wait_all_of_none(_: &Context) -> Outcome {
    Ok(all(&[], Deadline::now())?)
}

fn wait_any_gives_index(ctx: &Context) -> Outcome {
    let (a, b, c) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    let points = [a.at(1), b.at(1), c.at(1)];
    refused(any(&points, soon()), Code::DeadlineExceeded, "waiting for any of three unreached points")?;
    b.signal(1)?;
    ensure_eq!(any(&points, ctx.deadline())?, 1, "the index of the reached point");
    ensure_eq!(a.waiter_count() + b.waiter_count() + c.waiter_count(), 0, "waiters left behind");
    Ok(())
}

fn wait_any_of_none_refused(_: &Context) -> Outcome {
    refused(any(&[], Deadline::NEVER), Code::InvalidArgument, "waiting for any of no points")?;
    Ok(())
}

fn wait_any_prefers_reached(ctx: &Context) -> Outcome {
    let (failed, reached) = (Semaphore::new(0), Semaphore::new(1));
    failed.fail(Error::aborted("on purpose"));
    ensure_eq!(any(&[failed.at(1), reached.at(1)], ctx.deadline())?, 1, "the index of the reached point");
    let never = Semaphore::new(0);
    refused(
        any(&[never.at(1), failed.at(1)], ctx.deadline()),
        Code::Aborted,
        "waiting for any with a failure",
    )?;
    Ok(())
}

fn failure_ends_waits(_: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    semaphore.fail(Error::data_loss("on purpose"));
    refused(semaphore.query(), Code::DataLoss, "a query of a failed semaphore")?;
    refused(semaphore.wait_blocking(1, Deadline::NEVER), Code::DataLoss, "a wait for a failed semaphore")?;
    refused(all(&[semaphore.at(7)], Deadline::NEVER), Code::DataLoss, "a wait for all")?;
    refused(pollster::block_on(semaphore.wait(1)), Code::DataLoss, "a future of a failed semaphore")?;
    Ok(())
}

fn failure_preserves_error(_: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    semaphore.fail(Error::new(Code::AlreadyExists, "the message").context("the context"));
    let error = refused(semaphore.query(), Code::AlreadyExists, "a query of a failed semaphore")?;
    ensure_eq!(error.message(), "the message", "the message");
    ensure_eq!(error.contexts().collect::<Vec<_>>(), ["the context"], "the contexts");
    Ok(())
}

fn first_failure_wins(_: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    semaphore.fail(Error::aborted("the first"));
    semaphore.fail(Error::internal("the second"));
    let error = refused(semaphore.query(), Code::Aborted, "a query of a semaphore that failed twice")?;
    ensure_eq!(error.message(), "the first", "the message of the failure");
    Ok(())
}

fn failure_is_sticky(ctx: &Context) -> Outcome {
    let semaphore = Semaphore::new(3);
    semaphore.fail(Error::aborted("on purpose"));
    semaphore.signal(4)?;
    let done = Semaphore::new(0);
    ctx.queue(0)?.barrier(&[], &[semaphore.at(5), done.at(1)])?;
    ctx.wait(&done.at(1))?;
    for value in [4, 5, Semaphore::MAX_VALUE] {
        refused(
            semaphore.wait_blocking(value, Deadline::NEVER),
            Code::Aborted,
            "a wait for a value that was signalled after the failure",
        )?;
    }
    Ok(())
}

fn reached_stays_reached(ctx: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    semaphore.signal(3)?;
    semaphore.fail(Error::aborted("on purpose"));
    semaphore.wait_blocking(3, Deadline::NEVER)?;
    pollster::block_on(semaphore.wait(2))?;
    let done = Semaphore::new(0);
    ctx.queue(0)?.barrier(&[semaphore.at(3)], &[done.at(1)])?;
    ctx.wait(&done.at(1))?;
    refused(semaphore.wait_blocking(4, Deadline::NEVER), Code::Aborted, "a wait for a value not reached")?;
    Ok(())
}

fn fence_holds_greatest(_: &Context) -> Outcome {
    let (a, b) = (Semaphore::new(0), Semaphore::new(0));
    let fence = Fence::join([
        &[a.at(1), b.at(5), a.at(3)].into_iter().collect::<Fence>(),
        &[a.at(2), b.at(4)].into_iter().collect::<Fence>(),
    ]);
    ensure_eq!(fence.len(), 2, "points of the fence");
    for point in fence.iter() {
        let greatest = if point.semaphore.same(&a) { 3 } else { 5 };
        ensure_eq!(point.value, greatest, "the value of {point:?}");
    }
    fence.signal()?;
    ensure_eq!((a.query()?, b.query()?), (3, 5), "the payloads after signalling the fence");
    Ok(())
}

fn fence_waits_for_all(ctx: &Context) -> Outcome {
    let (a, b) = (Semaphore::new(0), Semaphore::new(0));
    let fence: Fence = [a.at(1), b.at(1)].into_iter().collect();
    let queue = ctx.queue(0)?;
    queue.barrier(&[], &[a.at(1)])?;
    ctx.wait(&a.at(1))?;
    ensure!(!fence.query()?, "a fence with one unreached point is passed");
    refused(fence.wait_blocking(soon()), Code::DeadlineExceeded, "a wait for half a fence")?;
    queue.barrier(&[], &[b.at(1)])?;
    fence.wait_blocking(ctx.deadline())?;
    pollster::block_on(fence.wait())?;
    ensure!(fence.query()?, "a fence with all points reached is not passed");
    let failing: Fence = [a.at(1), b.at(2)].into_iter().collect();
    failing.fail(Error::aborted("on purpose"));
    refused(pollster::block_on(failing.wait()), Code::Aborted, "a wait for a failed fence")?;
    ensure!(fence.query()?, "a failure took back a reached value");
    Ok(())
}
