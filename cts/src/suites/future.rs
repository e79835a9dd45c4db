// SPDX-License-Identifier: MIT OR Apache-2.0
//! The wait future, under several kinds of executors.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    task::{Context as TaskContext, Poll, Wake, Waker},
    thread,
};

use windlass_hal::{Code, Error, Result, Semaphore, Wait};

use crate::{
    check::{ensure, ensure_eq, refused},
    context::Context,
    outcome::{Outcome, Stop},
};

suite! { "future";
    ready_at_once: "A future of a reached value is ready at its first poll and never registers.";
    #[smoke] under_block_on: "Blocking on a future ends when a queue signals.";
    polled_once_and_left: "A future that is polled only after calls of its waker ends.";
    moves_between_threads: "A future may be polled on one thread and finished on another.";
    joined: "Many futures polled together by one task all end.";
    latest_waker_counts: "Of two wakers that polled a future, only the latest is called.";
    woken_for_its_value_only: "A waker is not called before its value is reached.";
    woken_by_failure: "A failure wakes the task, and the future ends with the error.";
    #[smoke] dropped_leaves_nothing: "Dropping a future leaves no waiter behind, before and after polling it.";
    wakers_called_without_locks: "A waker may use the semaphore that calls it, and submit work.";
    outlives_the_semaphore: "A future keeps the timeline it waits for alive.";
}

/// Counts its wakes.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

impl Count {
    fn get(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
}

fn poll(wait: &mut Wait, waker: &Waker) -> Poll<Result<()>> {
    Pin::new(wait).poll(&mut TaskContext::from_waker(waker))
}

fn ready_at_once(_: &Context) -> Outcome {
    let semaphore = Semaphore::new(3);
    let mut wait = semaphore.wait(3);
    let ready = poll(&mut wait, Waker::noop());
    ensure!(matches!(ready, Poll::Ready(Ok(()))), "the first poll gave {ready:?}");
    ensure_eq!(semaphore.waiter_count(), 0, "waiters of a reached value");
    Ok(())
}

fn under_block_on(ctx: &Context) -> Outcome {
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    ctx.queue(0)?.barrier(&[gate.at(1)], &[done.at(1)])?;
    thread::scope(|scope| {
        scope.spawn(|| {
            let waiting = ctx.until("the future waits", || done.waiter_count() > 0);
            // Signals also after a failure, so that the other thread does not block for ever.
            gate.signal(1).map_err(Stop::from).and(waiting)
        });
        pollster::block_on(done.wait(1))
    })?;
    Ok(())
}

type Task = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// An executor that polls a task once. The waker starts a thread that polls again.
struct Once {
    task: Mutex<Option<Task>>,
    ended: mpsc::Sender<Result<()>>,
}

impl Once {
    fn spawn(future: impl Future<Output = Result<()>> + Send + 'static) -> mpsc::Receiver<Result<()>> {
        let (ended, receiver) = mpsc::channel();
        let once = Arc::new(Self { task: Mutex::new(Some(Box::pin(future))), ended });
        once.poll();
        receiver
    }

