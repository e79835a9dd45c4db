// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fences: sets of points that serve as wait lists, as signal lists and as futures.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{self, Poll, Wake, Waker},
};

use windlass_hal::{Code, Error, Fence, Semaphore};

use crate::{
    check::{ensure, ensure_eq, refused, same_bytes},
    context::Context,
    outcome::{Outcome, Stop},
};

suite! { "fence";
    empty_is_passed: "A fence without points is passed, and a wait for it returns at once.";
    joins_the_greatest: "Joined fences hold each semaphore once, with its greatest value.";
    query_tells: "A query says whether every point is reached, and does not block.";
    query_gives_failure: "A query of a fence with a failed semaphore returns the failure.";
    signals_every_point: "Signalling a fence from the host reaches each of its points.";
    fails_every_semaphore: "Failing a fence fails each of its semaphores with the error.";
    #[smoke] as_a_wait_list: "Work that waits for a fence starts after the last of its points.";
    as_a_signal_list: "Work that signals a fence reaches each of its points.";
    future_ends_with_the_last: "The future of a fence is not ready before its last point is reached.";
    future_ends_with_failure: "The future of a fence ends with the failure of one of its semaphores.";
    dropped_future_leaves_nothing: "Dropping the future of a fence leaves no waiter behind.";
    passed_points_are_spared: "A fence stays passed if its points were reached before a failure.";
}

fn three() -> [Semaphore; 3] {
    [(); 3].map(|()| Semaphore::new(0))
}

fn fence_of(semaphores: &[Semaphore]) -> Fence {
    (1..).zip(semaphores).map(|(value, semaphore)| semaphore.at(value)).collect()
}

fn on_purpose() -> Error {
    Error::data_loss("failed on purpose")
}