    fn poll(self: Arc<Self>) {
        let Ok(mut task) = self.task.lock() else { return };
        let Some(future) = task.as_mut() else { return };
        let waker = Waker::from(self.clone());
        if let Poll::Ready(result) = future.as_mut().poll(&mut TaskContext::from_waker(&waker)) {
            *task = None;
            // A case that has failed does not listen any more.
            let _ = self.ended.send(result);
        }
    }
}

impl Wake for Once {
    fn wake(self: Arc<Self>) {
        // On another thread, as executors do, because the waker's thread may hold locks.
        thread::spawn(move || self.poll());
    }
}

fn ended(ctx: &Context, receiver: &mpsc::Receiver<Result<()>>) -> Outcome<Result<()>> {
    let mut end = None;
    ctx.until("the task ends", || {
        end = end.take().or_else(|| receiver.try_recv().ok());
        end.is_some()
    })?;
    end.ok_or_else(|| Stop::fail("the task did not end"))
}

fn polled_once_and_left(ctx: &Context) -> Outcome {
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    let (a, b) = (done.wait(1), done.wait(2));
    let task = Once::spawn(async move {
        a.await?;
        b.await
    });
    let buffer = ctx.device().allocate_device(4096)?;
    ctx.queue(0)?.fill(&[gate.at(1)], &[done.at(1)], &buffer, 1_u8)?;
    ctx.queue(1)?.fill(&[done.at(1)], &[done.at(2)], &buffer, 2_u8)?;
    gate.signal(1)?;
    // The case does not poll the device, so the work must end and wake by itself.
    match task.recv_timeout(std::time::Duration::from_secs(30)) {
        Ok(result) => Ok(result?),
        Err(_) => {
            Err(Stop::fail("nobody woke the task: work that a waker waits for must make progress by itself"))
        }
    }
}

fn moves_between_threads(ctx: &Context) -> Outcome {
    let done = Semaphore::new(0);
    let mut wait = done.wait(1);
    ensure!(poll(&mut wait, Waker::noop()).is_pending(), "ready before anything was submitted");
    let thread = thread::spawn(move || pollster::block_on(wait));
    ctx.queue(0)?.barrier(&[], &[done.at(1)])?;
    ctx.wait(&done.at(1))?;
    thread.join().map_err(|_| Stop::fail("the thread panicked"))??;
    ensure_eq!(done.waiter_count(), 0, "waiters left behind");
    Ok(())
}

fn joined(ctx: &Context) -> Outcome {
    let semaphores: Vec<_> = (0..64).map(|_| Semaphore::new(0)).collect();
    let fence: windlass_hal::Fence = semaphores.iter().map(|semaphore| semaphore.at(1)).collect();
    let task = Once::spawn(fence.wait());
    for (index, semaphore) in (0..).zip(&semaphores) {
        ctx.queue(index)?.barrier(&[], &[semaphore.at(1)])?;
    }
    Ok(ended(ctx, &task)??)
}

fn latest_waker_counts(_: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    let (first, second) = (Arc::new(Count::default()), Arc::new(Count::default()));
    let mut wait = semaphore.wait(1);
    ensure!(poll(&mut wait, &first.clone().into()).is_pending(), "ready too early");
    ensure!(poll(&mut wait, &second.clone().into()).is_pending(), "ready too early");
    ensure_eq!(semaphore.waiter_count(), 1, "waiters of one future");
    semaphore.signal(1)?;
    ensure_eq!(second.get(), 1, "calls of the latest waker");
    ensure_eq!(first.get(), 0, "calls of the replaced waker");
    ensure!(poll(&mut wait, Waker::noop()).is_ready(), "not ready after the signal");
    Ok(())
}

fn woken_for_its_value_only(_: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    let count = Arc::new(Count::default());
    let mut wait = semaphore.wait(5);
    ensure!(poll(&mut wait, &count.clone().into()).is_pending(), "ready too early");
    semaphore.signal(4)?;
    ensure_eq!(count.get(), 0, "calls of the waker below its value");
    semaphore.signal(9)?;
    ensure_eq!(count.get(), 1, "calls of the waker past its value");
    Ok(())
}

fn woken_by_failure(_: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    let count = Arc::new(Count::default());
    let mut wait = semaphore.wait(5);
    ensure!(poll(&mut wait, &count.clone().into()).is_pending(), "ready too early");
    semaphore.fail(Error::data_loss("on purpose"));
    ensure_eq!(count.get(), 1, "calls of the waker after the failure");
    match poll(&mut wait, Waker::noop()) {
        Poll::Ready(result) => drop(refused(result, Code::DataLoss, "a future of a failed semaphore")?),
        Poll::Pending => return Err(Stop::fail("still pending after the failure")),
    }
    Ok(())
}

fn dropped_leaves_nothing(ctx: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    drop(semaphore.wait(1));
    let count = Arc::new(Count::default());
    let mut waits: Vec<_> = (1..=100).map(|value| semaphore.wait(value)).collect();
    for wait in &mut waits {
        ensure!(poll(wait, &count.clone().into()).is_pending(), "ready too early");
    }
    ensure_eq!(semaphore.waiter_count(), 100, "waiters of 100 futures");
    drop(waits);
    ensure_eq!(semaphore.waiter_count(), 0, "waiters of dropped futures");
    ensure_eq!(Arc::strong_count(&count), 1, "handles of the waker after the drop");
    ctx.queue(0)?.barrier(&[], &[semaphore.at(100)])?;
    ctx.wait(&semaphore.at(100))?;
    ensure_eq!(count.get(), 0, "calls of the waker of dropped futures");
    Ok(())
}

/// A waker that uses the semaphore and the device, and so would meet any lock that its caller holds.
struct Busy {
    semaphore: Semaphore,
    next: Semaphore,
    queue: windlass_hal::Queue,
    result: Mutex<Option<Result<()>>>,
}

impl Wake for Busy {
    fn wake(self: Arc<Self>) {
        let use_all = || {
            let payload = self.semaphore.query()?;
            self.semaphore.signal(payload + 1)?;
            drop(self.semaphore.wait(payload + 2));
            self.queue.barrier(&[self.semaphore.at(payload + 1)], &[self.next.at(1)])
        };
        let result = use_all();
        if let Ok(mut place) = self.result.lock() {
            *place = Some(result);
        }
    }
}

fn wakers_called_without_locks(ctx: &Context) -> Outcome {
    let busy = Arc::new(Busy {
        semaphore: Semaphore::new(0),
        next: Semaphore::new(0),
        queue: ctx.queue(0)?,
        result: Mutex::new(None),
    });
    let mut wait = busy.semaphore.wait(1);
    ensure!(poll(&mut wait, &busy.clone().into()).is_pending(), "ready too early");
    let buffer = ctx.device().allocate_device(64)?;
    ctx.queue(0)?.fill(&[], &[busy.semaphore.at(1)], &buffer, 0_u8)?;
    ctx.wait(&busy.next.at(1))?;
    let result = busy.result.lock().map_err(|_| Stop::fail("the waker panicked"))?.take();
    Ok(result.unwrap_or(Ok(()))?)
}

fn outlives_the_semaphore(ctx: &Context) -> Outcome {
    let semaphore = Semaphore::new(0);
    let wait = semaphore.wait(1);
    ctx.queue(0)?.barrier(&[], &[semaphore.at(1)])?;
    drop(semaphore);
    Ok(pollster::block_on(wait)?)
}