/// Polls a future once, with a waker that counts.
fn poll_once<F: Future + Unpin>(future: &mut F, woken: &Arc<Count>) -> Poll<F::Output> {
    let waker = Waker::from(woken.clone());
    Pin::new(future).poll(&mut task::Context::from_waker(&waker))
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

fn empty_is_passed(ctx: &Context) -> Outcome {
    let (fence, done) = (Fence::new(), Semaphore::new(0));
    ensure!(fence.query()?, "an empty fence is not passed");
    fence.wait_blocking(windlass_hal::Deadline::now())?;
    pollster::block_on(fence.wait())?;
    ctx.queue(0)?.barrier(&fence, &[done.at(1)])?;
    ctx.wait(&done.at(1))
}

fn joins_the_greatest(_: &Context) -> Outcome {
    let [a, b, c] = three();
    let (mut left, right) = (Fence::new(), fence_of(&[a.clone(), b.clone()]));
    left.extend(&[a.at(7), c.at(3), a.at(2)]);
    let joined = Fence::join([&left, &right, &Fence::new()]);
    let mut values = Vec::new();
    for semaphore in [&a, &b, &c] {
        let points: Vec<_> = joined.iter().filter(|point| point.semaphore.same(semaphore)).collect();
        ensure_eq!(points.len(), 1, "points of one semaphore");
        values.push(points[0].value);
    }
    ensure_eq!(values, [7, 2, 3], "the values");
    ensure_eq!(joined.len(), 3, "points in all");
    Ok(())
}

fn query_tells(ctx: &Context) -> Outcome {
    let [a, b, c] = three();
    let fence = fence_of(&[a.clone(), b.clone(), c.clone()]);
    ensure!(!fence.query()?, "passed before anything is signalled");
    a.signal(1)?;
    b.signal(1)?;
    c.signal(9)?;
    ensure!(!fence.query()?, "passed although one semaphore is below its value");
    ctx.queue(0)?.barrier(&[], &[b.at(2)])?;
    ctx.until("the fence is passed", || fence.query().unwrap_or(false))
}

fn query_gives_failure(_: &Context) -> Outcome {
    let [a, b, c] = three();
    let fence = fence_of(&[a.clone(), b.clone(), c]);
    a.signal(1)?;
    b.fail(on_purpose());
    refused(fence.query(), Code::DataLoss, "the query of a fence with a failed semaphore")?;
    Ok(())
}

fn signals_every_point(ctx: &Context) -> Outcome {
    let semaphores = three();
    let (fence, done) = (fence_of(&semaphores), Semaphore::new(0));
    ctx.queue(0)?.barrier(&fence, &[done.at(1)])?;
    fence.signal()?;
    ctx.wait(&done.at(1))?;
    let payloads: Vec<_> = semaphores.iter().map(Semaphore::query).collect::<Result<_, _>>()?;
    ensure_eq!(payloads, [1, 2, 3], "the payloads");
    Ok(())
}

fn fails_every_semaphore(ctx: &Context) -> Outcome {
    let semaphores = three();
    let (fence, done) = (fence_of(&semaphores), Semaphore::new(0));
    ctx.queue(0)?.barrier(&[semaphores[2].at(1)], &[done.at(1)])?;
    fence.fail(on_purpose());
    for semaphore in semaphores.iter().chain([&done]) {
        ensure_eq!(ctx.wait_for_failure(&semaphore.at(1))?.code(), Code::DataLoss, "the failure's code");
    }
    Ok(())
}

fn as_a_wait_list(ctx: &Context) -> Outcome {
    let semaphores = three();
    let (fence, done, buffer) = (fence_of(&semaphores), Semaphore::new(0), ctx.filled(64, 0)?);
    ctx.queue(0)?.fill(&fence, &[done.at(1)], &buffer, 5_u8)?;
    for (value, semaphore) in (1..).zip(&semaphores) {
        ctx.device().drain(ctx.deadline())?;
        ensure_eq!(done.query()?, 0, "the payload before the fence is passed");
        semaphore.signal(value)?;
    }
    same_bytes(&ctx.download_after(&done.at(1), &buffer)?, &[5; 64], "the buffer")
}

fn as_a_signal_list(ctx: &Context) -> Outcome {
    let semaphores = three();
    let (fence, buffer) = (fence_of(&semaphores), ctx.filled(64, 0)?);
    ctx.queue(0)?.fill(&[], &fence, &buffer, 5_u8)?;
    fence.wait_blocking(ctx.deadline())?;
    same_bytes(&ctx.download(&buffer)?, &[5; 64], "the buffer")?;
    let payloads: Vec<_> = semaphores.iter().map(Semaphore::query).collect::<Result<_, _>>()?;
    ensure_eq!(payloads, [1, 2, 3], "the payloads");
    Ok(())
}

fn future_ends_with_the_last(ctx: &Context) -> Outcome {
    let semaphores = three();
    let fence = fence_of(&semaphores);
    let (mut future, woken) = (fence.wait(), Arc::<Count>::default());
    for (index, (value, semaphore)) in (1..).zip(&semaphores).enumerate() {
        ensure!(poll_once(&mut future, &woken).is_pending(), "ready before point {index} is reached");
        ctx.queue(index as u32)?.barrier(&[], &[semaphore.at(value)])?;
        ctx.until("the task is woken", || woken.0.load(Ordering::Acquire) > index)?;
    }
    match poll_once(&mut future, &woken) {
        Poll::Ready(result) => Ok(result?),
        Poll::Pending => Err(Stop::fail("not ready although every point is reached")),
    }
}

fn future_ends_with_failure(_: &Context) -> Outcome {
    let [a, b, c] = three();
    let fence = fence_of(&[a, b.clone(), c]);
    let future = fence.wait();
    b.fail(on_purpose());
    refused(pollster::block_on(future), Code::DataLoss, "the future of a fence with a failed semaphore")?;
    Ok(())
}

fn dropped_future_leaves_nothing(_: &Context) -> Outcome {
    let semaphores = three();
    let fence = fence_of(&semaphores);
    let (mut future, woken) = (fence.wait(), Arc::<Count>::default());
    ensure!(poll_once(&mut future, &woken).is_pending(), "ready before anything is signalled");
    ensure_eq!(semaphores.iter().map(Semaphore::waiter_count).sum::<usize>(), 3, "waiters while it lives");
    drop(future);
    ensure_eq!(semaphores.iter().map(Semaphore::waiter_count).sum::<usize>(), 0, "waiters afterwards");
    fence.signal()?;
    ensure_eq!(woken.0.load(Ordering::Acquire), 0, "calls of the dropped waker");
    Ok(())
}

fn passed_points_are_spared(ctx: &Context) -> Outcome {
    let semaphores = three();
    let (fence, done) = (fence_of(&semaphores), Semaphore::new(0));
    ctx.queue(0)?.barrier(&[], &fence)?;
    fence.wait_blocking(ctx.deadline())?;
    semaphores.iter().for_each(|semaphore| semaphore.fail(on_purpose()));
    ensure!(fence.query()?, "a fence that was passed is no longer");
    ctx.queue(0)?.barrier(&fence, &[done.at(1)])?;
    ctx.wait(&done.at(1))
}
